import { EXPIRY_NOTICE_MS } from "../../contract/operator-limits.ts";
import type { Retention } from "../config.ts";
import { DAY_MS } from "../time.ts";
import { type Database, onlyRow, readColumn, type Sql } from "./database.ts";
import { lessonsChanged } from "./spam.ts";
import { mayTakeMinutes } from "./thread.ts";

// Announces expiring messages, then erases them.

/**
 * Messages that RETENTION erases within a week and a day, or sooner with a short period. Their erasure is announced.
 */
export interface Expiring {
  foundAt: Date;
  count: number;
  unanswered: number;
  firstAt: Date | null;
  /** The messages that no alert has announced. */
  unannounced: number;
  /** The highest row number among them. */
  lastId: number;
}

/** The mail, the hook's post, an acknowledgement or a reply is still queued. */
const IS_SENDING = `EXISTS (SELECT 1 FROM deliveries AS others
  WHERE others.message_id = messages.id AND others.state = 'queued')`;
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

/** The SQL CASE of the value for each state's period; NULL if RETENTION keeps such messages. */
function byState(retention: Retention, sqlOf: (period: Period) => string): string {
  const cases = periodsOf(retention).map((period) => `WHEN '${period.state}' THEN ${sqlOf(period)}`);
  return cases.length === 0 ? "CAST(NULL AS BIGINT)" : `CASE state ${cases.join(" ")} END`;
}

const laterOf = (one: string, other: string) => `CASE WHEN ${one} > ${other} THEN ${one} ELSE ${other} END`;

/**
 * SQL for the time at which a message is erased: at the end of its period, but not before the announced time. NULL while
 * one of its deliveries is queued, while it is restricted, or if RETENTION keeps such messages. This is the only place
 * that decides when a message is erased.
 */
export function expiryOf(retention: Retention): string {
  const end = byState(retention, ({ keptMs }) => laterOf("COALESCE(announced_for, 0)", `(changed_at + ${keptMs})`));
  return `CASE WHEN is_restricted = 0 AND NOT ${IS_SENDING} THEN ${end} END`;
}

/** Its erasure was announced for the end of its current period or later. */
function isAnnounced(retention: Retention): string {
  return `COALESCE(announced_for >= ${byState(retention, ({ keptMs }) => `changed_at + ${keptMs}`)}, FALSE)`;
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

/**
 * Announcements for a later time than one made now are repeated: they come from a clock that was ahead, or from a longer
 * RETENTION.
 */
function isUnannounced(retention: Retention): string {
  return `NOT (${isAnnounced(retention)} AND announced_for <= ${announcedNow(retention)})`;
}

/** The erasure time that an announcement now promises: the end of the period, or of the notice if that is later. */
function announcedNow(retention: Retention): string {
  const end = byState(retention, ({ keptMs, noticeMs }) =>
    laterOf(`(changed_at + ${keptMs})`, `(${NOW} + ${noticeMs})`),
  );
  return `COALESCE(${end}, ${NOW})`;
}

export function createRetention({ query, transaction, dialect }: Database, retention: Retention) {
  return {
    /** Erases the messages that have expired, and client hashes older than a day; returns references. */
    purge: mayTakeMinutes(async (now: Date): Promise<string[]> => {
      // Rows from the future come from a wrong clock. Runs first, so that nothing can fail after the erasure.
      const day = [now.getTime() - DAY_MS, now.getTime() + DAY_MS];
      await query("DELETE FROM hits WHERE at <= $1 OR at > $2", day);
      await query(
        `DELETE FROM keys WHERE EXISTS (SELECT 1 FROM messages
     WHERE id = message_id AND (accepted_at <= $1 OR accepted_at > $2))`,
        day,
      );
      const sql = `DELETE FROM messages WHERE id IN (SELECT id FROM ${MESSAGES}
    WHERE ${isOlderThan(retention, ({ keptMs }) => keptMs)} AND ${isAnnounced(retention)} AND ${expiryOf(retention)} <= $1
    ${dialect.lockRows("deliveries, messages", "skip")}) RETURNING reference`;
      const erase = async ({ query }: Sql) => {
        const references = await readColumn<string>(query, sql, [now]);
        if (references.length > 0) await lessonsChanged(query);
        return references;
      };
      return transaction(erase, { isLong: true });
    }),

    async findExpiring(now: Date): Promise<Expiring> {
      const found = await onlyRow<Omit<Expiring, "foundAt">>(
        query,
        `SELECT count(*) AS count, count(*) - count(answered_at) AS unanswered, min(${expiryOf(retention)}) AS first_at,
       count(CASE WHEN ${isUnannounced(retention)} THEN 1 END) AS unannounced, COALESCE(max(id), 0) AS last_id
     FROM ${MESSAGES} WHERE ${isExpiring(retention)}`,
        [now],
      );
      return { foundAt: now, ...found };
    },

    markAnnounced: mayTakeMinutes(async (expiring: Pick<Expiring, "foundAt" | "lastId">) => {
      const sql = `UPDATE messages SET announced_for = (SELECT ${announcedNow(retention)} FROM deliveries
      WHERE message_id = messages.id AND channel = 'mail') WHERE id IN (SELECT id FROM ${MESSAGES}
      WHERE ${isExpiring(retention)} AND ${isUnannounced(retention)} AND messages.id <= $2)`;
      await transaction(({ query }) => query(sql, [expiring.foundAt, expiring.lastId]), { isLong: true });
    }),
  };
}
