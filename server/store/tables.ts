import type { EventKind, QuarantineReason } from "../message-words.ts";
import type { Channel, DeliveryState, Lesson } from "./model.ts";

// The columns of every table, declared once: the SQL of new tables, the types of rows, conversions, casts and the columns
// of a backup follow.

/** A time is stored in milliseconds since 1970, a flag as 0 or 1. Names tell them apart: `…_at` and `is_…`. */
type Kind = "id" | "text" | "integer" | "time" | "flag";

interface Column<Value> {
  kind: Kind;
  rule: string;
  value?: Value;
}

const column = <Value>(kind: Kind, rule = "NOT NULL"): Column<Value> => ({ kind, rule });
const text = <Value extends string = string>(rule?: string) => column<Value>("text", rule);
const optional = <Value>({ kind }: Column<Value>, rule = ""): Column<Value | null> => ({ kind, rule });
const id = column<number>("id");
const integer = column<number>("integer");
const count = column<number>("integer", "NOT NULL DEFAULT 0");
const time = column<Date>("time");
const flag = column<boolean>("flag", "NOT NULL DEFAULT 0");
const ofMessage = column<number>("integer", "NOT NULL REFERENCES messages (id) ON DELETE CASCADE");
const ofEvent = column<number>("integer", "NOT NULL REFERENCES events (id) ON DELETE CASCADE");

