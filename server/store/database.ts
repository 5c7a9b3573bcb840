import type { PendingMessage } from "./acceptance.ts";
import type { Acceptance, MessageState, QuarantineReason, StoredMessage } from "./store.ts";

export type Value = string | number | null;

/** Runs one statement and resolves to its rows. Placeholders are `$1`, `$2`, … in both databases. */
export type Query = <Row>(sql: string, values?: readonly Value[]) => Promise<Row[]>;

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
  /** Accepts the messages in one transaction, committed to disk when this resolves. */
  accept(batch: readonly PendingMessage[]): Promise<Acceptance[]>;
  /** Leaves nothing of deleted rows in the database's own files. */
  eraseTraces(): Promise<void>;
  /** Moves what the log holds into the main file, if the database leaves that to its users. */
  checkpoint(): Promise<void>;
  /** Writes a SQLite database with all rows into an empty file. */
  copyTo(file: string): Promise<void>;
  close(): Promise<void>;
}

/** The few words in which the two databases' SQL differs. */
export interface Dialect {
  /** Ends the choice of the messages to claim. */
  lockRows: string;
  /** The e-mail address in lower case, whatever the database's language. */
  lowerCaseEmail: string;
  /** Whether the column's value is in a JSON array of strings. */
  isIn(column: string, jsonArray: string): string;
  /** The items of a JSON array, as rows with one column `value`. */
  itemsOf(jsonArray: string): string;
}

/** A row of `messages` as both databases return it: times in milliseconds since 1970, flags as 0 or 1. */
export interface MessageRow {
  id: number;
  reference: string;
  name: string;
  email: string;
  phone: string;
  country: string;
  message: string;
  state: MessageState;
  accepted_at: number;
  state_changed_at: number;
  due_at: number | null;
  attempts: number;
  last_error: string | null;
  is_restricted: number;
  answered_at: number | null;
  quarantine_reason: QuarantineReason | null;
}

export const MESSAGE_COLUMNS = `id, reference, name, email, phone, country, message, state, accepted_at,
  state_changed_at, due_at, attempts, last_error, is_restricted, answered_at, quarantine_reason`;

export function toStoredMessage(row: MessageRow): StoredMessage {
  return {
    id: String(row.id),
    reference: row.reference,
    name: row.name,
    email: row.email,
    phone: row.phone,
    country: row.country,
    message: row.message,
    state: row.state,
    acceptedAt: new Date(row.accepted_at),
    stateChangedAt: new Date(row.state_changed_at),
    dueAt: toDate(row.due_at),
    attempts: row.attempts,
    lastError: row.last_error,
    isRestricted: row.is_restricted === 1,
    answeredAt: toDate(row.answered_at),
    quarantineReason: row.quarantine_reason,
  };
}

export function toDate(ms: number | null | undefined): Date | null {
  return ms === null || ms === undefined ? null : new Date(ms);
}
