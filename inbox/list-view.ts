import type { SearchSchemaInput } from "@tanstack/react-router";
// The small variant of zod, because the full one contains its error messages in every language.
import * as z from "zod/mini";
import { MAX_SEARCH_LENGTH } from "../contract/operator-limits.ts";
import type { Filter, Tab } from "./api.ts";

export const TAB_NAME: Readonly<Record<Tab, string>> = {
  unanswered: "Unanswered",
  all: "All",
  answered: "Answered",
  waiting: "Waiting",
  failed: "Failed",
  quarantined: "Quarantined",
};
export const TABS = Object.keys(TAB_NAME) as Tab[];

// The page's policy forbids code from strings, and even an attempt would be reported.
z.config({ jitless: true });

export const PAGE_SIZE = 50;

/**
 * What the list shows. All of it is in the page's URL, so that a view can be bookmarked, shared and restored. Invalid
 * values in a URL are replaced by defaults.
 */
const LIST_VIEW = z.object({
  tab: z.catch(z.enum(TABS), "unanswered"),
  search: z.catch(z.string().check(z.trim(), z.maxLength(MAX_SEARCH_LENGTH)), ""),
  /** Counted from 1. */
  page: z.catch(z.coerce.number().check(z.int(), z.gte(1), z.lte(9_999_999)), 1),
});
export type ListView = z.output<typeof LIST_VIEW>;

export const NEWEST = LIST_VIEW.parse({});
export const parseListView = (given: Partial<ListView> & SearchSchemaInput): ListView => LIST_VIEW.parse(given);

export const filterOf = ({ tab, search }: ListView): Filter => ({ tab, ...(search && { search }) });
