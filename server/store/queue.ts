import { randomUUID } from "node:crypto";
import type { Limit } from "../config.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time.ts";
import { type Database, type Dialect, insertRows, type Query, readColumn, timeOf, type Value } from "./database.ts";
import { coarseMs, readHits, waitMs } from "./hits.ts";
import { writeLastMail } from "./mailbox.ts";
import { addEvents, readMessages } from "./message-rows.ts";
import { keyedHash } from "./meta.ts";
import { type Channel, type DeliveryState, GIVEN_UP, rulesOf, type StoredMessage } from "./model.ts";
import { readLastReply, type ThreadedReply } from "./replies.ts";
import { expiry } from "./retention.ts";
import { columnsOf, type RowOf } from "./tables.ts";

// What the outbox does with deliveries, the same for every channel.

export interface Claim {
  channel: Channel;
  message: StoredMessage;
  attempts: number;
  /** The store's time, for whatever is dated by this attempt: this machine's clock may be wrong. */
  claimedAt: Date;
  /** With this attempt, whose outcome is not known yet. */
  unknownOutcomes: number;
  /** When it was queued, or queued again by an operator. */
  queuedAt: Date;
  /** What the channel `reply` sends; `null` for other channels. */
  reply: ThreadedReply | null;
  token: string;
}

/**
 * How an attempt ended. `deferred`: the next one is due after the delay. `paused`: the channel can send nothing at the
 * moment, so the attempt does not count. `skipped`: a rule forbids it for good. `isUnknown`: it may have arrived.
 */
export type Outcome =
  | { kind: "delivered" }
  | { kind: "deferred"; delayMs: number; error: string; isUnknown?: boolean }
  | { kind: "paused" | "failed"; error: string; isUnknown?: boolean }
  | { kind: "skipped"; error: string };

export interface NamedLimit extends Limit {
  name: string;
}

/** Without the deliveries of restricted messages. */
export interface DeliveryCount {
  channel: Channel;
  state: DeliveryState;
  count: number;
  firstAt: Date;
  lastAt: Date;
  /** The one that reached the state first: its message, and why its last attempt failed. */
  reference: string;
  error: string | null;
}

/** The longest wait for the next attempt: an hour, and what spreads it. A later due time is from a wrong clock. */
const LONGEST_WAIT_MS = 1.1 * HOUR_MS;
/** Longer than an attempt may take, so that a worker takes over only from a dead one. */
export const LEASE_MS = 5 * MINUTE_MS;
/** A flush spreads deliveries over this time. */
const SPREAD_MS = MINUTE_MS;
/** For this long, a flush does not add to the attempts of a delivery. Deliveries are tried for the same time. */
const UNCOUNTED_MS = 5 * DAY_MS;

const IS_USABLE = "message_id NOT IN (SELECT id FROM messages WHERE is_restricted = 1)";
const IS_OPEN = `channel = $1 AND state = 'queued' AND ${IS_USABLE}`;
const NOW = "CAST($2 AS BIGINT)";

/**
 * Leases the channel's ($1) oldest deliveries that are due now ($2) for $3 ms, at most $4, under the token $5. Not one
 * of which too many attempts may have arrived ($6): PostgreSQL also sees what was queued after `GIVE_UP`.
 */
const claimStatement = ({ lockRows }: Dialect) => `
  WITH chosen AS MATERIALIZED (
    SELECT message_id FROM deliveries
    WHERE ${IS_OPEN} AND due_at <= $2 AND (leased_until IS NULL OR leased_until <= $2)
      AND unknown_outcomes < CAST($6 AS BIGINT)
    ORDER BY due_at, message_id LIMIT $4 ${lockRows("deliveries", "skip")})
  UPDATE deliveries SET attempts = attempts + 1, unknown_outcomes = unknown_outcomes + 1, lease_token = $5,
    leased_until = ${NOW} + CAST($3 AS BIGINT)
  WHERE channel = $1 AND message_id IN (SELECT message_id FROM chosen)
  RETURNING ${columnsOf("deliveries", "messageId", "attempts", "unknownOutcomes")}, changed_at AS queued_at, lease_token AS token`;

