import { Box, Button, Checkbox, Group, Paper, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import superjson from "superjson";
import { MAX_SEARCH_LENGTH } from "../contract/operator-limits.ts";
import { asSentence } from "../contract/text.ts";
import { ACTION_LABELS, ALL_ACTIONS, clearNotices, saveAs, useActions } from "./actions.tsx";
import { type Action, type MessageView, reloadAll, type Tab, type TabCounts, trpc, useLive, useStatus } from "./api.ts";
import { useKeys } from "./keys.tsx";
import { EmptyPanel, Loaded, ScreenTitle, useNow, VisitorText } from "./parts.tsx";
import { filterOf, type ListView, MessageRows, PAGE_SIZE, rowId, TAB_NAME, TABS } from "./rows.tsx";
import { formatNumber, formatTime, plural } from "./words.ts";

const TYPING_PAUSE_MS = 150;

const route = getRouteApi("/");

export function ListScreen() {
  const view = route.useSearch();
  const { counts: allCounts } = useLive();
  const range = { offset: (view.page - 1) * PAGE_SIZE, limit: PAGE_SIZE };
  const query = useQuery(
    trpc.list.queryOptions({ ...filterOf(view), ...range }, { placeholderData: keepPreviousData }),
  );
  const { data, isPlaceholderData } = query;
  const counts = data?.counts ?? (view.search ? null : allCounts);
  return (
    <>
      {/* The menu shows the same, and the space is for messages. */}
      <div className="visually-hidden">
        <ScreenTitle name={view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}>Messages</ScreenTitle>
      </div>
      <Attention />
      <Tabs view={view} counts={counts} />
      <SearchField view={view} />
      <PersonLink search={view.search} />
      <Loaded query={query}>
        {({ messages, counts }) =>
          messages.length === 0 ? (
            <NothingFound view={view} isEmptyStore={allCounts?.all === 0} />
          ) : (
            <Results
              key={JSON.stringify({ ...view, page: 1 })}
              view={view}
              messages={messages}
              total={counts[view.tab]}
              isOutdated={isPlaceholderData}
            />
          )
        }
      </Loaded>
    </>
  );
}

/** Tabs that do not fit scroll sideways; this scrolls to the current one. */
function showCurrent(tabs: HTMLElement | null): void {
  tabs?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function Tabs({ view, counts }: { view: ListView; counts: TabCounts | null }) {
  return (
    <nav className="tabs" aria-label="Messages by state" ref={showCurrent}>
      {TABS.map((tab) => (
        <Link
          key={tab}
          to="/"
          search={(before) => ({ ...before, tab, page: 1 })}
          activeOptions={{ exact: true }}
          aria-current={tab === view.tab ? "page" : undefined}
        >
          {TAB_NAME[tab]}{" "}
          <span className="soft" data-trouble={tab === "failed" && (counts?.failed ?? 0) > 0}>
            {counts ? formatNumber(counts[tab]) : "–"}
          </span>
        </Link>
      ))}
    </nav>
  );
}

function SearchField({ view }: { view: ListView }) {
  const navigate = useNavigate({ from: "/" });
  const [search, setSearch] = useState(view.search);
  const field = useRef<HTMLInputElement>(null);
  // Changes the URL as it is at that time, so that a tab chosen while typing is kept.
  const find = useDebouncedCallback(
    (typed: string) =>
      navigate({
        search: (before) => ({ ...before, page: 1, search: typed.trim() }),
        replace: true,
        resetScroll: false,
      }),
    TYPING_PAUSE_MS,
  );
  // Going back or forward changes the URL, but not the field.
  useEffect(() => setSearch((typed) => (typed.trim() === view.search ? typed : view.search)), [view.search]);
  useKeys({ "/": () => field.current?.select() });
  return (
    <search>
      <TextInput
        ref={field}
        id="search"
        aria-label="Search"
        type="search"
        value={search}
        maxLength={MAX_SEARCH_LENGTH}
        placeholder="Search messages, replies and notes"
        onChange={({ target }) => {
          setSearch(target.value);
          find(target.value);
        }}
      />
    </search>
  );
}

/** Privacy requests name an address, which may have no messages left. */
function PersonLink({ search }: { search: string }) {
  if (!/^\S+@\S+$/.test(search)) return null;
  return (
    <p>
      <Link to="/people" search={{ email: search }}>
        Export, correct, restrict or erase everything from <VisitorText text={search} />
      </Link>
    </p>
  );
}

/** What is wrong, with its remedy. Closed it takes one line, so that messages stay in view. */
function Attention() {
  const troubles = useStatus()?.troubles.filter(({ severity }) => severity !== "info") ?? [];
  const [first, ...others] = troubles;
  if (!first) return null;
  return (
    <details className="attention">
      <summary>
        {first.what}
        {others.length > 0 && `, and ${others.length} more`}
      </summary>
      {troubles.map(({ kind, channel, what, remedy, since }) => (
        <p key={`${kind} ${channel}`}>
          <strong>{asSentence(what)}</strong> {asSentence(remedy)}
          {since !== null && ` Since ${formatTime(since)}.`}
        </p>
      ))}
    </details>
  );
}

const NOTHING_IN: Readonly<Record<Tab, string>> = {
  all: "No messages yet",
  unanswered: "Everything is answered",
  answered: "Nothing is answered yet",
  waiting: "Nothing is waiting",
  failed: "Nothing has failed",
  quarantined: "Nothing is quarantined",
};

function NothingFound({ view, isEmptyStore }: { view: ListView; isEmptyStore: boolean }) {
  const isPastEnd = view.page > 1;
  const isSearch = view.search !== "" && !isEmptyStore;
  const title = isPastEnd
    ? "No more messages"
    : isSearch
      ? "No message matches"
      : NOTHING_IN[isEmptyStore ? "all" : view.tab];
  return (
    <EmptyPanel title={title}>
      {isPastEnd || isSearch ? (
        <Link to="/" search={isPastEnd ? { ...view, page: 1 } : { tab: view.tab }}>
          {isPastEnd ? "Back to the first page" : "Clear the search"}
        </Link>
      ) : (
        "New messages appear here by themselves."
      )}
    </EmptyPanel>
  );
}

interface ResultsProps {
  view: ListView;
  messages: readonly MessageView[];
  total: number;
  isOutdated: boolean;
}

function Results({ view, messages, total, isOutdated }: ResultsProps) {
  const now = useNow();
  const { perform, question } = useActions();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const selected = messages.filter(({ reference }) => picked.has(reference));
  const isPageSelected = messages.every(({ reference }) => picked.has(reference));

  const select = (references: Iterable<string>) => {
    clearNotices();
    setPicked(new Set(references));
  };
  const toggle = (reference: string) => select(picked.symmetricDifference(new Set([reference])));
  const fitting = (action: Action) => selected.filter(({ allowed }) => allowed.includes(action));
  const performOnSelected = (action: Action) =>
    perform(action, fitting(action), {
      async refresh() {
        setPicked(new Set());
        await reloadAll();
      },
    });

  /** Acts on the selection, otherwise on the focused row. */
  const mark = (action: "answer" | "spam") => {
    const message = focusedMessage(messages);
    if (selected.length > 0) performOnSelected(action);
    else if (message?.allowed.includes(action)) perform(action, [message]);
  };
  useKeys({
    j: () => focusRow(1),
    k: () => focusRow(-1),
    o: () => focusedRow()?.click(),
    x: () => {
      const message = focusedMessage(messages);
      if (message) toggle(message.reference);
    },
    e: () => mark("answer"),
    "!": () => mark("spam"),
  });

  const exportFile = () => saveAs("export.csv", { filter: superjson.stringify(filterOf(view)) });
  return (
    <Box className="stack" opacity={isOutdated ? 0.6 : 1} aria-busy={isOutdated}>
      <Group className="soft">
        <Checkbox
          size="md"
          label={`Select all${total > messages.length ? ` ${formatNumber(messages.length)}` : ""}`}
          checked={isPageSelected}
          indeterminate={selected.length > 0 && !isPageSelected}
          onChange={() => select(isPageSelected ? [] : messages.map(({ reference }) => reference))}
        />
        <Pages view={view} shown={messages.length} total={total} />
        <Button size="xs" ml="auto" onClick={exportFile}>
          Export CSV
        </Button>
      </Group>
      <MessageRows
        messages={messages}
        now={now}
        label={`${TAB_NAME[view.tab]}, newest first`}
        view={view}
        selection={{ isSelected: (reference) => picked.has(reference), toggle }}
      />
      {total > messages.length && (
        <Group className="soft" justify="center">
          <Pages view={view} shown={messages.length} total={total} />
        </Group>
      )}
      <p className="visually-hidden" role="status">
        {selected.length > 0 ? `${plural(selected.length, "message")} selected` : ""}
      </p>
      {selected.length > 0 && (
        <Paper
          component="section"
          className="bulk"
          pos="sticky"
          // The padding of the main part: no row shows below it.
          bottom="-2rem"
          withBorder
          shadow="md"
          p="xs"
          aria-label="Selected messages"
        >
          <strong>{formatNumber(selected.length)} selected</strong>
          <Button size="xs" variant="subtle" onClick={() => select([])}>
            Clear
          </Button>
          {ALL_ACTIONS.map((action) => {
            const { length } = fitting(action);
            return (
              length > 0 && (
                <Button
                  key={action}
                  size="xs"
                  {...(action === "delete" && { variant: "outline", color: "red" })}
                  onClick={() => performOnSelected(action)}
                >
                  {ACTION_LABELS[action].label}
                  {length < selected.length && ` ${formatNumber(length)}`}
                </Button>
              )
            );
          })}
        </Paper>
      )}
      {question}
    </Box>
  );
}

/** `51–100 of 302`, and links to the pages before and after. */
function Pages({ view, shown, total }: { view: ListView; shown: number; total: number }) {
  const first = (view.page - 1) * PAGE_SIZE + 1;
  const last = first + shown - 1;
  const button = (name: string, page: number) => (
    <Button size="xs" renderRoot={(props) => <Link {...props} to="/" search={{ ...view, page }} />}>
      {name}
    </Button>
  );
  if (view.page === 1 && last >= total) return <span role="status">{plural(total, "message")}</span>;
  return (
    <Group component="nav" gap="xs" aria-label="Pages">
      <span>
        {formatNumber(first)}–{formatNumber(last)} of {formatNumber(Math.max(last, total))}
      </span>
      {view.page > 1 && button("Newer", view.page - 1)}
      {last < total && button("Older", view.page + 1)}
    </Group>
  );
}

const focusedRow = () => document.activeElement?.closest(".row")?.querySelector("a");

function focusedMessage(messages: readonly MessageView[]): MessageView | undefined {
  return messages.find(({ reference }) => rowId(reference) === focusedRow()?.id);
}

/** Focuses the next or previous row, or the first row if no row has the focus. */
function focusRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".row a")];
  const current = links.findIndex(({ id }) => id === focusedRow()?.id);
  links[current === -1 ? 0 : current + step]?.focus();
}
