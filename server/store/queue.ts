import { randomUUID } from "node:crypto";
import type { EventKind } from "../../contract/inbox.ts";
import {
  type Database,
  type Dialect,
  type MessageRow,
  type NewEvent,
  type Query,
  SELECTED_COLUMNS,
  toDate,
  toStoredMessage,
  type Value,
} from "./database.ts";
import type { AlertTopic, Claim, DeliveryKind, DeliveryState, Store } from "./store.ts";

type QueueMethods =
  | "claim"
  | "markDelivered"
  | "reschedule"
  | "markFailed"
  | "unclaim"
  | "dueInMs"
  | "makeWaitingDue"
  | "databaseTime"
  | "clearLeases"
  | "queueDepth"
  | "countDeliveries"
  | "lastAlertAt"
  | "moveLastAlert"
  | "markQuarantineReported"
  | "unreportedFailures"
  | "markFailuresReported";

/** What the history of a message, and the log, call the ends of an attempt. */
export interface DeliveryEvents {
  sent: EventKind;
  deferred: EventKind;
  failed: EventKind;
  /** Nothing of this kind can be sent at the moment, so the attempt does not count. */
  paused: EventKind;
  /** An operator made it due. */
  retried: EventKind;
}

/** Where a kind of delivery is kept: columns of `messages`, so that it ends with its message. */
interface Kind
  extends Record<"state" | "changedAt" | "dueAt" | "attempts" | "error" | "token" | "leasedUntil", string> {
  /** The state in which it can be claimed. */
  waiting: string;
  sent: string;
  /** True for all that is still to be sent; the condition of an index. */
  isOpen: string;
  isClaimable: string;
  events: DeliveryEvents;
}

