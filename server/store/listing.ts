import { canonicalEmail } from "../../contract/email-address.ts";
import type { Retention } from "../config.ts";
import { DAY_MS } from "../time.ts";
import { type Database, type Dialect, onlyRow, type Query, readColumn, type Value } from "./database.ts";
import { normaliseReference } from "./reference.ts";
import { expiryOf } from "./retention.ts";
import type {
  Channel,
  Correspondent,
  Deliveries,
  Delivery,
  DeliveryState,
  Listing,
  ListSort,
  MessageFilter,
  MessagePlace,
  StoredMessage,
  Tab,
  TabCounts,
} from "./store.ts";

/**
 * Messages with the state of their mail, which is the message's state. Every message has a mail. It is a left join,
 * because SQLite then reads messages in order, and starts with deliveries only if the filter names a state.
 */
const MESSAGES = "messages LEFT JOIN deliveries ON message_id = messages.id AND channel = 'mail'";
const SEARCHED = "name || ' ' || email || ' ' || phone || ' ' || reference || ' ' || message";
/** The condition for each tab. */
const TABS: Readonly<Record<Tab, string>> = {
  all: "TRUE",
  unanswered: "answered_at IS NULL AND COALESCE(state, '') <> 'quarantined'",
  answered: "answered_at IS NOT NULL",
  waiting: "state = 'queued' AND is_restricted = 0",
  failed: `is_restricted = 0 AND id IN
    (SELECT message_id FROM deliveries WHERE state = 'failed' AND channel <> 'acknowledgement')`,
  quarantined: "state = 'quarantined' AND is_restricted = 0",
};
const COUNTED = Object.entries(TABS)
  .map(([tab, condition]) => `count(CASE WHEN ${condition} THEN 1 END) AS "${tab}"`)
  .join(", ");
/** The first sort key of a list, highest first. */
const RANK: Readonly<Record<ListSort, string>> = {
  newest: "0",
  oldest: "-accepted_at",
  footprint: "COALESCE(footprint_kg, -1)",
};
/** The ORDER BY clauses. They use `rank` only if it differs between messages. */
const SORTED: Readonly<Record<ListSort, string>> = {
  newest: "ORDER BY accepted_at DESC, id DESC",
  oldest: "ORDER BY accepted_at, id DESC",
  footprint: `ORDER BY ${RANK.footprint} DESC, accepted_at DESC, id DESC`,
};
const RANKED = "ORDER BY rank DESC, accepted_at DESC, id DESC";

/** The columns of a row that are shown or compared. */
type MessageRow = Omit<StoredMessage, "footprint" | "deliveries" | "version"> & {
  footprint: string | null;
  correctedAt: Date | null;
};

type DeliveryRow = Delivery & { messageId: number; channel: Channel };

/** Reads messages by their row numbers, in that order, with their deliveries. Always two statements. */
export function messageReader({ isIn }: Dialect, retention: Retention) {
  const columns = `id, reference, name, email, phone, country, message, footprint, quarantine_reason, taught, accepted_at,
    is_restricted, answered_at, corrected_at, state, ${expiryOf(retention)} AS expires_at`;
  return async (query: Query, ids: readonly number[]): Promise<StoredMessage[]> => {
    if (ids.length === 0) return [];
    const rows = await query<MessageRow>(
      `SELECT ${columns} FROM ${MESSAGES} WHERE ${isIn("messages.id", "$1", "BIGINT")}`,
      [ids],
    );
    const deliveries = await query<DeliveryRow>(
      `SELECT message_id, channel, state, changed_at, due_at, attempts, error FROM deliveries
       WHERE ${isIn("message_id", "$1", "BIGINT")}`,
      [ids],
    );
    const byId = Map.groupBy(deliveries, ({ messageId }) => messageId);
    const messages = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => {
      const [row, theirs] = [messages.get(id), byId.get(id)];
      // A message may have been erased between the two statements.
      return row && theirs ? toMessage(row, theirs) : [];
    });
  };
}

export type ReadMessages = ReturnType<typeof messageReader>;

