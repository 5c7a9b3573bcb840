import { randomBytes } from "node:crypto";
import { DAY_MS } from "../time.ts";
import { type Dialect, insertRows, type Query, readMeta, SECRET, type Sql, writeMeta } from "./database.ts";
import { StoreNotReady, StoreRefused, StoreUnavailable } from "./model.ts";
import { FORGET_RETENTION } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { allTables, INDEXES, KEYS, type NewRow, type RowOf, type Table } from "./tables.ts";

/** The version of the tables that tables.ts declares. Version 1 is that of 1.0.0, version 2 that of 1.1.0. */
export const SCHEMA_VERSION = 3;

/** Creates or upgrades the tables. Run it in a transaction with the lock `migrating`. */
export async function migrate(sql: Sql): Promise<void> {
  const { query } = sql;
  const version = await readSchemaVersion(sql);
  if (version !== SCHEMA_VERSION) {
    const changing = version === null ? create(sql) : upgrade(sql, version);
    await changing.catch((error) => {
      if (error instanceof StoreUnavailable) throw error;
      const problem = `The schema of the message database does not match its version ${version ?? 0} (${error.message})`;
      throw new StoreRefused({ problem, remedy: "restore a backup" });
    });
    await writeMeta(query, "schema_version", String(SCHEMA_VERSION));
  }
  const newKey = randomBytes(32).toString("hex");
  await query("INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING", [SECRET, newKey]);
}

async function create({ query, dialect }: Sql): Promise<void> {
  for (const statement of [...createTables(dialect), ...createIndexes(dialect)]) await query(statement);
}

export function createTables({ identity, integer, tableEnd, keyedTableEnd }: Dialect): string[] {
  return allTables().map(([table, columns]) => {
    const parts = columns.map(([name, { kind, rule }]) =>
      kind === "id" ? `${name} ${identity}` : `${name} ${kind === "text" ? "TEXT" : integer} ${rule}`.trimEnd(),
    );
    const key = KEYS[table];
    if (key) parts.push(`PRIMARY KEY (${key})`);
    return `CREATE TABLE ${table} (${parts.join(", ")})${key ? keyedTableEnd : tableEnd}`;
  });
}

export function createIndexes({ lowerCaseEmail }: Dialect): string[] {
  return INDEXES.map((index) => `CREATE ${index.replace("LOWER_CASE_EMAIL", lowerCaseEmail)}`);
}

/** For commands: the website may run another version, so they must not change the schema. */
export async function requireVersion(sql: Sql): Promise<void> {
  const version = await readSchemaVersion(sql);
  if (version === null) {
    const remedy = "start the website first, or correct DATA_DIR or DATABASE_URL";
    throw new StoreNotReady({ problem: "The message database is empty", remedy });
  }
  if (version !== SCHEMA_VERSION) {
    throw new StoreNotReady({
      problem: `This database was written by an older version of the program (schema ${version}, this one needs ${SCHEMA_VERSION})`,
      remedy:
        "restart the website with this version, which upgrades the database; until then use the older version's commands",
    });
  }
}

/** `null` for a database without our tables. */
export async function readSchemaVersion({ query, dialect: { findTable } }: Sql): Promise<number | null> {
  if ((await query(findTable("meta"))).length === 0) {
    if ((await query(findTable("messages"))).length === 0) return null;
    const problem = 'The database already has a table "messages" of another program';
    throw new StoreRefused({ problem, remedy: "set DATABASE_URL to a separate database" });
  }
  const version = await readMeta(query, "schema_version");
  if (Number(version) > SCHEMA_VERSION) {
    const problem = `This database was written by a newer version of the program (schema ${version}, this one knows ${SCHEMA_VERSION})`;
    const remedy =
      "run that version; to go back, restore a backup made before the upgrade into an empty database, as docs/operations.md describes";
    throw new StoreRefused({ problem, remedy });
  }
  return version === null ? null : Number(version);
}

/** The tables of 1.0.0 that are still there, those that refer to others last. */
const FIRST_TABLES = ["messages", "deliveries", "events", "keys", "hits", "meta"] as const;

/**
 * Moves the rows of a released version to new tables. A column without an entry has the same name and meaning in it. To
 * add a column, add its value for older rows here; never change what a released version had.
 */