/** The names of a mail's columns are those it had when there was only one kind, which nodes of earlier versions use. */
const KINDS: Readonly<Record<DeliveryKind, Kind>> = {
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
    isClaimable: "state = 'queued' AND is_restricted = 0",
    events: { sent: "delivered", deferred: "deferred", failed: "failed", paused: "paused", retried: "retried" },
  },
  acknowledgement: {
    ...columnsOf("ack"),
    waiting: "sending",
    sent: "sent",
    isOpen: "ack_due_at IS NOT NULL",
    isClaimable: "ack_due_at IS NOT NULL AND ack_state = 'sending' AND is_restricted = 0",
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
    isClaimable: "hook_due_at IS NOT NULL AND state <> 'quarantined' AND is_restricted = 0",
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

export function eventsOf(kind: DeliveryKind): DeliveryEvents {
  return KINDS[kind].events;
}

/** No attempt is ever put off for longer: a due time beyond it was set before the clock was set back. */
export const FARTHEST_DUE_MS = 5 * 3_600_000;

/** What is made due again at once is spread over this time, and not made due again by another node within it. */
const SPREAD_MS = 60_000;
/** For as long as this, an attempt that comes early does not count. As long as deliveries are tried. */
const UNCOUNTED_MS = 5 * 86_400_000;

const IS_FAILED = "state = 'failed' AND is_restricted = 0";
const IS_HOOK_FAILED = "hook_state = 'failed' AND is_restricted = 0";
/** A failure is known by its time, which is compared with itself alone: no clock can make it look reported. */
const NEW_FAILURE = {
  mail: `${IS_FAILED} AND COALESCE(reported_failure <> state_changed_at, TRUE)`,
  hook: `${IS_HOOK_FAILED} AND COALESCE(hook_reported_failure <> hook_changed_at, TRUE)`,
};
const MARK_FAILURE = {
  mail: "reported_failure = state_changed_at",
  hook: "hook_reported_failure = hook_changed_at",
};
/** A message that was released waits from then on, and its state changed at that moment, whoever released it. */
const HOOK_WAITS_SINCE = "CASE WHEN hook_changed_at > state_changed_at THEN hook_changed_at ELSE state_changed_at END";
const IS_QUARANTINED = "state = 'quarantined' AND is_restricted = 0";
/** In the same statement as the delivery, so that no crash falls between. Once for each message. */
const QUEUE_ACKNOWLEDGEMENT = `ack_due_at = CASE WHEN ack_state IS NULL THEN $3 ELSE ack_due_at END,
  ack_changed_at = CASE WHEN ack_state IS NULL THEN $3 ELSE ack_changed_at END, ack_state = COALESCE(ack_state, 'queued')`;
/** The first has the name it had when there was only one topic. */
const REPORTED_ID = "quarantine_reported_id";
const LAST_ALERT: Readonly<Record<AlertTopic, string>> = {
  delivery: "last_alert_at",
  quarantine: "last_quarantine_alert_at",
  ending: "last_ending_alert_at",
  clock: "last_clock_alert_at",
  backup: "last_backup_alert_at",
};

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

/** What the outbox does with deliveries of every kind, and what the alerts need to know. */
export function queueMethods({ query, change, dialect, isShared }: Database): Pick<Store, QueueMethods> {
  function claimSql(kind: DeliveryKind): string {
    const { dueAt, attempts, changedAt, token, leasedUntil, isClaimable } = KINDS[kind];
    const { isDue, isStray, isFree } = dueConditions(kind, dialect);
    const select = (isItsTime: string) => `
      SELECT id FROM messages WHERE ${isClaimable} AND ${isItsTime} AND ${isFree}
      ORDER BY ${dueAt}, id LIMIT $3 ${dialect.lockRows}`;
    // Two questions, because each is answered by the index; together they would read the whole queue.
    return `WITH due AS MATERIALIZED (${select(isDue)}), strayed AS MATERIALIZED (${select(isStray)})
      UPDATE messages SET ${token} = $4, ${leasedUntil} = ${dialect.leaseNow("$1")} + CAST($2 AS BIGINT),
        ${attempts} = ${attempts} + 1
      WHERE id IN (SELECT id FROM due UNION ALL SELECT id FROM strayed LIMIT $3)
      RETURNING ${SELECTED_COLUMNS}, ${attempts} AS claim_attempts, ${changedAt} AS claim_queued_at,
        ${dueAt} AS claim_due_at`;
  }

  /** Without an event the attempt leaves no trace. */
  async function mark(claim: Claim, event: NewEvent | null, changes: string, isMine: string, others: readonly Value[]) {
    const { token, leasedUntil } = KINDS[claim.kind];
    const sql = `UPDATE messages SET ${changes}, ${token} = NULL, ${leasedUntil} = NULL
      WHERE id = $1 AND ${isMine} RETURNING reference`;
    const values = [Number(claim.message.id), claim.token, ...others];
    const changed = event === null ? await query(sql, values) : await change(sql, values, event);
    return changed.length === 1;
  }

  const holdsLease = ({ state, token, waiting }: Kind) => `${token} = $2 AND ${state} = '${waiting}'`;

  /** One after the other: PostgreSQL passes over a row that the claim of another kind is about to change. */
  let lastClaim: Promise<unknown> = Promise.resolve();
  function inTurn<Result>(claim: () => Promise<Result>): Promise<Result> {
    const claimed = lastClaim.then(claim);
    lastClaim = claimed.catch(() => {});
    return claimed;
  }

  return {
    async claim(limit, leaseMs, now, kind = "mail") {
      const token = randomUUID();
      const rows = await inTurn(() =>
        query<MessageRow & Record<`claim_${"attempts" | "queued_at" | "due_at"}`, number>>(claimSql(kind), [
          now.getTime(),
          leaseMs,
          limit,
          token,
        ]),
      );
      rows.sort((a, b) => a.claim_due_at - b.claim_due_at || a.id - b.id);
      return rows.map((row) => ({
        kind,
        message: toStoredMessage(row),
        attempts: row.claim_attempts,
        queuedAt: new Date(row.claim_queued_at),
        token,
      }));
    },

    markDelivered(claim, now, queuesAcknowledgement = false) {
      const { state, changedAt, dueAt, error, token, waiting, sent, events } = KINDS[claim.kind];
      const delivered = `${state} = '${sent}', ${changedAt} = $3, ${dueAt} = NULL, ${error} = NULL`;
      const changes = queuesAcknowledgement ? `${delivered}, ${QUEUE_ACKNOWLEDGEMENT}` : delivered;
      const isSame = `(${state} = 'failed' OR ${state} = '${waiting}' AND (${token} = $2 OR ${changedAt} = $4))`;
      const event = { kind: events.sent, at: now };
      return mark(claim, event, changes, isSame, [now.getTime(), claim.queuedAt.getTime()]);
    },

    reschedule(claim, dueAt, error, now) {
      const kind = KINDS[claim.kind];
      const changes = `${kind.dueAt} = $3, ${kind.error} = $4`;
      const event = { kind: kind.events.deferred, at: now, detail: error };
      return mark(claim, event, changes, holdsLease(kind), [dueAt.getTime(), error]);
    },

    markFailed(claim, error, now) {
      const kind = KINDS[claim.kind];
      const changes = `${kind.state} = 'failed', ${kind.changedAt} = $3, ${kind.dueAt} = NULL, ${kind.error} = $4`;
      const event = { kind: kind.events.failed, at: now, detail: error };
      return mark(claim, event, changes, holdsLease(kind), [now.getTime(), error]);
    },

    unclaim(claim, dueAt, error, now) {
      const kind = KINDS[claim.kind];
      const uncounted = `${kind.attempts} = ${kind.attempts} - 1, ${kind.dueAt} = $3`;
      const changes = `${uncounted}, ${kind.error} = COALESCE($4, ${kind.error})`;
      const event = error === null ? null : { kind: kind.events.paused, at: now, detail: error };
      return mark(claim, event, changes, holdsLease(kind), [dueAt.getTime(), error]);
    },

    async dueInMs(now, kind = "mail") {
      const { dueAt, leasedUntil, isOpen } = KINDS[kind];
      const [row] = await query<{ ms: number | null }>(
        `SELECT min(ms) AS ms FROM (
          SELECT min(${dueAt}) - CAST($1 AS BIGINT) AS ms FROM messages WHERE ${isOpen} AND ${leasedUntil} IS NULL
          UNION ALL
          SELECT min(${leasedUntil}) - ${dialect.leaseNow("$1")} FROM messages
          WHERE ${isOpen} AND ${leasedUntil} > 0) AS next`,
        [now.getTime()],
      );
      return row?.ms ?? null;
    },

    async makeWaitingDue(kind, now, by) {
      const { dueAt, attempts, changedAt, leasedUntil, isOpen, events } = KINDS[kind];
      const nowMs = now.getTime();
      if (by === "outbox") {
        const claim = `INSERT INTO store_meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
          WHERE abs(CAST(store_meta.value AS BIGINT) - CAST($3 AS BIGINT)) >= ${SPREAD_MS} RETURNING name`;
        const [isClaimed] = await query(claim, [`due_again_${kind}`, String(nowMs), nowMs]);
        if (!isClaimed) return null;
      }
      // A prime, so that messages that arrived one after the other are spread evenly.
      const sql = `UPDATE messages SET ${dueAt} = CAST($1 AS BIGINT) + (id * 7919) % ${SPREAD_MS},
          ${attempts} = CASE WHEN ${attempts} > 0 AND ${changedAt} > CAST($1 AS BIGINT) - ${UNCOUNTED_MS}
            THEN ${attempts} - 1 ELSE ${attempts} END
        WHERE ${isOpen} AND ${leasedUntil} IS NULL AND ${dueAt} > CAST($1 AS BIGINT) + ${SPREAD_MS} RETURNING reference`;
      if (by === "operator") return change(sql, [nowMs], { kind: events.retried, at: now });
      return (await query<{ reference: string }>(sql, [nowMs])).map(({ reference }) => reference);
    },

    async databaseTime(now) {
      const sql = `SELECT ${dialect.leaseNow("CAST($1 AS BIGINT)")} AS ms WHERE CAST($1 AS BIGINT) IS NOT NULL`;
      const [row] = await query<{ ms: number }>(sql, [now.getTime()]);
      return new Date(row?.ms ?? now);
    },

    async clearLeases() {
      if (isShared) return;
      // The token stays: it tells that nobody knows how the attempt ended.
      for (const { leasedUntil, isOpen } of Object.values(KINDS)) {
        await query(`UPDATE messages SET ${leasedUntil} = NULL WHERE ${isOpen} AND ${leasedUntil} > 0`);
      }
    },

    async queueDepth() {
      const reportedId = await readReportedId(query);
      // A question each, because each has an index of its own.
      const [row] = await query<
        Record<"queued" | "failed" | "quarantined" | "newly_quarantined" | "hook_queued" | "hook_failed", number> &
          Record<"newly_failed" | "hook_newly_failed", number> &
          Record<"oldest" | "oldest_again" | "last_failed" | "last_quarantined", number | null> &
          Record<"hook_oldest" | "hook_last_failed", number | null>
      >(
        `SELECT (SELECT count(*) FROM messages WHERE ${KINDS.mail.isOpen}) AS queued,
          (SELECT min(accepted_at) FROM messages WHERE ${KINDS.mail.isOpen} AND state_changed_at <= accepted_at) AS oldest,
          (SELECT min(state_changed_at) FROM messages WHERE ${KINDS.mail.isOpen} AND state_changed_at > accepted_at) AS oldest_again,
          (SELECT count(*) FROM messages WHERE ${IS_FAILED}) AS failed,
          (SELECT max(state_changed_at) FROM messages WHERE ${IS_FAILED}) AS last_failed,
          (SELECT count(*) FROM messages WHERE ${NEW_FAILURE.mail}) AS newly_failed,
          (SELECT count(*) FROM messages WHERE ${IS_QUARANTINED}) AS quarantined,
          (SELECT count(*) FROM messages WHERE ${IS_QUARANTINED} AND id > $1) AS newly_quarantined,
          (SELECT max(id) FROM messages WHERE ${IS_QUARANTINED}) AS last_quarantined,
          (SELECT count(*) FROM messages WHERE ${KINDS.hook.isOpen}) AS hook_queued,
          (SELECT min(${HOOK_WAITS_SINCE}) FROM messages WHERE ${KINDS.hook.isOpen}) AS hook_oldest,
          (SELECT count(*) FROM messages WHERE ${IS_HOOK_FAILED}) AS hook_failed,
          (SELECT max(hook_changed_at) FROM messages WHERE ${IS_HOOK_FAILED}) AS hook_last_failed,
          (SELECT count(*) FROM messages WHERE ${NEW_FAILURE.hook}) AS hook_newly_failed`,
        [reportedId],
      );
      const oldest = [row?.oldest, row?.oldest_again].flatMap((ms) => ms ?? []);
      return {
        queued: row?.queued ?? 0,
        oldestQueuedAt: oldest.length > 0 ? new Date(Math.min(...oldest)) : null,
        failed: row?.failed ?? 0,
        lastFailedAt: toDate(row?.last_failed),
        newlyFailed: row?.newly_failed ?? 0,
        quarantined: row?.quarantined ?? 0,
        newlyQuarantined: row?.newly_quarantined ?? 0,
        lastQuarantinedId: row?.last_quarantined ?? null,
        hook: {
          queued: row?.hook_queued ?? 0,
          oldestQueuedAt: toDate(row?.hook_oldest),
          failed: row?.hook_failed ?? 0,
          lastFailedAt: toDate(row?.hook_last_failed),
          newlyFailed: row?.hook_newly_failed ?? 0,
        },
      };
    },

    async countDeliveries(kind, since) {
      const { state } = KINDS[kind];
      const rows = await query<{ state: DeliveryState; count: number }>(
        `SELECT ${state} AS state, count(*) AS count FROM messages WHERE ${state} IS NOT NULL AND accepted_at >= $1
         GROUP BY ${state}`,
        [since.getTime()],
      );
      const counts = { queued: 0, sending: 0, sent: 0, skipped: 0, failed: 0 };
      for (const { state, count } of rows) counts[state] = count;
      return counts;
    },

    async unreportedFailures(kind) {
      const rows = await query<{ id: number }>(`SELECT id FROM messages WHERE ${NEW_FAILURE[kind]}`);
      return rows.map(({ id }) => id);
    },

    async markFailuresReported(kind, ids) {
      const isNamed = `id IN (SELECT CAST(value ->> 0 AS BIGINT) FROM ${dialect.itemsOf("$1")})`;
      const sql = `UPDATE messages SET ${MARK_FAILURE[kind]} WHERE ${NEW_FAILURE[kind]} AND ${isNamed}`;
      await query(sql, [JSON.stringify(ids.map((id) => [id]))]);
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
async function readReportedId(query: Query): Promise<number> {
  const [row] = await query<{ value: string }>("SELECT value FROM store_meta WHERE name = $1", [REPORTED_ID]);
  return Number(row?.value ?? 0);
}

async function readLastAlert(query: Query, topic: AlertTopic): Promise<Date> {
  const sql = "SELECT value FROM store_meta WHERE name = $1";
  const [row] = await query<{ value: string }>(sql, [LAST_ALERT[topic]]);
  return new Date(Number(row?.value ?? 0));
}