function toMessage({ footprint, correctedAt, ...row }: MessageRow, rows: readonly DeliveryRow[]): StoredMessage {
  const deliveries = Object.fromEntries(
    rows.map(({ messageId: _, channel, ...delivery }) => [channel, delivery]),
  ) as Deliveries;
  const { state, changedAt, dueAt, attempts } = deliveries.mail;
  const times = [changedAt, dueAt, row.answeredAt, correctedAt].map((time) => time?.getTime() ?? 0);
  return {
    ...row,
    footprint: footprint === null ? null : JSON.parse(footprint),
    // Covers everything that an operator may see or change, except the deliveries that are sent automatically seconds
    // after the mail: these must not make the operator's next action fail.
    version: [row.id, state, attempts, Number(row.isRestricted), row.taught, ...times].join("."),
    deliveries,
  };
}

export function listingMethods(
  { query, dialect }: Database,
  readMessages: ReadMessages,
): Omit<Listing, "history" | "notes"> {
  const find = async (sql: string, values: readonly Value[]): Promise<StoredMessage[]> =>
    readMessages(query, await readColumn<number>(query, sql, values));

  function list(filter: MessageFilter, sort: ListSort = "newest", offset = 0): Promise<StoredMessage[]> {
    const values: Value[] = [];
    const where = whereOf(filter, dialect, values);
    const limit =
      filter.limit === undefined ? "" : `LIMIT $${values.push(filter.limit)} OFFSET $${values.push(offset)}`;
    return find(`SELECT id FROM ${MESSAGES} ${where} ${SORTED[sort]} ${limit}`, values);
  }

  function countTabs({ tab: _, ...filter }: MessageFilter): Promise<TabCounts> {
    const values: Value[] = [];
    const where = whereOf(filter, dialect, values);
    return onlyRow(query, `SELECT ${COUNTED} FROM ${MESSAGES} ${where}`, values);
  }

  return {
    list: (filter) => list(filter),

    async page(filter, { sort, offset, limit }) {
      return { messages: await list({ ...filter, limit }, sort, offset), counts: await countTabs(filter) };
    },

    async placeOf(reference, filter, sort) {
      const values: Value[] = [normaliseReference(reference)];
      const ranked = `SELECT id, accepted_at, ${RANK[sort]} AS rank FROM ${MESSAGES}`;
      const found = `${ranked} ${whereOf(filter, dialect, values)}`;
      const comesBefore = "(found.rank, found.accepted_at, found.id) > (shown.rank, shown.accepted_at, shown.id)";
      const comesAfter = comesBefore.replace(">", "<");
      const neighbour = (where: string, order: string) =>
        `(SELECT reference FROM messages WHERE id = (SELECT id FROM found WHERE ${where} ${order} LIMIT 1))`;
      type Place = { total: number; has: number; before: number } & Pick<MessagePlace, "previous" | "next">;
      const [row] = await query<Place>(
        `WITH found AS MATERIALIZED (${found}), shown AS (${ranked} WHERE reference = $1)
         SELECT (SELECT count(*) FROM found) AS total, (SELECT count(*) FROM found WHERE found.id = shown.id) AS has,
           (SELECT count(*) FROM found WHERE ${comesBefore}) AS before,
           ${neighbour(comesBefore, RANKED.replaceAll(" DESC", ""))} AS previous,
           ${neighbour(comesAfter, RANKED)} AS next
         FROM shown`,
        values,
      );
      if (!row) return null;
      const { total, has, before, previous, next } = row;
      return { position: has > 0 ? before + 1 : null, total, previous, next };
    },

    async findPeople(words, limit) {
      const address = dialect.lowerCaseEmail;
      const isFound = dialect.contains("name || ' ' || email", "$1");
      return query<Correspondent>(
        `SELECT name, email, accepted_at AS last_at, messages FROM messages JOIN
           (SELECT max(id) AS newest, count(*) AS messages FROM messages
            WHERE ${address} IN (SELECT ${address} FROM messages WHERE ${isFound}) GROUP BY ${address}) AS people
           ON id = newest ORDER BY id DESC LIMIT $2`,
        [dialect.searchable(words.trim()), limit],
      );
    },

    countTabs,

    async find(reference) {
      const sql = "SELECT id FROM messages WHERE reference = $1";
      return (await find(sql, [normaliseReference(reference)]))[0] ?? null;
    },

    async countByDayAndCountry(since) {
      const rows = await query<{ dayAt: Date; country: string; count: number }>(
        `SELECT accepted_at / ${DAY_MS} * ${DAY_MS} AS day_at, country, count(*) AS count FROM messages
         WHERE accepted_at >= $1 GROUP BY 1, 2 ORDER BY 1, 2`,
        [since],
      );
      return rows.map(({ dayAt, ...counted }) => ({ day: dayAt.toISOString().slice(0, 10), ...counted }));
    },

    countByCountry: () => query("SELECT country, count(*) AS count FROM messages GROUP BY country ORDER BY 2 DESC, 1"),

    async changeToken() {
      // The number of messages reveals a deletion.
      const { message, event, count } = await onlyRow<Record<"message" | "event" | "count", number | null>>(
        query,
        `SELECT (SELECT max(id) FROM messages) AS message, (SELECT max(id) FROM events) AS event,
          (SELECT count(*) FROM messages) AS count`,
      );
      return [message, event, count].join(".");
    },

    async deliveryTimes(since, boundsMs) {
      const bucket = boundsMs.map((boundMs, index) => `WHEN ms <= ${boundMs} THEN ${index}`).join(" ");
      const times = `SELECT changed_at - accepted_at AS ms FROM ${MESSAGES} WHERE state = 'delivered' AND accepted_at >= $1
        AND NOT EXISTS (SELECT 1 FROM events WHERE events.message_id = messages.id AND kind IN ('resent', 'marked-as-spam'))`;
      const rows = await query<{ bucket: number; count: number; slowest: number }>(
        `SELECT CASE ${bucket} ELSE ${boundsMs.length} END AS bucket, count(*) AS count, max(ms) AS slowest
         FROM (${times}) AS times GROUP BY 1`,
        [since],
      );
      const count = rows.reduce((sum, row) => sum + row.count, 0);
      const buckets = [...boundsMs, null].map((_, index) => rows.find((row) => row.bucket === index)?.count ?? 0);
      if (count === 0) return { count, medianMs: null, slowestMs: null, buckets };
      const half = Math.floor((count - 1) / 2);
      const [middle] = await query<{ ms: number }>(`${times} ORDER BY 1 LIMIT 1 OFFSET $2`, [since, half]);
      const slowestMs = Math.max(...rows.map(({ slowest }) => slowest));
      return { count, medianMs: middle?.ms ?? null, slowestMs, buckets };
    },

    async countChannel(channel) {
      const sql = "SELECT state, count(*) AS count FROM deliveries WHERE channel = $1 GROUP BY state";
      const counts = { queued: 0, delivered: 0, failed: 0, quarantined: 0, skipped: 0 };
      for (const { state, count } of await query<{ state: DeliveryState; count: number }>(sql, [channel])) {
        counts[state] = count;
      }
      return counts;
    },
  };
}

