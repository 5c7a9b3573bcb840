import type { FootprintEstimate } from "../../contract/footprint.ts";
import type { Action, EventKind } from "../../contract/inbox.ts";
import { ACKNOWLEDGED_WITHIN_MS } from "./acknowledgements.ts";
import { type Database, queryReferences, readMeta, type Value, VERSION } from "./database.ts";
import { normaliseEmail } from "./listing.ts";
import { KINDS } from "./queue.ts";
import { normaliseReference } from "./reference.ts";
import type { Changes, DeliveryKind, MessageState, Selection } from "./store.ts";

/** Which messages an action may be done to: those that fit all of the conditions given. */
export interface ActionRule {
  states?: readonly MessageState[];
  /** The states of all messages since a time that it is done to, where that is not the same. */
  statesInBulk?: readonly MessageState[];
  isRestricted?: boolean;
  isAnswered?: boolean;
  /** It is also done to a message whose web hook or acknowledgement failed or waits for its next attempt. */
  fitsOtherDeliveries?: boolean;
  /** For an operator, without a full stop. */
  sentence: string;
}

/**
 * What an operator may do to which message. The store makes its SQL of it, so that a message is checked by the statement
 * that changes it, and server/operator/ tells operators and the page of the inbox beforehand.
 */
export const ACTION_RULES: Readonly<Record<Action, ActionRule>> = {
  retry: {
    states: ["failed", "queued"],
    statesInBulk: ["failed"],
    isRestricted: false,
    fitsOtherDeliveries: true,
    sentence: "only what failed or is queued can be retried",
  },
  resend: { states: ["delivered"], isRestricted: false, sentence: "only delivered messages can be resent" },
  release: { states: ["quarantined"], isRestricted: false, sentence: "only quarantined messages can be released" },
  delete: { isRestricted: false, sentence: "restricted messages cannot be deleted" },
  answer: { isAnswered: false, sentence: "it is marked as answered already" },
  unanswer: { isAnswered: true, sentence: "it is not marked as answered" },
};

const QUEUE_AGAIN = "state = 'queued', state_changed_at = $1, due_at = $1, attempts = 0, last_error = NULL";

/** What is changed, and what the history says of it. `$1` is the time. */
interface Change {
  set: string;
  kind: EventKind;
}

const CHANGES: Readonly<Record<Exclude<Action, "delete">, Change>> = {
  retry: makeDue("mail"),
  resend: { set: QUEUE_AGAIN, kind: "resent" },
  release: { set: QUEUE_AGAIN, kind: "released" },
  answer: { set: "answered_at = $1", kind: "answered" },
  unanswer: { set: "answered_at = NULL", kind: "unanswered" },
};

/** Due now, whether it failed for good or waits for its next attempt; then it keeps the number of its attempts. */
function makeDue(delivery: DeliveryKind): Change {
  const { state, waiting, dueAt, changedAt, attempts, error, events } = KINDS[delivery];
  const ifWaiting = (value: string, otherwise: string) =>
    `CASE ${state} WHEN '${waiting}' THEN ${value} ELSE ${otherwise} END`;
  const set = `${state} = '${waiting}', ${dueAt} = $1, ${changedAt} = ${ifWaiting(changedAt, "$1")},
    ${attempts} = ${ifWaiting(attempts, "0")}, ${error} = ${ifWaiting(error, "NULL")}`;
  return { set, kind: events.retried };
}

/** What a retry queues beside the mail. An acknowledgement was counted towards its limits before, and has a day. */
const OTHER_RETRIES: readonly { delivery: DeliveryKind; where: string }[] = [
  { delivery: "hook", where: "state <> 'quarantined' AND is_restricted = 0" },
  {
    delivery: "acknowledgement",
    where: `is_restricted = 0 AND accepted_at > CAST($1 AS BIGINT) - ${ACKNOWLEDGED_WITHIN_MS}`,
  },
];

const ERASURE_MARK = "unfinished_erasure";
const REMOVE_MARK = "DELETE FROM store_meta WHERE name = $1";

/** A condition made of the action's rule: it is checked by the statement that changes the message. */
function isAllowed(action: Action, which: Selection): string {
  const { states, statesInBulk = states, isRestricted, isAnswered } = ACTION_RULES[action];
  const allowed = "since" in which ? statesInBulk : states;
  const conditions = [
    allowed && `state IN (${allowed.map((state) => `'${state}'`).join(", ")})`,
    isRestricted !== undefined && `is_restricted = ${isRestricted ? 1 : 0}`,
    isAnswered !== undefined && `answered_at IS ${isAnswered ? "NOT NULL" : "NULL"}`,
  ];
  return conditions.filter(Boolean).join(" AND ");
}

