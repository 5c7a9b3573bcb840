import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import {
  type Action,
  EXPORT_FORMATS,
  type ExportFormat,
  type ListSort,
  MAX_SEARCH_LENGTH,
  type MessageItem,
  type MessagePage,
  NO_COUNTRY,
  SORTS,
  TABS,
  type Tab,
  type TabCounts,
} from "../contract/inbox.ts";
import { asSentence } from "../contract/visible-text.ts";
import { useActions } from "./actions.tsx";
import { useKeys } from "./keys.tsx";
import { ACTION_LABELS, formatNumber, isAllowed, namedCountries, plural, TAB_NAME } from "./labels.tsx";
import { hasFilters, type ListView, NEWEST, PAGE_SIZE, PERIODS, type Period, toMessageQuery } from "./list-view.ts";
import { EmptyPanel, FailurePanel, LoadingRows, ScreenTitle } from "./panels.tsx";
import { countriesQuery, listQuery, reloadAll, statusQuery, useLive, useNow } from "./queries.ts";
import { MessageRows, rowId } from "./rows.tsx";

const TYPING_PAUSE_MS = 250;
const PERIOD_NAME: Readonly<Record<Period, string>> = {
  any: "Any time",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  dates: "Chosen dates",
};
const SORT_NAME: Readonly<Record<ListSort, string>> = {
  newest: "Newest first",
  oldest: "Oldest first",
  footprint: "Largest estimate first",
};
const BULK_ACTIONS: readonly Action[] = ["answer", "unanswer", "retry", "release", "resend", "delete"];

const route = getRouteApi("/");

export function ListScreen() {
  const now = useNow();
  const view = route.useSearch();
  const { counts: allCounts } = useLive();
  const { data: page, error, isPlaceholderData, refetch } = useQuery(listQuery(view));
  const counts = page?.counts ?? (hasFilters(view) ? null : allCounts);
  const fresh = useFresh(isPlaceholderData ? undefined : page?.items, JSON.stringify(view));

  return (
    <>
      {/* On a phone the menu says the same, and the first message matters more. */}
      <div className="visually-hidden-narrow">
        <ScreenTitle name={view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}>Messages</ScreenTitle>
        <p className="visually-hidden" role="status">
          {fresh.size > 0 ? plural(fresh.size, "new message") : ""}
        </p>
      </div>
      <ExpiringSoon />
      <Tabs view={view} counts={counts} />
      <Filters view={view} />
      {!page && !error && <LoadingRows label="Loading messages" />}
      {!page && error && <FailurePanel error={error} onRetry={refetch} />}
      {page && page.items.length === 0 && <NothingFound view={view} isEmptyStore={allCounts?.all === 0} />}
      {page && page.items.length > 0 && (
        <Results
          key={JSON.stringify({ ...view, page: 1 })}
          view={view}
          page={page}
          total={counts?.[view.tab] ?? page.items.length}
          now={now}
          fresh={fresh}
          isOutdated={isPlaceholderData}
        />
      )}
    </>
  );
}

/** Nothing that nobody has answered is erased unseen. */
function ExpiringSoon() {
  const { troubles = [] } = useQuery(statusQuery).data ?? {};
  const expiring = troubles.find(({ kind, severity }) => kind === "expiring" && severity !== "info");
  if (!expiring) return null;
  return (
    <p className="callout callout-quarantined expiring">
      <span>
        {asSentence(expiring.what)}{" "}
        <Link to="/" search={{ tab: "all", sort: "oldest" }}>
          Show the oldest
        </Link>
      </span>
    </p>
  );
}

/** References of messages that came in while the same list was shown; not of older ones that moved up into it. */
function useFresh(items: readonly MessageItem[] | undefined, list: string): ReadonlySet<string> {
  const last = useRef<{ list: string; newest: string } | null>(null);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (!items) return;
    const before = last.current?.list === list ? last.current.newest : null;
    const newest = [before ?? "", ...items.map(({ acceptedAt }) => acceptedAt)].sort().at(-1) ?? "";
    last.current = { list, newest };
    const arrived = items.filter(({ acceptedAt }) => before !== null && acceptedAt > before);
    if (before === null || arrived.length > 0) setFresh(new Set(arrived.map(({ reference }) => reference)));
  }, [items, list]);
  return fresh;
}

