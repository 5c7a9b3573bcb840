import {
  createRootRoute,
  createRoute,
  createRouter,
  type SearchMiddleware,
  stripSearchParams,
} from "@tanstack/react-router";
import { clearNotices } from "./actions.tsx";
import { Shell } from "./app.tsx";
import { ListScreen } from "./list.tsx";
import { type ListView, NEWEST, parseListView } from "./list-view.ts";
import { MessageScreen } from "./message.tsx";
import { EmptyPanel, FailurePanel, ScreenTitle } from "./parts.tsx";
import { PersonScreen } from "./person.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <>
      <ScreenTitle name="Nothing here" />
      <EmptyPanel title="The inbox has no such page" />
    </>
  ),
});

const stripDefaults: SearchMiddleware<ListView> = stripSearchParams(NEWEST);
/** A message's URL contains the list from which the message was opened. */
const listView = { validateSearch: parseListView, search: { middlewares: [stripDefaults] } };

const list = createRoute({ getParentRoute: () => root, path: "/", component: ListScreen, ...listView });
const message = createRoute({
  getParentRoute: () => root,
  path: "/messages/$reference",
  component: MessageScreen,
  ...listView,
});
const people = createRoute({
  getParentRoute: () => root,
  path: "/people",
  component: PersonScreen,
  validateSearch: ({ email }: { email?: unknown }) => ({ email: String(email ?? "").trim() }),
});

export const router = createRouter({
  routeTree: root.addChildren([list, message, people]),
  // Every value stays text: a search for "1e3" is not a search for 1000.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (values) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    const search = String(new URLSearchParams(given.map(([name, value]) => [name, String(value)])));
    return search && `?${search}`;
  },
  scrollRestoration: true,
  scrollToTopSelectors: ["#main"],
  // If a screen fails to render, shows the error instead of an empty page. Other screens still work.
  defaultErrorComponent: ({ error }) => (
    <>
      <ScreenTitle name="This page failed" />
      <FailurePanel error={error} onRetry={() => location.reload()} />
    </>
  ),
});

// A notice is about the screen on which it appeared.
router.subscribe("onBeforeNavigate", ({ pathChanged }) => pathChanged && clearNotices());

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
