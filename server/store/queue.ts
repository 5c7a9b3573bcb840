import { randomUUID } from "node:crypto";
import {
  type Database,
  type MessageRow,
  type NewEvent,
  type Query,
  SELECTED_COLUMNS,
  toDate,
  toStoredMessage,
  type Value,
} from "./database.ts";
import type { AlertTopic, Claim, Store } from "./store.ts";

type QueueMethods =
  | "claim"
  | "markDelivered"
  | "reschedule"
  | "markFailed"
  | "unclaim"
  | "nextDueAt"
  | "clearLeases"
  | "queueDepth"
  | "lastAlertAt"
  | "moveLastAlert"
  | "markQuarantineReported";

/** No attempt is ever put off for longer: a due time beyond it was set before the clock was set back. */
export const FARTHEST_DUE_MS = 5 * 3_600_000;

const IS_MAILABLE = "state = 'queued' AND is_restricted = 0";
const IS_FAILED = "state = 'failed' AND is_restricted = 0";
const IS_MINE = "id = $1 AND lease_token = $2 AND state = 'queued'";
const IS_QUARANTINED = "state = 'quarantined' AND is_restricted = 0";
/** In the same statement as the delivery, so that no crash falls between. Once for each message. */
const QUEUE_ACKNOWLEDGEMENT = `ack_due_at = CASE WHEN ack_state IS NULL THEN $3 ELSE ack_due_at END,
  ack_changed_at = CASE WHEN ack_state IS NULL THEN $3 ELSE ack_changed_at END, ack_state = COALESCE(ack_state, 'queued')`;
/** The first has the name it had when there was only one topic. */
const REPORTED_ID = "quarantine_reported_id";
const LAST_ALERT: Readonly<Record<AlertTopic, string>> = {
  delivery: "last_alert_at",
  quarantine: "last_quarantine_alert_at",
};

