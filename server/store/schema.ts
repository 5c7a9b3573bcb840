import { randomBytes } from "node:crypto";
import { DAY_MS } from "../time.ts";
import { type Dialect, type Query, readMeta, SECRET, type Sql, writeMeta } from "./database.ts";
import { FORGET_RETENTION } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { StoreNotReady, StoreRefused, StoreUnavailable } from "./store.ts";

/** The statements that upgrade from the previous version. Never edit a released migration: add another. */
export type Migration = (dialect: Dialect) => readonly string[];

/** Number n of this list leads to schema version n. The first belongs to version 1.0.0, the second to 1.1.0. */
export const MIGRATIONS: readonly Migration[] = [
  createTables,
  (dialect) => [...separateDrafts(dialect), ...keepLess(dialect)],
  towardsTwo,
];

/** The schema after 1.1.0. It is not released yet, so it is extended in place: add a step here, not a migration. */
function towardsTwo(dialect: Dialect): readonly string[] {
  return [
    ...dateFormerAddresses(),
    ...keepErasures(dialect),
    ...keepReplies(dialect),
    ...noteChanges(),
    ...writeExpiryOnce(dialect),
    ADD_SEARCH_TEXT,
    // A note that is not added yet.
    "ALTER TABLE drafts ADD COLUMN note TEXT NOT NULL DEFAULT ''",
    "DROP TABLE hook_events",
    "DROP TABLE spam_months",
    "UPDATE events SET kind = 'retried' WHERE kind = 'resent'",
    "ALTER TABLE messages DROP COLUMN footprint_kg",
    "ALTER TABLE deliveries DROP COLUMN reported_at",
    // Since when a channel was turned off.
    "DELETE FROM meta WHERE name LIKE 'unused.%'",
  ];
}

/** What to do with a database of a newer version. */
const GO_BACK =
  "run that version; to go back, restore a backup made before the upgrade into an empty database, as docs/operations.md describes";

/**
 * Creates or upgrades the tables to this version, and resolves to the database's secret. Run it in a transaction with the lock
 * `migrating`. Rejects with StoreRefused if the database needs another version of the program, or if its tables do not
 * match its version. Rejects with StoreUnavailable if a later attempt may succeed.
 */
export async function migrate(sql: Sql, toVersion = MIGRATIONS.length): Promise<string> {
  const { query, dialect } = sql;
  const version = (await readKnownVersion(sql)) ?? 0;
  const refuse = (error: Error) => {
    if (error instanceof StoreUnavailable) throw error;
    const problem = `The schema of the message database does not match its version ${version} (${error.message})`;
    throw new StoreRefused({ problem, remedy: "restore a backup" });
  };
  if (version === 1) await repairDrafts(query);
  const replies =
    version > 0 && version < WITH_REPLIES && toVersion >= WITH_REPLIES ? await readOldReplies(query).catch(refuse) : [];
  for (const statement of schemaStatements(dialect, version, toVersion)) {
    await query(statement).catch(refuse);
  }
  await insertReplies(sql, replies);
  if (version < SEARCHABLE && toVersion >= SEARCHABLE) await writeSearchTexts(sql);
  if (version < toVersion) await writeMeta(query, "schema_version", String(toVersion));
  const newKey = randomBytes(32).toString("hex");
  await query("INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING", [SECRET, newKey]);
  return (await readMeta(query, SECRET)) ?? "";
}

/** The statements that lead from one version to another. */
export function schemaStatements(dialect: Dialect, fromVersion: number, toVersion: number): string[] {
  // Precedes the migrations, because it contains their number.
  const meta = `CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)${dialect.tableEnd}`;
  return [meta, ...MIGRATIONS.slice(fromVersion, toVersion).flatMap((migration) => migration(dialect))];
}

/**
 * For commands, which must not change the schema, because the website may run another version: resolves to the
 * database's secret. Rejects with StoreRefused unless the tables are of this version. Writes nothing.
 */
export async function readSecret(sql: Sql): Promise<string> {
  const version = await readKnownVersion(sql);
  if (version === null) {
    const remedy = "start the website first, or correct DATA_DIR or DATABASE_URL";
    throw new StoreNotReady({ problem: "The message database is empty", remedy });
  }
  if (version < MIGRATIONS.length) {
    throw new StoreNotReady({
      problem: `This database was written by an older version of the program (schema ${version}, this one needs ${MIGRATIONS.length})`,
      remedy:
        "restart the website with this version, which upgrades the database; until then use the older version's commands",
    });
  }
  return (await readMeta(sql.query, SECRET)) ?? "";
}

