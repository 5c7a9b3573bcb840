import { site } from "virtual:site";
import { Box, Stack, Text } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { Notifications } from "@mantine/notifications";
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Navigate,
  Outlet,
  type SearchMiddleware,
  stripSearchParams,
  useLocation,
  useRouterState,
} from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Mark } from "../../app/components/mark.tsx";
import { clearNotices } from "./actions.tsx";
import { type Connection, useLive, useStatus } from "./api.ts";
import { formatAge, formatSince } from "./format.ts";
import { isOccupied, KeyHelp } from "./keys.tsx";
import { ListScreen } from "./list.tsx";
import { MessageScreen } from "./message.tsx";
import { FailurePanel, focusTitle, ScreenTitle } from "./parts.tsx";
import { PersonScreen } from "./person.tsx";
import { type ListView, NEWEST, parseListView, rowId } from "./rows.tsx";

function Shell() {
  const { connection, reason } = useLive();
  if (connection === "refused") return <NoAccess />;
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Link to="/" className="home" activeOptions={{ exact: true }} aria-label={`${site.brand} inbox`}>
          <Mark />
          <Text span className="wide-only" fw={600} ff="var(--display)">
            {site.brand} Inbox
          </Text>
        </Link>
        <StatusLine />
      </header>
      <ConnectionBanner connection={connection} reason={reason} />
      <main id="main" className="stack" tabIndex={-1}>
        <Outlet />
      </main>
      <FocusOnArrival />
      <Notifications className="notices" withinPortal={false} position="bottom-center" transitionDuration={0} />
    </>
  );
}

/**
 * Focuses the heading of a new screen, or, back on the list, the row of the message that was open, or the field that the
 * address names. Also focuses the heading if new data has removed the focused element, such as the pressed button.
 */
function FocusOnArrival(): null {
  const location = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation });
  const before = useRef(location);
  const hadFocus = useRef(false);
  useWindowEvent("focusin", () => {
    hadFocus.current = true;
  });
  useEffect(() => {
    const last = before.current;
    before.current = location;
    if (!last || !location || last.pathname === location.pathname) return;
    // A field of the new screen has it already.
    if (isOccupied()) return;
    const row = document.getElementById(rowId(last.pathname.replace("/messages/", "")));
    if (row) row.focus();
    else focusTitle();
  }, [location]);
  useEffect(() => {
    const observer = new MutationObserver(() => {
      if (hadFocus.current && document.activeElement === document.body) focusTitle();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return null;
}

function ConnectionBanner({ connection, reason }: { connection: Connection; reason: string | undefined }) {
  const texts: Partial<Record<Connection, string>> = {
    lost: "The inbox does not answer. If it was stopped, start it again and open the address that it prints. Trying again every second.",
    unavailable: `${reason ?? "The database does not answer."} Trying again every second.`,
    restarted:
      "The inbox was started again, and its address is new. Open that address from the terminal, in this tab or another one: then what you typed is saved, and this page goes on.",
    replaced:
      "The database of this inbox was moved, replaced or restored. Nothing more is stored: copy what you typed, stop this inbox and start it again.",
  };
  const text = texts[connection];
  return (
    <div role="alert" className="banner">
      {text && (
        <Box component="p" className="bar" display="block" bg="var(--danger-ground)">
          <strong>{text}</strong> This page may be out of date; what you typed stays on it.
        </Box>
      )}
    </div>
  );
}

function StatusLine() {
  const { connection } = useLive();
  const status = useStatus();
  const { pathname } = useLocation();
  const known = connection === "live" ? status : undefined;
  const troubles = known?.troubles.filter(({ severity, kind }) => severity !== "info" && kind !== "website-down") ?? [];
  const [first] = troubles;
  const since = known?.website.lastSeenAt ? ` since ${formatSince(known.website.lastSeenAt, known.now)}` : "";
  return (
    <section className="marks" aria-label="Status">
      <p data-trouble={known?.website.isRunning === false} role="status">
        {known && (known.website.isRunning ? "Website: running" : `Website: not running${since}`)}
      </p>
      {known && (
        <p className="soft">
          {known.lastBackupAt ? `Last backup: ${formatAge(known.lastBackupAt, known.now)}` : "No backup yet"}
        </p>
      )}
      {/* The list itself shows them with their remedies. */}
      {first && pathname !== "/" && (
        <Link to="/">{troubles.length > 1 ? `${first.what}, and ${troubles.length - 1} more` : first.what}</Link>
      )}
      <KeyHelp />
    </section>
  );
}

export function NoAccess() {
  return (
    <Stack component="main" m="auto" p="md" maw="34rem">
      <Mark />
      <ScreenTitle name="No access">Open the address from the terminal</ScreenTitle>
      <p>
        Each run of the inbox has its own key, which is after the # of the address that the command printed. Start the
        inbox, or go to the terminal where it runs, and open the whole address.
      </p>
    </Stack>
  );
}

const root = createRootRoute({ component: Shell });

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
  defaultNotFoundComponent: () => <Navigate to="/" />,
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
