import type { SearchSchemaInput } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Filter, Sort, Tab } from "./api.ts";

export const TAB_NAME: Readonly<Record<Tab, string>> = {
  all: "All",
  unanswered: "Unanswered",
  answered: "Answered",
  waiting: "Waiting",
  failed: "Failed",
  quarantined: "Quarantined",
};
export const SORT_NAME: Readonly<Record<Sort, string>> = {
  newest: "Newest first",
  oldest: "Oldest first",
  footprint: "Largest estimate first",
};
export const PERIOD_NAME = {
  any: "Any time",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  dates: "Chosen dates",
} as const;
type Period = keyof typeof PERIOD_NAME;

export const keysOf = <Key extends string>(names: Readonly<Record<Key, string>>) => Object.keys(names) as Key[];

/** What the list shows. Everything of it is in the page's address, so that it can be kept, shared and gone back to. */
export interface ListView {
  tab: Tab;
  search: string;
  /** A two-letter code, NO_COUNTRY, or empty for all. */
  country: string;
  /** `dates` uses `since` and `until`, which are dates of the operator's own time zone, both included. */
  period: Period;
  since: string;
  until: string;
  sort: Sort;
  /** Counted from 1. */
  page: number;
}

export const PAGE_SIZE = 50;
export const MAX_SEARCH_LENGTH = 200;
export const NO_COUNTRY = "none";

export const NEWEST: ListView = {
  tab: "all",
  search: "",
  country: "",
  period: "any",
  since: "",
  until: "",
  sort: "newest",
  page: 1,
};

/** The view that the address names. Unknown values are left out. */
export function parseListView(given: Partial<ListView> & SearchSchemaInput): ListView {
  const text = (name: keyof ListView) => String(given[name] ?? "").trim();
  const one = <Key extends string>(names: Readonly<Record<Key, string>>, name: keyof ListView) =>
    keysOf(names).find((key) => key === given[name]);
  const [since, until] = [dateOnly(text("since")), dateOnly(text("until"))];
  return {
    tab: one(TAB_NAME, "tab") ?? "all",
    search: text("search").slice(0, MAX_SEARCH_LENGTH),
    country: /^[A-Z]{2}$/.test(text("country")) || text("country") === NO_COUNTRY ? text("country") : "",
    period: since || until ? "dates" : (one(PERIOD_NAME, "period") ?? "any"),
    since,
    until,
    sort: one(SORT_NAME, "sort") ?? "newest",
    page: /^[1-9]\d{0,6}$/.test(text("page")) ? Number(text("page")) : 1,
  };
}

/** The filter of the view. The last hours are counted from when it was chosen. */
export function useFilter(view: ListView): Filter {
  return useMemo(() => {
    const { tab, search, country, period, since, until } = view;
    const hours = { any: 0, "24h": 24, "7d": 7 * 24, "30d": 30 * 24, dates: 0 }[period];
    const from =
      period === "dates" ? startOfDay(since, 0) : hours > 0 ? new Date(Date.now() - hours * 3_600_000) : null;
    const to = period === "dates" ? startOfDay(until, 1) : null;
    return {
      tab,
      ...(search && { search }),
      ...(country && { country: country === NO_COUNTRY ? "" : country }),
      ...(from && { since: from }),
      ...(to && { until: to }),
    };
  }, [view]);
}

export function hasFilters({ search, country, period, since, until }: ListView): boolean {
  return search !== "" || country !== "" || (period !== "any" && (period !== "dates" || since !== "" || until !== ""));
}

/** Midnight of a date in the operator's time zone, plus a number of days. */
function startOfDay(date: string, daysLater: number): Date | null {
  const [year, month, day] = date.split("-").map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  return new Date(year, month - 1, day + daysLater);
}

function dateOnly(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";
}
