import { Button, Checkbox, Group, TextInput } from "@mantine/core";
import { useIdle } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import superjson from "superjson";
import { asSentence } from "../../contract/text.ts";
import { ACTION_WORDS, MAX_SEARCH_LENGTH, TAB_NAME, TABS } from "../words.ts";
import { ALL_ACTIONS, clearNotices, saveAs, undoLast, useActions } from "./actions.tsx";
import { type Action, type MessageView, reloadAll, type TabCounts, trpc, useLive, useStatus } from "./api.ts";
import { arrange, seenIn } from "./arrival.ts";
import { formatNumber, formatTime, plural } from "./format.ts";
import { useKeys } from "./keys.tsx";
import { EmptyPanel, Loaded, ScreenTitle, useNow, VisitorText } from "./parts.tsx";
import { filterOf, isNarrowed, type ListView, MessageRows, NEWEST, PAGE_SIZE, rowId } from "./rows.tsx";

const route = getRouteApi("/");

export function ListScreen() {
  const view = route.useSearch();
  useKeys({ z: () => undoLast() });
  const { counts: allCounts } = useLive();
  const range = { offset: (view.page - 1) * PAGE_SIZE, limit: PAGE_SIZE };
  const query = useQuery(
    trpc.list.queryOptions({ ...filterOf(view), ...range }, { placeholderData: keepPreviousData }),
  );
  const counts = query.data?.counts ?? (isNarrowed(view) ? null : allCounts);
  return (
    <>
      {/* The menu shows the same, and the space is for messages. */}
      <div className="visually-hidden">
        <ScreenTitle name={view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}>Messages</ScreenTitle>
      </div>
      <Attention />
      <Tabs view={view} counts={counts} />
      <SearchField search={view.search} />
      <PersonLink search={view.search} />
      <Loaded query={query}>
        {({ messages, counts }) =>
          messages.length === 0 ? (
            <NothingFound view={view} counts={counts} isEmptyStore={allCounts?.all === 0} />
          ) : (
            <Results
              key={JSON.stringify({ ...view, page: 1 })}
              view={view}
              messages={messages}
              total={counts[view.tab]}
            />
          )
        }
      </Loaded>
    </>
  );
}

/** Tabs that do not fit scroll sideways; this scrolls to the current one, again when the counts have made them wider. */
function showCurrent(tabs: HTMLElement | null): void {
  tabs?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function Tabs({ view, counts }: { view: ListView; counts: TabCounts | null }) {
  return (
    <nav key={String(!counts)} className="tabs" aria-label="Messages by state" ref={showCurrent}>
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

function SearchField({ search }: { search: string }) {
  const navigate = useNavigate({ from: "/" });
  const field = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => field.current?.select() });
  const find = (event: FormEvent) => {
    event.preventDefault();
    const typed = field.current?.value.trim() ?? "";
    navigate({ search: (before) => ({ ...before, page: 1, search: typed }) });
    // So that the keys for messages work.
    field.current?.blur();
  };
  return (
    <search>
      <form onSubmit={find}>
        <TextInput
          key={search}
          ref={field}
          id="search"
          aria-label="Search"
          type="search"
          defaultValue={search}
          maxLength={MAX_SEARCH_LENGTH}
          placeholder="Words in messages, replies, notes"
        />
      </form>
    </search>
  );
}

/** Privacy requests name an address, which may have no messages left. */
function PersonLink({ search }: { search: string }) {
  if (!/^[^\s@]+@[^\s@]+$/.test(search)) return null;
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
      {troubles.map(({ kind, channel, what, remedy, lead, tab, since }) => (
        <p key={`${kind} ${channel}`}>
          <strong>{asSentence(what)}</strong>{" "}
          {tab === null ? (
            asSentence(remedy)
          ) : (
            <>
              {lead}:{" "}
              <Link to="/" search={{ ...NEWEST, tab }}>
                {TAB_NAME[tab]}
              </Link>
              .
            </>
          )}
          {since !== null && ` Since ${formatTime(since)}.`}
        </p>
      ))}
    </details>
  );
}

interface NothingFoundProps {
  view: ListView;
  counts: TabCounts;
  isEmptyStore: boolean;
}

