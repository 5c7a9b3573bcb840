import type { ListSort, MessagePlace } from "../../contract/inbox.ts";
import { DAY_MS } from "../time.ts";
import {
  type Database,
  type Dialect,
  type MessageRow,
  onlyRow,
  queryReferences,
  SELECTED_COLUMNS,
  toStoredMessage,
  type Value,
} from "./database.ts";
import { normaliseReference } from "./reference.ts";
import type {
  Correspondent,
  Listing,
  MessageFilter,
  MessageState,
  Note,
  StateCounts,
  StoredEvent,
  StoredMessage,
} from "./store.ts";

const SEARCHED = "name || ' ' || email || ' ' || phone || ' ' || reference || ' ' || message";
const NEWEST_FIRST = "ORDER BY accepted_at DESC, id DESC";
/** The total of an estimate, or less than any where there is none. As in the index. */
const FOOTPRINT_KG = "COALESCE(footprint_kg, -1)";
/** What a list is ordered by, the highest first; `kg` comes before the others. */
const ORDERED_BY: Readonly<Record<ListSort, string>> = {
  newest: "0 AS kg, accepted_at, id",
  oldest: "-accepted_at AS kg, accepted_at, id",
  footprint: `${FOOTPRINT_KG} AS kg, accepted_at, id`,
};
const SORTED: Readonly<Record<ListSort, string>> = {
  newest: NEWEST_FIRST,
  oldest: "ORDER BY accepted_at, id DESC",
  footprint: `ORDER BY ${FOOTPRINT_KG} DESC, accepted_at DESC, id DESC`,
};
const FIRST_TO_LAST = "ORDER BY kg DESC, accepted_at DESC, id DESC";
const NOT_RESENT = `NOT EXISTS (SELECT 1 FROM message_events
  WHERE message_events.reference = messages.reference AND kind = 'resent')`;