/** The same as `readSchemaVersion`, but rejects with StoreRefused if it is newer than this program. */
async function readKnownVersion(sql: Sql): Promise<number | null> {
  const version = await readSchemaVersion(sql);
  if (version === null || version <= MIGRATIONS.length) return version;
  const problem = `This database was written by a newer version of the program (schema ${version}, this one knows ${MIGRATIONS.length})`;
  throw new StoreRefused({ problem, remedy: GO_BACK });
}

/** `null` for a database without our tables. Rejects with StoreRefused if this program cannot use its tables. */
export async function readSchemaVersion({ query, dialect: { findTable } }: Sql): Promise<number | null> {
  const hasTable = async (name: string) => (await query(findTable(name))).length > 0;
  if (!(await hasTable("meta"))) {
    if (!(await hasTable("messages"))) return null;
    const problem = 'The database already has a table "messages" of another program';
    throw new StoreRefused({ problem, remedy: "set DATABASE_URL to a separate database" });
  }
  const version = await readMeta(query, "schema_version");
  if (version !== null && !/^[1-9]\d*$/.test(version)) {
    const shown = JSON.stringify(version.slice(0, 20));
    const problem = `The message database has the unknown schema version ${shown}`;
    throw new StoreRefused({ problem, remedy: "restore a backup" });
  }
  return version === null ? null : Number(version);
}

function createTables({ identity, integer, real, tableEnd, keyedTableEnd, lowerCaseEmail }: Dialect) {
  return [
    `CREATE TABLE messages (
      id ${identity},
      reference TEXT NOT NULL UNIQUE,
      fingerprint TEXT NOT NULL,
      name TEXT NOT NULL,
      email TEXT NOT NULL,
      phone TEXT NOT NULL,
      country TEXT NOT NULL,
      message TEXT NOT NULL,
      footprint TEXT,
      footprint_kg ${real},
      quarantine_reason TEXT,
      accepted_at ${integer} NOT NULL,
      is_restricted ${integer} NOT NULL DEFAULT 0,
      answered_at ${integer},
      corrected_at ${integer},
      seen_at ${integer},
      announced_at ${integer},
      draft TEXT,
      taught TEXT
    )${tableEnd}`,
    "CREATE INDEX messages_by_words ON messages (fingerprint, accepted_at)",
    // Includes the reason, so that queries skip a flood of quarantined messages without reading them.
    "CREATE INDEX messages_by_age ON messages (accepted_at, quarantine_reason)",
    // Counts the messages of each tab without reading them.
    "CREATE INDEX messages_by_answer ON messages (answered_at, is_restricted)",
    "CREATE INDEX messages_restricted ON messages (id) WHERE is_restricted = 1",
    // Counts unopened messages without reading them, because a flood may leave many in quarantine.
    `CREATE INDEX messages_unseen ON messages (id)
     WHERE quarantine_reason IS NOT NULL AND seen_at IS NULL AND is_restricted = 0`,
    // The spam filter looks for correspondents while a batch is accepted.
    `CREATE INDEX messages_by_email ON messages (${lowerCaseEmail})`,
    `CREATE TABLE deliveries (
      message_id ${integer} NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
      channel TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('queued', 'delivered', 'failed', 'quarantined', 'skipped')),
      changed_at ${integer} NOT NULL,
      due_at ${integer} CHECK ((due_at IS NULL) = (state <> 'queued')),
      attempts ${integer} NOT NULL DEFAULT 0,
      interruptions ${integer} NOT NULL DEFAULT 0,
      error TEXT,
      lease_token TEXT,
      leased_until ${integer},
      is_counted ${integer} NOT NULL DEFAULT 0,
      payload TEXT,
      reported_at ${integer},
      PRIMARY KEY (message_id, channel)
    )${keyedTableEnd}`,
    "CREATE INDEX deliveries_by_state ON deliveries (state, channel, changed_at)",
    // Includes the state although it is always the same, because SQLite picks the index that answers most conditions.
    "CREATE INDEX deliveries_due ON deliveries (channel, state, due_at, message_id) WHERE state = 'queued'",
    "CREATE INDEX deliveries_leased ON deliveries (channel, state, leased_until) WHERE leased_until IS NOT NULL",
    // The history of a message. Accepting a message writes nothing here.
    `CREATE TABLE events (
      id ${identity},
      message_id ${integer} NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
      at ${integer} NOT NULL,
      kind TEXT NOT NULL,
      channel TEXT,
      detail TEXT,
      author TEXT
    )${tableEnd}`,
    "CREATE INDEX events_by_message ON events (message_id, id)",
    // A message has several keys if its text was sent with several. Only hashes are kept.
    `CREATE TABLE keys (
      key_hash TEXT NOT NULL,
      message_id ${integer} NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
      client_proof TEXT NOT NULL,
      PRIMARY KEY (key_hash, message_id)
    )${keyedTableEnd}`,
    "CREATE INDEX keys_by_message ON keys (message_id)",
    // Rows count towards limits. Their keyed hashes name no message and are kept for a day.
    `CREATE TABLE hits (hash TEXT NOT NULL, at ${integer} NOT NULL)${tableEnd}`,
    "CREATE INDEX hits_by_hash ON hits (hash, at)",
    // The number of messages of each kind with a token, by the token's keyed hash.
    `CREATE TABLE spam_tokens (hash ${integer} PRIMARY KEY, spam ${integer} NOT NULL, good ${integer} NOT NULL)${tableEnd}`,
  ];
}

