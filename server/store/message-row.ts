import type { MessageState, StoredMessage } from "./store.ts";

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
}

export const MESSAGE_COLUMNS = `id, reference, name, email, phone, country, message, state, accepted_at,
  state_changed_at, due_at, attempts, last_error, is_restricted`;

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
  };
}

export function toDate(ms: number | null | undefined): Date | null {
  return ms === null || ms === undefined ? null : new Date(ms);
}