/** Where the tabs do not fit, they scroll sideways. */
function showCurrent(tabs: HTMLElement | null): void {
  tabs?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function Tabs({ view, counts }: { view: ListView; counts: TabCounts | null }) {
  return (
    <nav className="tabs" aria-label="Messages by state" ref={showCurrent}>
      {TABS.map((tab) => (
        <Link
          key={tab}
          className="tab"
          to="/"
          search={(before) => ({ ...before, tab, page: 1 })}
          activeOptions={{ exact: true }}
          aria-current={tab === view.tab ? "page" : undefined}
        >
          {TAB_NAME[tab]}{" "}
          <span className={tab === "failed" && counts && counts.failed > 0 ? "count count-alarm" : "count"}>
            {counts ? formatNumber(counts[tab]) : "–"}
          </span>
        </Link>
      ))}
    </nav>
  );
}

function Filters({ view }: { view: ListView }) {
  const { data: countries = [] } = useQuery(countriesQuery);
  const [search, setSearch] = useState(view.search);
  const [isOpen, setIsOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const navigate = useNavigate({ from: "/" });
  // Of whatever the address has by then: a choice that is made while somebody types is kept.
  const change = (changes: Partial<ListView>, replace = false) =>
    navigate({ search: (before) => ({ ...before, page: 1, ...changes }), replace, resetScroll: false });

  // Going back and forth changes the address without the field.
  useEffect(() => setSearch((typed) => (typed.trim() === view.search ? typed : view.search)), [view.search]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the typing that waits for a pause
  useEffect(() => {
    if (search.trim() === view.search) return;
    const timer = setTimeout(() => change({ search: search.trim() }, true), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [search]);

  const codes = countries.map(({ country }) => country).filter(Boolean);
  const isListed = view.country === "" || view.country === NO_COUNTRY || codes.includes(view.country);
  const active = [view.country !== "", view.period !== "any", view.sort !== "newest"].filter(Boolean).length;
  useKeys({ "/": () => field.current?.select() });
  return (
    <search className="filters">
      <form
        className={isOpen ? "filters-form filters-open" : "filters-form"}
        onSubmit={(event) => {
          event.preventDefault();
          change({ search: search.trim() });
        }}
      >
        <label className="filter filter-search">
          <span className="filter-label visually-hidden-narrow">Search</span>
          <input
            ref={field}
            id="search"
            type="search"
            value={search}
            maxLength={MAX_SEARCH_LENGTH}
            placeholder="Name, address, phone, reference or text"
            onChange={(event) => setSearch(event.target.value)}
          />
        </label>
        <button
          type="button"
          className="button button-small filters-toggle"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          Filters{active > 0 ? ` (${active})` : ""}
        </button>
        <label className="filter filter-more">
          <span className="filter-label">Country</span>
          <select value={view.country} onChange={(event) => change({ country: event.target.value })}>
            <option value="">All countries</option>
            {namedCountries(isListed ? codes : [...codes, view.country]).map(([code, name]) => (
              <option key={code} value={code}>
                {name}
              </option>
            ))}
            <option value={NO_COUNTRY}>No country</option>
          </select>
        </label>
        <Choice
          label="Time"
          names={PERIOD_NAME}
          values={PERIODS}
          value={view.period}
          onChange={(period) => change({ period, since: "", until: "" })}
        />
        <Choice
          label="Order"
          names={SORT_NAME}
          values={SORTS}
          value={view.sort}
          onChange={(sort) => change({ sort })}
        />
        {view.period === "dates" && (
          <>
            <DateField label="From" value={view.since} max={view.until} onChange={(since) => change({ since }, true)} />
            <DateField
              label="Up to and including"
              value={view.until}
              min={view.since}
              onChange={(until) => change({ until }, true)}
            />
          </>
        )}
      </form>
    </search>
  );
}

interface DateFieldProps {
  label: string;
  value: string;
  min?: string;
  max?: string;
  onChange: (date: string) => void;
}

/** Nobody but the operator writes into it while it has the focus: a year is typed in four steps. */
function DateField({ label, value, min, max, onChange }: DateFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current && field.current !== document.activeElement) field.current.value = value;
  }, [value]);
  return (
    <label className="filter filter-more">
      <span className="filter-label">{label}</span>
      <input
        ref={field}
        type="date"
        defaultValue={value}
        min={min}
        max={max}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  names: Readonly<Record<Value, string>>;
  values: readonly Value[];
  value: Value;
  onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, names, values, value, onChange }: ChoiceProps<Value>) {
  return (
    <label className="filter filter-more">
      <span className="filter-label">{label}</span>
      <select
        value={value}
        onChange={(event) => {
          const chosen = values.find((one) => one === event.target.value);
          if (chosen !== undefined) onChange(chosen);
        }}
      >
        {values.map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </select>
    </label>
  );
}

const NOTHING_IN: Readonly<Record<Tab, readonly [title: string, text: string]>> = {
  all: ["No messages yet", "As soon as somebody writes, the message appears here by itself."],
  unanswered: ["Everything is answered", "New messages appear here by themselves."],
  waiting: ["Nothing is waiting", "Every message has been delivered, or needs you in another tab."],
  failed: ["Nothing has failed", "Messages that cannot be delivered are listed here."],
  quarantined: ["Nothing is quarantined", "Suspected abuse is listed here, and never dropped."],
};

function NothingFound({ view, isEmptyStore }: { view: ListView; isEmptyStore: boolean }) {
  if (view.page > 1) {
    return (
      <EmptyPanel title="No more messages">
        <Link to="/" search={{ ...view, page: 1 }}>
          Back to the first page
        </Link>
      </EmptyPanel>
    );
  }
  if (hasFilters(view) && !isEmptyStore) {
    return (
      <EmptyPanel title="No message matches">
        <p>No message in “{TAB_NAME[view.tab]}” has all of what you asked for.</p>
        <Link className="button button-outline" to="/" search={{ ...NEWEST, tab: view.tab }}>
          Clear search and filters
        </Link>
      </EmptyPanel>
    );
  }
  const [title, text] = NOTHING_IN[isEmptyStore ? "all" : view.tab];
  return (
    <EmptyPanel title={title}>
      <p>{text}</p>
    </EmptyPanel>
  );
}

interface ResultsProps {
  view: ListView;
  page: MessagePage;
  total: number;
  now: Date;
  fresh: ReadonlySet<string>;
  isOutdated: boolean;
}

function Results({ view, page, total, now, fresh, isOutdated }: ResultsProps) {
  const actions = useActions();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  /** All that matched when the operator asked for all of them: what arrives later is not among them. */
  const [everything, setEverything] = useState<readonly MessageItem[] | null>(null);
  const [isCollecting, setIsCollecting] = useState(false);
  const clearButton = useRef<HTMLButtonElement>(null);
  const selectAll = useRef<HTMLInputElement>(null);
  const isButtonGone = useRef(false);
  const { items } = page;
  const selected = everything ?? items.filter(({ reference }) => picked.has(reference));
  const isPageSelected = items.every(({ reference }) => picked.has(reference));
  const query = toMessageQuery(view, now);

  useEffect(() => {
    if (selectAll.current) selectAll.current.indeterminate = selected.length > 0 && !isPageSelected;
  });

  const select = (references: Iterable<string>) => {
    setPicked(new Set(references));
    setEverything(null);
  };
  const toggle = (reference: string) => {
    actions.dismissNotice();
    select(picked.has(reference) ? [...picked].filter((one) => one !== reference) : [...picked, reference]);
  };
  const collectAll = async () => {
    setIsCollecting(true);
    const found = await actions.collect(query, total);
    setIsCollecting(false);
    setEverything(found);
    // The button that was pressed goes once all are selected.
    if (found) clearButton.current?.focus({ preventScroll: true });
  };
  const perform = async (action: Action) => {
    const fitting = selected.filter((item) => isAllowed(action, item));
    if ((await actions.perform(action, fitting, reloadAll)) === null) return;
    select([]);
    isButtonGone.current = true;
  };
  // The button that was pressed goes with the selection, and dialogs give the focus back to it before.
  useEffect(() => {
    if (isButtonGone.current && selected.length === 0) selectAll.current?.focus({ preventScroll: true });
    isButtonGone.current = false;
  }, [selected.length]);

  useKeys({
    j: () => focusRow(items, 1),
    k: () => focusRow(items, -1),
    o: () => focusedRow()?.click(),
    x: () => {
      const item = focusedItem(items);
      if (item) toggle(item.reference);
    },
    e: () => {
      const item = focusedItem(items);
      if (selected.length > 0) perform("answer");
      else if (item && isAllowed("answer", item)) actions.perform("answer", [item], reloadAll);
    },
  });

  return (
    <div className={isOutdated ? "results results-outdated" : "results"} aria-busy={isOutdated}>
      <div className="results-bar">
        <label className="select-all">
          <input
            ref={selectAll}
            type="checkbox"
            checked={isPageSelected}
            onChange={() => {
              actions.dismissNotice();
              select(isPageSelected ? [] : items.map(({ reference }) => reference));
            }}
          />
          Select all{total > items.length ? ` ${formatNumber(items.length)}` : ""}
        </label>
        <Pages view={view} shown={items.length} total={total} />
        <Exports onExport={(format) => actions.exportMessages(format, query, total)} />
      </div>
      <MessageRows
        messages={items}
        now={now}
        label={`Messages, ${SORT_NAME[view.sort].toLowerCase()}`}
        fresh={fresh}
        view={view}
        selection={{ isSelected: (reference) => picked.has(reference), toggle }}
      />
      <div className="results-below">
        {total > items.length && <Pages view={view} shown={items.length} total={total} />}
        <Exports onExport={(format) => actions.exportMessages(format, query, total)} />
      </div>
      <p className="visually-hidden" role="status">
        {selected.length > 0 ? `${plural(selected.length, "message")} selected` : ""}
      </p>
      {selected.length > 0 && (
        <section className="bulk" aria-label="Selected messages">
          <p className="bulk-count">
            {formatNumber(selected.length)} <span className="bulk-word">selected</span>
          </p>
          <button
            ref={clearButton}
            type="button"
            className="button button-small button-plain"
            onClick={() => select([])}
          >
            Clear
          </button>
          <div className="bulk-actions">
            {isPageSelected && total > items.length && everything === null && (
              <button type="button" className="button button-small" onClick={collectAll}>
                Select all {formatNumber(total)}
              </button>
            )}
            {BULK_ACTIONS.map((action) => {
              const fitting = selected.filter((item) => isAllowed(action, item)).length;
              return (
                fitting > 0 && (
                  <button
                    key={action}
                    type="button"
                    className={
                      action === "delete" ? "button button-small button-danger-outline" : "button button-small"
                    }
                    disabled={isCollecting}
                    onClick={() => perform(action)}
                  >
                    {ACTION_LABELS[action].label}
                    {fitting < selected.length && ` ${formatNumber(fitting)}`}
                  </button>
                )
              );
            })}
          </div>
        </section>
      )}
    </div>
  );
}

/** Above the list where there is room, else below it. */
function Exports({ onExport }: { onExport: (format: ExportFormat) => void }) {
  return (
    <span className="exports">
      Export
      {EXPORT_FORMATS.map((format) => (
        <button
          key={format}
          type="button"
          className="button button-small"
          aria-label={`Export as ${format.toUpperCase()}`}
          onClick={() => onExport(format)}
        >
          <svg className="export-shape" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="M8 2v7.500M4.500 6.500 8 10l3.500-3.500M2.500 13.500h11" />
          </svg>
          {format.toUpperCase()}
        </button>
      ))}
    </span>
  );
}

/** `51–100 of 302`, with the pages next to it. */
function Pages({ view, shown, total }: { view: ListView; shown: number; total: number }) {
  const first = (view.page - 1) * PAGE_SIZE + 1;
  const last = first + shown - 1;
  const [back, forth] = view.sort === "newest" ? ["Newer", "Older"] : ["Previous", "Next"];
  if (view.page === 1 && last >= total) return <span>{plural(total, "message")}</span>;
  return (
    <nav className="pages" aria-label="Pages">
      <span className="pages-range">
        {formatNumber(first)}–{formatNumber(last)} of {formatNumber(Math.max(last, total))}
      </span>
      {view.page > 1 && (
        <Link className="button button-small" to="/" search={{ ...view, page: view.page - 1 }}>
          {back}
        </Link>
      )}
      {last < total && (
        <Link className="button button-small" to="/" search={{ ...view, page: view.page + 1 }}>
          {forth}
        </Link>
      )}
    </nav>
  );
}

const focusedRow = () => document.activeElement?.closest(".row")?.querySelector<HTMLElement>(".row-link");

function focusedItem(items: readonly MessageItem[]): MessageItem | undefined {
  return items.find(({ reference }) => rowId(reference) === focusedRow()?.id);
}

/** The next row, or the one before; the first one while none has the focus. */
function focusRow(items: readonly MessageItem[], step: 1 | -1): void {
  const current = items.findIndex(({ reference }) => rowId(reference) === focusedRow()?.id);
  const next = items[current === -1 ? 0 : current + step];
  if (next) document.getElementById(rowId(next.reference))?.focus();
}
