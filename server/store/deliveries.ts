import { randomUUID } from "node:crypto";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time.ts";
import { keyedHash } from "./accepting.ts";
import { type Database, insertRows, type Query, type Value } from "./database.ts";
import { addEvents } from "./events.ts";
import type { ReadMessages } from "./listing.ts";
import { type Channel, type Claim, type DeliveryCount, type Queue, StoreDamaged } from "./store.ts";

/** The longest delay of an attempt. A later due time dates from before the clock was set back. */
const FARTHEST_DUE_MS = 5 * HOUR_MS;
/** A flush spreads deliveries over this time, and no other node flushes within it. */
const SPREAD_MS = MINUTE_MS;
/** For this long, a flush does not add to the attempts of a delivery. Deliveries are tried for the same time. */
const UNCOUNTED_MS = 5 * DAY_MS;
/** For statements that may change a long backlog. */
const LONG = { isLong: true };
const INTERRUPTED = "the server stopped before it saved how the attempt ended, so this may arrive twice";

/** Excludes restricted messages. */
const IS_USABLE = "message_id NOT IN (SELECT id FROM messages WHERE is_restricted = 1)";
const IS_OPEN = `channel = $1 AND state = 'queued' AND ${IS_USABLE}`;
const NOW = "CAST($2 AS BIGINT)";
/** The same condition as in the index. */
const UNSEEN =
  "SELECT count(*) FROM messages WHERE quarantine_reason IS NOT NULL AND seen_at IS NULL AND is_restricted = 0";
/** Compares the reported change time for equality only, so that no wrong clock can make a failure look reported. */
const IS_UNREPORTED = "COALESCE(reported_at <> changed_at, TRUE)";

