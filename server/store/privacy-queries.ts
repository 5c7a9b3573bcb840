import { setImmediate } from "node:timers/promises";
import type { Dialect, Query, Value } from "./query.ts";
import type { Store } from "./store.ts";

const DAY_MS = 86_400_000;
// SQLite deletes on the thread that serves the pages: a little at a time.
const PURGE_CHUNK = 200;

/** Removes what deleted rows leave behind in the database's files. */
export interface Scrub {
  afterErasing(): Promise<void>;
  afterPurging(): Promise<void>;
}

/** What the privacy policy promises: rectify, restrict, erase, and keep no longer than said. */
export function privacyQueries(
  query: Query,
  dialect: Dialect,
  scrub: Scrub,
): Pick<Store, "rectify" | "restrict" | "erase" | "purge"> {
  const isTheirs = `${dialect.foldedEmail} = $1`;
  const folded = (email: string) => email.trim().toLowerCase();

  async function purgeState(state: string, cutOffMs: number): Promise<string[]> {
    // `accepted_at` is there for the index: no message changes its state before it is accepted.
    const sql = `DELETE FROM messages WHERE id IN (
        SELECT id FROM messages WHERE state = $1 AND accepted_at <= $2 AND state_changed_at <= $2 AND is_restricted = 0
        LIMIT ${PURGE_CHUNK})
      AND state = $1 AND is_restricted = 0 RETURNING reference`;
    const references: string[] = [];
    for (;;) {
      const rows = await query<{ reference: string }>(sql, [state, cutOffMs]);
      references.push(...rows.map((row) => row.reference));
      if (rows.length < PURGE_CHUNK) return references;
      await setImmediate();
    }
  }

  return {
    async rectify(email, changes) {
      const { name = null, email: newEmail = null, phone = null, country = null, message = null } = changes;
      const values: Value[] = [folded(email), name, newEmail, phone, country, message];
      const sql = `UPDATE messages SET name = COALESCE($2, name), email = COALESCE($3, email),
          phone = COALESCE($4, phone), country = COALESCE($5, country), message = COALESCE($6, message)
        WHERE ${isTheirs} RETURNING id`;
      return (await query(sql, values)).length;
    },

    async restrict(email, isRestricted) {
      const sql = `UPDATE messages SET is_restricted = $2 WHERE ${isTheirs} RETURNING id`;
      return (await query(sql, [folded(email), isRestricted ? 1 : 0])).length;
    },

    async erase(email) {
      const sql = `DELETE FROM messages WHERE ${isTheirs} RETURNING reference`;
      const rows = await query<{ reference: string }>(sql, [folded(email)]);
      // Also when nothing was found: an erasure that was cut off here is finished by asking again.
      await scrub.afterErasing();
      return rows.map((row) => row.reference);
    },

    async purge(retention, now) {
      const nowMs = now.getTime();
      const references: string[] = [];
      for (const state of ["delivered", "failed", "quarantined"] as const) {
        const keptMs = retention[`${state}Ms`];
        if (keptMs !== null) references.push(...(await purgeState(state, nowMs - keptMs)));
      }
      // Hits from the future were left by a clock that was wrong.
      await query("DELETE FROM client_hits WHERE at <= $1 OR at > $2", [nowMs - DAY_MS, nowMs + DAY_MS]);
      if (references.length > 0) await scrub.afterPurging();
      return references;
    },
  };
}
