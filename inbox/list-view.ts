import type { SearchSchemaInput } from "@tanstack/react-router";
import { type ListSort, type MessageQuery, SORTS, TABS, type Tab } from "../contract/inbox.ts";

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
  sort: ListSort;
  /** Counted from 1. */
  page: number;
}

export const PAGE_SIZE = 50;

export const PERIODS = ["any", "24h", "7d", "30d", "dates"] as const;
export type Period = (typeof PERIODS)[number];

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

/** Whatever somebody typed into the address: what is not understood is left out. */
export function parseListView(given: Partial<ListView> & SearchSchemaInput): ListView {
  const text = (name: keyof ListView) => String(given[name] ?? "").trim();
  const [since, until] = [dateOnly(text("since")), dateOnly(text("until"))];
  return {
    tab: TABS.find((tab) => tab === given.tab) ?? "all",
    search: text("search"),
    country: text("country"),
    period: since || until ? "dates" : (PERIODS.find((period) => period === given.period) ?? "any"),
    since,
    until,
    sort: SORTS.find((sort) => sort === given.sort) ?? "newest",
    page: /^[1-9]\d{0,6}$/.test(text("page")) ? Number(text("page")) : 1,
  };
}

/** The filters as the API takes them. */
export function toMessageQuery({ tab, search, country, period, since, until }: ListView, now: Date): MessageQuery {
  const hours = { any: 0, "24h": 24, "7d": 7 * 24, "30d": 30 * 24, dates: 0 }[period];
  const from =
    period === "dates" ? startOfDay(since, 0) : hours > 0 ? new Date(now.getTime() - hours * 3_600_000) : null;
  const to = period === "dates" ? startOfDay(until, 1) : null;
  return {
    tab,
    ...(search && { search }),
    ...(country && { country }),
    ...(from && { since: from.toISOString() }),
    ...(to && { until: to.toISOString() }),
  };
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
