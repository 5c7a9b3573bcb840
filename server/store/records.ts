import {
  type Database,
  type Dialect,
  MESSAGE_COLUMNS,
  type MessageRow,
  toStoredMessage,
  type Value,
} from "./database.ts";
import { readLastAlert } from "./queue.ts";
import { normaliseReference } from "./reference.ts";
import type { MessageFilter, Selection, Store } from "./store.ts";

type RecordMethods =
  | "list"
  | "find"
  | "existingReferences"
  | "countByDayAndCountry"
  | "retry"
  | "release"
  | "resend"
  | "delete"
  | "rectify"
  | "restrict"
  | "erase"
  | "purge";

const DAY_MS = 86_400_000;
const QUEUE_AGAIN = "state = 'queued', state_changed_at = $1, due_at = $1, attempts = 0, last_error = NULL";

/** What the operator reads and changes, and what the privacy policy promises. */
export function recordMethods(database: Database): Pick<Store, RecordMethods> {
  const { query, queryLong, dialect } = database;
  const isFrom = (parameter: string) => `${dialect.lowerCaseEmail} = ${parameter}`;

  async function queueAgain(state: "quarantined" | "delivered", which: Selection, now: Date): Promise<number> {
    const [condition, value] =
      "reference" in which
        ? ["reference = $3", normaliseReference(which.reference)]
        : ["accepted_at >= $3", which.since.getTime()];
    const sql = `UPDATE messages SET ${QUEUE_AGAIN} WHERE state = $2 AND ${condition} AND is_restricted = 0 RETURNING id`;
    return (await query(sql, [now.getTime(), state, value])).length;
  }

  /** Keys of messages that are gone. */
  async function removeStrayKeys(): Promise<void> {
    await queryLong("DELETE FROM message_keys WHERE reference NOT IN (SELECT reference FROM messages)");
  }

  return {
    async list(filter) {
      const { where, values } = conditionsOf(filter, dialect);
      const limit = filter.limit === undefined ? "" : `LIMIT $${values.push(filter.limit)}`;
      const sql = `SELECT ${MESSAGE_COLUMNS} FROM messages ${where} ORDER BY accepted_at DESC, id DESC ${limit}`;
      return (await query<MessageRow>(sql, values)).map(toStoredMessage);
    },

    async find(reference) {
      const sql = `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE reference = $1`;
      const [row] = await query<MessageRow>(sql, [normaliseReference(reference)]);
      return row ? toStoredMessage(row) : null;
    },

    async existingReferences(references) {
      const sql = `SELECT reference FROM messages WHERE ${dialect.isIn("reference", "$1")}`;
      const rows = await query<{ reference: string }>(sql, [JSON.stringify(references)]);
      return rows.map(({ reference }) => reference);
    },

    async countByDayAndCountry(since) {
      const rows = await query<{ day: number; country: string; count: number }>(
        `SELECT accepted_at / ${DAY_MS} AS day, country, count(*) AS count FROM messages
         WHERE accepted_at >= $1 GROUP BY 1, 2 ORDER BY 1, 2`,
        [since.getTime()],
      );
      return rows.map(({ day, country, count }) => ({
        day: new Date(day * DAY_MS).toISOString().slice(0, 10),
        country,
        count,
      }));
    },

    async retry(which, now) {
      const nowMs = now.getTime();
      if (which === "failed") {
        return (await query(`UPDATE messages SET ${QUEUE_AGAIN} WHERE state = 'failed' RETURNING id`, [nowMs])).length;
      }
      const values = [nowMs, normaliseReference(which.reference)];
      const failed = `UPDATE messages SET ${QUEUE_AGAIN} WHERE reference = $2 AND state = 'failed' RETURNING id`;
      const queued = "UPDATE messages SET due_at = $1 WHERE reference = $2 AND state = 'queued' RETURNING id";
      return (await query(failed, values)).length || (await query(queued, values)).length;
    },

    release: (which, now) => queueAgain("quarantined", which, now),
    resend: (which, now) => queueAgain("delivered", which, now),

    async delete(reference) {
      const sql = "DELETE FROM messages WHERE reference = $1 RETURNING id";
      const isDeleted = (await query(sql, [normaliseReference(reference)])).length === 1;
      if (isDeleted) await removeStrayKeys();
      return isDeleted;
    },

    async rectify(email, changes) {
      const { name = null, email: newEmail = null, phone = null, country = null, message = null } = changes;
      const sql = `UPDATE messages SET name = COALESCE($2, name), email = COALESCE($3, email),
          phone = COALESCE($4, phone), country = COALESCE($5, country), message = COALESCE($6, message)
        WHERE ${isFrom("$1")} RETURNING id`;
      return (await query(sql, [normaliseEmail(email), name, newEmail, phone, country, message])).length;
    },

    async restrict(email, isRestricted) {
      const sql = `UPDATE messages SET is_restricted = $2 WHERE ${isFrom("$1")} RETURNING id`;
      return (await query(sql, [normaliseEmail(email), isRestricted ? 1 : 0])).length;
    },

    async erase(email) {
      const sql = `DELETE FROM messages WHERE ${isFrom("$1")} RETURNING reference`;
      const rows = await query<{ reference: string }>(sql, [normaliseEmail(email)]);
      await removeStrayKeys();
      // Also when nothing was found: an erasure that was interrupted here is finished by asking again.
      await database.eraseTraces();
      return rows.map(({ reference }) => reference);
    },

    async purge(retention, now) {
      const nowMs = now.getTime();
      const references: string[] = [];
      const reportedAtMs = (await readLastAlert(query, "quarantine")).getTime();
      for (const state of ["delivered", "failed", "quarantined"] as const) {
        const keptMs = retention[`${state}Ms`];
        if (keptMs === null) continue;
        // `accepted_at` is there for the index: no message changes its state before it is accepted.
        const sql = `DELETE FROM messages WHERE state = $1 AND accepted_at <= $2 AND state_changed_at <= $2
          AND is_restricted = 0 RETURNING reference`;
        // Nothing in quarantine goes before somebody was told of it.
        const untilMs = state === "quarantined" ? Math.min(nowMs - keptMs, reportedAtMs - 1) : nowMs - keptMs;
        const rows = await queryLong<{ reference: string }>(sql, [state, untilMs]);
        references.push(...rows.map(({ reference }) => reference));
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

function conditionsOf(filter: MessageFilter, dialect: Dialect): { where: string; values: Value[] } {
  const values: Value[] = [];
  const conditions: string[] = [];
  if (filter.state) conditions.push(`state = $${values.push(filter.state)}`);
  if (filter.since) conditions.push(`accepted_at >= $${values.push(filter.since.getTime())}`);
  if (filter.email !== undefined) {
    conditions.push(`${dialect.lowerCaseEmail} = $${values.push(normaliseEmail(filter.email))}`);
  }
  if (filter.search !== undefined) {
    const pattern = `%${filter.search
      .trim()
      .toLowerCase()
      .replaceAll(/[\\%_]/g, "\\$&")}%`;
    const words = "name || ' ' || email || ' ' || phone || ' ' || reference || ' ' || message";
    conditions.push(`lower(${words}) LIKE $${values.push(pattern)} ESCAPE '\\'`);
  }
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "", values };
}

function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}