/** Claims and settles deliveries, the same way for every channel. */
export function deliveryMethods(database: Database, clientKey: Uint8Array, readMessages: ReadMessages): Queue {
  const { query, transaction, dialect } = database;

  /**
   * Finds the oldest due deliveries, or those due too far in the future. Two queries, so that each can use the index.
   */
  function freeDeliveries(isItsTime: string): string {
    // A lease that ends later than any possible lease dates from before a clock was set back.
    const isFree = `(leased_until IS NULL OR leased_until <= $2 OR leased_until > ${NOW} + 2 * CAST($3 AS BIGINT))`;
    return `SELECT message_id, lease_token FROM deliveries WHERE ${IS_OPEN} AND ${isItsTime} AND ${isFree}
      ORDER BY due_at, message_id LIMIT $4 ${dialect.lockRows("deliveries", "skip")}`;
  }

  /** The next deliveries of the channel without a lease. */
  async function readDue(query: Query, channel: Channel, limit: number, leaseMs: number, now: Date) {
    const values = [channel, now, leaseMs, limit];
    const due = await query<ClaimRow>(freeDeliveries("due_at <= $2"), values);
    const strayed = await query<ClaimRow>(freeDeliveries(`due_at > ${NOW} + ${FARTHEST_DUE_MS}`), values);
    return [...due, ...strayed].slice(0, limit);
  }

  /** Marks messages in a damaged part of the file as failed, so that they do not block others. */
  async function setDamagedAside(channel: Channel, rows: readonly ClaimRow[], now: Date): Promise<void> {
    for (const { messageId } of rows) {
      try {
        await readMessages(query, [messageId]);
      } catch (error) {
        if (!(error instanceof StoreDamaged)) throw error;
        await query(
          `UPDATE deliveries SET state = 'failed', changed_at = $3, due_at = NULL, error = $4, lease_token = NULL,
             leased_until = NULL WHERE message_id = $1 AND channel = $2`,
          [messageId, channel, now, "its part of the database is damaged"],
        );
      }
    }
  }

  function claim(channel: Channel, limit: number, leaseMs: number, now: Date): Promise<Claim[]> {
    return transaction(async (query) => {
      const rows = await readDue(query, channel, limit, leaseMs, now);
      if (rows.length === 0) return [];
      const token = randomUUID();
      // Reads again, because a message may just have been restricted.
      const messages = await readMessages(
        query,
        rows.map(({ messageId }) => messageId),
      );
      const usable = new Map(messages.flatMap((message) => (message.isRestricted ? [] : [[message.id, message]])));
      const ids = [...usable.keys()];
      // A remaining token means that the outcome of the last attempt is unknown.
      const claimed = await query<Omit<Claim, "channel" | "message" | "token"> & { messageId: number }>(
        `UPDATE deliveries SET attempts = attempts + 1, lease_token = $3, leased_until = CAST($4 AS BIGINT),
             interruptions = interruptions + CASE WHEN lease_token IS NULL THEN 0 ELSE 1 END
           WHERE channel = $1 AND ${dialect.isIn("message_id", "$2", "BIGINT")}
           RETURNING message_id, attempts, interruptions, changed_at AS queued_at, payload`,
        [channel, ids, token, now.getTime() + leaseMs],
      );
      const interrupted = rows.flatMap(({ messageId, leaseToken }) => (leaseToken === null ? [] : messageId));
      await addEvents(query, dialect, interrupted, { kind: "deferred", at: now, channel, detail: INTERRUPTED });
      const claims = new Map(claimed.map((claim) => [claim.messageId, claim]));
      return ids.flatMap((id): Claim[] => {
        const [claim, message] = [claims.get(id), usable.get(id)];
        if (!claim || !message) return [];
        const { messageId: _, ...attempt } = claim;
        return [{ channel, message, token, ...attempt }];
      });
    });
  }

  return {
    async claim(channel, limit, leaseMs, now) {
      try {
        return await claim(channel, limit, leaseMs, now);
      } catch (error) {
        if (!(error instanceof StoreDamaged)) throw error;
        await setDamagedAside(channel, await readDue(query, channel, limit, leaseMs, now), now);
        return claim(channel, limit, leaseMs, now);
      }
    },

    admit({ channel, message, token }, limits, now) {
      const secret = Buffer.from(clientKey).toString("hex");
      const nowMs = now.getTime();
      const named = limits.map((limit) => ({ ...limit, hash: keyedHash(secret, ["limit", limit.name]) }));
      return transaction(
        async (query) => {
          const mine = "message_id = $1 AND channel = $2 AND lease_token = $3";
          const values = [message.id, channel, token];
          const [delivery] = await query<{ isCounted: boolean }>(
            `SELECT is_counted FROM deliveries WHERE ${mine}`,
            values,
          );
          if (!delivery) throw new Error("The lease went to another worker, or the message is gone");
          if (delivery.isCounted) return null;
          for (const { name, hash, count, windowMs } of named) {
            // The window extends equally into the future, so that a clock set slightly back does not lift the limit.
            const window = [nowMs - windowMs, nowMs + windowMs];
            const sql = "SELECT 1 FROM hits WHERE hash = $1 AND at > $2 AND at < $3 LIMIT $4";
            if ((await query(sql, [hash, ...window, count])).length === count) return name;
          }
          await query(`UPDATE deliveries SET is_counted = 1 WHERE ${mine}`, values);
          await insertRows(
            query,
            dialect,
            "hits",
            named.map(({ hash }) => ({ hash, at: nowMs })),
          );
          return null;
        },
        { lock: "admitting" },
      );
    },

    settle({ channel, message, token, queuedAt }, outcome, now, next = null) {
      const { kind } = outcome;
      const values: Value[] = [message.id, channel, token];
      const place = (value: Value) => `$${values.push(value)}`;
      const error = "error" in outcome ? outcome.error : null;
      const changes =
        "dueAt" in outcome
          ? [`due_at = ${place(outcome.dueAt)}`, ...(error === null ? [] : [`error = ${place(error)}`])]
          : [`state = '${kind}', changed_at = ${place(now)}, due_at = NULL, error = ${place(error)}`];
      if (kind === "paused" || kind === "returned") changes.push("attempts = attempts - 1");
      const isMine =
        kind === "delivered"
          ? `(state = 'failed' OR state = 'queued' AND (lease_token = $3 OR changed_at = ${place(queuedAt)}))`
          : "state = 'queued' AND lease_token = $3";
      return transaction(async (query) => {
        const [changed] = await query(
          `UPDATE deliveries SET ${changes.join(", ")}, lease_token = NULL, leased_until = NULL
           WHERE message_id = $1 AND channel = $2 AND ${isMine} RETURNING channel`,
          values,
        );
        if (!changed) return false;
        if (kind !== "returned") {
          await addEvents(query, dialect, [message.id], { kind, at: now, channel, detail: error });
        }
        if (kind === "delivered" && channel === "reply") {
          await query("UPDATE messages SET answered_at = COALESCE(answered_at, $2) WHERE id = $1", [message.id, now]);
        }
        if (kind === "delivered" && next !== null) {
          await query(
            `INSERT INTO deliveries (message_id, channel, state, changed_at, due_at) VALUES ($1, $2, 'queued', $3, $3)
             ON CONFLICT DO NOTHING`,
            [message.id, next, now],
          );
        }
        return true;
      });
    },

    async dueInMs(channel, now) {
      // An index answers each minimum, independent of the queue's length.
      const first = (column: string, isMeant: string) =>
        query<{ ms: number }>(
          `SELECT ${column} AS ms FROM deliveries WHERE ${IS_OPEN} AND ${isMeant} ORDER BY ${column} LIMIT 1`,
          [channel],
        );
      const rows = [
        ...(await first("due_at", "leased_until IS NULL")),
        ...(await first("leased_until", "leased_until > 0")),
      ];
      return rows.length === 0 ? null : Math.min(...rows.map(({ ms }) => ms)) - now.getTime();
    },

    flushBacklog(channel, now, by) {
      return transaction(async (query) => {
        if (by === "outbox") {
          const [isFirst] = await query(
            `INSERT INTO meta VALUES ($1, CAST(CAST($2 AS BIGINT) AS TEXT))
             ON CONFLICT (name) DO UPDATE SET value = excluded.value
             WHERE abs(CAST(meta.value AS BIGINT) - CAST($2 AS BIGINT)) >= ${SPREAD_MS} RETURNING name`,
            [`flushed.${channel}`, now],
          );
          if (!isFirst) return null;
        }
        // The factor is prime, so that consecutive messages are spread evenly.
        const rows = await query<{ messageId: number }>(
          `UPDATE deliveries SET due_at = ${NOW} + (message_id * 7919) % ${SPREAD_MS}, attempts = CASE
             WHEN attempts > 0 AND changed_at > ${NOW} - ${UNCOUNTED_MS} THEN attempts - 1 ELSE attempts END
           WHERE ${IS_OPEN} AND leased_until IS NULL AND due_at > ${NOW} + ${SPREAD_MS}
           RETURNING message_id`,
          [channel, now],
        );
        const ids = rows.map(({ messageId }) => messageId);
        if (by === "operator") await addEvents(query, dialect, ids, { kind: "retried", at: now, channel });
        return ids;
      }, LONG);
    },

    countDeliveries: () =>
      query<DeliveryCount>(
        `SELECT channel, state, count(*) AS count, min(changed_at) AS first_at, max(changed_at) AS last_at,
           CASE state WHEN 'quarantined' THEN (${UNSEEN}) ELSE 0 END AS unseen,
           CASE state WHEN 'quarantined' THEN (${UNSEEN} AND quarantine_reason = 'looks-like-spam') ELSE 0 END AS unseen_spam
         FROM deliveries WHERE state IN ('queued', 'failed', 'quarantined') AND ${IS_USABLE} GROUP BY state, channel`,
      ),

    async unreported(channel, state) {
      const rows = await query<{ messageId: number }>(
        `SELECT message_id FROM deliveries WHERE channel = $1 AND state = $2 AND ${IS_UNREPORTED} AND ${IS_USABLE}`,
        [channel, state],
      );
      return rows.map(({ messageId }) => messageId);
    },

    async markReported(channel, state, ids) {
      const sql = `UPDATE deliveries SET reported_at = changed_at
        WHERE channel = $1 AND state = $2 AND ${dialect.isIn("message_id", "$3", "BIGINT")}`;
      await transaction((query) => query(sql, [channel, state, ids]), LONG);
    },
  };
}

interface ClaimRow {
  messageId: number;
  leaseToken: string | null;
}
