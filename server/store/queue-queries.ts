import { randomUUID } from "node:crypto";
import { MESSAGE_COLUMNS, type MessageRow, toDate, toStoredMessage } from "./message-row.ts";
import type { Dialect, Query } from "./query.ts";
import type { Claim, Store } from "./store.ts";

type QueueMethods = "claim" | "markDelivered" | "reschedule" | "setAside" | "unclaim" | "nextDueAt" | "queueDepth";

const IS_MAILABLE = "state = 'queued' AND is_restricted = 0";
const NO_LEASE = "lease_token = NULL, leased_until = NULL";
const IS_MINE = "id = $1 AND lease_token = $2 AND state = 'queued'";

/** What the outbox does with messages. */
export function queueQueries(query: Query, dialect: Dialect): Pick<Store, QueueMethods> {
  const claimSql = `
    WITH due AS MATERIALIZED (
      SELECT id FROM messages
      WHERE ${IS_MAILABLE} AND due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1 OR leased_until > $2)
      ORDER BY due_at, id LIMIT $3 ${dialect.lockRows})
    UPDATE messages SET lease_token = $4, leased_until = $5, attempts = attempts + 1
    WHERE id IN (SELECT id FROM due) RETURNING ${MESSAGE_COLUMNS}`;

  async function mark(claim: Claim, changes: string, ...values: (string | number | null)[]): Promise<boolean> {
    const sql = `UPDATE messages SET ${changes}, ${NO_LEASE} WHERE ${IS_MINE} RETURNING id`;
    return (await query(sql, [Number(claim.message.id), claim.token, ...values])).length === 1;
  }

  return {
    async claim(limit, leaseMs, now) {
      const token = randomUUID();
      const nowMs = now.getTime();
      // A lease that ends later than any could was made before the clock was set back: it is no longer believed.
      const values = [nowMs, nowMs + 2 * leaseMs, limit, token, nowMs + leaseMs];
      const rows = await query<MessageRow>(claimSql, values);
      rows.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0) || a.id - b.id);
      return rows.map((row) => ({ message: toStoredMessage(row), token }));
    },

    markDelivered(claim, now) {
      const changes = "state = 'delivered', state_changed_at = $3, due_at = NULL, last_error = NULL";
      return mark(claim, changes, now.getTime());
    },

    reschedule(claim, dueAt, error) {
      return mark(claim, "due_at = $3, last_error = $4", dueAt.getTime(), error);
    },

    setAside(claim, error, now) {
      const changes = "state = 'failed', state_changed_at = $3, due_at = NULL, last_error = $4";
      return mark(claim, changes, now.getTime(), error);
    },

    unclaim(claim, dueAt, error) {
      const changes = "attempts = attempts - 1, due_at = $3, last_error = COALESCE($4, last_error)";
      return mark(claim, changes, dueAt.getTime(), error);
    },

    async nextDueAt() {
      const [row] = await query<{ at: number | null }>(`
        SELECT min(at) AS at FROM (
          SELECT min(due_at) AS at FROM messages WHERE ${IS_MAILABLE} AND leased_until IS NULL
          UNION ALL
          SELECT min(leased_until) FROM messages WHERE ${IS_MAILABLE} AND leased_until > 0) AS next`);
      return toDate(row?.at);
    },

    async queueDepth() {
      // Two questions, because each has an index of its own.
      const [row] = await query<{ queued: number; oldest: number | null }>(`
        SELECT (SELECT count(*) FROM messages WHERE ${IS_MAILABLE}) AS queued,
          (SELECT min(accepted_at) FROM messages WHERE ${IS_MAILABLE}) AS oldest`);
      return { queued: row?.queued ?? 0, oldestQueuedAt: toDate(row?.oldest) };
    },
  };
}
