import { MESSAGE_COLUMNS, type MessageRow, toStoredMessage } from "./message-row.ts";
import type { Dialect, Query, Value } from "./query.ts";
import { normaliseReference } from "./reference.ts";
import type { MessageFilter, Store } from "./store.ts";

const DAY_MS = 86_400_000;
const QUEUE_ANEW = "state = 'queued', state_changed_at = $1, due_at = $1, attempts = 0, last_error = NULL";

/** What the operator looks at and sets right. */
export function operatorQueries(
  query: Query,
  dialect: Dialect,
): Pick<Store, "list" | "find" | "countByDayAndCountry" | "retry" | "release"> {
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
        return (await query(`UPDATE messages SET ${QUEUE_ANEW} WHERE state = 'failed' RETURNING id`, [nowMs])).length;
      }
      const values = [nowMs, normaliseReference(which.reference)];
      const failed = `UPDATE messages SET ${QUEUE_ANEW} WHERE reference = $2 AND state = 'failed' RETURNING id`;
      const queued = "UPDATE messages SET due_at = $1 WHERE reference = $2 AND state = 'queued' RETURNING id";
      return (await query(failed, values)).length || (await query(queued, values)).length;
    },

    async release(reference, now) {
      const sql = `UPDATE messages SET ${QUEUE_ANEW} WHERE reference = $2 AND state = 'quarantined' RETURNING id`;
      return (await query(sql, [now.getTime(), normaliseReference(reference)])).length === 1;
    },
  };
}

function conditionsOf(filter: MessageFilter, dialect: Dialect): { where: string; values: Value[] } {
  const values: Value[] = [];
  const conditions: string[] = [];
  if (filter.state) conditions.push(`state = $${values.push(filter.state)}`);
  if (filter.since) conditions.push(`accepted_at >= $${values.push(filter.since.getTime())}`);
  if (filter.email !== undefined) {
    conditions.push(`${dialect.foldedEmail} = $${values.push(filter.email.trim().toLowerCase())}`);
  }
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "", values };
}