type ClaimRow = Omit<Claim, "channel" | "message" | "reply" | "claimedAt"> & Pick<RowOf<"deliveries">, "messageId">;

/** Changes the delivery of a claim ($1, $2) and ends its lease ($3), if it is in this state. $4: the outcome is known. */
function ending(changes: string, state: string): string {
  return `UPDATE deliveries SET ${changes}, unknown_outcomes = unknown_outcomes - CAST($4 AS BIGINT),
      lease_token = NULL, leased_until = NULL
    WHERE message_id = $1 AND channel = $2 AND (${state}) RETURNING 1`;
}

const IS_MINE = "state = 'queued' AND lease_token = $3";
const ended = (state: "failed" | "skipped") =>
  ending(`state = '${state}', changed_at = $5, due_at = NULL, error = $6, ${expiry(`'${state}'`, "$5")}`, IS_MINE);
const DELIVERED = ending(
  `state = 'delivered', changed_at = $5, due_at = NULL, error = NULL, ${expiry("'delivered'", "$5")}`,
  `state = 'failed' OR ${IS_MINE} OR state = 'queued' AND changed_at = $6
    OR state = 'quarantined' AND channel <> 'mail' AND lease_token = $3`,
);
const DEFERRED = ending("due_at = $5, error = $6", IS_MINE);
const PAUSED = ending("error = $5, attempts = attempts - 1", IS_MINE);
/** An operator quarantined the message during the attempt. */
const HELD = ending("error = $5", "state = 'quarantined' AND lease_token = $3");
/** Nobody sends it now ($2), and as many attempts as its channel allows ($3) may have arrived. */
const GIVE_UP = `UPDATE deliveries SET state = 'failed', changed_at = $2, due_at = NULL, error = $4,
    ${expiry("'failed'", "$2")}, lease_token = NULL, leased_until = NULL
  WHERE channel = $1 AND state = 'queued' AND unknown_outcomes > 0 AND unknown_outcomes >= CAST($3 AS BIGINT)
    AND (leased_until IS NULL OR leased_until <= $2) RETURNING message_id`;

const isKnown = (outcome: Outcome) => !("isUnknown" in outcome && outcome.isUnknown);

async function record(query: Query, claim: Claim, outcome: Outcome, now: Date): Promise<boolean> {
  const { channel, message, token, queuedAt } = claim;
  const run = async (statement: string, ...values: Value[]) =>
    (await query(statement, [message.id, channel, token, isKnown(outcome), ...values])).length > 0;
  switch (outcome.kind) {
    case "delivered":
      return run(DELIVERED, now, queuedAt);
    case "failed":
    case "skipped":
      return run(ended(outcome.kind), now, outcome.error);
    case "deferred":
      return run(DEFERRED, now.getTime() + outcome.delayMs, outcome.error);
    case "paused":
      return run(PAUSED, outcome.error);
  }
}

export type Queue = ReturnType<typeof createQueue>;