async function upgrade(sql: Sql, version: number): Promise<void> {
  const { query, dialect } = sql;
  const isFirst = version === 1;
  const announced = isFirst ? `announced_at + ${7 * DAY_MS}` : "announced_for";
  const changed: { [Name in Table]?: { [Column in keyof NewRow<Name>]?: string } } = {
    messages: {
      // `hash:time` instead of `hash`: later messages from a former address are from its real owner.
      former_addresses: isFirst
        ? "NULL"
        : "replace(former_addresses, ' ', ':' || corrected_at || ' ') || ':' || corrected_at",
      search_text: "''",
    },
    deliveries: {
      // What was announced stays announced. The start of the website writes the other times.
      expires_at: `CASE channel WHEN 'mail' THEN (SELECT ${announced} FROM old_messages WHERE id = message_id) END`,
      announce_at: "NULL",
    },
    events: {
      kind: "CASE kind WHEN 'resent' THEN 'retried' ELSE kind END",
      // The text of a reply was in its event.
      detail: "CASE kind WHEN 'replied' THEN NULL ELSE detail END",
      step: "NULL",
      replaced: "NULL",
    },
    drafts: { note: "''" },
  };
  const replies = await readOldReplies(query);
  if (isFirst) await repairDrafts(query);
  const old: Table[] = isFirst ? [...FIRST_TABLES] : [...FIRST_TABLES, "drafts"];
  for (const table of old) await query(`ALTER TABLE ${table} RENAME TO old_${table}`);
  for (const statement of createTables(dialect)) await query(statement);
  for (const [table, columns] of allTables()) {
    if (!old.includes(table)) continue;
    const names = columns.map(([name]) => name);
    const values: Readonly<Record<string, string | undefined>> = changed[table] ?? {};
    const hasIds = names.includes("id");
    await query(
      `INSERT INTO ${table} (${names}) ${hasIds ? dialect.keptIds : ""}
       SELECT ${names.map((name) => values[name] ?? name)} FROM old_${table}`,
    );
    if (hasIds) await query(dialect.continueIds(table));
  }
  // One draft for each message.
  if (isFirst)
    await query(
      `INSERT INTO drafts SELECT old_messages.id, '', accepted_at, value ->> 'subject', value ->> 'text', ''
       FROM old_messages, ${dialect.itemsOf("('[' || draft || ']')")}`,
    );
  const gone = isFirst ? ["spam_tokens"] : ["spam_months", "hook_events"];
  for (const table of [...gone, ...old.map((name) => `old_${name}`).reverse()]) await query(`DROP TABLE ${table}`);
  for (const statement of createIndexes(dialect)) await query(statement);
  await insertRows(sql, "replies", replies);
  await query(FORGET_RETENTION);
  // Version 1.0.0 wrote alerts without the beginning of their trouble. They are sent once more.
  await query("DELETE FROM meta WHERE name LIKE 'alerted.%' OR name LIKE 'unused.%'");
  await writeSearchTexts(sql);
}

/** Version 1.0.0 stored half characters in drafts, which PostgreSQL cannot read. */
async function repairDrafts(query: Query): Promise<void> {
  const sql = "SELECT id, draft FROM messages WHERE draft IS NOT NULL";
  for (const { id, draft } of await query<{ id: number; draft: string }>(sql)) {
    const { subject, text } = JSON.parse(draft);
    const repaired = JSON.stringify({ subject: subject.toWellFormed(), text: text.toWellFormed() });
    if (repaired !== draft) await query("UPDATE messages SET draft = $2 WHERE id = $1", [id, repaired]);
  }
}

/**
 * The replies of 1.0.0 and 1.1.0: their texts were in events, and the history says which were sent. Only the last reply
 * of a message, and those that were sent before it, have a known key; the others never reached anybody.
 */
async function readOldReplies(query: Query): Promise<NewRow<"replies">[]> {
  type OldEvent = Pick<RowOf<"events">, "id" | "messageId" | "kind" | "at" | "detail">;
  const events = await query<OldEvent>(
    `SELECT id, message_id, kind, at, detail FROM events
     WHERE kind = 'replied' OR (kind = 'delivered' AND channel = 'reply') ORDER BY message_id, id`,
  );
  const payloads = await query<{ messageId: number; payload: string }>(
    "SELECT message_id, payload FROM deliveries WHERE channel = 'reply'",
  );
  const replies: NewRow<"replies">[] = [];
  for (const { id, messageId, kind, at, detail } of events) {
    const last = replies.at(-1);
    if (kind === "replied") {
      const [subject = "", text = ""] = (detail ?? "").split(/\n\n(.*)/s);
      replies.push({ event_id: id, message_id: messageId, key: `event-${id}`, subject, text, sent_at: null });
    } else if (last?.message_id === messageId) last.sent_at = at.getTime();
  }
  const byMessage = Map.groupBy(replies, (reply) => reply.message_id);
  for (const { messageId, payload } of payloads) {
    const { key, earlier = [] }: { key: string; earlier?: string[] } = JSON.parse(payload);
    const [last, ...before] = (byMessage.get(messageId) ?? []).reverse();
    if (last) last.key = key;
    const sent = before.filter(({ sent_at }) => sent_at !== null);
    for (const [index, reply] of sent.entries()) reply.key = earlier.at(-1 - index) ?? `${reply.key}`;
  }
  return replies;
}