const TABLES = {
  messages: {
    id,
    reference: text("NOT NULL UNIQUE"),
    fingerprint: text(),
    name: text(),
    email: text(),
    phone: text(),
    country: text(),
    message: text(),
    footprint: optional(text()),
    quarantine_reason: optional(text<QuarantineReason>()),
    accepted_at: time,
    is_restricted: flag,
    answered_at: optional(time),
    corrected_at: optional(time),
    seen_at: optional(time),
    taught: optional(text<Lesson>()),
    /** `hash:time` of each address that a message had before a correction, separated by spaces. */
    former_addresses: optional(text()),
    /** When the last answer came that nobody has answered or marked since. */
    new_answer_at: optional(time),
    search_text: text(),
  },
  deliveries: {
    message_id: ofMessage,
    channel: text<Channel>(),
    state: text<DeliveryState>("NOT NULL CHECK (state IN ('queued', 'delivered', 'failed', 'quarantined', 'skipped'))"),
    changed_at: time,
    due_at: optional(time, "CHECK ((due_at IS NULL) = (state <> 'queued'))"),
    attempts: count,
    /** The attempts that may have arrived: one that runs counts until its outcome is known. */
    unknown_outcomes: count,
    error: optional(text()),
    lease_token: optional(text()),
    leased_until: optional(integer),
    is_counted: flag,
    expires_at: optional(time),
    announce_at: optional(time),
    /** Of the mail: when the last mail between the sender and the team came or went. */
    last_mail_at: optional(time),
  },
  /** The history of a message. Accepting a message writes nothing here. */
  events: {
    id,
    message_id: ofMessage,
    at: time,
    kind: text<EventKind>(),
    channel: optional(text<Channel>()),
    detail: optional(text()),
    author: optional(text()),
    /** What an action changed, as it was before, and the step with which it is undone. */
    step: optional(text()),
    replaced: optional(text()),
    /** Of a note: chosen by the client, so that a repeated note is recognised. */
    note_key: optional(text()),
  },
  /** A reply belongs to its event, which says who wrote it and when. */
  replies: {
    event_id: ofEvent,
    message_id: ofMessage,
    key: text(),
    subject: text(),
    text: text(),
    sent_at: optional(time),
    /** The address of the thread that the operator chose instead of the form's. */
    recipient: optional(text()),
    /** Why it came back as undeliverable. */
    came_back: optional(text()),
  },
  /** A mail of the mailbox belongs to its event, which says what it is and when it was read. */
  mails: {
    event_id: ofEvent,
    message_id: ofMessage,
    mail_id: text(),
    sender: text(),
    sender_name: text(),
    subject: text(),
    text: text(),
    sent_at: time,
    attachments: text(),
  },
  /** How far each folder of the mailbox was read, and by which node. */
  folders: {
    name: text(),
    uid_validity: optional(integer),
    last_uid: count,
    begun_at: optional(time),
    lease_token: optional(text()),
    leased_until: optional(integer),
    problem: optional(text()),
    failing_at: optional(time),
  },
  drafts: { message_id: ofMessage, author: text(), saved_at: time, subject: text(), text: text(), note: text() },
  /** A message has several keys if its text was sent with several. Only hashes are kept. */
  keys: { key_hash: text(), message_id: ofMessage, client_proof: text() },
  /** Rows count towards limits. Their keyed hashes name no message and are kept for a day. */
  hits: { hash: text(), at: time },
  /**
   * So that no restored backup brings messages back: keyed hashes of each deleted reference, and of the addresses, with
   * the time until which they were the person's. Each has the secret that it was made with, because a restore changes it.
   */
  erasures: { hash: text(), secret: text(), at: time },
  retention: { state: text<DeliveryState>(), kept_ms: integer, notice_ms: integer },
  meta: { name: text(), value: text() },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Column<unknown>>>>>;

type Tables = typeof TABLES;
export type Table = keyof Tables;

export const KEYS: { readonly [Name in Table]?: string } = {
  deliveries: "message_id, channel",
  replies: "event_id",
  mails: "event_id",
  folders: "name",
  drafts: "message_id, author",
  keys: "key_hash, message_id",
  erasures: "hash, secret",
  retention: "state",
  meta: "name",
};

export const INDEXES: readonly string[] = [
  "INDEX messages_by_words ON messages (fingerprint, accepted_at)",
  // Includes the reason, so that queries skip a flood of quarantined messages without reading them.
  "INDEX messages_by_age ON messages (accepted_at, quarantine_reason)",
  // Lists new answers first without sorting all messages.
  "INDEX messages_by_new_answer ON messages ((COALESCE(new_answer_at, 0)), accepted_at, id)",
  // Counts the messages of each tab without reading them.
  "INDEX messages_by_answer ON messages (answered_at, is_restricted)",
  "INDEX messages_restricted ON messages (id) WHERE is_restricted = 1",
  // Counts unopened messages without reading them, because a flood may leave many in quarantine.
  `INDEX messages_unseen ON messages (id)
   WHERE quarantine_reason IS NOT NULL AND seen_at IS NULL AND is_restricted = 0`,
  // The spam filter looks for correspondents while a batch is accepted.
  "INDEX messages_by_email ON messages (LOWER_CASE_EMAIL)",
  // Finds the newest lessons without reading the other messages.
  "INDEX messages_taught ON messages (taught, id) WHERE taught IS NOT NULL",
  "INDEX deliveries_by_state ON deliveries (state, channel, changed_at)",
  // Includes the state although it is always the same, because SQLite picks the index that answers most conditions.
  "INDEX deliveries_due ON deliveries (channel, state, due_at, message_id) WHERE state = 'queued'",
  "INDEX deliveries_leased ON deliveries (channel, state, leased_until) WHERE leased_until IS NOT NULL",
  "INDEX deliveries_unknown ON deliveries (channel, state, unknown_outcomes) WHERE unknown_outcomes > 0",
  "INDEX deliveries_expiring ON deliveries (expires_at) WHERE expires_at IS NOT NULL",
  "INDEX events_by_message ON events (message_id, id)",
  "INDEX events_by_step ON events (step, id) WHERE step IS NOT NULL",
  "UNIQUE INDEX events_by_note_key ON events (message_id, note_key) WHERE note_key IS NOT NULL",
  "UNIQUE INDEX mails_by_message ON mails (message_id, mail_id)",
  "INDEX mails_by_id ON mails (mail_id)",
  "INDEX mails_by_sender ON mails (sender)",
  "UNIQUE INDEX replies_by_key ON replies (message_id, key)",
  "INDEX keys_by_message ON keys (message_id)",
  "INDEX hits_by_hash ON hits (hash, at)",
];

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;

export type RowOf<Name extends Table> = {
  -readonly [Key in keyof Tables[Name] as CamelCase<Key>]: Tables[Name][Key] extends Column<infer Value>
    ? Value
    : never;
};

/** A row to insert. In other tables than `messages`, `reference` stands for the number of that message's row. */
export type NewRow<Name extends Table> = {
  [Key in keyof Tables[Name] | "reference"]?: string | number | null;
};

/** The names of columns for a SELECT. With `RowOf`, a column that does not exist is a compile error. */
export function columnsOf<Name extends Table, Key extends keyof RowOf<Name> & string>(
  table: Name,
  ...fields: readonly Key[]
): string {
  return fields
    .map((field) => `${table}.${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`)
    .join(", ");
}

const columns = allTables().flatMap(([, columns]) => columns);
const kinds = new Map(columns.map(([name, { kind }]) => [name, kind]));

export function castTypeOf(column: string): string {
  const kind = kinds.get(column);
  return kind === undefined || kind === "text" ? "TEXT" : "BIGINT";
}

/** Every table with its columns. Tables precede those that refer to them. */
export function allTables(): [Table, [name: string, column: Column<unknown>][]][] {
  return (Object.keys(TABLES) as Table[]).map((table) => [table, Object.entries(TABLES[table])]);
}
