import { Box, Code, Stack, Text } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useRouterState, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { Mark } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { ActionDialog, undoLast } from "./actions.tsx";
import { type Connection, trpc, useLive, useStatus } from "./api.ts";
import { KeyHelp, useKeys } from "./keys.tsx";
import { formatAge, formatSince } from "./labels.tsx";
import type { ListView } from "./list-view.ts";
import { focusTitle, ScreenTitle } from "./parts.tsx";
import { rowId } from "./rows.tsx";

export function Shell() {
  const { connection } = useLive();
  useFocusOnArrival();
  useKeys({ z: undoLast });
  if (connection === "refused") return <NoAccess hasToken />;
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Header />
      <ConnectionBanner connection={connection} />
      <main id="main" className="stack" tabIndex={-1}>
        <Outlet />
      </main>
      <Notifications className="notices" withinPortal={false} position="bottom-center" transitionDuration={0} />
      <ActionDialog />
    </>
  );
}

/** Focuses the heading of a new screen, or, back on the list, the row of the message that was open. */
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
    else focusTitle();
  }, [location]);
}

function Header() {
  const { pathname } = useLocation();
  const isList = pathname === "/";
  const isMessages = isList || pathname.startsWith("/messages/");
  const search = useSearch({ strict: false });
  const lastView = useRef<Partial<ListView>>({});
  if (isMessages) lastView.current = search;
  const current = isMessages && ({ "aria-current": "page" } as const);
  return (
    <header className="bar">
      <Link to="/" activeOptions={{ exact: true }} aria-label={`${site.brand} inbox`}>
        <Mark />
      </Link>
      <Text span className="wide-only" fw={600} ff="var(--display)">
        {site.brand} Inbox
      </Text>
      <nav className="tabs" aria-label="Inbox">
        <Link to="/" search={isList ? {} : lastView.current} activeOptions={{ exact: true }} {...current}>
          Messages
        </Link>
      </nav>
      <StatusLine />
    </header>
  );
}

function ConnectionBanner({ connection }: { connection: Connection }) {
  // Loaded in advance, because it is needed when the server does not answer.
  const { data: command } = useQuery(
    trpc.inboxCommand.queryOptions(undefined, { staleTime: Number.POSITIVE_INFINITY }),
  );
  const start = <>run {command ? <Code>{command}</Code> : "its command"} and open the address that it prints.</>;
  const old = "This page may be out of date. Trying again every second.";
  const texts: Partial<Record<Connection, [what: string, remedy: ReactNode]>> = {
    lost: ["The inbox does not answer.", [old, " If the inbox was stopped, ", start]],
    unavailable: ["The database does not answer.", [old, " If this lasts, stop the inbox, then ", start]],
  };
  const [what, remedy] = texts[connection] ?? [];
  return (
    <div role="alert">
      {what && (
        <Box component="p" className="bar" display="block" bg="var(--danger-ground)">
          <strong>{what}</strong> {remedy}
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
  const waiting = connection === "connecting" || connection === "live" ? "Connecting" : "No connection";
  return (
    <section className="marks" aria-label="Status">
      <p data-trouble={known?.website.isRunning === false} role="status">
        {known ? (known.website.isRunning ? "Website: running" : `Website: not running${since}`) : waiting}
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

/** Shown without a token, or with a token of another run. */
export function NoAccess({ hasToken }: { hasToken: boolean }) {
  return (
    <Stack component="main" m="auto" p="md" maw="34rem">
      <Mark />
      <ScreenTitle name="No access">
        {hasToken ? "This address is no longer valid" : "Open the address from the terminal"}
      </ScreenTitle>
      <p>
        {hasToken
          ? "Each run of the inbox has its own key, and this page has the key of another run."
          : "The address that the command printed contains a key, after the #. The inbox opens only with that key."}
      </p>
      <p>Start the inbox, or go to the terminal where it runs, and open the whole address that it prints.</p>
    </Stack>
  );
}