/** Version 1.0.0 stored half characters in drafts. PostgreSQL cannot read these, and the released migration failed. */
async function repairDrafts(query: Query): Promise<void> {
  const sql = "SELECT id, draft FROM messages WHERE draft IS NOT NULL";
  for (const { id, draft } of await query<{ id: number; draft: string }>(sql)) {
    const { subject, text } = JSON.parse(draft);
    const repaired = JSON.stringify({ subject: subject.toWellFormed(), text: text.toWellFormed() });
    if (repaired !== draft) await query("UPDATE messages SET draft = $2 WHERE id = $1", [id, repaired]);
  }
}

/** One draft per operator instead of one per message. */
function separateDrafts({ integer, keyedTableEnd, itemsOf }: Dialect): readonly string[] {
  return [
    `CREATE TABLE drafts (
      message_id ${integer} NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
      author TEXT NOT NULL,
      saved_at ${integer} NOT NULL,
      subject TEXT NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (message_id, author)
    )${keyedTableEnd}`,
    `INSERT INTO drafts SELECT messages.id, '', accepted_at, value ->> 'subject', value ->> 'text'
     FROM messages, ${itemsOf("('[' || draft || ']')")}`,
    "ALTER TABLE messages DROP COLUMN draft",
  ];
}

/**
 * The second version keeps less about people, and remembers what it promised them. The spam filter reads the marked
 * messages themselves instead of a table of words, and only its monthly numbers are stored.
 */
function keepLess({ identity, integer, tableEnd }: Dialect): readonly string[] {
  return [
    `CREATE TABLE spam_months (
      month ${integer} PRIMARY KEY,
      held ${integer} NOT NULL,
      released ${integer} NOT NULL
    )${tableEnd}`,
    // Months were rows with negative numbers.
    "INSERT INTO spam_months (month, held, released) SELECT -hash, spam, good FROM spam_tokens WHERE hash < 0",
    "DROP TABLE spam_tokens",
    // Finds the newest lessons without reading the other messages.
    "CREATE INDEX messages_taught ON messages (taught, id) WHERE taught IS NOT NULL",
    // The announced time of the erasure instead of the time of the announcement, which was at most a week earlier.
    "ALTER TABLE messages RENAME COLUMN announced_at TO announced_for",
    `UPDATE messages SET announced_for = announced_for + ${7 * DAY_MS}`,
    // Keyed hashes of the addresses that a message had before corrections, separated by spaces.
    "ALTER TABLE messages ADD COLUMN former_addresses TEXT",
    // Erasures and corrections that HOOK_URL has not heard of. An erased message has no row of its own.
    `CREATE TABLE hook_events (
      id ${identity},
      type TEXT NOT NULL,
      for_reference TEXT NOT NULL,
      at ${integer} NOT NULL,
      due_at ${integer} NOT NULL,
      attempts ${integer} NOT NULL DEFAULT 0
    )${tableEnd}`,
  ];
}

/** `hash:time` instead of `hash`: later messages from a former address are from its real owner. */
function dateFormerAddresses(): readonly string[] {
  return [
    `UPDATE messages SET former_addresses = replace(former_addresses, ' ', ':' || corrected_at || ' ') || ':' || corrected_at
     WHERE former_addresses IS NOT NULL`,
    // Version 1.0.0 wrote these without the beginning of their trouble. They are sent once more.
    "DELETE FROM meta WHERE name LIKE 'alerted.%'",
  ];
}

/**
 * The people who were erased, so that no restored backup brings their messages back: keyed hashes of their addresses,
 * each with the secret that it was made with, because a restore changes the database's own, and the time until which the
 * address was theirs.
 */
function keepErasures({ integer, keyedTableEnd }: Dialect): readonly string[] {
  return [
    `CREATE TABLE erasures (
      hash TEXT NOT NULL,
      secret TEXT NOT NULL,
      at ${integer} NOT NULL,
      PRIMARY KEY (hash, secret)
    )${keyedTableEnd}`,
  ];
}

/** See `writeSearchTexts`, which fills the column. */
const ADD_SEARCH_TEXT = "ALTER TABLE messages ADD COLUMN search_text TEXT NOT NULL DEFAULT ''";
/** The first version with that column. */
const SEARCHABLE = 3;

