import { randomUUID } from "node:crypto";
import type { EventKind } from "../../contract/inbox.ts";
import { serially } from "../../contract/serially.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time.ts";
import {
  type Database,
  type Dialect,
  type MessageRow,
  type NewEvent,
  onlyRow,
  queryReferences,
  readMeta,
  SELECTED_COLUMNS,
  toStoredMessage,
  type Value,
  writeMeta,
} from "./database.ts";
import type { Claim, DeliveryKind, DeliveryState, KindDepth, Queue, QueueDepth } from "./store.ts";

/**
 * What the history of a message, and the log, call the end of an attempt. `paused`: nothing of this kind can be sent at the
 * moment, so the attempt does not count. `retried`: an operator made it due.
 */
type DeliveryEvents = Record<"sent" | "deferred" | "failed" | "paused" | "retried", EventKind>;

/** Where a kind of delivery is kept: columns of `messages`, so that it ends with its message. */
export interface Kind
  extends Record<"state" | "changedAt" | "dueAt" | "attempts" | "error" | "token" | "leasedUntil", string> {
  /** The state in which it can be claimed. */
  waiting: string;
  sent: string;
  /** True for all that is still to be sent; the condition of an index. */
  isOpen: string;
  /** Where that is not all that is open: an acknowledgement has to be admitted before each attempt. */
  isClaimable?: string;
  events: DeliveryEvents;
}

/** The names of a mail's columns are those it had when there was only one kind, which nodes of earlier versions use. */
export const KINDS: Readonly<Record<DeliveryKind, Kind>> = {
  mail: {
    state: "state",
    changedAt: "state_changed_at",
    dueAt: "due_at",
    attempts: "attempts",
    error: "last_error",
    token: "lease_token",
    leasedUntil: "leased_until",
    waiting: "queued",
    sent: "delivered",
    isOpen: "state = 'queued' AND is_restricted = 0",
    events: { sent: "delivered", deferred: "deferred", failed: "failed", paused: "paused", retried: "retried" },
  },
  acknowledgement: {
    ...columnsOf("ack"),
    waiting: "sending",
    sent: "sent",
    isOpen: "ack_due_at IS NOT NULL",
    isClaimable: "ack_due_at IS NOT NULL AND ack_state = 'sending' AND ack_lease_token IS NULL AND is_restricted = 0",
    events: {
      sent: "acknowledged",
      deferred: "acknowledgement-deferred",
      failed: "acknowledgement-failed",
      paused: "acknowledgement-deferred",
      retried: "acknowledgement-retried",
    },
  },
  hook: {
    ...columnsOf("hook"),
    waiting: "queued",
    sent: "sent",
    isOpen: "hook_due_at IS NOT NULL AND state <> 'quarantined' AND is_restricted = 0",
    events: {
      sent: "hook-sent",
      deferred: "hook-deferred",
      failed: "hook-failed",
      paused: "hook-deferred",
      retried: "hook-retried",
    },
  },
};

function columnsOf(prefix: string) {
  return {
    state: `${prefix}_state`,
    changedAt: `${prefix}_changed_at`,
    dueAt: `${prefix}_due_at`,
    attempts: `${prefix}_attempts`,
    error: `${prefix}_reason`,
    token: `${prefix}_lease_token`,
    leasedUntil: `${prefix}_leased_until`,
  };
}

/** No attempt is ever put off for longer: a due time beyond it was set before the clock was set back. */
export const FARTHEST_DUE_MS = 5 * HOUR_MS;

/** What is made due again at once is spread over this time, and not made due again by another node within it. */
const SPREAD_MS = MINUTE_MS;
/** For as long as this, an attempt that comes early does not count. As long as deliveries are tried. */
const UNCOUNTED_MS = 5 * DAY_MS;

/** A failure is known by its time, which is compared with itself alone: no clock can make it look reported. */
const REPORTED_FAILURE = { mail: "reported_failure", hook: "hook_reported_failure" } as const;
const isFailed = (kind: DeliveryKind) => `${KINDS[kind].state} = 'failed' AND is_restricted = 0`;
const isNewFailure = (kind: "mail" | "hook") =>
  `${isFailed(kind)} AND COALESCE(${REPORTED_FAILURE[kind]} <> ${KINDS[kind].changedAt}, TRUE)`;
