import type { Retention } from "../config.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";
import { removeStrayKeys } from "./actions.ts";
import { type Database, onlyRow, queryReferences, readMeta, writeMeta } from "./database.ts";
import type { Ending, Expiry, StoredMessage } from "./store.ts";

const WEEK_MS = 7 * DAY_MS;
/** Alerts of messages that end come once a day: each has to name what reaches its notice before the next one. */
const ALERTED_AHEAD_MS = DAY_MS;
/** Erased at once without an alert: as many as this, or a tenth of all messages. */
const ALWAYS_ERASABLE = 20;
/** Longer than backups are kept: a restored one may have files of messages that were erased since. */
const ERASURES_KEPT_MS = 400 * DAY_MS;
/** While a server runs it notes the time every hour. Longer than it is usually off. */
const FARTHEST_AHEAD_MS = 3 * DAY_MS;
/** Clocks are set by seconds all the time. */
const FARTHEST_BEHIND_MS = 5 * MINUTE_MS;
/** A clock that has been in doubt for this long is taken to be right. */
const DOUBTED_FOR_MS = WEEK_MS;

/** How long before the end of a message an alert has to tell of it: a week, or half of a short period. */
function noticeMs(keptMs: number): number {
  return Math.min(WEEK_MS, Math.floor(keptMs / 2));
}

/**
 * When the message may be erased; `null` while it is queued or restricted, or where RETENTION keeps such messages. One
 * that reached nobody ends a week after the alert that tells so, if that came late. While there was no such alert it stays
 * beyond its end.
 */
export function keptUntil(message: StoredMessage, retention: Retention): Date | null {
  const { state, acceptedAt, stateChangedAt, isRestricted, answeredAt, notifiedAt } = message;
  const keptMs = state === "queued" ? null : retention[`${state}Ms`];
  if (keptMs === null || isRestricted) return null;
  const ends = [acceptedAt.getTime() + keptMs, stateChangedAt.getTime() + keptMs];
  const needsNotice = state !== "delivered" && answeredAt === null;
  if (needsNotice && notifiedAt && notifiedAt >= stateChangedAt) ends.push(notifiedAt.getTime() + noticeMs(keptMs));
  return new Date(Math.max(...ends));
}

/** It reached nobody, as far as is known. */
const IS_UNDELIVERED = "(state <> 'delivered' AND answered_at IS NULL)";
/** An alert has told of its end, or an operator has opened it, since it reached its state. */
const IS_NOTIFIED = "COALESCE(notified_at >= state_changed_at, FALSE)";
/** `accepted_at` is there for the index: no message changes its state before it is accepted. */
const hasChangedBy = (time: string) => `accepted_at <= ${time} AND state_changed_at <= ${time}`;

/** The time that servers note every hour, and what was found about a clock that does not fit it. */
interface NotedClock {
  seenAtMs?: number;
  doubt?: { sinceMs: number; lastMs: number };
  /** Changes up to this time do not count: their clock was wrong. */
  disregardedMs?: number;
}
const NOTED_CLOCK = "clock";

function periodsOf(retention: Retention) {
  return (["delivered", "failed", "quarantined"] as const).flatMap((state) => {
    const keptMs = retention[`${state}Ms`];
    return keptMs === null ? [] : { state, keptMs };
  });
}