export function createQueue(database: Database, secret: string, author: string | null) {
  const { query, dialect, transaction } = database;
  return {
    /**
     * Leases due deliveries to this worker, oldest due first, and counts the new attempt as one that may arrive: it does
     * not count any more once its outcome is known. A delivery of which too many attempts may have arrived has failed
     * instead.
     */
    claim(channel: Channel, limit: number, leaseMs: number, testTime: Date | null): Promise<Claim[]> {
      const { maxUnknown = Number.MAX_SAFE_INTEGER, queuedBy } = rulesOf(channel);
      return transaction(async (sql) => {
        const now = await timeOf(sql, testTime);
        const givenUp = await readColumn<number>(sql.query, GIVE_UP, [channel, now, maxUnknown, GIVEN_UP]);
        await addEvents(sql, givenUp, { kind: "failed", at: now, channel, detail: GIVEN_UP, author });
        const rows = await sql.query<ClaimRow>(claimStatement(dialect), [
          ...[channel, now, leaseMs, limit, randomUUID(), maxUnknown],
        ]);
        const attempts = new Map(rows.map(({ messageId, ...attempt }) => [messageId, attempt]));
        const claims: Claim[] = [];
        for (const message of await readMessages(
          sql,
          [...attempts.keys()].sort((one, other) => one - other),
        )) {
          const reply = queuedBy === "operator" ? await readLastReply(sql.query, message.id) : null;
          const attempt = attempts.get(message.id);
          if (attempt) claims.push({ channel, claimedAt: now, message, reply, ...attempt });
        }
        return claims;
      });
    },

    /**
     * Counts a claimed delivery towards the limits, once for all of its attempts. If a limit is reached, returns its
     * name and counts nothing. Rejects if the lease went to another node or the message is gone.
     */
    admit(
      { channel, message, token }: Claim,
      limits: readonly NamedLimit[],
      testTime: Date | null,
    ): Promise<string | null> {
      const named = limits.map((limit) => ({ ...limit, hash: keyedHash(secret, ["limit", limit.name]) }));
      const mine = "message_id = $1 AND channel = $2 AND lease_token = $3";
      const values = [message.id, channel, token];
      return transaction(
        async (sql) => {
          const { query } = sql;
          const [delivery] = await query<{ isCounted: boolean }>(
            `SELECT is_counted FROM deliveries WHERE ${mine}`,
            values,
          );
          if (!delivery) throw new Error("The lease went to another worker, or the message is gone");
          if (delivery.isCounted) return null;
          const nowMs = (await timeOf(sql, testTime)).getTime();
          const hashes = named.map(({ hash }) => hash);
          const hits = await readHits(sql, hashes, limits, nowMs);
          const reached = named.find((limit) => waitMs(hits.get(limit.hash), [limit], nowMs) > 0);
          if (reached) return reached.name;
          await query(`UPDATE deliveries SET is_counted = 1 WHERE ${mine}`, values);
          const at = coarseMs(nowMs, limits);
          await insertRows(
            sql,
            "hits",
            hashes.map((hash) => ({ hash, at })),
          );
          return null;
        },
        { lock: "admitting" },
      );
    },

    /**
     * Returns false and changes nothing if the lease went to another node or the message is gone. Records a success
     * even without the lease, because a sent delivery must not be sent again, unless an operator has queued it again
     * since. A mail that was quarantined meanwhile stays so, and the history says that it was delivered. In the same
     * transaction, adds the delivery of the channel `next`, once for each message, in quarantine if the mail is.
     */
    settle(claim: Claim, outcome: Outcome, testTime: Date | null, next: Channel | null = null): Promise<boolean> {
      const { channel, message, reply } = claim;
      const { kind } = outcome;
      const detail = "error" in outcome ? outcome.error : null;
      return transaction(async (sql) => {
        const { query } = sql;
        const now = await timeOf(sql, testTime);
        const isRecorded = await record(query, claim, outcome, now);
        const held = [message.id, channel, claim.token, isKnown(outcome), detail];
        if (!isRecorded && (await query(HELD, held)).length === 0) return false;
        await addEvents(sql, [message.id], { kind, at: now, channel, detail, author });
        if (kind === "delivered" && reply) {
          await query("UPDATE replies SET sent_at = $3 WHERE message_id = $1 AND key = $2", [
            message.id,
            reply.key,
            now,
          ]);
          // An answer that came after the reply was written is still to be answered.
          const laterAnswer = `SELECT 1 FROM events JOIN replies ON replies.message_id = events.message_id
            WHERE events.message_id = $1 AND kind = 'received' AND key = $3 AND events.id > event_id`;
          await query(
            `UPDATE messages SET answered_at = COALESCE(answered_at, $2) WHERE id = $1 AND NOT EXISTS (${laterAnswer})`,
            [message.id, now, reply.key],
          );
          await writeLastMail(sql, message.id, now);
        }
        if (kind === "delivered" && next !== null) {
          await query(
            `INSERT INTO deliveries (message_id, channel, state, changed_at, due_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT DO NOTHING`,
            [message.id, next, isRecorded ? "queued" : "quarantined", now, isRecorded ? now : null],
          );
        }
        return true;
      });
    },

    async noteCopyFailure({ channel, message }: Claim, detail: string, testTime: Date | null): Promise<void> {
      const at = await timeOf(database, testTime);
      await addEvents(database, [message.id], { kind: "copy-failed", at, channel, detail, author });
    },

    /** The time until the next delivery is due or its lease ends; 0 or less if one is due; `null` if none waits. */
    async dueInMs(channel: Channel, testTime: Date | null): Promise<number | null> {
      const first = (column: string, isMeant: string) => `SELECT * FROM (SELECT ${column} AS ms FROM deliveries
        WHERE ${IS_OPEN} AND ${isMeant} ORDER BY ${column} LIMIT 1) AS ${column}`;
      const both = `${first("due_at", "leased_until IS NULL")} UNION ALL ${first("leased_until", "leased_until >= 0")}`;
      const times = await readColumn<number>(query, both, [channel]);
      return times.length === 0 ? null : Math.min(...times) - (await timeOf(database, testTime)).getTime();
    },

    /** Whether an operator has asked for a retry. A worker asks after every change, so it is one of the last events. */
    async isRetriedSince(time: Date): Promise<boolean> {
      const sql = `SELECT 1 FROM events WHERE id > (SELECT max(id) FROM events) - 1000 AND kind = 'retried' AND at > $1`;
      return (await query(sql, [time])).length > 0;
    },

    /**
     * Spreads all deliveries that wait for a later attempt over the next minute. That attempt does not count, unless the
     * delivery has waited for more than five days.
     */
    async flushBacklog(channel: Channel, testTime: Date | null): Promise<void> {
      await transaction(
        async (sql) => {
          // The factor is prime, so that consecutive messages are spread evenly. What is due then is left alone, so that
          // two nodes that do this at once change every delivery once.
          await sql.query(
            `UPDATE deliveries SET due_at = ${NOW} + (message_id * 7919) % ${SPREAD_MS}, attempts = CASE
             WHEN attempts > 0 AND changed_at > ${NOW} - ${UNCOUNTED_MS} THEN attempts - 1 ELSE attempts END
           WHERE ${IS_OPEN} AND leased_until IS NULL AND due_at > ${NOW} + ${SPREAD_MS}`,
            [channel, await timeOf(sql, testTime)],
          );
        },
        { isLong: true },
      );
    },

    /**
     * Corrects times that lie too far ahead, because a clock was set back. A lease still lasts longer than its attempt,
     * so nothing is sent twice, and no folder of the mailbox is read by two nodes.
     */
    async repairTimes(testTime: Date | null): Promise<void> {
      const nowMs = (await timeOf(database, testTime)).getTime();
      const due = "UPDATE deliveries SET due_at = $1 WHERE state = 'queued' AND due_at > $2";
      await query(due, [nowMs, nowMs + LONGEST_WAIT_MS]);
      for (const table of ["deliveries", "folders"])
        await query(`UPDATE ${table} SET leased_until = $1 WHERE leased_until > $1`, [nowMs + LEASE_MS]);
      await query("DELETE FROM hits WHERE at > $1", [nowMs + MINUTE_MS]);
    },

    countDeliveries(): Promise<DeliveryCount[]> {
      const first = (column: string) =>
        `(SELECT ${column} FROM deliveries AS first JOIN messages ON id = message_id WHERE first.state = deliveries.state
        AND first.channel = deliveries.channel AND is_restricted = 0 ORDER BY changed_at LIMIT 1)`;
      return query<DeliveryCount>(
        `SELECT channel, state, count(*) AS count, min(changed_at) AS first_at, max(changed_at) AS last_at,
       ${first("reference")} AS reference, ${first("error")} AS error
     FROM deliveries WHERE state IN ('queued', 'failed', 'quarantined') AND ${IS_USABLE} GROUP BY state, channel`,
      );
    },

    async countChannel(channel: Channel): Promise<Readonly<Record<DeliveryState, number>>> {
      const sql = "SELECT state, count(*) AS count FROM deliveries WHERE channel = $1 GROUP BY state";
      const rows = await query<{ state: DeliveryState; count: number }>(sql, [channel]);
      const counts = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
      return { queued: 0, delivered: 0, failed: 0, quarantined: 0, skipped: 0, ...counts };
    },
  };
}
