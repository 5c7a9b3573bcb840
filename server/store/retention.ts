import type { Retention } from "../../contract/build-settings.ts";
import { DAY_MS } from "../time.ts";
import { type Database, onlyRow, readColumn, type Sql, timeOf } from "./database.ts";
import { CHANNELS, rulesOf } from "./model.ts";
import { lessonsChanged } from "./spam.ts";
import { columnsOf, type RowOf } from "./tables.ts";

// Announces expiring messages, then erases them. A message's mail has two times, both NULL if RETENTION keeps messages
// in its state: `expires_at`, when the message is erased, and `announce_at`, when that is announced at the latest.
// `announce_at` is NULL once it was announced.

export interface Expiring {
  foundAt: Date;
  count: number;
  unanswered: number;
  firstAt: Date | null;
  unannounced: number;
}

/** An erasure is announced this long before, or half of the retention period before if that is shorter. */
export const EXPIRY_NOTICE_MS = 7 * DAY_MS;

function periodsOf(retention: Retention) {
  return (["delivered", "failed", "quarantined"] as const).flatMap((state) => {
    const keptMs = retention[`${state}Ms`];
    return keptMs === null ? [] : { state, keptMs, noticeMs: Math.min(EXPIRY_NOTICE_MS, Math.floor(keptMs / 2)) };
  });
}

/** Announcements at this interval are always in time. */
export function announcementIntervalMs(retention: Retention): number {
  return Math.min(DAY_MS, ...periodsOf(retention).map(({ noticeMs }) => noticeMs));
}

/** A message is kept from the last mail of its conversation on, if that is later. */
const lastOf = (changedAt: string) =>
  `CASE WHEN COALESCE(last_mail_at, 0) > ${changedAt} THEN last_mail_at ELSE ${changedAt} END`;

/** SQL that sets when a message is erased, for its mail's new state and the time of that. Nothing on other channels. */
export function expiry(state: string, changedAt: string): string {
  const end = (columns: string) =>
    `${lastOf(`CAST(${changedAt} AS BIGINT)`)}
      + (SELECT ${columns} FROM retention WHERE retention.state = ${state} AND deliveries.channel = 'mail')`;
  return `expires_at = ${end("kept_ms")}, announce_at = ${end("kept_ms - notice_ms")}`;
}

const BY_STATE = expiry("deliveries.state", "changed_at");

/** The same for messages whose mail has changed already. They are announced again. */
export async function writeExpiry({ query, dialect }: Sql, ids: readonly number[]): Promise<void> {
  await query(`UPDATE deliveries SET ${BY_STATE} WHERE ${dialect.isIn("message_id", "$1")}`, [ids]);
}

/**
 * Does nothing if RETENTION has not changed. What was announced stays announced, unless the message is kept longer now.
 */
export async function applyRetention({ query }: Sql, retention: Retention): Promise<void> {
  const periods = periodsOf(retention);
  const stored = await query<RowOf<"retention">>(
    `SELECT ${columnsOf("retention", "state", "keptMs", "noticeMs")} FROM retention ORDER BY state`,
  );
  if (JSON.stringify(stored) === JSON.stringify(periods)) return;
  await query("DELETE FROM retention");
  for (const { state, keptMs, noticeMs } of periods)
    await query("INSERT INTO retention (state, kept_ms, notice_ms) VALUES ($1, $2, $3)", [state, keptMs, noticeMs]);
  const end = `${lastOf("changed_at")} + (SELECT kept_ms FROM retention WHERE retention.state = deliveries.state)`;
  await query(
    `UPDATE deliveries SET ${BY_STATE}
     WHERE channel = 'mail' AND NOT COALESCE(announce_at IS NULL AND expires_at >= ${end}, FALSE)`,
  );
}

/** Marks the table as changed: no message has this state. */
export const FORGET_RETENTION = "INSERT INTO retention VALUES ('none', 0, 0) ON CONFLICT DO NOTHING";

const KEEPING = CHANNELS.flatMap((channel) => (rulesOf(channel).keepsMessage ? `'${channel}'` : [])).join();
const IS_EXPIRING = `channel = 'mail' AND message_id NOT IN (SELECT id FROM messages WHERE is_restricted = 1)`;
/** Due for announcement now ($1) or before the next one. The first condition is for the index. */
const IS_UNANNOUNCED = `${IS_EXPIRING} AND expires_at <= CAST($1 AS BIGINT) + ${EXPIRY_NOTICE_MS + DAY_MS}
  AND announce_at <= CAST($1 AS BIGINT) + CASE WHEN expires_at - announce_at < ${DAY_MS} THEN expires_at - announce_at ELSE ${DAY_MS} END`;

export function createRetention(database: Database) {
  const { query, transaction, dialect } = database;
  return {
    /**
     * Erases expired messages that were announced, and client hashes older than a day; returns references. A message
     * waits while its mail or a reply is queued, or while it is restricted.
     */
    async purge(testTime: Date | null): Promise<string[]> {
      const now = await timeOf(database, testTime);
      // Runs first, so that nothing can fail after the erasure.
      const dayAgo = [now.getTime() - DAY_MS];
      await query("DELETE FROM hits WHERE at <= $1", dayAgo);
      const isOld = "EXISTS (SELECT 1 FROM messages WHERE id = message_id AND accepted_at <= $1)";
      await query(`DELETE FROM keys WHERE ${isOld}`, dayAgo);
      const isSending = `EXISTS (SELECT 1 FROM deliveries AS others
        WHERE others.message_id = messages.id AND others.state = 'queued' AND others.channel IN (${KEEPING}))`;
      const erase = `DELETE FROM messages WHERE id IN (SELECT id FROM messages JOIN deliveries ON message_id = messages.id
        WHERE ${IS_EXPIRING} AND expires_at <= $1 AND announce_at IS NULL AND NOT ${isSending}
        ${dialect.lockRows("deliveries, messages", "skip")}) RETURNING reference`;
      return transaction(
        async ({ query }) => {
          const references = await readColumn<string>(query, erase, [now]);
          if (references.length > 0) await lessonsChanged(query);
          return references;
        },
        { isLong: true },
      );
    },

    async findExpiring(testTime: Date | null): Promise<Expiring> {
      const now = await timeOf(database, testTime);
      const found = await onlyRow<Omit<Expiring, "foundAt">>(
        query,
        `SELECT count(*) AS count, count(*) - count(answered_at) AS unanswered, min(expires_at) AS first_at,
           count(announce_at) AS unannounced
         FROM deliveries JOIN messages ON id = message_id
         WHERE ${IS_UNANNOUNCED} OR ${IS_EXPIRING} AND expires_at > 0 AND announce_at IS NULL`,
        [now],
      );
      return { foundAt: now, ...found };
    },

    /** The erasure is at the end of the period, or of the notice that the announcement gives if that is later. */
    async markAnnounced({ foundAt }: Pick<Expiring, "foundAt">): Promise<void> {
      const sql = `UPDATE deliveries SET announce_at = NULL, expires_at = CASE WHEN announce_at < $1
          THEN CAST($1 AS BIGINT) + expires_at - announce_at ELSE expires_at END WHERE ${IS_UNANNOUNCED}`;
      await transaction(({ query }) => query(sql, [foundAt]), { isLong: true });
    },
  };
}
