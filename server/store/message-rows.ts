import { FIELD_NAMES } from "../../contract/contact-message.ts";
import type { EventKind } from "../message-words.ts";
import { readColumn, type Sql, type Value } from "./database.ts";
import {
  type Channel,
  type Deliveries,
  type Delivery,
  type MessageState,
  rulesOf,
  type StoredMessage,
} from "./model.ts";
import { lessonsChanged } from "./spam.ts";
import { columnsOf, type RowOf } from "./tables.ts";

// What several parts of the store read and write of a message.

/** The events of messages, and SQL for the detail of one: that of a reply or a mail is its subject and text. */
export const EVENTS = `events LEFT JOIN replies ON replies.event_id = events.id
  LEFT JOIN mails ON mails.event_id = events.id`;
export const EVENT_TEXT = `COALESCE(detail, replies.subject || '\n\n' || replies.text,
  mails.subject || '\n\n' || mails.text)`;
/** What people wrote in the thread of a message, as events. */
export const WRITTEN = "kind IN ('noted', 'replied', 'received', 'mailbox-reply')";

/**
 * Messages with the state of their mail, which is the message's state. Every message has a mail. It is a left join,
 * because SQLite then reads messages in order, and starts with deliveries only if the filter names a state.
 */
export const MESSAGES = "messages LEFT JOIN deliveries ON message_id = messages.id AND channel = 'mail'";

const MESSAGE_FIELDS = [
  "id",
  "reference",
  "footprint",
  "quarantineReason",
  "taught",
  "acceptedAt",
  "isRestricted",
  "answeredAt",
  "newAnswerAt",
  "correctedAt",
  ...FIELD_NAMES,
] as const;

type MessageRow = Pick<RowOf<"messages">, (typeof MESSAGE_FIELDS)[number]>;
type DeliveryRow = RowOf<"deliveries">;

/** In the order of the row numbers, with their deliveries. Always two statements. */
export async function readMessages({ query, dialect }: Sql, ids: readonly number[]): Promise<StoredMessage[]> {
  if (ids.length === 0) return [];
  const read = <Row>(columns: string, table: string, id: string) =>
    query<Row>(`SELECT ${columns} FROM ${table} WHERE ${dialect.isIn(id, "$1")}`, [ids]);
  const messages = await read<MessageRow>(columnsOf("messages", ...MESSAGE_FIELDS), "messages", "id");
  const deliveries = await read<DeliveryRow>("*", "deliveries", "message_id");
  const rows = new Map(messages.map((row) => [row.id, row]));
  const byId = Map.groupBy(deliveries, ({ messageId }) => messageId);
  return ids.flatMap((id) => {
    const [row, theirs] = [rows.get(id), byId.get(id)];
    // A message may have been erased between the two statements.
    return row && theirs ? toMessage(row, theirs) : [];
  });
}

const isKeeping = ({ channel, state }: DeliveryRow) => state === "queued" && rulesOf(channel).keepsMessage;

function toMessage({ footprint, correctedAt, ...row }: MessageRow, rows: readonly DeliveryRow[]): StoredMessage {
  const deliveries = Object.fromEntries(
    rows.map(({ channel, state, changedAt, dueAt, attempts, unknownOutcomes, error }) => [
      channel,
      { state, changedAt, dueAt, attempts, unknownOutcomes, error } satisfies Delivery,
    ]),
  ) as Deliveries;
  const { state, changedAt, dueAt, attempts } = deliveries.mail;
  const times = [changedAt, dueAt, row.answeredAt, row.newAnswerAt, correctedAt].map((time) => time?.getTime() ?? 0);
  const expiresAt = rows.find(({ channel }) => channel === "mail")?.expiresAt ?? null;
  return {
    ...row,
    state: state as MessageState,
    // No message is erased while it is restricted, or while its mail or a reply is queued.
    expiresAt: row.isRestricted || rows.some(isKeeping) ? null : expiresAt,
    footprint: footprint === null ? null : JSON.parse(footprint),
    // Covers everything that an operator may see or change, except the deliveries that are sent automatically seconds
    // after the mail: these must not make the operator's next action fail.
    version: [row.id, state, attempts, Number(row.isRestricted), row.taught, ...times].join("."),
    deliveries,
  };
}

/** Reads the messages with these values in a column, and locks their deliveries until the transaction ends. */
export async function readLocked(sql: Sql, column: string, values: readonly Value[]): Promise<StoredMessage[]> {
  const { query, dialect } = sql;
  const isMeant = dialect.isIn(column, "$1");
  const ids = await readColumn<number>(query, `SELECT id FROM messages WHERE ${isMeant} ORDER BY id`, [values]);
  const lock = dialect.lockRows("deliveries");
  if (lock !== "" && ids.length > 0) {
    const isTheirs = dialect.isIn("message_id", "$1");
    await query(`SELECT 1 FROM deliveries WHERE ${isTheirs} ORDER BY message_id, channel ${lock}`, [ids]);
  }
  return readMessages(sql, ids);
}

export async function deleteMessages({ query, dialect }: Sql, ids: readonly number[]): Promise<void> {
  await query(`DELETE FROM messages WHERE ${dialect.isIn("id", "$1")}`, [ids]);
  await lessonsChanged(query);
}

export function idsOf(messages: readonly StoredMessage[]): number[] {
  return messages.map(({ id }) => id);
}

interface NewEvent {
  kind: EventKind;
  at: Date;
  channel?: Channel | null;
  detail?: string | null;
  author: string | null;
  step?: string | null;
  replaced?: string | null;
  noteKey?: string | null;
}

/** Adds the same event to each message that is still there. Returns the numbers of the new rows. */
export async function addEvents(
  { query, dialect: { isIn } }: Sql,
  ids: readonly number[],
  { kind, at, channel = null, detail = null, author, step = null, replaced = null, noteKey = null }: NewEvent,
): Promise<number[]> {
  if (ids.length === 0) return [];
  return readColumn(
    query,
    `INSERT INTO events (message_id, at, kind, channel, detail, author, step, replaced, note_key)
     SELECT id, CAST($2 AS BIGINT), $3, CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT),
       CAST($8 AS TEXT), CAST($9 AS TEXT)
     FROM messages WHERE ${isIn("id", "$1")} RETURNING id`,
    [ids, at, kind, channel, detail, author, step, replaced, noteKey],
  );
}