export function listingMethods({ query, dialect }: Database): Listing {
  function referencesIn(table: string, references: readonly string[]): Promise<string[]> {
    const sql = `SELECT reference FROM ${table} WHERE ${dialect.isIn("reference", "$1")}`;
    return queryReferences(query, sql, [references]);
  }

  async function list(filter: MessageFilter, sort: ListSort = "newest", offset = 0): Promise<StoredMessage[]> {
    const values: Value[] = [];
    const where = whereOf(filter, dialect, values);
    const limit =
      filter.limit === undefined ? "" : `LIMIT $${values.push(filter.limit)} OFFSET $${values.push(offset)}`;
    const sql = `SELECT ${SELECTED_COLUMNS} FROM messages ${where} ${SORTED[sort]} ${limit}`;
    return (await query<MessageRow>(sql, values)).map(toStoredMessage);
  }

  /** Two indexes answer, and no message is read. */
  async function countByIndex(filter: MessageFilter): Promise<StateCounts> {
    const values: Value[] = [];
    const where = whereOf(filter, dialect, values);
    const answered = where === "" ? "WHERE answered_at IS NOT NULL" : `${where} AND answered_at IS NOT NULL`;
    return addUp(
      await query(
        `SELECT state, count(*) AS count, 0 AS answered FROM messages ${where} GROUP BY state
         UNION ALL SELECT state, 0, count(*) FROM messages ${answered} GROUP BY state`,
        values,
      ),
    );
  }

  return {
    list: (filter) => list(filter),

    async page(filter, tab, { sort, offset, limit }) {
      const { search, country, email } = filter;
      if (search === undefined && country === undefined && email === undefined) {
        return { messages: await list({ ...filter, ...tab, limit }, sort, offset), counts: await countByIndex(filter) };
      }
      // All messages have to be read, so both are answered by reading them once.
      const values: Value[] = [];
      const where = whereOf(filter, dialect, values);
      const rows = await query<{ reference: string | null } & StateRow>(
        `WITH found AS MATERIALIZED (SELECT reference, state, answered_at, ${ORDERED_BY[sort]} FROM messages ${where})
         SELECT NULL AS reference, state, count(*) AS count, count(answered_at) AS answered FROM found GROUP BY state
         UNION ALL SELECT reference, state, 0, 0 FROM (SELECT reference, state FROM found ${whereOf(tab, dialect, values)}
           ${FIRST_TO_LAST} LIMIT $${values.push(limit)} OFFSET $${values.push(offset)}) AS first`,
        values,
      );
      const references = rows.flatMap(({ reference }) => reference ?? []);
      const messages = new Map((await list({ references })).map((message) => [message.reference, message]));
      return { messages: references.flatMap((reference) => messages.get(reference) ?? []), counts: addUp(rows) };
    },

    async placeOf(reference, filter, sort) {
      const values: Value[] = [normaliseReference(reference)];
      const columns = ORDERED_BY[sort];
      const found = `SELECT ${columns} FROM messages ${whereOf(filter, dialect, values)}`;
      const comesBefore = "(found.kg, found.accepted_at, found.id) > (shown.kg, shown.accepted_at, shown.id)";
      const comesAfter = comesBefore.replace(">", "<");
      const neighbour = (where: string, order: string) =>
        `(SELECT reference FROM messages WHERE id = (SELECT id FROM found WHERE ${where} ${order} LIMIT 1))`;
      const [row] = await query<
        { total: number; has: number; before: number } & Pick<MessagePlace, "previous" | "next">
      >(
        `WITH found AS MATERIALIZED (${found}), shown AS (SELECT ${columns} FROM messages WHERE reference = $1)
         SELECT (SELECT count(*) FROM found) AS total, (SELECT count(*) FROM found WHERE found.id = shown.id) AS has,
           (SELECT count(*) FROM found WHERE ${comesBefore}) AS before,
           ${neighbour(comesBefore, FIRST_TO_LAST.replaceAll(" DESC", ""))} AS previous,
           ${neighbour(comesAfter, FIRST_TO_LAST)} AS next
         FROM shown`,
        values,
      );
      if (!row) return null;
      const { total, has, before, previous, next } = row;
      return { position: has > 0 ? before + 1 : null, total, previous, next };
    },

    async findPeople(words, limit) {
      const address = dialect.lowerCaseEmail;
      const values: Value[] = [];
      const isFound = dialect.contains("name || ' ' || email", words.trim(), (value) => `$${values.push(value)}`);
      return query<Correspondent>(
        `SELECT name, email, accepted_at AS last_at, messages FROM messages JOIN
           (SELECT max(id) AS newest, count(*) AS messages FROM messages
            WHERE ${address} IN (SELECT ${address} FROM messages WHERE ${isFound}) GROUP BY ${address}) AS people
           ON id = newest ORDER BY id DESC LIMIT $${values.push(limit)}`,
        values,
      );
    },

    countStates: countByIndex,

    async find(reference) {
      const sql = `SELECT ${SELECTED_COLUMNS} FROM messages WHERE reference = $1`;
      const [row] = await query<MessageRow>(sql, [normaliseReference(reference)]);
      return row ? toStoredMessage(row) : null;
    },

    existingReferences: (references) => referencesIn("messages", references),

    erasedReferences: (references) => referencesIn("erased_references", references),

    async countByDayAndCountry(since) {
      const rows = await query<{ dayAt: Date; country: string; count: number }>(
        `SELECT accepted_at / ${DAY_MS} * ${DAY_MS} AS day_at, country, count(*) AS count FROM messages
         WHERE accepted_at >= $1 GROUP BY 1, 2 ORDER BY 1, 2`,
        [since],
      );
      return rows.map(({ dayAt, ...counted }) => ({ day: dayAt.toISOString().slice(0, 10), ...counted }));
    },

    async countByCountry() {
      const sql = "SELECT country, count(*) AS count FROM messages GROUP BY country ORDER BY 2 DESC, 1";
      return query<{ country: string; count: number }>(sql);
    },

    async history(reference) {
      const sql = "SELECT at, kind, detail, author FROM message_events WHERE reference = $1 ORDER BY id";
      return query<StoredEvent>(sql, [normaliseReference(reference)]);
    },

    async notes(references) {
      const isNamed = dialect.isIn("reference", "$1");
      const rows = await query<Note & { reference: string }>(
        `SELECT reference, at, author, detail AS text FROM message_events WHERE ${isNamed} AND kind = 'noted' ORDER BY id`,
        [references],
      );
      const notes = new Map<string, Note[]>();
      for (const { reference, ...note } of rows) notes.set(reference, [...(notes.get(reference) ?? []), note]);
      return notes;
    },

    async changeToken() {
      // Deleting a message that is not the newest changes neither, but the counts that the caller has beside them.
      const { message, event } = await onlyRow<{ message: number | null; event: number | null }>(
        query,
        "SELECT (SELECT max(id) FROM messages) AS message, (SELECT max(id) FROM message_events) AS event",
      );
      return `${message ?? 0}.${event ?? 0}`;
    },

    async deliveryTimes(since, boundsMs) {
      const bucket = boundsMs.map((boundMs, index) => `WHEN ms <= ${boundMs} THEN ${index}`).join(" ");
      const times = `SELECT state_changed_at - accepted_at AS ms FROM messages
        WHERE state = 'delivered' AND accepted_at >= $1 AND ${NOT_RESENT}`;
      const rows = await query<{ bucket: number; count: number; slowest: number }>(
        `SELECT CASE ${bucket} ELSE ${boundsMs.length} END AS bucket, count(*) AS count, max(ms) AS slowest
         FROM (${times}) AS times GROUP BY 1`,
        [since],
      );
      const count = rows.reduce((sum, row) => sum + row.count, 0);
      const buckets = Array.from({ length: boundsMs.length + 1 }, (_, index) => {
        return rows.find((row) => row.bucket === index)?.count ?? 0;
      });
      if (count === 0) return { count, medianMs: null, slowestMs: null, buckets };
      const [middle] = await query<{ ms: number }>(`${times} ORDER BY 1 LIMIT 1 OFFSET $2`, [
        since,
        Math.floor((count - 1) / 2),
      ]);
      return {
        count,
        medianMs: middle?.ms ?? null,
        slowestMs: Math.max(...rows.map(({ slowest }) => slowest)),
        buckets,
      };
    },

    async queueTrouble(now) {
      const { dueAt: dueSince } = await onlyRow<{ dueAt: Date | null }>(
        query,
        `SELECT min(due_at) AS due_at FROM messages WHERE state = 'queued' AND is_restricted = 0 AND due_at <= $1
         AND NOT EXISTS (SELECT 1 FROM messages WHERE state = 'queued' AND leased_until > $1)`,
        [now],
      );
      // The pause lasts since the first attempt that met it after the last that did not.
      const [pause] = await query<{ reason: string; startedAt: Date; lastAt: Date }>(
        `SELECT max(detail) AS reason, min(at) AS started_at, max(at) AS last_at FROM message_events WHERE kind = 'paused'
         AND id > COALESCE((SELECT max(id) FROM message_events WHERE kind IN ('delivered', 'deferred', 'failed')), 0)
         AND EXISTS (SELECT 1 FROM messages WHERE state = 'queued' AND is_restricted = 0) HAVING count(*) > 0`,
      );
      return {
        pause: pause ? { reason: pause.reason, since: pause.startedAt, lastAt: pause.lastAt } : null,
        dueSince,
      };
    },

    async countUnseen() {
      const { count } = await onlyRow<{ count: number }>(
        query,
        `SELECT count(*) AS count FROM messages WHERE state = 'quarantined' AND is_restricted = 0 AND NOT EXISTS
         (SELECT 1 FROM message_events WHERE message_events.reference = messages.reference AND kind = 'viewed')`,
      );
      return count;
    },
  };
}

