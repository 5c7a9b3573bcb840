import type { Retention } from "../config.ts";
import { DAY_MS } from "../time.ts";
import { type Database, onlyRow, readColumn } from "./database.ts";
import type { Expiring, Expiry } from "./store.ts";

/** An erasure is announced this many days before, or half of the retention period before if that is shorter. */
const EXPIRY_NOTICE_DAYS = 7;
/** Announced since it reached its current state. So even with a wrong clock, an announcement precedes every erasure. */
const IS_ANNOUNCED = "COALESCE(announced_at >= changed_at, FALSE)";
/** Its reply has not been sent yet. */
const IS_REPLYING = `EXISTS (SELECT 1 FROM deliveries AS replies
  WHERE replies.message_id = messages.id AND replies.channel = 'reply' AND replies.state = 'queued')`;
const MESSAGES = "messages JOIN deliveries ON message_id = messages.id AND channel = 'mail'";

/** For each state: how long messages are kept, how long before its erasure a message is announced, and how often. */
function periodsOf(retention: Retention) {
  return (["delivered", "failed", "quarantined"] as const).flatMap((state) => {
    const keptMs = retention[`${state}Ms`];
    if (keptMs === null) return [];
    const noticeMs = Math.min(EXPIRY_NOTICE_DAYS * DAY_MS, Math.floor(keptMs / 2));
    return { state, keptMs, noticeMs, intervalMs: Math.min(DAY_MS, noticeMs) };
  });
}

/** Announcements at this interval are always in time. */
export function announcementIntervalMs(retention: Retention): number {
  return Math.min(DAY_MS, ...periodsOf(retention).map(({ intervalMs }) => intervalMs));
}

/**
 * SQL for the time at which a message is erased: at the end of its period, but not before the notice period after its
 * announcement has passed. NULL while the message or its reply is queued, while it is restricted, or if RETENTION keeps
 * such messages. This is the only place that decides when a message is erased.
 */
export function expiryOf(retention: Retention): string {
  const ends = periodsOf(retention).map(({ state, keptMs, noticeMs }) => {
    const [planned, announced] = [`changed_at + ${keptMs}`, `announced_at + ${noticeMs}`];
    const isLate = `${IS_ANNOUNCED} AND ${announced} > ${planned}`;
    return `WHEN is_restricted = 0 AND state = '${state}' AND NOT ${IS_REPLYING} THEN CASE WHEN ${isLate} THEN ${announced} ELSE ${planned} END`;
  });
  return ends.length === 0 ? "CAST(NULL AS BIGINT)" : `CASE ${ends.join(" ")} END`;
}

/** Erases messages only after their announcement. */
export function retentionMethods({ query, transaction, dialect }: Database, retention: Retention): Expiry {
  const periods = periodsOf(retention);
  const expiry = expiryOf(retention);
  const now = "CAST($1 AS BIGINT)";
  /** Whether a message has been in its state for at least this time. An index answers each part. */
  const isOlderThan = (ageMs: (period: (typeof periods)[number]) => number) => {
    const parts = periods.map(
      (period) => `channel = 'mail' AND state = '${period.state}' AND changed_at <= ${now} - ${ageMs(period)}`,
    );
    return parts.length > 0 ? `(${parts.join(" OR ")})` : "FALSE";
  };
  /** Due for announcement now or before the next one. */
  const isExpiring = `${isOlderThan(({ keptMs, noticeMs, intervalMs }) => keptMs - noticeMs - intervalMs)} AND is_restricted = 0`;
  // Announcements from a clock that was ahead are repeated.
  const isUnannounced = `NOT (${IS_ANNOUNCED} AND announced_at <= ${now})`;

  return {
    async purge(now) {
      // Hits from the future come from a wrong clock. Runs first, so that nothing can fail after the erasure.
      await query("DELETE FROM hits WHERE at <= $1 OR at > $2", [now.getTime() - DAY_MS, now.getTime() + DAY_MS]);
      const sql = `DELETE FROM messages WHERE id IN (SELECT id FROM ${MESSAGES}
        WHERE ${isOlderThan(({ keptMs }) => keptMs)} AND ${IS_ANNOUNCED} AND ${expiry} <= $1
        ${dialect.lockRows("deliveries, messages", "skip")}) RETURNING reference`;
      return transaction((query) => readColumn<string>(query, sql, [now]), { isLong: true });
    },

    async findExpiring(now) {
      const found = await onlyRow<Omit<Expiring, "foundAt">>(
        query,
        `SELECT count(*) AS count, count(*) - count(answered_at) AS unanswered, min(${expiry}) AS first_at,
           count(CASE WHEN ${isUnannounced} THEN 1 END) AS unannounced, COALESCE(max(id), 0) AS last_id
         FROM ${MESSAGES} WHERE ${isExpiring}`,
        [now],
      );
      return { foundAt: now, ...found };
    },

    async markAnnounced({ foundAt, lastId }) {
      const sql = `UPDATE messages SET announced_at = ${now} WHERE id IN
        (SELECT id FROM ${MESSAGES} WHERE ${isExpiring} AND ${isUnannounced} AND messages.id <= $2)`;
      await transaction((query) => query(sql, [foundAt, lastId]), { isLong: true });
    },
  };
}