export function changeMethods(database: Database): Changes {
  const { query, change, dialect } = database;
  const isFrom = (parameter: string) => `${dialect.lowerCaseEmail} = ${parameter}`;

  /** A condition on messages, whose placeholders follow those of `values`, to which it adds its own. */
  function isSelected(which: Selection, values: Value[]): string {
    if ("since" in which) return `accepted_at >= $${values.push(which.since)}`;
    const isNamed = dialect.isIn("reference", `$${values.push(which.references.map(normaliseReference))}`);
    if (which.versions === undefined) return isNamed;
    return `${isNamed} AND ${dialect.isIn(VERSION, `$${values.push(which.versions)}`)}`;
  }

  /** True when no versions are given, or the messages from the address are exactly these. The address is `$1`. */
  function isUnchanged(versions: readonly string[] | undefined, values: Value[]): string {
    if (versions === undefined) return "1 = 1";
    const count = `$${values.push(versions.length)}`;
    const known = dialect.isIn(VERSION, `$${values.push(versions)}`);
    const from = `SELECT count(*) FROM messages WHERE ${isFrom("$1")}`;
    return `(${from}) = ${count} AND (${from} AND ${known}) = ${count}`;
  }

  function footprintRows(footprints: ReadonlyMap<string, FootprintEstimate | null>, values: Value[]): string {
    const rows = [...footprints].map(([reference, footprint]) => [reference, footprint && JSON.stringify(footprint)]);
    const items = dialect.itemsOf(`$${values.push(rows)}`);
    return `SELECT value ->> 0 AS footprint_of, value ->> 1 AS new_footprint FROM ${items}`;
  }

  async function eraseTraces(): Promise<void> {
    await removeStrayKeys(database);
    await database.eraseTraces();
    await query(REMOVE_MARK, [ERASURE_MARK]);
  }

  return {
    async act(action, which, now) {
      if (action === "delete") {
        const values: Value[] = [];
        const where = `${isSelected(which, values)} AND ${isAllowed(action, which)}`;
        const references = await queryReferences(
          query,
          `DELETE FROM messages WHERE ${where} RETURNING reference`,
          values,
        );
        if (references.length > 0) await removeStrayKeys(database);
        return references;
      }
      const changed = new Set<string>();
      const run = async ({ set, kind }: Change, where: string) => {
        const values: Value[] = set.includes("$1") ? [now] : [];
        const sql = `UPDATE messages SET ${set} WHERE ${where} AND ${isSelected(which, values)} RETURNING reference`;
        for (const reference of await change(sql, values, { kind, at: now })) changed.add(reference);
      };
      // Before the message itself, whose version they do not change.
      for (const { delivery, where } of action === "retry" ? OTHER_RETRIES : []) {
        const { state, waiting } = KINDS[delivery];
        const states = "since" in which ? "'failed'" : `'failed', '${waiting}'`;
        await run(makeDue(delivery), `${state} IN (${states}) AND ${where}`);
      }
      await run(CHANGES[action], isAllowed(action, which));
      return [...changed];
    },

    async markSeen(reference, now) {
      const isUnseen = `reference = $1 AND state = 'quarantined'
        AND NOT EXISTS (SELECT 1 FROM message_events WHERE reference = $1 AND kind = 'viewed')`;
      const sql = `UPDATE messages SET notified_at = COALESCE(notified_at, $2) WHERE ${isUnseen} RETURNING reference`;
      await change(sql, [normaliseReference(reference), now], { kind: "viewed", at: now });
    },

    async addNote(reference, text, author, now) {
      const added = await query(
        `INSERT INTO message_events (reference, at, kind, detail, author)
         SELECT reference, CAST($2 AS BIGINT), 'noted', CAST($3 AS TEXT), CAST($4 AS TEXT) FROM messages
         WHERE reference = $1 RETURNING reference`,
        [normaliseReference(reference), now, text, author],
      );
      return added.length > 0;
    },

    async rectify(email, changes, now, versions, footprints = null) {
      const { name = null, email: newEmail = null, phone = null, country = null, message = null } = changes;
      const values: Value[] = [normaliseEmail(email), name, newEmail, phone, country, message, now];
      const isMeant = `${isFrom("$1")} AND ${isUnchanged(versions, values)}`;
      const set = `UPDATE messages SET name = COALESCE($2, name), email = COALESCE($3, email),
          phone = COALESCE($4, phone), country = COALESCE($5, country), message = COALESCE($6, message),
          corrected_at = $7`;
      const sql =
        footprints === null
          ? `${set} WHERE ${isMeant} RETURNING reference`
          : `${set}, footprint = new_footprint FROM (${footprintRows(footprints, values)}) AS corrected
             WHERE reference = footprint_of AND ${isMeant} RETURNING reference`;
      return (await change(sql, values, { kind: "corrected", at: now })).length;
    },

    async restrict(email, isRestricted, now, versions) {
      const values: Value[] = [normaliseEmail(email), isRestricted, now];
      // A message waits from the moment in which it may be sent again.
      const sql = `UPDATE messages SET is_restricted = CAST($2 AS BIGINT),
          state_changed_at = CASE WHEN state = 'queued' AND CAST($2 AS BIGINT) = 0 THEN CAST($3 AS BIGINT) ELSE state_changed_at END
        WHERE ${isFrom("$1")} AND ${isUnchanged(versions, values)} RETURNING reference`;
      return (await change(sql, values, { kind: isRestricted ? "restricted" : "unrestricted", at: now })).length;
    },

    async erase(email, versions) {
      const values: Value[] = [normaliseEmail(email)];
      const [first] = await query(`SELECT id FROM messages WHERE ${isFrom("$1")} LIMIT 1`, values);
      if (!first) return [];
      // Set first and removed last, so that an erasure that is interrupted anywhere can be finished.
      const mark = "INSERT INTO store_meta VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING name";
      const [isNew] = await query(mark, [ERASURE_MARK, "1"]);
      const where = `${isFrom("$1")} AND ${isUnchanged(versions, values)}`;
      const references = await queryReferences(
        query,
        `DELETE FROM messages WHERE ${where} RETURNING reference`,
        values,
      );
      if (references.length > 0) await eraseTraces();
      else if (isNew) await query(REMOVE_MARK, [ERASURE_MARK]);
      return references;
    },

    async finishErasure() {
      const isUnfinished = (await readMeta(query, ERASURE_MARK)) !== null;
      if (isUnfinished) await eraseTraces();
      return isUnfinished;
    },
  };
}

/** Keys of messages that are gone. */
export async function removeStrayKeys({ queryLong }: Database): Promise<void> {
  // Not `NOT IN`, which PostgreSQL answers by reading the whole list again for each key once it is large.
  await queryLong(`DELETE FROM message_keys
    WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.reference = message_keys.reference)`);
}
