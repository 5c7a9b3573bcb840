import type { ListSort, MessagePlace, Tab, TabCounts } from "../../contract/inbox.ts";
import type { MessageFilter, StateCounts, Store, StoredEvent, StoredMessage, TabCondition } from "../store/store.ts";

/** What an operator looks for, in a tab of the inbox. */
export interface TabFilter extends MessageFilter {
  tab?: Tab;
}

export interface Page {
  messages: StoredMessage[];
  /** Where the next page begins; `null` after the last one. */
  nextCursor: string | null;
}

const TAB_FILTERS: Readonly<Record<Tab, TabCondition>> = {
  all: {},
  unanswered: { unanswered: true },
  waiting: { state: "queued" },
  failed: { state: "failed" },
  quarantined: { state: "quarantined" },
};

/**
 * The messages after the cursor, which has to match CURSOR_PATTERN, newest first. From cursor to cursor, every message that
 * was there at the beginning comes once, whatever arrives meanwhile.
 */
export async function readPage(
  { tab = "all", ...filter }: TabFilter,
  limit: number,
  cursor: string | null,
  store: Pick<Store, "list">,
): Promise<Page> {
  const after = cursor === null ? {} : { after: parseCursor(cursor) };
  return cutPage(await store.list({ ...filter, ...TAB_FILTERS[tab], ...after, limit: limit + 1 }), limit);
}

/** A page of the list as the operator sees it, with the counts of all tabs. */
export async function readSortedPage(
  { tab = "all", ...filter }: TabFilter,
  { sort, offset, limit }: { sort: ListSort; offset: number; limit: number },
  store: Pick<Store, "page">,
): Promise<Page & { counts: TabCounts }> {
  const { messages, counts } = await store.page(filter, TAB_FILTERS[tab], { sort, offset, limit: limit + 1 });
  return { ...cutPage(messages, limit), counts: tabCounts(counts) };
}

/** `null` when there is no such message. */
export function readPlace(
  reference: string,
  { tab = "all", ...filter }: TabFilter,
  sort: ListSort,
  store: Pick<Store, "placeOf">,
): Promise<MessagePlace | null> {
  return store.placeOf(reference, { ...filter, ...TAB_FILTERS[tab] }, sort);
}

/** One message more than fits shows that there is another page. */
function cutPage(messages: readonly StoredMessage[], limit: number): Page {
  const last = messages.length > limit ? messages[limit - 1] : undefined;
  return { messages: messages.slice(0, limit), nextCursor: last ? `${last.acceptedAt.getTime()}.${last.id}` : null };
}

function parseCursor(cursor: string): Pick<StoredMessage, "acceptedAt" | "id"> {
  const [acceptedAtMs = 0, id = 0] = cursor.split(".").map(Number);
  return { acceptedAt: new Date(acceptedAtMs), id };
}

export function tabCounts({ queued, delivered, failed, quarantined }: StateCounts): TabCounts {
  const passed = [queued, delivered, failed];
  return {
    all: [...passed, quarantined].reduce((sum, { count }) => sum + count, 0),
    unanswered: passed.reduce((sum, { count, answered }) => sum + count - answered, 0),
    waiting: queued.count,
    failed: failed.count,
    quarantined: quarantined.count,
  };
}

/** A date such as 2025-01-31, which is its midnight in UTC, or a full time; `null` when the text is neither. */
export function parseTime(text: string): Date | null {
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? new Date(text) : null;
  if (time === null || Number.isNaN(time.getTime())) return null;
  // `new Date` takes the 31st of February for a day in March.
  return text.length === 10 && !time.toISOString().startsWith(text) ? null : time;
}

/** Begins with the acceptance. */
export async function readHistory(message: StoredMessage, store: Pick<Store, "history">): Promise<StoredEvent[]> {
  const { quarantineReason: detail, acceptedAt: at } = message;
  const kind = detail === null ? "accepted" : "quarantined";
  return [{ at, kind, channel: null, detail, author: null }, ...(await store.history(message.reference))];
}
