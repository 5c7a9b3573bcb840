import { Link, Outlet, useLocation, useRouterState, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Mark } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { ActionsProvider } from "./actions.tsx";
import { type ListView, NEWEST } from "./list-view.ts";
import { EmptyPanel, LoadingRows, NoAccess } from "./panels.tsx";
import { type Connection, useLive, useLiveUpdates } from "./queries.ts";
import { rowId } from "./rows.tsx";
import { StatusLine } from "./status.tsx";

/** What is around every screen. */
export function Shell() {
  const { connection, counts } = useLive();
  const { pathname } = useLocation();
  useLiveUpdates();
  useFocusOnArrival();
  if (connection === "refused") return <NoAccess reason="refused" />;
  return (
    <ActionsProvider>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Header pathname={pathname} />
      <ConnectionBanner connection={connection} />
      <StatusLine />
      <main id="main" className="main" tabIndex={-1}>
        {counts === null ? <Waiting connection={connection} /> : <Outlet />}
      </main>
    </ActionsProvider>
  );
}

/** On another screen its heading gets the focus; back on the list, the row of the message that was shown. */
function useFocusOnArrival(): void {
  const location = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation });
  const before = useRef(location);
  useEffect(() => {
    const last = before.current;
    before.current = location;
    if (!last || !location) return;
    const isLost = document.activeElement === document.body;
    if (last.pathname === location.pathname && !isLost) return;
    const row = document.getElementById(rowId(last.pathname.replace("/messages/", "")));
    if (row) row.focus();
    else document.getElementById("screen-title")?.focus({ preventScroll: true });
  }, [location]);
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

function Header({ pathname }: { pathname: string }) {
  const isList = pathname === "/";
  const isMessages = isList || pathname.startsWith("/messages/");
  const search = useSearch({ strict: false });
  const lastView = useRef<Partial<ListView>>(NEWEST);
  if (isMessages) lastView.current = search;
  return (
    <header className="header">
      <Link className="logo" to="/" activeOptions={{ exact: true }} aria-label={`${site.brand} inbox`}>
        <Mark />
        <span className="wordmark">
          {site.brand} <span className="wordmark-inbox">Inbox</span>
        </span>
      </Link>
      <nav className="menu" aria-label="Inbox">
        <Link
          to="/"
          search={isList ? {} : lastView.current}
          activeOptions={{ exact: true }}
          aria-current={isMessages ? "page" : undefined}
        >
          Messages
        </Link>
        <Link to="/people" activeOptions={{ includeSearch: false }}>
          People
        </Link>
        <Link to="/overview">Overview</Link>
      </nav>
    </header>
  );
}

function ConnectionBanner({ connection }: { connection: Connection }) {
  return (
    <div role="alert">
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
      {connection === "slowed" && (
        <p className="banner">
          <strong>The inbox answers slowly.</strong> Something on this machine tries wrong keys, and this page has to
          wait. Trying again every ten seconds.
        </p>
      )}
    </div>
  );
}