/** When the oldest one was queued. */
const OLDEST = {
  // Two queries, so that each is answered by an index.
  mail: `SELECT min(at) FROM (
    SELECT min(accepted_at) AS at FROM messages WHERE ${KINDS.mail.isOpen} AND state_changed_at <= accepted_at
    UNION ALL
    SELECT min(state_changed_at) FROM messages WHERE ${KINDS.mail.isOpen} AND state_changed_at > accepted_at) AS waiting`,
  // A message that was released waits from then on, and its state changed at that moment, whoever released it.
  hook: `SELECT min(CASE WHEN hook_changed_at > state_changed_at THEN hook_changed_at ELSE state_changed_at END)
    FROM messages WHERE ${KINDS.hook.isOpen}`,
};
/** In the same statement as the delivery, so that no crash falls between. Once for each message. */
const QUEUE_ACKNOWLEDGEMENT = `ack_due_at = CASE WHEN ack_state IS NULL THEN $3 ELSE ack_due_at END,
  ack_changed_at = CASE WHEN ack_state IS NULL THEN $3 ELSE ack_changed_at END, ack_state = COALESCE(ack_state, 'queued')`;
/**
 * Conditions for what may be claimed: due, and leased to nobody. `$1` is the node's time and `$2` the length of a lease. A
 * due time or a lease farther off than any that is ever set dates from before a clock was set back.
 */
export function dueConditions(kind: DeliveryKind, { leaseNow }: Dialect) {
  const { dueAt, leasedUntil } = KINDS[kind];
  const now = leaseNow("$1");
  return {
    isDue: `${dueAt} <= $1`,
    isStray: `${dueAt} > CAST($1 AS BIGINT) + ${FARTHEST_DUE_MS}`,
    isFree: `(${leasedUntil} IS NULL OR ${leasedUntil} <= ${now} OR ${leasedUntil} > ${now} + 2 * CAST($2 AS BIGINT))`,
  };
}

/** The row number of the newest message in quarantine that an alert has counted. */
const REPORTED_ID = "quarantine_reported_id";

type ClaimRow = MessageRow & { claimAttempts: number; claimQueuedAt: Date; claimDueMs: number };

