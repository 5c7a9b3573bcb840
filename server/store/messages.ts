import { comparableEmail } from "../../contract/email-address.ts";
import { MINUTE_MS } from "../time.ts";
import { type Database, type Dialect, onlyRow, readColumn, type Value } from "./database.ts";
import { EVENT_TEXT, EVENTS, MESSAGES, readMessages, WRITTEN } from "./message-rows.ts";
import { CHANNELS, type MessageState, rulesOf, type StoredMessage } from "./model.ts";
import { normaliseReference } from "./reference.ts";
import { hasWords } from "./search.ts";
import { LESSONS_VERSION } from "./spam.ts";
import type { RowOf } from "./tables.ts";

// What operators read about messages.

/**
 * `unanswered`: neither marked as answered nor in quarantine. `waiting` and `failed`: its mail, its post to HOOK_URL or a
 * reply. The last three exclude restricted messages, because operators cannot act on these.
 */
export const TABS = ["all", "unanswered", "answered", "waiting", "failed", "quarantined"] as const;
export type Tab = (typeof TABS)[number];
export type TabCounts = Readonly<Record<Tab, number>>;

export type StoredEvent = Pick<RowOf<"events">, "at" | "kind" | "channel" | "detail" | "author"> & MailFacts;

/** All `null` if the event is no mail. */
interface MailFacts {
  sender: string | null;
  senderName: string | null;
  mailedAt: Date | null;
  /** As JSON: Attachment[]. */
  attachments: string | null;
  /** Of a reply: the address that was chosen instead of the form's. */
  recipient: string | null;
  /** Of a reply: why it came back. */
  cameBack: string | null;
}

type Place = Pick<StoredMessage, "acceptedAt" | "id" | "newAnswerAt">;

/** In this order: newest first, but in the tab Unanswered first those with a new answer, by its time. */
const placeOf = ({ tab }: MessageFilter) =>
  tab === "unanswered" ? ["COALESCE(new_answer_at, 0)", "accepted_at", "id"] : ["accepted_at", "id"];

export interface MessageFilter {
  references?: readonly string[];
  /** `queued` and `failed`: of any delivery. Otherwise of the mail. */
  state?: MessageState | undefined;
  email?: string | undefined;
  /** Accepted at or after. */
  since?: Date | undefined;
  tab?: Tab | undefined;
  /** Those with a draft of anybody. */
  hasDraft?: boolean | undefined;
  /** Words that are all in the message, its notes or replies, ignoring case and accents. */
  search?: string | undefined;
  /** Continues the list after this message, newest first, or before it, oldest first. */
  after?: Place;
  before?: Place;
  offset?: number;
  limit?: number;
}

const AFFECTING = CHANNELS.flatMap((channel) => (rulesOf(channel).trouble ? `'${channel}'` : [])).join();
const hasDelivery = (state: "queued" | "failed") => `is_restricted = 0 AND id IN
    (SELECT message_id FROM deliveries WHERE state = '${state}' AND channel IN (${AFFECTING}))`;
const TAB_CONDITION: Readonly<Record<Tab, string>> = {
  all: "TRUE",
  // The sign keeps SQLite from the index by answer, with which it reads all messages to list the newest.
  unanswered: "+answered_at IS NULL AND COALESCE(state, '') <> 'quarantined'",
  answered: "answered_at IS NOT NULL",
  waiting: hasDelivery("queued"),
  failed: hasDelivery("failed"),
  quarantined: "state = 'quarantined' AND is_restricted = 0",
};
const COUNTED = Object.entries(TAB_CONDITION)
  .map(([tab, condition]) => `count(CASE WHEN ${condition} THEN 1 END) AS "${tab}"`)
  .join(", ");
/** The same condition as in the index. */
const UNSEEN = "FROM messages WHERE quarantine_reason IS NOT NULL AND seen_at IS NULL AND is_restricted = 0";

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
  if (filter.hasDraft) conditions.push("id IN (SELECT message_id FROM drafts)");
  if (filter.since) conditions.push(`accepted_at >= ${place(filter.since)}`);
  if (filter.email !== undefined)
    conditions.push(`${dialect.lowerCaseEmail} = ${place(comparableEmail(filter.email))}`);
  const { before, after } = filter;
  const columns = placeOf(filter);
  const valuesOf = ({ newAnswerAt, acceptedAt, id }: Place) =>
    [newAnswerAt?.getTime() ?? 0, acceptedAt, id].slice(-columns.length).map(place);
  if (before) conditions.push(`(${columns}) > (${valuesOf(before)})`);
  if (after) conditions.push(`(${columns}) < (${valuesOf(after)})`);
  conditions.push(...hasWords(filter.search ?? "", dialect, place));
  return conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
}