/** What the outbox does with messages, and what the alerts need to know. */
export function queueMethods({ query, change, dialect, isShared }: Database): Pick<Store, QueueMethods> {
  const select = (isDue: string) => `
      SELECT id FROM messages
      WHERE ${IS_MAILABLE} AND ${isDue} AND (leased_until IS NULL OR leased_until <= $1 OR leased_until > $2)
      ORDER BY due_at, id LIMIT $3 ${dialect.lockRows}`;
  // Two questions, because each is answered by the index; together they would read the whole queue.
  const claimSql = `
    WITH due AS MATERIALIZED (${select("due_at <= $1")}), strayed AS MATERIALIZED (${select("due_at > $6")})
    UPDATE messages SET lease_token = $4, leased_until = $5, attempts = attempts + 1
    WHERE id IN (SELECT id FROM due UNION ALL SELECT id FROM strayed LIMIT $3) RETURNING ${SELECTED_COLUMNS}`;

  /** False when the lease went to somebody else. Without an event the attempt leaves no trace. */
  async function mark(claim: Claim, event: NewEvent | null, changes: string, ...others: Value[]): Promise<boolean> {
    const sql = `UPDATE messages SET ${changes}, lease_token = NULL, leased_until = NULL WHERE ${IS_MINE}
      RETURNING reference`;
    const values = [Number(claim.message.id), claim.token, ...others];
    const changed = event === null ? await query(sql, values) : await change(sql, values, event);
    return changed.length === 1;
  }

  return {
    async claim(limit, leaseMs, now) {
      const token = randomUUID();
      const nowMs = now.getTime();
      // A lease that ends later than any could was made before the clock was set back: it is no longer believed.
      const values = [nowMs, nowMs + 2 * leaseMs, limit, token, nowMs + leaseMs, nowMs + FARTHEST_DUE_MS];
      const rows = await query<MessageRow>(claimSql, values);
      rows.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0) || a.id - b.id);
      return rows.map((row) => ({ message: toStoredMessage(row), token }));
    },

    markDelivered(claim, now, queuesAcknowledgement = false) {
      const delivered = "state = 'delivered', state_changed_at = $3, due_at = NULL, last_error = NULL";
      const changes = queuesAcknowledgement ? `${delivered}, ${QUEUE_ACKNOWLEDGEMENT}` : delivered;
      return mark(claim, { kind: "delivered", at: now }, changes, now.getTime());
    },

    reschedule(claim, dueAt, error, now) {
      const event: NewEvent = { kind: "deferred", at: now, detail: error };
      return mark(claim, event, "due_at = $3, last_error = $4", dueAt.getTime(), error);
    },

    markFailed(claim, error, now) {
      const changes = "state = 'failed', state_changed_at = $3, due_at = NULL, last_error = $4";
      return mark(claim, { kind: "failed", at: now, detail: error }, changes, now.getTime(), error);
    },

    unclaim(claim, dueAt, error, now) {
      const changes = "attempts = attempts - 1, due_at = $3, last_error = COALESCE($4, last_error)";
      const event: NewEvent | null = error === null ? null : { kind: "paused", at: now, detail: error };
      return mark(claim, event, changes, dueAt.getTime(), error);
    },

    async nextDueAt() {
      const [row] = await query<{ at: number | null }>(`
        SELECT min(at) AS at FROM (
          SELECT min(due_at) AS at FROM messages WHERE ${IS_MAILABLE} AND leased_until IS NULL
          UNION ALL
          SELECT min(leased_until) FROM messages WHERE ${IS_MAILABLE} AND leased_until > 0) AS next`);
      return toDate(row?.at);
    },

    async clearLeases() {
      if (isShared) return;
      await query(
        "UPDATE messages SET lease_token = NULL, leased_until = NULL WHERE state = 'queued' AND leased_until > 0",
      );
      // The token stays: it tells that nobody knows how the attempt ended.
      await query(
        "UPDATE messages SET ack_leased_until = NULL WHERE ack_due_at IS NOT NULL AND ack_leased_until IS NOT NULL",
      );
    },

    async queueDepth() {
      const reportedId = await readReportedId(query);
      // A question each, because each has an index of its own.
      const [row] = await query<
        Record<"queued" | "failed" | "quarantined" | "newly_quarantined", number> &
          Record<"oldest" | "oldest_again" | "last_failed" | "last_quarantined", number | null>
      >(
        `SELECT (SELECT count(*) FROM messages WHERE ${IS_MAILABLE}) AS queued,
          (SELECT min(accepted_at) FROM messages WHERE ${IS_MAILABLE} AND state_changed_at <= accepted_at) AS oldest,
          (SELECT min(state_changed_at) FROM messages WHERE ${IS_MAILABLE} AND state_changed_at > accepted_at) AS oldest_again,
          (SELECT count(*) FROM messages WHERE ${IS_FAILED}) AS failed,
          (SELECT max(state_changed_at) FROM messages WHERE ${IS_FAILED}) AS last_failed,
          (SELECT count(*) FROM messages WHERE ${IS_QUARANTINED}) AS quarantined,
          (SELECT count(*) FROM messages WHERE ${IS_QUARANTINED} AND id > $1) AS newly_quarantined,
          (SELECT max(id) FROM messages WHERE ${IS_QUARANTINED}) AS last_quarantined`,
        [reportedId],
      );
      const oldest = [row?.oldest, row?.oldest_again].flatMap((ms) => ms ?? []);
      return {
        queued: row?.queued ?? 0,
        oldestQueuedAt: oldest.length > 0 ? new Date(Math.min(...oldest)) : null,
        failed: row?.failed ?? 0,
        lastFailedAt: toDate(row?.last_failed),
        quarantined: row?.quarantined ?? 0,
        newlyQuarantined: row?.newly_quarantined ?? 0,
        lastQuarantinedId: row?.last_quarantined ?? null,
      };
    },

    async markQuarantineReported(lastId) {
      const sql = "INSERT INTO store_meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
      await query(sql, [REPORTED_ID, String(lastId)]);
    },

    lastAlertAt: (topic) => readLastAlert(query, topic),

    async moveLastAlert(topic, from, to) {
      const sql = `INSERT INTO store_meta VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE store_meta.value = $3 RETURNING name`;
      const values = [LAST_ALERT[topic], String(to.getTime()), String(from.getTime())];
      return (await query(sql, values)).length === 1;
    },
  };
}

/**
 * The row number of the newest message in quarantine that an alert has counted. Not a time: a message that arrives before
 * the alert may be committed after it, and numbers follow the order of commits.
 */
export async function readReportedId(query: Query): Promise<number> {
  const [row] = await query<{ value: string }>("SELECT value FROM store_meta WHERE name = $1", [REPORTED_ID]);
  return Number(row?.value ?? 0);
}

async function readLastAlert(query: Query, topic: AlertTopic): Promise<Date> {
  const sql = "SELECT value FROM store_meta WHERE name = $1";
  const [row] = await query<{ value: string }>(sql, [LAST_ALERT[topic]]);
  return new Date(Number(row?.value ?? 0));
}
