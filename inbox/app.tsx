import { useEffect, useLayoutEffect, useRef } from "react";
import { Mark } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { ListScreen } from "./list.tsx";
import { type Connection, LiveContext, useChanges } from "./live.tsx";
import { MessageScreen } from "./message.tsx";
import { OverviewScreen } from "./overview.tsx";
import { EmptyPanel, LoadingRows, ScreenBoundary } from "./panels.tsx";
import { PersonScreen } from "./person.tsx";
import { hrefOf, Link, type Place, parsePlace, rememberedScroll, useHref, watchHistory } from "./places.tsx";
import { formatNumber, TAB_NAME } from "./words.tsx";
import { WorkProvider } from "./work.tsx";

watchHistory();

export function App() {
  const live = useChanges();
  const href = useHref();
  const { pathname, search } = new URL(href, location.origin);
  const place = parsePlace(pathname, search);
  const lastList = useRef("/");
  if (place.screen === "list") lastList.current = href;
  useTitle(place, live.counts?.unanswered ?? 0);
  const cameFrom = useArrival(place, href);
  if (live.connection === "refused") return <NoAccess reason="refused" />;

  return (
    <LiveContext value={live}>
      <WorkProvider>
        <a className="skip-link" href="#main">
          Skip to content
        </a>
        <Header place={place} listHref={lastList.current} connection={live.connection} />
        <ConnectionBanner connection={live.connection} />
        <main id="main" className="main" tabIndex={-1}>
          {live.changes === null ? (
            <Waiting connection={live.connection} />
          ) : (
            <ScreenBoundary key={place.screen}>
              <Screen place={place} listHref={lastList.current} cameFrom={cameFrom} />
            </ScreenBoundary>
          )}
        </main>
      </WorkProvider>
    </LiveContext>
  );
}

function Screen({ place, listHref, cameFrom }: { place: Place; listHref: string; cameFrom: string | null }) {
  switch (place.screen) {
    case "list":
      return <ListScreen view={place.view} comesFrom={cameFrom} />;
    case "message":
      return <MessageScreen key={place.reference} reference={place.reference} listHref={listHref} />;
    case "person":
      return <PersonScreen email={place.email} />;
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

function useTitle(place: Place, unanswered: number): void {
  const name =
    place.screen === "message"
      ? place.reference
      : place.screen === "person"
        ? "People"
        : place.screen === "overview"
          ? "Overview"
          : place.screen === "list" && place.view.tab !== "all"
            ? TAB_NAME[place.view.tab]
            : "Messages";
  const count = unanswered > 0 ? `(${formatNumber(unanswered)}) ` : "";
  useEffect(() => {
    document.title = `${count}${name} – ${site.brand} inbox`;
  }, [count, name]);
}

/**
 * On another screen the focus goes to its heading, and the page to where it was left, or its top. Gives the message that
 * a list is come back to from.
 */
function useArrival(place: Place, href: string): string | null {
  const before = useRef<{ href: string; place: Place } | null>(null);
  const cameFrom = useRef<string | null>(null);
  if (before.current && before.current.href !== href) {
    cameFrom.current = before.current.place.screen === "message" ? before.current.place.reference : null;
  }
  useLayoutEffect(() => {
    const isFirst = before.current === null;
    const isOtherScreen = before.current?.place.screen !== place.screen || place.screen === "message";
    const isOtherHref = before.current?.href !== href;
    before.current = { href, place };
    if (isFirst || !isOtherHref) return;
    if (isOtherScreen) {
      document.getElementById("screen-title")?.focus({ preventScroll: true });
      scrollTo(0, rememberedScroll());
    } else if (place.screen === "list" && place.view.cursor !== "") {
      scrollTo(0, rememberedScroll());
    }
  });
  return cameFrom.current;
}

function Header({ place, listHref, connection }: { place: Place; listHref: string; connection: Connection }) {
  const current = (...screens: Place["screen"][]) => (screens.includes(place.screen) ? "page" : undefined);
  return (
    <header className="header">
      <Link className="logo" href="/" aria-label={`${site.brand} inbox`}>
        <Mark />
        <span className="wordmark">
          {site.brand} <span className="wordmark-inbox">Inbox</span>
        </span>
      </Link>
      <nav className="menu" aria-label="Inbox">
        <Link href={place.screen === "list" ? "/" : listHref} aria-current={current("list", "message")}>
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