interface StateRow {
  state: MessageState;
  count: number;
  answered: number;
}

function addUp(rows: readonly StateRow[]): StateCounts {
  const none = () => ({ count: 0, answered: 0 });
  const counts = { queued: none(), delivered: none(), failed: none(), quarantined: none() };
  for (const { state, count, answered } of rows) {
    counts[state].count += count;
    counts[state].answered += answered;
  }
  return counts;
}

/** Adds its values to those given, whose placeholders come before its own. */
function whereOf(filter: MessageFilter, dialect: Dialect, values: Value[]): string {
  const place = (value: Value) => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (filter.references) {
    conditions.push(dialect.isIn("reference", place(filter.references.map(normaliseReference))));
  }
  if (filter.state) conditions.push(`state = ${place(filter.state)}`);
  if (filter.unanswered) conditions.push("answered_at IS NULL AND state <> 'quarantined'");
  if (filter.since) conditions.push(`accepted_at >= ${place(filter.since)}`);
  if (filter.until) conditions.push(`accepted_at < ${place(filter.until)}`);
  if (filter.country !== undefined) conditions.push(`country = ${place(filter.country)}`);
  if (filter.email !== undefined) conditions.push(`${dialect.lowerCaseEmail} = ${place(normaliseEmail(filter.email))}`);
  if (filter.after) {
    const { acceptedAt, id } = filter.after;
    conditions.push(`(accepted_at, id) < (${place(acceptedAt)}, ${place(id)})`);
  }
  const text = filter.search?.trim() ?? "";
  if (text !== "") conditions.push(dialect.contains(SEARCHED, text, place));
  return conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
}

/** Addresses are compared without regard to the case of their letters. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}
