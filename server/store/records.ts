import type { FootprintEstimate } from "../../contract/footprint.ts";
import type { Action } from "../../contract/inbox.ts";
import { type Database, type Value, VERSION } from "./database.ts";
import { normaliseEmail } from "./listing.ts";
import { readReportedId } from "./queue.ts";
import { normaliseReference } from "./reference.ts";
import type { EventKind, Selection, Store } from "./store.ts";

type RecordMethods = "act" | "markSeen" | "rectify" | "restrict" | "erase" | "purge";

const DAY_MS = 86_400_000;
const QUEUE_AGAIN = "state = 'queued', state_changed_at = $1, due_at = $1, attempts = 0, last_error = NULL";

/** What an action does to which messages, and what their history says of it. `$1` is the time. */
interface Change {
  set: string;
  where: string;
  kind: EventKind;
}

const CHANGES: Readonly<Record<Exclude<Action, "delete">, readonly Change[]>> = {
  retry: [
    { set: QUEUE_AGAIN, where: "state = 'failed' AND is_restricted = 0", kind: "retried" },
    // What is queued keeps the number of its attempts.
    { set: "due_at = $1", where: "state = 'queued' AND is_restricted = 0", kind: "retried" },
  ],
  resend: [{ set: QUEUE_AGAIN, where: "state = 'delivered' AND is_restricted = 0", kind: "resent" }],
  release: [{ set: QUEUE_AGAIN, where: "state = 'quarantined' AND is_restricted = 0", kind: "released" }],
  answer: [{ set: "answered_at = $1", where: "answered_at IS NULL", kind: "answered" }],
  unanswer: [{ set: "answered_at = NULL", where: "answered_at IS NOT NULL", kind: "unanswered" }],
};