/** Appends its values to `values`. */
function whereOf(filter: MessageFilter, dialect: Dialect, values: Value[]): string {
  const place = (value: Value) => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (filter.references) {
    conditions.push(dialect.isIn("reference", place(filter.references.map(normaliseReference))));
  }
  if (filter.state) conditions.push(`state = ${place(filter.state)}`);
  if (filter.tab && filter.tab !== "all") conditions.push(TABS[filter.tab]);
  if (filter.since) conditions.push(`accepted_at >= ${place(filter.since)}`);
  if (filter.until) conditions.push(`accepted_at < ${place(filter.until)}`);
  if (filter.country !== undefined) conditions.push(`country = ${place(filter.country)}`);
  if (filter.email !== undefined) conditions.push(`${dialect.lowerCaseEmail} = ${place(normaliseEmail(filter.email))}`);
  if (filter.after) {
    const { acceptedAt, id } = filter.after;
    conditions.push(`(accepted_at, id) < (${place(acceptedAt)}, ${place(id)})`);
  }
  const text = filter.search?.trim() ?? "";
  if (text !== "") conditions.push(dialect.contains(SEARCHED, place(dialect.searchable(text))));
  return conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
}

/** Addresses are compared in lower case. The database does that to the ASCII letters of a canonical address. */
export function normaliseEmail(email: string): string {
  return canonicalEmail(email.trim()).toLowerCase();
}