export type Messages = ReturnType<typeof createMessages>;

export function createMessages(database: Database) {
  const { query, dialect } = database;

  async function list(filter: MessageFilter): Promise<StoredMessage[]> {
    const { offset = 0, limit, before } = filter;
    const values: Value[] = [];
    const where = whereOf(filter, dialect, values);
    const part = limit === undefined ? "" : `LIMIT $${values.push(limit)} OFFSET $${values.push(offset)}`;
    const order = placeOf(filter).map((column) => `${column} ${before ? "ASC" : "DESC"}`);
    const sql = `SELECT id FROM ${MESSAGES} ${where} ORDER BY ${order} ${part}`;
    return readMessages(database, await readColumn<number>(query, sql, values));
  }

  async function find(reference: string): Promise<StoredMessage | null> {
    return (await list({ references: [reference] }))[0] ?? null;
  }

  function readEvents(references: readonly string[], condition = "TRUE") {
    return query<StoredEvent & { reference: string }>(
      `SELECT reference, at, kind, channel, ${EVENT_TEXT} AS detail, author, sender, sender_name,
         mails.sent_at AS mailed_at, attachments, recipient, came_back FROM ${EVENTS}
       JOIN messages ON messages.id = events.message_id
       WHERE ${dialect.isIn("reference", "$1")} AND ${condition} ORDER BY events.id`,
      [references],
    );
  }

  return {
    list,
    find,

    countTabs({ tab: _, ...filter }: MessageFilter): Promise<TabCounts> {
      const values: Value[] = [];
      const where = whereOf(filter, dialect, values);
      return onlyRow(query, `SELECT ${COUNTED} FROM ${MESSAGES} ${where}`, values);
    },

    /** References of the messages before and after this one in the list, or where it would be in it. */
    async neighbours(reference: string, filter: MessageFilter) {
      const shown = await find(reference);
      if (!shown) return null;
      const nearest = async (part: MessageFilter) =>
        (await list({ ...filter, ...part, limit: 1 }))[0]?.reference ?? null;
      return { previous: await nearest({ before: shown }), next: await nearest({ after: shown }) };
    },

    /** Oldest first. */
    async history(reference: string): Promise<StoredEvent[]> {
      return (await readEvents([normaliseReference(reference)])).map(({ reference: _, ...event }) => event);
    },

    /** Notes and replies by reference, oldest first; messages without any are left out. */
    async notes(references: readonly string[]): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
      const events = await readEvents(references, WRITTEN);
      return Map.groupBy(events, ({ reference }) => reference);
    },

    /**
     * Changes after every event of any message, after a deletion (which changes the lessons), and when an operator
     * starts or ends a draft.
     */
    async changeToken(): Promise<string> {
      const token = await onlyRow<Readonly<Record<string, string | number | null>>>(
        query,
        `SELECT (SELECT max(id) FROM messages) AS message, (SELECT max(id) FROM events) AS event,
           (SELECT value FROM meta WHERE name = '${LESSONS_VERSION}') AS lessons,
           (SELECT count(*) FROM drafts) AS drafts, (SELECT max(saved_at / ${MINUTE_MS}) FROM drafts) AS minute`,
      );
      return Object.values(token).join(".");
    },

    /** The quarantined messages that no operator has opened, and when the first and the last were accepted. */
    countUnseen(): Promise<{ count: number; firstAt: Date | null; lastAt: Date | null }> {
      return onlyRow(
        query,
        `SELECT count(*) AS count, (SELECT accepted_at ${UNSEEN} ORDER BY id LIMIT 1) AS first_at,
           (SELECT accepted_at ${UNSEEN} ORDER BY id DESC LIMIT 1) AS last_at ${UNSEEN}`,
      );
    },

    /** The unanswered messages accepted before this time, and when the oldest was. */
    countUnanswered(before: Date): Promise<{ count: number; firstAt: Date | null }> {
      const sql = `SELECT count(*) AS count, min(accepted_at) AS first_at FROM ${MESSAGES}
    WHERE ${TAB_CONDITION.unanswered} AND is_restricted = 0 AND accepted_at < $1`;
      return onlyRow(query, sql, [before]);
    },
  };
}