/** RETENTION as the website applies it, and when each message is erased, instead of an expression in each query. */
function writeExpiryOnce({ integer, keyedTableEnd }: Dialect): readonly string[] {
  return [
    `CREATE TABLE retention (
      state TEXT PRIMARY KEY,
      kept_ms ${integer} NOT NULL,
      notice_ms ${integer} NOT NULL
    )${keyedTableEnd}`,
    FORGET_RETENTION,
    `ALTER TABLE deliveries ADD COLUMN expires_at ${integer}`,
    `ALTER TABLE deliveries ADD COLUMN announce_at ${integer}`,
    // What was announced stays announced. The start of the website writes the other times.
    `UPDATE deliveries SET expires_at = (SELECT announced_for FROM messages WHERE id = message_id) WHERE channel = 'mail'`,
    "ALTER TABLE messages DROP COLUMN announced_for",
    "CREATE INDEX deliveries_expiring ON deliveries (expires_at) WHERE expires_at IS NOT NULL",
  ];
}
/** The version that moves replies to a table. */
const WITH_REPLIES = 3;

/**
 * Replies with their text once: in 1.0.0 and 1.1.0 it was in the event and, of the last one, in its delivery. A reply
 * belongs to its event, which says who wrote it and when.
 */
function keepReplies({ integer, keyedTableEnd }: Dialect): readonly string[] {
  return [
    `CREATE TABLE replies (
      event_id ${integer} PRIMARY KEY REFERENCES events (id) ON DELETE CASCADE,
      message_id ${integer} NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
      key TEXT NOT NULL,
      subject TEXT NOT NULL,
      text TEXT NOT NULL,
      sent_at ${integer},
      UNIQUE (message_id, key)
    )${keyedTableEnd}`,
    "UPDATE events SET detail = NULL WHERE kind = 'replied'",
    "ALTER TABLE deliveries DROP COLUMN payload",
  ];
}

/** What an operator's action changed, as it was before, and the step with which it is undone. */
function noteChanges(): readonly string[] {
  return [
    "ALTER TABLE events ADD COLUMN step TEXT",
    "ALTER TABLE events ADD COLUMN replaced TEXT",
    "CREATE INDEX events_by_step ON events (step, id) WHERE step IS NOT NULL",
  ];
}

interface OldReply {
  eventId: number;
  messageId: number;
  key: string;
  subject: string;
  text: string;
  sentAtMs: number | null;
}

/**
 * The replies of 1.0.0 and 1.1.0. The history says which were sent. Only the last reply of a message, and those that
 * were sent before it, have a known key; the others never reached anybody or began no thread.
 */
async function readOldReplies(query: Query): Promise<OldReply[]> {
  type OldEvent = { id: number; messageId: number; kind: string; at: Date; detail: string | null };
  const events = await query<OldEvent>(
    `SELECT id, message_id, kind, at, detail FROM events
     WHERE kind = 'replied' OR (kind = 'delivered' AND channel = 'reply') ORDER BY message_id, id`,
  );
  const payloads = await query<{ messageId: number; payload: string }>(
    "SELECT message_id, payload FROM deliveries WHERE channel = 'reply'",
  );
  const replies: OldReply[] = [];
  for (const { id, messageId, kind, at, detail } of events) {
    const last = replies.at(-1);
    if (kind === "replied") {
      const [subject = "", text = ""] = (detail ?? "").split(/\n\n(.*)/s);
      replies.push({ eventId: id, messageId, key: `event-${id}`, subject, text, sentAtMs: null });
    } else if (last?.messageId === messageId) last.sentAtMs = at.getTime();
  }
  const byMessage = Map.groupBy(replies, (reply) => reply.messageId);
  for (const { messageId, payload } of payloads) {
    const { key, earlier = [] }: { key: string; earlier?: string[] } = JSON.parse(payload);
    const [last, ...before] = (byMessage.get(messageId) ?? []).reverse();
    if (last) last.key = key;
    const sent = before.filter(({ sentAtMs }) => sentAtMs !== null);
    for (const [index, reply] of sent.entries()) reply.key = earlier.at(-1 - index) ?? reply.key;
  }
  return replies;
}

async function insertReplies({ query, dialect }: Sql, replies: readonly OldReply[]): Promise<void> {
  if (replies.length === 0) return;
  const rows = replies.map((one) => [one.eventId, one.messageId, one.key, one.subject, one.text, one.sentAtMs]);
  await query(
    `INSERT INTO replies (event_id, message_id, key, subject, text, sent_at)
     SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT), value ->> 2, value ->> 3, value ->> 4,
       CAST(value ->> 5 AS BIGINT) FROM ${dialect.itemsOf("$1")}`,
    [rows],
  );
}
