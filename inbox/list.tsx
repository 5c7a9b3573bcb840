import { Box, Button, Checkbox, Group, Paper, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDidUpdate, useMediaQuery } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import superjson from "superjson";
import { MAX_SEARCH_LENGTH } from "../contract/operator-limits.ts";
import { asSentence } from "../contract/text.ts";
import { ACTION_LABELS, ALL_ACTIONS, clearNotices, perform, saveAs } from "./actions.tsx";
import { type Action, type MessageView, type Tab, type TabCounts, trpc, useLive, useStatus } from "./api.ts";
import { useKeys } from "./keys.tsx";
import { formatNumber, formatTime, plural, VisitorText } from "./labels.tsx";
import { filterOf, type ListView, PAGE_SIZE, TAB_NAME, TABS } from "./list-view.ts";
import { EmptyPanel, Loaded, ScreenTitle, useNow } from "./parts.tsx";
import { MessageRows, rowId } from "./rows.tsx";

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
  const fresh = useFresh(isPlaceholderData ? undefined : data?.messages, JSON.stringify(view));
  return (
    <>
      {/* The menu shows the same, and the space is for messages. */}
      <div className="visually-hidden">
        <ScreenTitle name={view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}>Messages</ScreenTitle>
        <p className="visually-hidden" role="status">
          {fresh.size > 0 ? plural(fresh.size, "new message") : ""}
        </p>
      </div>
      <Attention />
      <Tabs view={view} counts={counts} />
      <SearchField view={view} />
      <PersonLink search={view.search} />
      <Loaded query={query} label="Loading messages">
        {({ messages, counts }) =>
          messages.length === 0 ? (
            <NothingFound view={view} isEmptyStore={allCounts?.all === 0} />
          ) : (
            <Results
              key={JSON.stringify({ ...view, page: 1 })}
              view={view}
              messages={messages}
              total={counts[view.tab]}
              fresh={fresh}
              isOutdated={isPlaceholderData}
            />
          )
        }
      </Loaded>
    </>
  );
}

/** The messages that arrived after the list was opened, without older ones that moved up from the next page. */
function useFresh(messages: readonly MessageView[] | undefined, list: string): ReadonlySet<string> {
  const opened = useRef({ list: "", newestMs: 0 });
  if (messages && opened.current.list !== list)
    opened.current = { list, newestMs: Math.max(0, ...messages.map(({ acceptedAt }) => acceptedAt.getTime())) };
  const arrived = messages?.filter(({ acceptedAt }) => acceptedAt.getTime() > opened.current.newestMs) ?? [];
  return new Set(arrived.map(({ reference }) => reference));
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

/** What is wrong, with its remedy; on a phone only the first problem, so that messages stay in view. */
function Attention() {
  const troubles = useStatus()?.troubles.filter(({ severity }) => severity !== "info") ?? [];
  const isWide = useMediaQuery("(min-width: 48rem)", true, { getInitialValueInEffect: false });
  const [first, ...others] = troubles;
  if (!first) return null;
  return (
    <details className="attention" open={isWide}>
      <summary>
        {first.what}
        {others.length > 0 && `, and ${others.length} more`}
      </summary>
      <ul className="plain stack">
        {troubles.map(({ kind, channel, what, remedy, since }) => (
          <li key={`${kind} ${channel}`}>
            <strong>{asSentence(what)}</strong> {asSentence(remedy)}
            {since !== null && ` Since ${formatTime(since)}.`}
          </li>
        ))}
      </ul>
    </details>
  );
}

const NOTHING_IN: Readonly<Record<Tab, readonly [title: string, text: string]>> = {
  all: ["No messages yet", "New messages appear here by themselves."],
  unanswered: ["Everything is answered", "New messages appear here by themselves."],
  answered: ["Nothing is answered yet", "Messages that you reply to or mark as answered are listed here."],
  waiting: ["Nothing is waiting", "Every email, reply and post that was due has been sent, or is in another tab."],
  failed: ["Nothing has failed", "Messages, replies and web hooks that cannot be delivered are listed here."],
  quarantined: ["Nothing is quarantined", "Suspected abuse is listed here until its retention period ends."],
};

function NothingFound({ view, isEmptyStore }: { view: ListView; isEmptyStore: boolean }) {
  const isFiltered = view.search !== "" && !isEmptyStore;
  const isPastEnd = view.page > 1;
  const [title, text] = isPastEnd
    ? ["No more messages", ""]
    : isFiltered
      ? ["No message matches", `No message in “${TAB_NAME[view.tab]}” has all of these words.`]
      : NOTHING_IN[isEmptyStore ? "all" : view.tab];
  return (
    <EmptyPanel title={title}>
      <p>{text}</p>
      {(isPastEnd || isFiltered) && (
        <Link to="/" search={isPastEnd ? { ...view, page: 1 } : { tab: view.tab }}>
          {isPastEnd ? "Back to the first page" : "Clear the search"}
        </Link>
      )}
    </EmptyPanel>
  );
}

interface ResultsProps {
  view: ListView;
  messages: readonly MessageView[];
  total: number;
  fresh: ReadonlySet<string>;
  isOutdated: boolean;
}

function Results({ view, messages, total, fresh, isOutdated }: ResultsProps) {
  const now = useNow();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const clearButton = useRef<HTMLButtonElement>(null);
  const selectPage = useRef<HTMLInputElement>(null);
  const selected = messages.filter(({ reference }) => picked.has(reference));
  const isPageSelected = messages.every(({ reference }) => picked.has(reference));

  const select = (references: Iterable<string>) => {
    clearNotices();
    setPicked(new Set(references));
  };
  const toggle = (reference: string) => select(picked.symmetricDifference(new Set([reference])));
  const fitting = (action: Action) => selected.filter(({ allowed }) => allowed.includes(action));
  const performOnSelected = async (action: Action) => {
    if (await perform(action, fitting(action))) setPicked(new Set());
  };
  // The pressed button may have been removed together with its selection.
  useDidUpdate(() => {
    if (document.activeElement === document.body)
      (clearButton.current ?? selectPage.current)?.focus({ preventScroll: true });
  }, [selected.length]);

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
          ref={selectPage}
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
      {groupsOf(view.tab, messages).map(([group, some]) => (
        <section key={group} className="stack">
          {group !== "Messages" && <h2>{group}</h2>}
          <MessageRows
            messages={some}
            now={now}
            label={`${group}, newest first`}
            fresh={fresh}
            view={view}
            selection={{ isSelected: (reference) => picked.has(reference), toggle }}
          />
        </section>
      ))}
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
          <Button ref={clearButton} size="xs" variant="subtle" onClick={() => select([])}>
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
    </Box>
  );
}

/** In quarantine, what the site held back may be a real message; what people marked is not. */
function groupsOf(tab: Tab, messages: readonly MessageView[]) {
  const groups = Map.groupBy(messages, ({ quarantineReason }) => {
    if (tab !== "quarantined") return "Messages";
    return quarantineReason === "marked-as-spam" ? "Marked as spam" : "Held back";
  });
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
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
  if (view.page === 1 && last >= total) return <span>{plural(total, "message")}</span>;
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
