import { useEffect, useLayoutEffect, useRef } from "react";
import { Mark } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { ActionsProvider } from "./actions.tsx";
import { formatNumber, TAB_NAME } from "./labels.tsx";
import { ListScreen } from "./list.tsx";
import { MessageScreen } from "./message.tsx";
import { OverviewScreen } from "./overview.tsx";
import { EmptyPanel, LoadingRows, ScreenBoundary } from "./panels.tsx";
import { PersonScreen } from "./person.tsx";
import { type Connection, StatusContext, usePolling } from "./queries.tsx";
import { hrefOf, Link, parseRoute, type Route, rememberedScroll, useHref, watchHistory } from "./router.tsx";

watchHistory();

export function App() {
  const status = usePolling();
  const href = useHref();
  const { pathname, search } = new URL(href, location.origin);
  const route = parseRoute(pathname, search);
  const lastList = useRef("/");
  if (route.screen === "list") lastList.current = href;
  useTitle(route, status.counts?.unanswered ?? 0);
  const lastViewed = useArrival(route, href);
  if (status.connection === "refused") return <NoAccess reason="refused" />;

  return (
    <StatusContext value={status}>
      <ActionsProvider>
        <a className="skip-link" href="#main">
          Skip to content
        </a>
        <Header route={route} listHref={lastList.current} connection={status.connection} />
        <ConnectionBanner connection={status.connection} />
        <main id="main" className="main" tabIndex={-1}>
          {status.changes === null ? (
            <Waiting connection={status.connection} />
          ) : (
            <ScreenBoundary key={route.screen}>
              <Screen route={route} listHref={lastList.current} lastViewed={lastViewed} />
            </ScreenBoundary>
          )}
        </main>
      </ActionsProvider>
    </StatusContext>
  );
}

function Screen({ route, listHref, lastViewed }: { route: Route; listHref: string; lastViewed: string | null }) {
  switch (route.screen) {
    case "list":
      return <ListScreen view={route.view} lastViewed={lastViewed} />;
    case "message":
      return <MessageScreen key={route.reference} reference={route.reference} listHref={listHref} />;
    case "person":
      return <PersonScreen email={route.email} />;
    case "overview":
      return <OverviewScreen />;
    case "unknown":
      return (
        <>
          <h1 id="screen-title" tabIndex={-1}>
            Nothing here
          </h1>
          <EmptyPanel title="The inbox has no such page">
            <Link href="/">All messages</Link>
          </EmptyPanel>
        </>
      );
  }
}

/** Before the first answer there is nothing to show but the state of the connection. */
function Waiting({ connection }: { connection: Connection }) {
  return (
    <>
      <h1 id="screen-title" tabIndex={-1} className="visually-hidden">
        Inbox
      </h1>
      {connection === "connecting" ? (
        <LoadingRows label="Connecting" />
      ) : (
        <EmptyPanel title="Waiting for the messages">
          <p>They appear as soon as the connection is back.</p>
        </EmptyPanel>
      )}
    </>
  );
}

function useTitle(route: Route, unanswered: number): void {
  const name =
    route.screen === "message"
      ? route.reference
      : route.screen === "person"
        ? "People"
        : route.screen === "overview"
          ? "Overview"
          : route.screen === "list" && route.view.tab !== "all"
            ? TAB_NAME[route.view.tab]
            : "Messages";
  const count = unanswered > 0 ? `(${formatNumber(unanswered)}) ` : "";
  useEffect(() => {
    document.title = `${count}${name} – ${site.brand} inbox`;
  }, [count, name]);
}

/**
 * On another screen, focuses its heading and restores the scroll position. Returns the message that was shown before, so
 * that the list can focus its row.
 */
function useArrival(route: Route, href: string): string | null {
  const before = useRef<{ href: string; route: Route } | null>(null);
  const lastViewed = useRef<string | null>(null);
  if (before.current && before.current.href !== href) {
    lastViewed.current = before.current.route.screen === "message" ? before.current.route.reference : null;
  }
  useLayoutEffect(() => {
    const isFirst = before.current === null;
    const isOtherScreen = before.current?.route.screen !== route.screen || route.screen === "message";
    const isOtherHref = before.current?.href !== href;
    before.current = { href, route };
    if (isFirst || !isOtherHref) return;
    if (isOtherScreen) {
      document.getElementById("screen-title")?.focus({ preventScroll: true });
      scrollTo(0, rememberedScroll());
    } else if (route.screen === "list" && route.view.cursor !== "") {
      scrollTo(0, rememberedScroll());
    }
  });
  return lastViewed.current;
}

function Header({ route, listHref, connection }: { route: Route; listHref: string; connection: Connection }) {
  const current = (...screens: Route["screen"][]) => (screens.includes(route.screen) ? "page" : undefined);
  return (
    <header className="header">
      <Link className="logo" href="/" aria-label={`${site.brand} inbox`}>
        <Mark />
        <span className="wordmark">
          {site.brand} <span className="wordmark-inbox">Inbox</span>
        </span>
      </Link>
      <nav className="menu" aria-label="Inbox">
        <Link href={route.screen === "list" ? "/" : listHref} aria-current={current("list", "message")}>
          Messages
        </Link>
        <Link href={hrefOf({ screen: "person", email: "" })} aria-current={current("person")}>
          People
        </Link>
        <Link href={hrefOf({ screen: "overview" })} aria-current={current("overview")}>
          Overview
        </Link>
      </nav>
      <p className={`connection connection-${connection}`}>
        {connection === "live" ? "Live" : connection === "connecting" ? "Connecting" : "No connection"}
      </p>
    </header>
  );
}

function ConnectionBanner({ connection }: { connection: Connection }) {
  return (
    <div className="banner-space" role="alert">
      {connection === "lost" && (
        <p className="banner">
          <strong>The inbox does not answer.</strong> What you see may be old. If it was stopped in its terminal, run{" "}
          <code>npm run inbox</code> and open the address that it prints. Trying again every second.
        </p>
      )}
      {connection === "unavailable" && (
        <p className="banner">
          <strong>The database does not answer.</strong> What you see may be old. Trying again every second.
        </p>
      )}
    </div>
  );
}

/** `missing`: the page was opened without a token. `refused`: with one of another run. */
export function NoAccess({ reason }: { reason: "missing" | "refused" }) {
  useEffect(() => {
    document.title = `No access – ${site.brand} inbox`;
  }, []);
  return (
    <main className="no-access">
      <Mark />
      <h1>{reason === "missing" ? "Open the address from the terminal" : "This address is no longer valid"}</h1>
      <p>
        {reason === "missing"
          ? "The address that the command printed has a key in it, after the #. Without it nobody gets in."
          : "Each run of the inbox has a key of its own, and this page has the key of another run."}
      </p>
      <p>
        Run <code>npm run inbox</code>, or look where it runs, and open the whole address that it prints.
      </p>
    </main>
  );
}
