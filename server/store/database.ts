import type { EventKind } from "../../contract/inbox.ts";
import type {
  Acceptance,
  AcceptanceRules,
  Delivery,
  DeliveryState,
  Store,
  StoredMessage,
  Submission,
} from "./store.ts";

/** What a statement is given: lists as JSON, times as milliseconds since 1970, flags as 0 or 1. */
export type Value = string | number | boolean | Date | readonly unknown[] | null;

/** Runs one statement and resolves to its rows, as records. Placeholders are `$1`, `$2`, … in both databases. */
export type Query = <Row>(sql: string, values?: readonly Value[]) => Promise<Row[]>;

/** A value as both databases take it. */
export function toParameter(value: Value): string | number | null {
  if (value instanceof Date) return value.getTime();
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

/** Columns that hold times, by their names. */
export function isTime(column: string): boolean {
  return column === "at" || column.endsWith("_at");
}

/** A row as the program reads it, by the names of its columns: `due_at` is the time `dueAt`, `is_restricted` a flag. */
export function toRecord<Fields>(row: Readonly<Record<string, unknown>>): Fields {
  const record: Record<string, unknown> = {};
  for (const column of Object.keys(row)) {
    const value = row[column];
    const { name, read } = fieldOf(column);
    record[name] = value === null ? null : read(value);
  }
  return record as Fields;
}

const fields = new Map<string, { name: string; read(value: unknown): unknown }>();

/** Found once for each column: a long list has hundreds of thousands of values. */
function fieldOf(column: string) {
  const known = fields.get(column);
  if (known) return known;
  const name = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const toDate = (ms: unknown) => new Date(ms as number);
  const field = {
    name,
    read: isTime(column) ? toDate : column.startsWith("is_") ? Boolean : (value: unknown) => value,
  };
  fields.set(column, field);
  return field;
}

/** The row of a statement that always has one. */
export async function onlyRow<Row>(query: Query, sql: string, values?: readonly Value[]): Promise<Row> {
  const [row] = await query<Row>(sql, values);
  if (!row) throw new Error("The database returned no row");
  return row;
}

/** The references that a statement returns. */
export async function queryReferences(query: Query, sql: string, values?: readonly Value[]): Promise<string[]> {
  return (await query<{ reference: string }>(sql, values)).map(({ reference }) => reference);
}

/** A value that the program remembers by its name; `null` if there is none. */
export async function readMeta(query: Query, name: string): Promise<string | null> {
  const [row] = await query<{ value: string }>("SELECT value FROM store_meta WHERE name = $1", [name]);
  return row?.value ?? null;
}

export async function writeMeta(query: Query, name: string, value: string): Promise<void> {
  const sql = "INSERT INTO store_meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
  await query(sql, [name, value]);
}

/** A submission, what it is judged by, and when it arrived. */
export interface PendingMessage {
  submission: Submission;
  rules: AcceptanceRules;
  nowMs: number;
}

/** What statements of one transaction need. */
export interface Transaction {
  query: Query;
  dialect: Dialect;
  clientKey: Uint8Array;
}

/** SQLite or PostgreSQL, as far as the two differ. Every method rejects with StoreUnavailable when it cannot be used. */
export interface Database {
  readonly dialect: Dialect;
  /** A secret of this database, the same on every node. */
  readonly clientKey: Uint8Array;
  /** Several servers may work on it at the same time. */
  readonly isShared: boolean;
  /** Each statement is a transaction of its own, committed to disk when this resolves. */
  query: Query;
  /** The same for a statement that may take minutes. */
  queryLong: Query;
  /**
   * Runs a statement that changes messages and ends with `RETURNING reference`, and writes the event into the history of
   * each of them, in one transaction. Resolves to the references.
   */
  change(sql: string, values: readonly Value[], event: NewEvent): Promise<string[]>;
  /** Accepts the messages in one transaction, committed to disk when this resolves. */
  accept(batch: readonly PendingMessage[]): Promise<Acceptance[]>;
  /** Decides on due acknowledgements in one transaction, of which only one runs at a time. */
  admitAcknowledgements: Store["admitAcknowledgements"];
  /** Leaves nothing of deleted rows in the database's own files. */
  eraseTraces(): Promise<void>;
  /** Moves what the log holds into the main file, if the database leaves that to its users. */
  checkpoint(): Promise<void>;
  /** Rejects with StoreLost when the database's files were removed or replaced while they were open. Writes nothing. */
  verify(): Promise<void>;
  /** Writes a SQLite database with all rows into an empty file. */
  copyTo(file: string): Promise<void>;
  close(): Promise<void>;
}

/** An entry of a message's history, which several messages may get at once. */
export interface NewEvent {
  kind: EventKind;
  at: Date;
  detail?: string | null;
}

/** The few expressions in which the two databases' SQL differs. */
export interface Dialect {
  /** The time by which leases are given and end, in milliseconds since 1970: that of the database, if nodes share it. */
  leaseNow(nodeNow: string): string;
  /** Ends the choice of the messages to claim. */
  lockRows: string;
  /** The e-mail address in lower case, whatever the database's language. */
  lowerCaseEmail: string;
  /** Whether the column's value is in a JSON array of strings. */
  isIn(column: string, jsonArray: string): string;
  /** The items of a JSON array, as rows with one column `value`. */
  itemsOf(jsonArray: string): string;
  /**
   * Whether a text contains the words, in any case of their letters and whatever the database's language. `place` adds a
   * value to those of the statement and returns its placeholder.
   */
  contains(text: string, words: string, place: (value: string) => string): string;
}

/** The pattern of LIKE for a text that contains the words. */
export function likePattern(words: string): string {
  return `%${words.replaceAll(/[\\%_]/g, "\\$&")}%`;
}

/** Both cases of every letter, as `[eE]`; what is neither is escaped by the function given. */
export function letterClasses(characters: readonly string[], escapeOther: (character: string) => string): string {
  return characters
    .map((character) => {
      const cases = new Set([character, ...casesOf(character)]);
      return cases.size > 1 ? `[${[...cases].join("")}]` : escapeOther(character);
    })
    .join("");
}

/** Of one letter; without such forms as the two letters SS for one. */
export function casesOf(character: string): string[] {
  return [character.toLowerCase(), character.toUpperCase()].filter((other) => [...other].length === 1);
}

/** Databases fold these by themselves, and fast. */
export function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

type DeliveryRow<Prefix extends string> = Record<`${Prefix}State`, DeliveryState | null> &
  Record<`${Prefix}ChangedAt`, Date | null> &
  Record<`${Prefix}Reason`, string | null>;

/** A record of SELECTED_COLUMNS. */
export type MessageRow = Omit<StoredMessage, "footprint" | "acknowledgement" | "hook"> &
  DeliveryRow<"ack"> &
  DeliveryRow<"hook"> & { footprint: string | null };

/**
 * Changes with everything that an operator may see or change, and belongs to one message. Made of columns that a node of
 * the version before writes too, so that its changes count as well. Without the acknowledgement and the hook: they go out
 * by themselves seconds later, and must not make what an operator is about to do fail.
 */
export const VERSION = `(id || '.' || state || '.' || state_changed_at || '.' || attempts || '.' || COALESCE(due_at, 0)
  || '.' || is_restricted || '.' || COALESCE(answered_at, 0) || '.' || COALESCE(corrected_at, 0))`;

export const SELECTED_COLUMNS = `id, reference, name, email, phone, country, message, state, accepted_at,
  state_changed_at, due_at, attempts, last_error, is_restricted, answered_at, notified_at, quarantine_reason, footprint,
  ack_state, ack_changed_at, ack_reason, hook_state, hook_changed_at, hook_reason, ${VERSION} AS version`;

export function toStoredMessage(row: MessageRow): StoredMessage {
  const { footprint, ackState, ackChangedAt, ackReason, hookState, hookChangedAt, hookReason, ...message } = row;
  return {
    ...message,
    footprint: footprint === null ? null : JSON.parse(footprint),
    acknowledgement: toDelivery(ackState, ackChangedAt, ackReason),
    hook: toDelivery(hookState, hookChangedAt, hookReason),
  };
}

function toDelivery(state: DeliveryState | null, changedAt: Date | null, reason: string | null): Delivery | null {
  return state && { state, changedAt: changedAt ?? new Date(0), reason };
}