export function retentionMethods(database: Database): Expiry {
  const { query, queryLong } = database;

  /** A condition with its values: what ends soon, or has ended, and was not named in an alert. */
  function ending({ state, keptMs }: ReturnType<typeof periodsOf>[number], nowMs: number) {
    const horizonMs = nowMs - Math.max(0, keptMs - noticeMs(keptMs) - ALERTED_AHEAD_MS);
    return {
      where: `state = $1 AND ${hasChangedBy("$2")} AND is_restricted = 0 AND NOT ${IS_NOTIFIED}
        AND (answered_at IS NULL OR ${hasChangedBy("$3")})`,
      values: [state, horizonMs, nowMs - keptMs],
    };
  }

  return {
    async purge(retention, now) {
      const nowMs = now.getTime();
      const periods = periodsOf(retention).map(({ state, keptMs }) => {
        return [state, nowMs - keptMs, nowMs - noticeMs(keptMs), nowMs - DAY_MS];
      });
      const hasEnded = `state = $1 AND ${hasChangedBy("$2")} AND is_restricted = 0`;
      const wasAnnounced = `${IS_NOTIFIED} AND notified_at <= CASE WHEN ${IS_UNDELIVERED} THEN CAST($3 AS BIGINT) ELSE CAST($4 AS BIGINT) END`;

      let unannounced = 0;
      for (const values of periods) {
        const sql = `SELECT count(*) AS count FROM messages
          WHERE ${hasEnded} AND NOT ${IS_UNDELIVERED} AND NOT COALESCE(${wasAnnounced}, FALSE)`;
        unannounced += (await onlyRow<{ count: number }>(queryLong, sql, values)).count;
      }
      const all = await onlyRow<{ count: number }>(queryLong, "SELECT count(*) AS count FROM messages");
      const isHeld = unannounced > Math.max(ALWAYS_ERASABLE, all.count / 10);

      const erasable = isHeld ? `(${wasAnnounced})` : `((${wasAnnounced}) OR NOT ${IS_UNDELIVERED})`;
      const references: string[] = [];
      for (const values of periods) {
        const sql = `DELETE FROM messages WHERE ${hasEnded} AND ${erasable} RETURNING reference`;
        for (const reference of await queryReferences(queryLong, sql, values)) references.push(reference);
      }
      // Hits from the future were left by a clock that was wrong.
      await queryLong("DELETE FROM client_hits WHERE at <= $1 OR at > $2", [nowMs - DAY_MS, nowMs + DAY_MS]);
      await query("DELETE FROM erased_references WHERE erased_at <= $1", [nowMs - ERASURES_KEPT_MS]);
      if (references.length > 0) {
        await removeStrayKeys(database);
        await database.checkpoint();
      }
      return references;
    },

    async findEnding(retention, now) {
      const found = { foundAt: now, count: 0, undelivered: 0, held: 0, lastId: 0 };
      for (const period of periodsOf(retention)) {
        const { where, values } = ending(period, now.getTime());
        const sum = (condition: string) => `COALESCE(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;
        const { count, undelivered, held, lastId } = await onlyRow<Omit<Ending, "foundAt">>(
          queryLong,
          `SELECT count(*) AS count, ${sum(IS_UNDELIVERED)} AS undelivered,
            ${sum(`NOT ${IS_UNDELIVERED} AND ${hasChangedBy("$3")}`)} AS held, COALESCE(max(id), 0) AS last_id
           FROM messages WHERE ${where}`,
          values,
        );
        found.count += count;
        found.undelivered += undelivered;
        found.held += held;
        found.lastId = Math.max(found.lastId, lastId);
      }
      return found;
    },

    async markEndingReported(retention, { foundAt, lastId }) {
      for (const period of periodsOf(retention)) {
        const { where, values } = ending(period, foundAt.getTime());
        await queryLong(`UPDATE messages SET notified_at = $4 WHERE ${where} AND id <= $5`, [
          ...values,
          foundAt,
          lastId,
        ]);
      }
    },

    findUnanswered: (state, changedBy) =>
      onlyRow(
        query,
        `SELECT count(*) AS count, min(state_changed_at) AS first_changed_at FROM messages
         WHERE state = $1 AND ${hasChangedBy("$2")} AND answered_at IS NULL AND is_restricted = 0`,
        [state, changedBy],
      ),

    async judgeClock(now) {
      const nowMs = now.getTime();
      const noted: NotedClock = JSON.parse((await readMeta(query, NOTED_CLOCK)) ?? "{}");
      const { message, event } = await onlyRow<{ message: number | null; event: number | null }>(
        query,
        `SELECT (SELECT max(accepted_at) FROM messages) AS message,
          (SELECT at FROM message_events ORDER BY id DESC LIMIT 1) AS event`,
      );
      const newestRowMs = Math.max(message ?? 0, event ?? 0);
      const newestMs = Math.max(noted.seenAtMs ?? 0, newestRowMs > (noted.disregardedMs ?? 0) ? newestRowMs : 0);
      const fits = (sinceMs: number) => nowMs >= sinceMs - FARTHEST_BEHIND_MS && nowMs <= sinceMs + FARTHEST_AHEAD_MS;
      const note = (clock: NotedClock) => writeMeta(query, NOTED_CLOCK, JSON.stringify(clock));
      if (newestMs === 0 || fits(newestMs)) {
        const { doubt: _, ...rest } = noted;
        await note({ ...rest, seenAtMs: nowMs });
        return null;
      }
      const sinceMs = noted.doubt && fits(noted.doubt.lastMs) ? noted.doubt.sinceMs : nowMs;
      if (nowMs - sinceMs >= DOUBTED_FOR_MS) {
        await note({ seenAtMs: nowMs, disregardedMs: newestRowMs });
        return null;
      }
      await note({ ...noted, doubt: { sinceMs, lastMs: nowMs } });
      return { newestChangeAt: new Date(newestMs), trustedFrom: new Date(sinceMs + DOUBTED_FOR_MS) };
    },
  };
}