/** What the operator changes, and what the privacy policy promises. */
export function recordMethods(database: Database): Pick<Store, RecordMethods> {
  const { query, queryLong, change, dialect } = database;
  const isFrom = (parameter: string) => `${dialect.lowerCaseEmail} = ${parameter}`;

  /** A condition on messages, whose placeholders follow those of `values`, to which it adds its own. */
  function isSelected(which: Selection, values: Value[]): string {
    if ("since" in which) return `accepted_at >= $${values.push(which.since.getTime())}`;
    const references = JSON.stringify(which.references.map(normaliseReference));
    const isNamed = dialect.isIn("reference", `$${values.push(references)}`);
    if (which.versions === undefined) return isNamed;
    return `${isNamed} AND ${dialect.isIn(VERSION, `$${values.push(JSON.stringify(which.versions))}`)}`;
  }

  /** True when no versions are given, or the messages from the address are exactly these. The address is `$1`. */
  function isUnchanged(versions: readonly string[] | undefined, values: Value[]): string {
    if (versions === undefined) return "1 = 1";
    const count = `$${values.push(versions.length)}`;
    const known = dialect.isIn(VERSION, `$${values.push(JSON.stringify(versions))}`);
    const from = `SELECT count(*) FROM messages WHERE ${isFrom("$1")}`;
    return `(${from}) = ${count} AND (${from} AND ${known}) = ${count}`;
  }

  function footprintRows(footprints: ReadonlyMap<string, FootprintEstimate | null>, values: Value[]): string {
    const rows = [...footprints].map(([reference, footprint]) => [reference, footprint && JSON.stringify(footprint)]);
    const items = dialect.itemsOf(`$${values.push(JSON.stringify(rows))}`);
    return `SELECT value ->> 0 AS footprint_of, value ->> 1 AS new_footprint FROM ${items}`;
  }

  /** Keys of messages that are gone. */
  async function removeStrayKeys(): Promise<void> {
    // Not `NOT IN`, which PostgreSQL answers by reading the whole list again for each key once it is large.
    await queryLong(`DELETE FROM message_keys
      WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.reference = message_keys.reference)`);
  }

  return {
    async act(action, which, now) {
      if (action === "delete") {
        const values: Value[] = [];
        const sql = `DELETE FROM messages WHERE ${isSelected(which, values)} AND is_restricted = 0 RETURNING reference`;
        const rows = await query<{ reference: string }>(sql, values);
        if (rows.length > 0) await removeStrayKeys();
        return rows.map(({ reference }) => reference);
      }
      const changed: string[] = [];
      // A message that one statement queued must not be matched by the next.
      const changes = "since" in which ? CHANGES[action].slice(0, 1) : CHANGES[action].toReversed();
      for (const { set, where, kind } of changes) {
        const values: Value[] = set.includes("$1") ? [now.getTime()] : [];
        const sql = `UPDATE messages SET ${set} WHERE ${where} AND ${isSelected(which, values)} RETURNING reference`;
        // One by one: a call cannot take some hundred thousand arguments.
        for (const reference of await change(sql, values, { kind, at: now })) changed.push(reference);
      }
      return changed;
    },

    async markSeen(reference, now) {
      await query(
        `INSERT INTO message_events (reference, at, kind)
         SELECT reference, CAST($2 AS BIGINT), 'viewed' FROM messages WHERE reference = $1 AND state = 'quarantined'
         AND NOT EXISTS (SELECT 1 FROM message_events WHERE reference = $1 AND kind = 'viewed')`,
        [normaliseReference(reference), now.getTime()],
      );
    },

    async rectify(email, changes, now, versions, footprints = null) {
      const { name = null, email: newEmail = null, phone = null, country = null, message = null } = changes;
      const values: Value[] = [normaliseEmail(email), name, newEmail, phone, country, message, now.getTime()];
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
      const values: Value[] = [normaliseEmail(email), isRestricted ? 1 : 0, now.getTime()];
      // A message waits from the moment in which it may be sent again.
      const sql = `UPDATE messages SET is_restricted = CAST($2 AS BIGINT),
          state_changed_at = CASE WHEN state = 'queued' AND CAST($2 AS BIGINT) = 0 THEN CAST($3 AS BIGINT) ELSE state_changed_at END
        WHERE ${isFrom("$1")} AND ${isUnchanged(versions, values)} RETURNING reference`;
      return (await change(sql, values, { kind: isRestricted ? "restricted" : "unrestricted", at: now })).length;
    },

    async erase(email, versions) {
      const values: Value[] = [normaliseEmail(email)];
      const sql = `DELETE FROM messages WHERE ${isFrom("$1")} AND ${isUnchanged(versions, values)} RETURNING reference`;
      const rows = await query<{ reference: string }>(sql, values);
      if (rows.length === 0 && versions !== undefined) return [];
      await removeStrayKeys();
      // Also when nothing was found: an erasure that was interrupted here is finished by asking again.
      await database.eraseTraces();
      return rows.map(({ reference }) => reference);
    },

    async purge(retention, now) {
      const nowMs = now.getTime();
      const references: string[] = [];
      const reportedId = await readReportedId(query);
      for (const state of ["delivered", "failed", "quarantined"] as const) {
        const keptMs = retention[`${state}Ms`];
        if (keptMs === null) continue;
        // `accepted_at` is there for the index: no message changes its state before it is accepted.
        // Nothing in quarantine is erased before somebody was told of it.
        const sql = `DELETE FROM messages WHERE state = $1 AND accepted_at <= $2 AND state_changed_at <= $2
          AND is_restricted = 0 AND (state <> 'quarantined' OR id <= $3) RETURNING reference`;
        const rows = await queryLong<{ reference: string }>(sql, [state, nowMs - keptMs, reportedId]);
        for (const { reference } of rows) references.push(reference);
      }
      // Hits from the future were left by a clock that was wrong.
      await queryLong("DELETE FROM client_hits WHERE at <= $1 OR at > $2", [nowMs - DAY_MS, nowMs + DAY_MS]);
      if (references.length > 0) {
        await removeStrayKeys();
        await database.checkpoint();
      }
      return references;
    },
  };
}
