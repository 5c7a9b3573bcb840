import { MINUTE_MS } from "../time.ts";
import { createActions } from "./actions.ts";
import { type Database, type Dialect, normaliseEmail, onlyRow, readColumn, type Value } from "./database.ts";
import { EVENT_TEXT, EVENTS, MESSAGES, readMessages } from "./message-rows.ts";
import { normaliseReference } from "./reference.ts";
import { createReplies } from "./replies.ts";
import { hasWords } from "./search.ts";
import { CHANNELS, type MessageState, rulesOf, type StoredMessage } from "./store.ts";
import type { RowOf } from "./tables.ts";

// What operators read about messages; actions.ts has what they do with them.

/**
 * `unanswered`: neither marked as answered nor in quarantine. `waiting` and `failed`: its mail, its post to HOOK_URL or a
 * reply. The last three exclude restricted messages, because operators cannot act on these.
 */
export const TABS = ["all", "unanswered", "answered", "waiting", "failed", "quarantined"] as const;
export type Tab = (typeof TABS)[number];
export type TabCounts = Readonly<Record<Tab, number>>;

export interface MessagePlace {
  /** Counted from 1; `null` if the list does not contain the message, such as an answered one in `unanswered`. */
  position: number | null;
  total: number;
  /** References of its neighbours in the list, or of those that it would have. */
  previous: string | null;
  next: string | null;
}

export type StoredEvent = Pick<RowOf<"events">, "at" | "kind" | "channel" | "detail" | "author">;

export interface MessageFilter {
  references?: readonly string[];
  /** `queued` and `failed`: of any delivery. Otherwise of the mail. */
  state?: MessageState | undefined;
  email?: string | undefined;
  /** Accepted at or after. */
  since?: Date | undefined;
  tab?: Tab | undefined;
  /** Words that are all in the message, its notes or replies, ignoring case and accents. */
  search?: string | undefined;
  /** Continues the list after this message, with the newest first. */
  after?: Pick<StoredMessage, "acceptedAt" | "id">;
  offset?: number;
  limit?: number;
}

const AFFECTING = CHANNELS.flatMap((channel) => (rulesOf(channel).trouble ? `'${channel}'` : [])).join();
const hasDelivery = (state: "queued" | "failed") => `is_restricted = 0 AND id IN
    (SELECT message_id FROM deliveries WHERE state = '${state}' AND channel IN (${AFFECTING}))`;
const TAB_CONDITION: Readonly<Record<Tab, string>> = {
  all: "TRUE",
  // The sign keeps SQLite from the index by answer: then the first of 100,000 messages took 210 ms instead of 1.
  unanswered: "+answered_at IS NULL AND COALESCE(state, '') <> 'quarantined'",
  answered: "answered_at IS NOT NULL",
  waiting: hasDelivery("queued"),
  failed: hasDelivery("failed"),
  quarantined: "state = 'quarantined' AND is_restricted = 0",
};
const COUNTED = Object.entries(TAB_CONDITION)
  .map(([tab, condition]) => `count(CASE WHEN ${condition} THEN 1 END) AS "${tab}"`)
  .join(", ");
const NEWEST_FIRST = "ORDER BY accepted_at DESC, id DESC";

function whereOf(filter: MessageFilter, dialect: Dialect, values: Value[]): string {
  const place = (value: Value) => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (filter.references) {
    conditions.push(dialect.isIn("reference", place(filter.references.map(normaliseReference))));
  }
  if (filter.state === "queued" || filter.state === "failed") {
    conditions.push(`id IN (SELECT message_id FROM deliveries WHERE state = ${place(filter.state)})`);
  } else if (filter.state) conditions.push(`state = ${place(filter.state)}`);
  if (filter.tab && filter.tab !== "all") conditions.push(TAB_CONDITION[filter.tab]);
  if (filter.since) conditions.push(`accepted_at >= ${place(filter.since)}`);
  if (filter.email !== undefined) conditions.push(`${dialect.lowerCaseEmail} = ${place(normaliseEmail(filter.email))}`);
  if (filter.after) {
    const { acceptedAt, id } = filter.after;
    conditions.push(`(accepted_at, id) < (${place(acceptedAt)}, ${place(id)})`);
  }
  conditions.push(...hasWords(filter.search ?? "", dialect, place));
  return conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
}

export type Messages = ReturnType<typeof createMessages>;

