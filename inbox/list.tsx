import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import {
  type Action,
  EXPORT_FORMATS,
  MAX_SEARCH_LENGTH,
  type MessageItem,
  type MessagePage,
  NO_COUNTRY,
  TABS,
  type Tab,
  type TabCounts,
} from "../contract/inbox.ts";
import { useActions } from "./actions.tsx";
import { ACTION_LABELS, formatNumber, isAllowed, namedCountries, plural, TAB_NAME } from "./labels.tsx";
import { hasFilters, type ListView, NEWEST, PERIODS, type Period, toMessageQuery } from "./list-view.ts";
import { EmptyPanel, FailurePanel, LoadingRows, ScreenTitle } from "./panels.tsx";
import { countriesQuery, listQuery, reloadAll, useLive, useNow } from "./queries.ts";
import { MessageRows } from "./rows.tsx";

const TYPING_PAUSE_MS = 250;
const PERIOD_NAME: Readonly<Record<Period, string>> = {
  any: "Any time",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  dates: "Chosen dates",
};
const BULK_ACTIONS: readonly Action[] = ["answer", "unanswer", "retry", "release", "resend", "delete"];

const route = getRouteApi("/");

export function ListScreen() {
  const now = useNow();
  const view = route.useSearch();
  const { counts: allCounts } = useLive();
  const { data: page, error, isPlaceholderData, refetch } = useQuery(listQuery(view));
  const counts = useTabCounts(view, isPlaceholderData ? undefined : page);
  const fresh = useFresh(isPlaceholderData ? undefined : page?.items, JSON.stringify(view));

  return (
    <>
      <div className="list-head">
        <ScreenTitle name={view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}>Messages</ScreenTitle>
        <p className="visually-hidden" role="status">
          {fresh.size > 0 ? `${plural(fresh.size, "new message")}` : ""}
        </p>
      </div>
      <Tabs view={view} counts={counts} />
      <Filters view={view} />
      {!page && !error && <LoadingRows label="Loading messages" />}
      {!page && error && <FailurePanel error={error} onRetry={refetch} />}
      {page && page.items.length === 0 && <NothingFound view={view} isEmptyStore={allCounts?.all === 0} />}
      {page && page.items.length > 0 && (
        <Results
          key={JSON.stringify({ ...view, cursor: "" })}
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

/** Those of the first page stay while the operator turns to older ones, which come without. */
function useTabCounts(view: ListView, page: MessagePage | undefined): TabCounts | null {
  const allCounts = useLive().counts;
  const [known, setKnown] = useState<{ filters: string; counts: TabCounts } | null>(null);
  const filters = JSON.stringify({ ...view, tab: "all", cursor: "" });
  const counts = page?.counts ?? null;
  useEffect(() => {
    if (counts) setKnown({ filters, counts });
  }, [filters, counts]);
  if (counts) return counts;
  if (known?.filters === filters) return known.counts;
  return hasFilters(view) ? null : allCounts;
}

/** References that came in while the same list was shown. */
function useFresh(items: readonly MessageItem[] | undefined, list: string): ReadonlySet<string> {
  const seen = useRef<{ list: string; references: Set<string> } | null>(null);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (!items) return;
    const before = seen.current?.list === list ? seen.current.references : null;
    const arrived = before ? items.filter(({ reference }) => !before.has(reference)) : [];
    seen.current = { list, references: new Set([...(before ?? []), ...items.map(({ reference }) => reference)]) };
    if (!before) setFresh(new Set());
    else if (arrived.length > 0) setFresh(new Set(arrived.map(({ reference }) => reference)));
  }, [items, list]);
  return fresh;
}

function Tabs({ view, counts }: { view: ListView; counts: TabCounts | null }) {
  return (
    <nav className="tabs" aria-label="Messages by state">
      {TABS.map((tab) => (
        <Link
          key={tab}
          className="tab"
          to="/"
          search={(before) => ({ ...before, tab, cursor: "" })}
          activeOptions={{ exact: true }}
          aria-current={tab === view.tab ? "page" : undefined}
        >
          {TAB_NAME[tab]}
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
  const navigate = useNavigate({ from: "/" });
  // Of whatever the address has by then: a choice that is made while somebody types is kept.
  const change = (changes: Partial<ListView>, replace = false) =>
    navigate({ search: (before) => ({ ...before, cursor: "", ...changes }), replace, resetScroll: false });

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
  return (
    <search className="filters">
      <form
        className="filters-form"
        onSubmit={(event) => {
          event.preventDefault();
          change({ search: search.trim() });
        }}
      >
        <label className="filter filter-search">
          <span className="filter-label">Search</span>
          <input
            type="search"
            value={search}
            maxLength={MAX_SEARCH_LENGTH}
            placeholder="Name, address, phone, reference or text"
            onChange={(event) => setSearch(event.target.value)}
          />
        </label>
        <label className="filter">
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
        <label className="filter">
          <span className="filter-label">Time</span>
          <select
            value={view.period}
            onChange={(event) => {
              const period = PERIODS.find((one) => one === event.target.value) ?? "any";
              change({ period, since: "", until: "" });
            }}
          >
            {PERIODS.map((period) => (
              <option key={period} value={period}>
                {PERIOD_NAME[period]}
              </option>
            ))}
          </select>
        </label>
        {view.period === "dates" && (
          <>
            <label className="filter">
              <span className="filter-label">From</span>
              <input
                type="date"
                value={view.since}
                max={view.until}
                onChange={(event) => change({ since: event.target.value }, true)}
              />
            </label>
            <label className="filter">
              <span className="filter-label">Up to and including</span>
              <input
                type="date"
                value={view.until}
                min={view.since}
                onChange={(event) => change({ until: event.target.value }, true)}
              />
            </label>
          </>
        )}
      </form>
    </search>
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
  if (view.cursor) {
    return (
      <EmptyPanel title="No older messages">
        <Link to="/" search={{ ...view, cursor: "" }}>
          Back to the newest
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
  const [isAllMatching, setIsAllMatching] = useState(false);
  const selectAll = useRef<HTMLInputElement>(null);
  const isButtonGone = useRef(false);
  const { items, nextCursor } = page;
  const selected = items.filter(({ reference }) => picked.has(reference));
  const isPageSelected = selected.length === items.length;
  const query = toMessageQuery(view, now);
  const count = isAllMatching ? total : selected.length;

  useEffect(() => {
    if (selectAll.current) selectAll.current.indeterminate = selected.length > 0 && !isPageSelected;
  });

  const clear = () => {
    setPicked(new Set());
    setIsAllMatching(false);
  };
  const perform = async (action: Action) => {
    const fitting = selected.filter((item) => isAllowed(action, item));
    const results = await actions.perform(action, isAllMatching ? { query, total } : { items: fitting }, reloadAll);
    if (results === null) return;
    clear();
    isButtonGone.current = true;
  };
  // The button that was pressed goes with the selection, and dialogs give the focus back to it before.
  useEffect(() => {
    if (isButtonGone.current && selected.length === 0) selectAll.current?.focus({ preventScroll: true });
    isButtonGone.current = false;
  }, [selected.length]);

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
              setIsAllMatching(false);
              setPicked(new Set(isPageSelected ? [] : items.map(({ reference }) => reference)));
            }}
          />
          Select all{total > items.length ? ` ${formatNumber(items.length)}` : ""}
        </label>
        <span className="results-count">
          {items.length < total
            ? `${formatNumber(items.length)} of ${plural(total, "message")}`
            : plural(total, "message")}
        </span>
        <span className="exports">
          <span className="exports-label">Export</span>
          {EXPORT_FORMATS.map((format) => (
            <button
              key={format}
              type="button"
              className="button button-small"
              aria-label={`Export as ${format.toUpperCase()}`}
              onClick={() => actions.exportMessages(format, query, total)}
            >
              <svg className="export-shape" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                <path d="M8 2v7.500M4.500 6.500 8 10l3.500-3.500M2.500 13.500h11" />
              </svg>
              {format.toUpperCase()}
            </button>
          ))}
        </span>
      </div>
      <MessageRows
        messages={items}
        now={now}
        label="Messages, newest first"
        fresh={fresh}
        view={view}
        selection={{
          isSelected: (reference) => picked.has(reference),
          toggle(reference) {
            actions.dismissNotice();
            setIsAllMatching(false);
            setPicked(
              (before) =>
                new Set(
                  before.has(reference) ? [...before].filter((one) => one !== reference) : [...before, reference],
                ),
            );
          },
        }}
      />
      {(nextCursor !== null || view.cursor) && (
        <nav className="pages" aria-label="Pages">
          {view.cursor && (
            <Link className="button button-outline" to="/" search={{ ...view, cursor: "" }}>
              Newest
            </Link>
          )}
          {nextCursor !== null && (
            <Link className="button button-outline" to="/" search={{ ...view, cursor: nextCursor }}>
              Older messages
            </Link>
          )}
        </nav>
      )}
      {selected.length > 0 && (
        <section className="bulk" aria-label="Selected messages">
          <p className="bulk-count" role="status">
            {plural(count, "message")} selected
          </p>
          {isPageSelected && total > items.length && !isAllMatching && (
            <button type="button" className="button button-small" onClick={() => setIsAllMatching(true)}>
              Select all {formatNumber(total)}
            </button>
          )}
          <button type="button" className="button button-small button-plain" onClick={clear}>
            Clear
          </button>
          <div className="bulk-actions">
            {BULK_ACTIONS.map((action) => {
              const fitting = selected.filter((item) => isAllowed(action, item)).length;
              if (fitting === 0 && !isAllMatching) return null;
              const isPart = !isAllMatching && fitting < selected.length;
              return (
                <button
                  key={action}
                  type="button"
                  className={action === "delete" ? "button button-small button-small-danger" : "button button-small"}
                  onClick={() => perform(action)}
                >
                  {ACTION_LABELS[action].label}
                  {isPart && ` ${fitting}`}
                </button>
              );
            })}
          </div>
        </section>
      )}
    </div>
  );
}