function NothingFound({ view, counts, isEmptyStore }: NothingFoundProps) {
  const others = TABS.filter((tab) => tab !== "all" && counts[tab] > 0);
  // A restricted message may be in no other tab.
  const elsewhere = !isNarrowed(view) ? [] : others.length === 0 && counts.all > 0 ? (["all"] as const) : others;
  if (counts[view.tab] === 0 && elsewhere.length > 0) {
    return (
      <EmptyPanel title={`Nothing in ${TAB_NAME[view.tab]}`}>
        {elsewhere.map((tab) => (
          <p key={tab}>
            <Link to="/" search={{ ...view, tab, page: 1 }}>
              {formatNumber(counts[tab])} in {TAB_NAME[tab]}
            </Link>
          </p>
        ))}
      </EmptyPanel>
    );
  }
  const isPart = !isEmptyStore && (isNarrowed(view) || view.page > 1);
  const ofPart = counts[view.tab] > 0 ? "No more messages" : "No message matches";
  const title = isPart ? ofPart : view.tab === "unanswered" ? "Everything is answered" : "No messages";
  return (
    <EmptyPanel title={title}>
      {isPart ? (
        <Link to="/" search={{ tab: view.tab }}>
          Show all in this tab
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
}

const ALONE_MS = 10_000;

function Results({ view, messages, total }: ResultsProps) {
  const now = useNow();
  const navigate = useNavigate({ from: "/" });
  const showDrafts = (isOnly: boolean) =>
    navigate({ search: (before) => ({ ...before, page: 1, show: isOnly ? "drafts" : "all" }) });
  const isAlone = useIdle(ALONE_MS);
  const [seen, setSeen] = useState(() => seenIn(messages));
  const see = (rows: readonly MessageView[]) => setSeen((before) => new Map([...before, ...seenIn(rows)]));
  const { shown, fresh } = arrange(seen, messages, view.tab);
  if (isAlone && fresh.length > 0) see(messages);
  else if (!shown.every(({ reference }) => seen.has(reference)))
    see(shown.filter(({ reference }) => !seen.has(reference)));
  const { perform, question } = useActions();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const selected = shown.filter(({ reference }) => picked.has(reference));
  const isPageSelected = shown.every(({ reference }) => picked.has(reference));

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
    const message = focusedMessage(shown);
    if (selected.length > 0) performOnSelected(action);
    else if (message?.allowed.includes(action)) perform(action, [message]);
  };
  useKeys({
    j: () => focusRow(1),
    k: () => focusRow(-1),
    o: () => focusedRow()?.click(),
    x: () => {
      const message = focusedMessage(shown);
      if (message) toggle(message.reference);
    },
    e: () => mark("answer"),
    "!": () => mark("spam"),
  });

  const exportFile = () => saveAs("export.csv", { filter: superjson.stringify(filterOf(view)) });
  return (
    <div className="stack">
      <Group className="soft" gap="0 1rem">
        <Checkbox
          size="md"
          label={`Select all${total > messages.length ? ` ${formatNumber(shown.length)}` : ""}`}
          checked={isPageSelected}
          indeterminate={selected.length > 0 && !isPageSelected}
          onChange={() => select(isPageSelected ? [] : shown.map(({ reference }) => reference))}
        />
        <span className="arrivals">
          {fresh.length > 0 ? (
            <Button size="compact-sm" onClick={() => see(messages)}>
              {plural(fresh.length, "new message")}
            </Button>
          ) : (
            <span role="status">{plural(total, "message")}</span>
          )}
        </span>
        <Checkbox
          size="md"
          label="Drafts only"
          checked={view.show === "drafts"}
          onChange={({ target }) => showDrafts(target.checked)}
        />
        <Button size="xs" ml="auto" onClick={exportFile}>
          Export CSV
        </Button>
      </Group>
      <MessageRows
        messages={shown}
        now={now}
        label={`${TAB_NAME[view.tab]}, newest first`}
        view={view}
        selection={{ isSelected: (reference) => picked.has(reference), toggle }}
      />
      {total > messages.length && <Pages view={view} shown={messages.length} total={total} />}
      <p className="visually-hidden" role="status">
        {selected.length > 0 ? `${plural(selected.length, "message")} selected` : ""}
      </p>
      {selected.length > 0 && (
        <section className="bulk" aria-label="Selected messages">
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
                  {ACTION_WORDS[action].label}
                  {length < selected.length && ` ${formatNumber(length)}`}
                </Button>
              )
            );
          })}
        </section>
      )}
      {question}
    </div>
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
  return (
    <Group component="nav" className="soft" justify="center" gap="xs" aria-label="Pages">
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