export function createMessages(database: Database, account: string | null) {
  const { query, dialect } = database;

  async function read(sql: string, values: readonly Value[]): Promise<StoredMessage[]> {
    return readMessages(database, await readColumn<number>(query, sql, values));
  }

  function readEvents(references: readonly string[], condition = "TRUE") {
    return query<StoredEvent & { reference: string }>(
      `SELECT reference, at, kind, channel, ${EVENT_TEXT} AS detail, author FROM ${EVENTS}
       JOIN messages ON messages.id = events.message_id
       WHERE ${dialect.isIn("reference", "$1")} AND ${condition} ORDER BY events.id`,
      [references],
    );
  }

  return {
    ...createActions(database, account),
    ...createReplies(database, account),

    list(filter: MessageFilter): Promise<StoredMessage[]> {
      const { offset = 0, limit } = filter;
      const values: Value[] = [];
      const where = whereOf(filter, dialect, values);
      const part = limit === undefined ? "" : `LIMIT $${values.push(limit)} OFFSET $${values.push(offset)}`;
      return read(`SELECT id FROM ${MESSAGES} ${where} ${NEWEST_FIRST} ${part}`, values);
    },

    countTabs({ tab: _, ...filter }: MessageFilter): Promise<TabCounts> {
      const values: Value[] = [];
      const where = whereOf(filter, dialect, values);
      return onlyRow(query, `SELECT ${COUNTED} FROM ${MESSAGES} ${where}`, values);
    },

    async find(reference: string): Promise<StoredMessage | null> {
      const sql = "SELECT id FROM messages WHERE reference = $1";
      return (await read(sql, [normaliseReference(reference)]))[0] ?? null;
    },

    async placeOf(reference: string, filter: MessageFilter): Promise<MessagePlace | null> {
      const values: Value[] = [normaliseReference(reference)];
      const found = `SELECT id, accepted_at FROM ${MESSAGES} ${whereOf(filter, dialect, values)}`;
      const thatAre = (comparison: string) =>
        `FROM found WHERE (found.accepted_at, found.id) ${comparison} (shown.accepted_at, shown.id)`;
      const neighbour = (comparison: string, order: string) =>
        `(SELECT reference FROM messages WHERE id = (SELECT id ${thatAre(comparison)} ${order} LIMIT 1))`;
      const [place] = await query<MessagePlace>(
        `WITH found AS MATERIALIZED (${found})
         SELECT (SELECT count(*) FROM found) AS total,
           (SELECT (SELECT count(*) ${thatAre(">=")}) FROM found WHERE found.id = shown.id) AS position,
           ${neighbour(">", NEWEST_FIRST.replaceAll(" DESC", ""))} AS previous,
           ${neighbour("<", NEWEST_FIRST)} AS next
         FROM messages AS shown WHERE shown.reference = $1`,
        values,
      );
      return place ?? null;
    },

    /** Oldest first. */
    async history(reference: string): Promise<StoredEvent[]> {
      return (await readEvents([normaliseReference(reference)])).map(({ reference: _, ...event }) => event);
    },

    /** Notes and replies by reference, oldest first; messages without any are left out. */
    async notes(references: readonly string[]): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
      const events = await readEvents(references, "kind IN ('noted', 'replied')");
      return Map.groupBy(events, ({ reference }) => reference);
    },

    /**
     * Changes after every event of any message, after a deletion (by the number of messages), and when an operator
     * starts or ends a draft.
     */
    async changeToken(): Promise<string> {
      const token = await onlyRow<Record<"message" | "event" | "count" | "drafts" | "minute", number | null>>(
        query,
        `SELECT (SELECT max(id) FROM messages) AS message, (SELECT max(id) FROM events) AS event,
      (SELECT count(*) FROM messages) AS count, (SELECT count(*) FROM drafts) AS drafts,
      (SELECT max(saved_at / ${MINUTE_MS}) FROM drafts) AS minute`,
      );
      return Object.values(token).join(".");
    },

    /** The unanswered messages accepted before this time, and when the oldest was. */
    countUnanswered(before: Date): Promise<{ count: number; firstAt: Date | null }> {
      const sql = `SELECT count(*) AS count, min(accepted_at) AS first_at FROM ${MESSAGES}
    WHERE ${TAB_CONDITION.unanswered} AND is_restricted = 0 AND accepted_at < $1`;
      return onlyRow(query, sql, [before]);
    },
  };
}
