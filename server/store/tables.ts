import type { Channel, DeliveryState, EventKind, Lesson, QuarantineReason } from "./store.ts";

// The columns of every table, declared once: the types of rows, conversions and casts follow. The migrations in
// schema.ts lead to these tables, which a test checks.

/** A time is stored in milliseconds since 1970, a flag as 0 or 1. */
type Kind = "text" | "integer" | "time" | "flag";

/** `Value` is the type of its value in a row. */
interface Column<Value> {
  kind: Kind;
  value?: Value;
}

const column = <Value>(kind: Kind): Column<Value> => ({ kind });
const text = <Value extends string = string>() => column<Value>("text");
const optional = <Value>(one: Column<Value>) => one as Column<Value | null>;
const integer = column<number>("integer");
const time = column<Date>("time");
const flag = column<boolean>("flag");

const TABLES = {
  messages: {
    id: integer,
    reference: text(),
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
    former_addresses: optional(text()),
    search_text: text(),
  },
  deliveries: {
    message_id: integer,
    channel: text<Channel>(),
    state: text<DeliveryState>(),
    changed_at: time,
    due_at: optional(time),
    attempts: integer,
    interruptions: integer,
    error: optional(text()),
    lease_token: optional(text()),
    leased_until: optional(integer),
    is_counted: flag,
    expires_at: optional(time),
    announce_at: optional(time),
  },
  events: {
    id: integer,
    message_id: integer,
    at: time,
    kind: text<EventKind>(),
    channel: optional(text<Channel>()),
    detail: optional(text()),
    author: optional(text()),
    step: optional(text()),
    replaced: optional(text()),
  },
  replies: {
    event_id: integer,
    message_id: integer,
    key: text(),
    subject: text(),
    text: text(),
    sent_at: optional(time),
  },
  drafts: { message_id: integer, author: text(), saved_at: time, subject: text(), text: text(), note: text() },
  keys: { key_hash: text(), message_id: integer, client_proof: text() },
  hits: { hash: text(), at: time },
  erasures: { hash: text(), secret: text(), at: time },
  retention: { state: text<DeliveryState>(), kept_ms: integer, notice_ms: integer },
  meta: { name: text(), value: text() },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Column<unknown>>>>>;

/** What statements call a result that is no column. All others keep the database's type. */
const RESULTS = { first_at: time, last_at: time, day_at: time, queued_at: time, unseen_since_at: time };

type Tables = typeof TABLES;
export type Table = keyof Tables;

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;

/** A row as `query` returns it. */
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

const kinds = new Map<string, Kind>();
for (const columns of [RESULTS, ...Object.values(TABLES)]) {
  for (const [name, { kind }] of Object.entries(columns)) {
    if ((kinds.get(name) ?? kind) !== kind) throw new Error(`Columns named ${name} have different kinds`);
    kinds.set(name, kind);
  }
}

/** Columns with the same name have the same kind. `undefined` for a computed result. */
export function kindOf(column: string): Kind | undefined {
  return kinds.get(column);
}

/** The type for a CAST, in both databases. */
export function castTypeOf(column: string): string {
  const kind = kindOf(column);
  return kind === undefined || kind === "text" ? "TEXT" : "BIGINT";
}

/** Every table with its columns and their kinds. */
export function allTables(): [Table, (readonly [name: string, kind: Kind])[]][] {
  return (Object.entries(TABLES) as [Table, Record<string, Column<unknown>>][]).map(([table, columns]) => [
    table,
    Object.entries(columns).map(([name, { kind }]) => [name, kind] as const),
  ]);
}