export function queueMethods({ query, change, dialect, isShared }: Database): Queue {
  function claimSql(kind: DeliveryKind): string {
    const { dueAt, attempts, changedAt, token, leasedUntil, isOpen, isClaimable = isOpen } = KINDS[kind];
    const { isDue, isStray, isFree } = dueConditions(kind, dialect);
    const select = (isItsTime: string) => `
      SELECT id FROM messages WHERE ${isClaimable} AND ${isItsTime} AND ${isFree}
      ORDER BY ${dueAt}, id LIMIT $3 ${dialect.lockRows}`;
    // Two queries, so that each is answered by the index; together they would read the whole queue.
    return `WITH due AS MATERIALIZED (${select(isDue)}), strayed AS MATERIALIZED (${select(isStray)})
      UPDATE messages SET ${token} = $4, ${leasedUntil} = ${dialect.leaseNow("$1")} + CAST($2 AS BIGINT),
        ${attempts} = ${attempts} + 1
      WHERE id IN (SELECT id FROM due UNION ALL SELECT id FROM strayed LIMIT $3)
      RETURNING ${SELECTED_COLUMNS}, ${attempts} AS claim_attempts, ${changedAt} AS claim_queued_at,
        ${dueAt} AS claim_due_ms`;
  }

  /** Without an event the attempt leaves no trace. */
  async function mark(claim: Claim, event: NewEvent | null, changes: string, isMine: string, others: readonly Value[]) {
    const { token, leasedUntil } = KINDS[claim.kind];
    const sql = `UPDATE messages SET ${changes}, ${token} = NULL, ${leasedUntil} = NULL
      WHERE id = $1 AND ${isMine} RETURNING reference`;
    const values = [claim.message.id, claim.token, ...others];
    const changed = event === null ? await query(sql, values) : await change(sql, values, event);
    return changed.length === 1;
  }

  function depthOf(kind: "mail" | "hook"): Promise<KindDepth> {
    return onlyRow(
      query,
      `SELECT (SELECT count(*) FROM messages WHERE ${KINDS[kind].isOpen}) AS queued, (${OLDEST[kind]}) AS oldest_queued_at,
        (SELECT count(*) FROM messages WHERE ${isFailed(kind)}) AS failed,
        (SELECT max(${KINDS[kind].changedAt}) FROM messages WHERE ${isFailed(kind)}) AS last_failed_at,
        (SELECT count(*) FROM messages WHERE ${isNewFailure(kind)}) AS newly_failed`,
    );
  }

  const holdsLease = ({ state, token, waiting }: Kind) => `${token} = $2 AND ${state} = '${waiting}'`;

  /** One after the other: PostgreSQL passes over a row that the claim of another kind is about to change. */
  const inTurn = serially();

  return {
    async claim(limit, leaseMs, now, kind = "mail") {
      const token = randomUUID();
      const rows = await inTurn(() => query<ClaimRow>(claimSql(kind), [now, leaseMs, limit, token]));
      rows.sort((a, b) => a.claimDueMs - b.claimDueMs || a.id - b.id);
      return rows.map(({ claimAttempts: attempts, claimQueuedAt: queuedAt, claimDueMs: _, ...row }) => {
        return { kind, message: toStoredMessage(row), attempts, queuedAt, token };
      });
    },

    markDelivered(claim, now, queuesAcknowledgement = false) {
      const { state, changedAt, dueAt, error, token, waiting, sent, events } = KINDS[claim.kind];
      const delivered = `${state} = '${sent}', ${changedAt} = $3, ${dueAt} = NULL, ${error} = NULL`;
      const changes = queuesAcknowledgement ? `${delivered}, ${QUEUE_ACKNOWLEDGEMENT}` : delivered;
      const isSame = `(${state} = 'failed' OR ${state} = '${waiting}' AND (${token} = $2 OR ${changedAt} = $4))`;
      const event = { kind: events.sent, at: now };
      return mark(claim, event, changes, isSame, [now, claim.queuedAt]);
    },

    reschedule(claim, dueAt, error, now) {
      const kind = KINDS[claim.kind];
      const changes = `${kind.dueAt} = $3, ${kind.error} = $4`;
      const event = { kind: kind.events.deferred, at: now, detail: error };
      return mark(claim, event, changes, holdsLease(kind), [dueAt, error]);
    },

    markFailed(claim, error, now) {
      const kind = KINDS[claim.kind];
      const changes = `${kind.state} = 'failed', ${kind.changedAt} = $3, ${kind.dueAt} = NULL, ${kind.error} = $4`;
      const event = { kind: kind.events.failed, at: now, detail: error };
      return mark(claim, event, changes, holdsLease(kind), [now, error]);
    },

    unclaim(claim, dueAt, error, now) {
      const kind = KINDS[claim.kind];
      const uncounted = `${kind.attempts} = ${kind.attempts} - 1, ${kind.dueAt} = $3`;
      const changes = `${uncounted}, ${kind.error} = COALESCE($4, ${kind.error})`;
      const event = error === null ? null : { kind: kind.events.paused, at: now, detail: error };
      return mark(claim, event, changes, holdsLease(kind), [dueAt, error]);
    },

    async dueInMs(now, kind = "mail") {
      const { dueAt, leasedUntil, isOpen } = KINDS[kind];
      const [row] = await query<{ ms: number | null }>(
        `SELECT min(ms) AS ms FROM (
          SELECT min(${dueAt}) - CAST($1 AS BIGINT) AS ms FROM messages WHERE ${isOpen} AND ${leasedUntil} IS NULL
          UNION ALL
          SELECT min(${leasedUntil}) - ${dialect.leaseNow("$1")} FROM messages
          WHERE ${isOpen} AND ${leasedUntil} > 0) AS next`,
        [now],
      );
      return row?.ms ?? null;
    },

    async makeWaitingDue(kind, now, by) {
      const { dueAt, attempts, changedAt, leasedUntil, isOpen, events } = KINDS[kind];
      if (by === "outbox") {
        const claim = `INSERT INTO store_meta VALUES ($1, CAST(CAST($2 AS BIGINT) AS TEXT))
          ON CONFLICT (name) DO UPDATE SET value = excluded.value
          WHERE abs(CAST(store_meta.value AS BIGINT) - CAST($2 AS BIGINT)) >= ${SPREAD_MS} RETURNING name`;
        const [isClaimed] = await query(claim, [`due_again_${kind}`, now]);
        if (!isClaimed) return null;
      }
      // A prime, so that messages that arrived one after the other are spread evenly.
      const sql = `UPDATE messages SET ${dueAt} = CAST($1 AS BIGINT) + (id * 7919) % ${SPREAD_MS},
          ${attempts} = CASE WHEN ${attempts} > 0 AND ${changedAt} > CAST($1 AS BIGINT) - ${UNCOUNTED_MS}
            THEN ${attempts} - 1 ELSE ${attempts} END
        WHERE ${isOpen} AND ${leasedUntil} IS NULL AND ${dueAt} > CAST($1 AS BIGINT) + ${SPREAD_MS} RETURNING reference`;
      if (by === "operator") return change(sql, [now], { kind: events.retried, at: now });
      return queryReferences(query, sql, [now]);
    },

    async databaseTime(now) {
      const sql = `SELECT ${dialect.leaseNow("CAST($1 AS BIGINT)")} AS at WHERE CAST($1 AS BIGINT) IS NOT NULL`;
      const [row] = await query<{ at: Date }>(sql, [now]);
      return row?.at ?? now;
    },

    async clearLeases() {
      if (isShared) return;
      // The token stays: it tells that nobody knows how the attempt ended.
      for (const { leasedUntil, isOpen } of Object.values(KINDS)) {
        await query(`UPDATE messages SET ${leasedUntil} = NULL WHERE ${isOpen} AND ${leasedUntil} > 0`);
      }
    },

    async queueDepth() {
      // By row numbers, not by times: a message that arrives before an alert may be committed after it.
      const quarantine = await onlyRow<Pick<QueueDepth, "quarantined" | "newlyQuarantined" | "lastQuarantinedId">>(
        query,
        `SELECT count(*) AS quarantined, count(CASE WHEN id > $1 THEN 1 END) AS newly_quarantined,
          max(id) AS last_quarantined_id FROM messages WHERE state = 'quarantined' AND is_restricted = 0`,
        [Number((await readMeta(query, REPORTED_ID)) ?? 0)],
      );
      return { ...(await depthOf("mail")), hook: await depthOf("hook"), ...quarantine };
    },

    async countDeliveries(kind, since) {
      const { state } = KINDS[kind];
      const rows = await query<{ state: DeliveryState; count: number }>(
        `SELECT ${state} AS state, count(*) AS count FROM messages WHERE ${state} IS NOT NULL AND accepted_at >= $1
         GROUP BY ${state}`,
        [since],
      );
      const counts = { queued: 0, sending: 0, sent: 0, skipped: 0, failed: 0 };
      for (const { state, count } of rows) counts[state] = count;
      return counts;
    },

    async unreportedFailures(kind) {
      const rows = await query<{ id: number }>(`SELECT id FROM messages WHERE ${isNewFailure(kind)}`);
      return rows.map(({ id }) => id);
    },

    async markFailuresReported(kind, ids) {
      const isNamed = `id IN (SELECT CAST(value ->> 0 AS BIGINT) FROM ${dialect.itemsOf("$1")})`;
      const mark = `${REPORTED_FAILURE[kind]} = ${KINDS[kind].changedAt}`;
      await query(`UPDATE messages SET ${mark} WHERE ${isNewFailure(kind)} AND ${isNamed}`, [ids.map((id) => [id])]);
    },

    markQuarantineReported: (lastId) => writeMeta(query, REPORTED_ID, String(lastId)),
  };
}
