import { EXPIRY_NOTICE_MS } from "../../contract/operator-limits.ts";
import type { Retention } from "../config.ts";
import { DAY_MS } from "../time.ts";
import type { Core } from "./core.ts";
import { onlyRow, type Query, readColumn } from "./database.ts";
import { CHANNELS, rulesOf } from "./store.ts";

// Announces expiring messages, then erases them.

/**
 * Messages that RETENTION erases within a week and a day, or sooner with a short period. Their erasure is announced.
 */
export interface Expiring {
  foundAt: Date;
  count: number;
  unanswered: number;
  /** When the first message will be erased. */
  firstAt: Date | null;
  /** The messages that no alert has announced. */
  unannounced: number;
  /** The highest row number among them. */
  lastId: number;
}

/** Announced since it reached its current state. So even with a wrong clock, an announcement precedes every erasure. */
const IS_ANNOUNCED = "COALESCE(announced_at >= changed_at, FALSE)";
const HOLDING = CHANNELS.flatMap((channel) => (rulesOf(channel).holdsErasure ? `'${channel}'` : [])).join();
/** A delivery that must be sent first, such as a reply, is still queued. */
const IS_SENDING = `EXISTS (SELECT 1 FROM deliveries AS others
  WHERE others.message_id = messages.id AND others.channel IN (${HOLDING}) AND others.state = 'queued')`;
const MESSAGES = "messages JOIN deliveries ON message_id = messages.id AND channel = 'mail'";

/** For each state: how long messages are kept, how long before its erasure a message is announced, and how often. */
function periodsOf(retention: Retention) {
  return (["delivered", "failed", "quarantined"] as const).flatMap((state) => {
    const keptMs = retention[`${state}Ms`];
    if (keptMs === null) return [];
    const noticeMs = Math.min(EXPIRY_NOTICE_MS, Math.floor(keptMs / 2));
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
    return `WHEN is_restricted = 0 AND state = '${state}' AND NOT ${IS_SENDING} THEN CASE WHEN ${isLate} THEN ${announced} ELSE ${planned} END`;
  });
  return ends.length === 0 ? "CAST(NULL AS BIGINT)" : `CASE ${ends.join(" ")} END`;
}

const NOW = "CAST($1 AS BIGINT)";

type Period = ReturnType<typeof periodsOf>[number];

/** Whether a message has been in its state for at least this time. An index answers each part. */
function isOlderThan(retention: Retention, ageMs: (period: Period) => number): string {
  const parts = periodsOf(retention).map(
    (period) => `channel = 'mail' AND state = '${period.state}' AND changed_at <= ${NOW} - ${ageMs(period)}`,
  );
  return parts.length > 0 ? `(${parts.join(" OR ")})` : "FALSE";
}

/** Due for announcement now or before the next one. */
function isExpiring(retention: Retention): string {
  const isDue = isOlderThan(retention, ({ keptMs, noticeMs, intervalMs }) => keptMs - noticeMs - intervalMs);
  return `${isDue} AND is_restricted = 0`;
}

/** Announcements from a clock that was ahead are repeated. */
const IS_UNANNOUNCED = `NOT (${IS_ANNOUNCED} AND announced_at <= ${NOW})`;

/** Erases the messages that have expired, and client hashes older than a day; returns references. */
async function purge({ query, transaction, dialect, retention, spam }: Core, now: Date): Promise<string[]> {
  // Hits from the future come from a wrong clock. Runs first, so that nothing can fail after the erasure.
  await query("DELETE FROM hits WHERE at <= $1 OR at > $2", [now.getTime() - DAY_MS, now.getTime() + DAY_MS]);
  const sql = `DELETE FROM messages WHERE id IN (SELECT id FROM ${MESSAGES}
    WHERE ${isOlderThan(retention, ({ keptMs }) => keptMs)} AND ${IS_ANNOUNCED} AND ${expiryOf(retention)} <= $1
    ${dialect.lockRows("deliveries, messages", "skip")}) RETURNING reference`;
  const erase = async (query: Query) => {
    const references = await readColumn<string>(query, sql, [now]);
    if (references.length > 0) await spam.lessonsChanged(query);
    return references;
  };
  return transaction(erase, { isLong: true });
}

async function findExpiring({ query, retention }: Core, now: Date): Promise<Expiring> {
  const found = await onlyRow<Omit<Expiring, "foundAt">>(
    query,
    `SELECT count(*) AS count, count(*) - count(answered_at) AS unanswered, min(${expiryOf(retention)}) AS first_at,
       count(CASE WHEN ${IS_UNANNOUNCED} THEN 1 END) AS unannounced, COALESCE(max(id), 0) AS last_id
     FROM ${MESSAGES} WHERE ${isExpiring(retention)}`,
    [now],
  );
  return { foundAt: now, ...found };
}

async function markAnnounced({ transaction, retention }: Core, expiring: Pick<Expiring, "foundAt" | "lastId">) {
  const sql = `UPDATE messages SET announced_at = ${NOW} WHERE id IN
    (SELECT id FROM ${MESSAGES} WHERE ${isExpiring(retention)} AND ${IS_UNANNOUNCED} AND messages.id <= $2)`;
  await transaction((query) => query(sql, [expiring.foundAt, expiring.lastId]), { isLong: true });
}

export const retentionRules = { purge, findExpiring, markAnnounced };
