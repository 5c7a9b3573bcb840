import type { SearchSchemaInput } from "@tanstack/react-router";
import { useMemo } from "react";
// The small variant of zod, because the full one contains its error messages in every language.
import * as z from "zod/mini";
import { MAX_SEARCH_LENGTH } from "../contract/operator-limits.ts";
import type { Filter, Sort, Tab } from "./api.ts";

export const TAB_NAME: Readonly<Record<Tab, string>> = {
  unanswered: "Unanswered",
  all: "All",
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

export const keysOf = <Key extends string>(names: Readonly<Record<Key, string>>) => Object.keys(names) as Key[];

// The page's policy forbids code from strings, and even an attempt would be reported.
z.config({ jitless: true });

export const PAGE_SIZE = 50;
export const NO_COUNTRY = "none";

/**
 * What the list shows. All of it is in the page's URL, so that a view can be bookmarked, shared and restored. Invalid
 * values in a URL are replaced by defaults.
 */
const LIST_VIEW = z.object({
  tab: z.catch(z.enum(keysOf(TAB_NAME)), "unanswered"),
  search: z.catch(z.string().check(z.trim(), z.maxLength(MAX_SEARCH_LENGTH)), ""),
  /** A two-letter code, NO_COUNTRY, or empty for all. */
  country: z.catch(z.union([z.string().check(z.regex(/^[A-Z]{2}$/)), z.literal(NO_COUNTRY)]), ""),
  period: z.catch(z.enum(keysOf(PERIOD_NAME)), "any"),
  /** With the period `dates`: dates in the operator's time zone, both included. */
  since: z.catch(z.iso.date(), ""),
  until: z.catch(z.iso.date(), ""),
  sort: z.catch(z.enum(keysOf(SORT_NAME)), "newest"),
  /** Counted from 1. */
  page: z.catch(z.coerce.number().check(z.int(), z.gte(1), z.lte(9_999_999)), 1),
});
export type ListView = z.output<typeof LIST_VIEW>;

export const NEWEST = LIST_VIEW.parse({});
export const parseListView = (given: Partial<ListView> & SearchSchemaInput): ListView => LIST_VIEW.parse(given);

const HOURS: Readonly<Partial<Record<ListView["period"], number>>> = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24 };

/** The filter for a view. The last 24 hours count back from the time when the operator chose them. */
export function useFilter(view: ListView): Filter {
  return useMemo(() => {
    const { tab, search, country, period, since, until } = view;
    const hours = HOURS[period];
    const from = period === "dates" ? startOfDay(since, 0) : hours && new Date(Date.now() - hours * 3_600_000);
    const to = period === "dates" && startOfDay(until, 1);
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
  return [search, country, since, until].some(Boolean) || (period !== "any" && period !== "dates");
}

/** Midnight of a date in the operator's time zone, plus a number of days. */
function startOfDay(date: string, daysLater: number): Date | null {
  const start = new Date(`${date}T00:00`);
  start.setDate(start.getDate() + daysLater);
  return date === "" ? null : start;
}
