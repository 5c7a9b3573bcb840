import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import type { Advice } from "../../contract/commands.ts";
import type { Config } from "../config.ts";
import { errorCode, errorName, OperatorError } from "../errors.ts";
import { type Database, itemValue, onlyRow, readColumn, type Sql, timeOf, type Value } from "./database.ts";
import { StoreRefused, StoreUnavailable } from "./errors.ts";
import { addEvents } from "./message-rows.ts";
import { readMeta, readSecret, writeMeta } from "./meta.ts";
import { AFTER_BACKUP, CHANNEL_RULES, CHANNELS, rulesOf } from "./model.ts";
import {
  deleteMails,
  ERASURE_MARK,
  type Erasure,
  hashAddress,
  hashReference,
  readFormer,
  recordErasures,
} from "./people.ts";
import { FORGET_RETENTION, writeExpiry } from "./retention.ts";
import { FIRST_VERSION, migrate, readSchemaVersion } from "./schema.ts";
import {
  APPLICATION_ID,
  BUSY,
  FULL,
  lockFolder,
  openSqlite,
  primaryCode,
  queryOf,
  sqliteDialect,
  sqliteFile,
} from "./sqlite.ts";
import {
  createPrivateFile,
  isSameFile,
  movedFile,
  removeDatabase,
  restoringFile,
  writeNewFile,
} from "./sqlite-files.ts";
import { forgetInboxes, forgetServers, markBackedUp, readInboxes, readWebsite } from "./status.ts";
import { allTables, KEYS, type RowOf, type Table } from "./tables.ts";

// Backups: how messages leave the store and come back.

/** Made from network addresses, kept for a day, and never part of a backup. */
const OF_CLIENTS: readonly Table[] = ["hits", "keys"];

const IN_USE: Advice = {
  problem: "A website uses this database, or crashed within the last three minutes",
  remedy: "stop all of its servers, then restore",
};

function requireNoInbox([first, ...others]: readonly (string | null)[]): void {
  if (first === undefined) return;
  const names = [first, ...others].map((account) => account ?? "an unknown account").join(", ");
  const problem = `An inbox (${names}) uses the database that is read or replaced, or crashed within the last three minutes`;
  throw new StoreRefused({ problem, remedy: "stop it with Ctrl-C, then restore" });
}

type Settings = Partial<Pick<Config, "dataDir" | "databaseUrl">> & {
  acknowledge?: boolean | undefined;
  account?: string | null | undefined;
};

export function createArchive(
  database: Database,
  { dataDir = "", databaseUrl = null, acknowledge = false, account = null }: Settings,
) {
  const { query, transaction, verify } = database;
  const isMove = (file: string) => databaseUrl !== null && isSameFile(file, sqliteFile(dataDir));
  return {
    /** Whether the file is the folder's own, from before DATABASE_URL was set. */
    isMove,
    countAll: () => countAll(database),

    /** Writes a consistent copy while other processes write, without hashes of clients, and records the time. */
    async backup(file: string, testTime: Date | null = null): Promise<void> {
      const now = await timeOf(database, testTime);
      await writeNewFile(file, async (target) => {
        const copy = await openUpgraded(target);
        // Its errors are not those of the website's database, which is read at the same time.
        const refuse = (error: Error): never => {
          throw new OperatorError({ problem: `${file} cannot be written (${errorName(error.cause ?? error)})` });
        };
        const copyAll = ({ dialect, query }: Sql) => {
          const to: Sql = { dialect, query: (sql, values) => query<never>(sql, values).catch(refuse) };
          return transaction((from) => copyRows(from, to, OF_CLIENTS), { isSnapshot: true });
        };
        await copy
          .query("DELETE FROM meta")
          .then(() => copy.transaction(copyAll))
          .then(() => forgetInboxes(copy.query))
          // After a restore, it is the last backup.
          .then(() => markBackedUp(copy.query, dirname(file), now))
          .finally(copy.close);
        // A file in WAL mode could not be read in a folder that is read-only.
        using db = new DatabaseSync(target);
        db.exec("PRAGMA journal_mode = DELETE");
      });
      // The copy is complete even if its time cannot be recorded.
      await markBackedUp(query, dirname(file), now).catch((error) => {
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    },

    /**
     * Reads all rows of a backup, or none. Leaves out erased messages: those that this database or the backup names,
     * and those that an erased person sent before the erasure. `waiting` is the number of messages that will be sent,
     * `restrictions` of the restricted ones that are newer than the backup. `replies` names the messages with a reply
     * that may have been sent after the backup: there are none in the folder's own file, which becomes messages.moved.db
     * once PostgreSQL has its messages.
     */
    async restore(file: string, isReplacing: boolean) {
      const isShared = databaseUrl !== null;
      await verify();
      // Before the copy: it is the only one in this folder, and a website that runs may need the space.
      const unlock = lockFolder(dataDir, "then restore");
      let copy: Database | null = null;
      let moved: DatabaseSync | null = null;
      try {
        if (isMove(file)) moved = await holdToMove(file, dataDir);
        copy = await openCopy(file, restoringFile(dataDir));
        const backup = copy;
        // A server that starts during the restore waits for the same lock before it reads anything.
        const result = await transaction(
          async (sql) => {
            const now = await timeOf(sql);
            const present = await countAll(sql);
            if (present !== null && isShared && (await readWebsite(sql)).isRunning) throw new StoreRefused(IN_USE);
            if (present?.messages && !isReplacing) {
              const remedy = "to remove them and read the backup instead, add --replace";
              throw new StoreRefused({ problem: `This database already has messages (${present.messages})`, remedy });
            }
            requireNoInbox(present === null ? [] : await readInboxes(sql, now));
            requireNoInbox(await readInboxes(backup, await timeOf(backup)));
            // Only now: a website of an earlier version may have been running.
            await migrate(sql);
            if (acknowledge && !moved) await queueAcknowledgements(backup, now);
            const uncertain = moved ? [] : await failUncertain(backup, account, now);
            const counts = await replaceAll(sql, backup, account, now).catch((error) => {
              throw refusalOf(file, error);
            });
            return { ...counts, replies: await theirReferences(sql, uncertain) };
          },
          { lock: "migrating", isLong: true },
        );
        if (moved) {
          moved.close();
          renameSync(file, movedFile(dataDir));
        }
        return result;
      } finally {
        moved?.[Symbol.dispose]();
        await copy?.close();
        removeDatabase(restoringFile(dataDir));
        unlock();
      }
    },
  };
}

async function countAll(sql: Sql): Promise<{ messages: number; erasures: number } | null> {
  if ((await readSchemaVersion(sql)) === null) return null;
  return onlyRow(sql.query, "SELECT count(*) AS messages, (SELECT count(*) FROM erasures) AS erasures FROM messages");
}

const ROWS_AT_A_TIME = 500;

/** Copies the rows of all tables but these. New rows get higher numbers than the copied ones. */
async function copyRows(from: Sql, to: Sql, omitted: readonly Table[]): Promise<void> {
  for (const [table, columns] of allTables()) {
    if (omitted.includes(table)) continue;
    const names = columns.map(([name]) => name);
    const hasIds = names.includes("id");
    const key = (KEYS[table] ?? "id").split(", ");
    for (let last: Value[] = []; ; ) {
      // By key, because a database counts all rows before an offset again for each page.
      const isAfter = last.length > 0 ? `WHERE (${key}) > (${key.map((_, index) => `$${index + 1}`)})` : "";
      const page = `SELECT ${names} FROM ${table} ${isAfter} ORDER BY ${key} LIMIT ${ROWS_AT_A_TIME}`;
      const select = `SELECT ${from.dialect.jsonArray(names)} FROM (${page}) AS page ORDER BY ${key}`;
      const rows = await readColumn<string>(from.query, select, last);
      if (rows.length === 0) break;
      const lastRow: Value[] = JSON.parse(rows.at(-1) ?? "[]");
      last = key.map((name) => lastRow[names.indexOf(name)] ?? null);
      await to.query(
        `INSERT INTO ${table} (${names}) ${hasIds ? to.dialect.keptIds : ""}
         SELECT ${names.map(itemValue)} FROM ${to.dialect.itemsOf("$1")}`,
        [`[${rows}]`],
      );
    }
    if (hasIds) await to.query(to.dialect.continueIds(table));
  }
}

const UNCHANGED = "nothing was changed";

/** Nobody else writes to the file until it is closed, and it has no log. */
async function holdToMove(file: string, dataDir: string): Promise<DatabaseSync> {
  const old = movedFile(dataDir);
  if (existsSync(old))
    throw new StoreRefused({ problem: `There is already ${old}`, remedy: `delete it; ${UNCHANGED}` });
  const db = new DatabaseSync(file, { timeout: 1000 });
  try {
    db.exec("PRAGMA journal_mode = DELETE; BEGIN; SELECT count(*) FROM sqlite_schema");
    return db;
  } catch (error) {
    const isBusy = primaryCode(error) === BUSY;
    const inboxes = isBusy ? await readInboxes({ query: queryOf(db), dialect: sqliteDialect }, new Date()) : [];
    db.close();
    requireNoInbox(inboxes);
    if (!isBusy) throw refusalOf(file, error);
    const remedy = "stop it, then restore";
    throw new StoreRefused({ problem: `Another program uses ${file}`, remedy });
  }
}

/** Those that the backup's mails would cause, so that they are as uncertain as those that it has. */
async function queueAcknowledgements({ query }: Sql, now: Date): Promise<void> {
  const { triedForMs } = CHANNEL_RULES.acknowledgement;
  await query(
    `INSERT INTO deliveries (message_id, channel, state, changed_at, due_at)
     SELECT message_id, 'acknowledgement', 'queued', accepted_at, accepted_at FROM deliveries
       JOIN messages ON id = message_id WHERE channel = 'mail' AND state <> 'delivered' AND accepted_at > $1
     ON CONFLICT DO NOTHING`,
    [now.getTime() - triedForMs],
  );
}

const SENT_ONCE = CHANNELS.flatMap((channel) => (rulesOf(channel).maxUnknown === 1 ? `'${channel}'` : []));

/** What the backup's website may have sent since has failed, so that only a person sends it again. Returns replies. */
async function failUncertain(backup: Sql, account: string | null, now: Date): Promise<number[]> {
  const rows = await backup.query<Pick<RowOf<"deliveries">, "messageId" | "channel" | "state">>(
    `UPDATE deliveries SET state = CASE state WHEN 'queued' THEN 'failed' ELSE state END, changed_at = $1, error = $2,
       due_at = NULL, unknown_outcomes = 1, lease_token = NULL, leased_until = NULL
     WHERE channel IN (${SENT_ONCE}) AND (state = 'queued' OR state IN ('failed', 'quarantined') AND unknown_outcomes = 0)
     RETURNING message_id, channel, state`,
    [now, AFTER_BACKUP],
  );
  const failed = rows.filter(({ state }) => state === "failed");
  for (const [channel, theirs] of Map.groupBy(failed, ({ channel }) => channel)) {
    const ids = theirs.map(({ messageId }) => messageId);
    await addEvents(backup, ids, { kind: "failed", at: now, channel, detail: AFTER_BACKUP, author: account });
  }
  return failed.flatMap(({ messageId, channel }) => (channel === "reply" ? messageId : []));
}

function theirReferences({ query, dialect }: Sql, ids: readonly number[]): Promise<string[]> {
  return readColumn(query, `SELECT reference FROM messages WHERE ${dialect.isIn("id", "$1")} ORDER BY id`, [ids]);
}

/** Only databases give their errors a code. Any other error is a defect and must not look like the backup's. */
function refusalOf(file: string, error: unknown): unknown {
  if (error instanceof OperatorError || errorCode(error) === undefined) return error;
  if (primaryCode(error) === FULL)
    return new StoreRefused({ problem: `The disk with DATA_DIR is full: it needs space for a copy of ${file}` });
  // SQLite's words for a code. Those of a whole message may quote a row.
  const reason = error instanceof Error && "errstr" in error ? String(error.errstr) : errorName(error);
  const problem = `${file} cannot be restored (${reason})`;
  return new StoreRefused({ problem, remedy: `use another backup; ${UNCHANGED}` }, { cause: error });
}

/** A copy of the backup with the tables of this version. The backup stays as it is. */
async function openCopy(file: string, copy: string): Promise<Database> {
  const refuse = (error: unknown): never => {
    throw refusalOf(file, error instanceof StoreUnavailable ? (error.cause ?? error) : error);
  };
  removeDatabase(copy);
  createPrivateFile(copy);
  await copyBackup(file, copy).catch(refuse);
  const database = await openUpgraded(copy).catch(refuse);
  return {
    ...database,
    query: <Row>(sql: string, values?: readonly Value[]) => database.query<Row>(sql, values).catch(refuse),
  };
}

async function copyBackup(file: string, copy: string): Promise<void> {
  using db = new DatabaseSync(file, { readOnly: true });
  // An upgrade would make an empty database of another program's file.
  const { value } = db.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get() ?? {};
  if (value === undefined)
    throw new StoreRefused({ problem: `${file} is not a backup of this program`, remedy: UNCHANGED });
  if (Number(value) < FIRST_VERSION) {
    const remedy = "restore it with 2.0.0 and back up again";
    throw new StoreRefused({ problem: `${file} is a backup of version 1.x`, remedy });
  }
  await copyDatabase(db, copy);
  using copied = new DatabaseSync(copy);
  // SQLite's `.dump` does not copy the id.
  copied.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

async function openUpgraded(file: string): Promise<Database> {
  const database = await openSqlite(file);
  await database
    .transaction((sql) => migrate(sql))
    .catch((error) => database.close().then(() => Promise.reject(error)));
  return database;
}

const ERASURES = "SELECT hash, secret, at FROM erasures";

async function replaceAll(sql: Sql, backup: Sql, account: string | null, now: Date) {
  const { query, dialect } = sql;
  const isUnfinished = (await readMeta(query, ERASURE_MARK)) !== null;
  const restricted = await readColumn<string>(query, "SELECT reference FROM messages WHERE is_restricted = 1");
  await recordErasures(sql, await backup.query<Erasure>(ERASURES));
  const erased = await removeErased(backup, await query<Erasure>(ERASURES));
  await removeOrphans(backup);
  for (const table of ["messages", "hits", "retention", "folders", "meta"]) await query(`DELETE FROM ${table}`);
  await copyRows(backup, sql, [...OF_CLIENTS, "erasures"]);
  await query(
    `INSERT INTO deliveries (message_id, channel, state, changed_at, error)
     SELECT id, 'mail', 'failed', accepted_at, 'its delivery was in a damaged part of the database' FROM messages
     WHERE id NOT IN (SELECT message_id FROM deliveries WHERE channel = 'mail')`,
  );
  await query(FORGET_RETENTION);
  await forgetServers(query);
  await forgetInboxes(query);
  if (isUnfinished) await writeMeta(query, ERASURE_MARK, "1");
  const counted = `SELECT count(*) AS messages, (SELECT count(DISTINCT message_id) FROM deliveries
    WHERE state = 'queued') AS waiting FROM messages`;
  const counts = await onlyRow<{ messages: number; waiting: number }>(query, counted);
  // The messages that were restricted before stay so.
  const isTheirs = dialect.isIn("reference", "$1");
  const restrict = `UPDATE messages SET is_restricted = 1 WHERE is_restricted = 0 AND ${isTheirs} RETURNING id`;
  const ids = await readColumn<number>(query, restrict, [restricted]);
  await writeExpiry(sql, ids);
  await addEvents(sql, ids, { kind: "restricted", at: now, author: account });
  return { ...counts, erased, restrictions: ids.length };
}

/**
 * Removes the messages that an erasure deleted, whatever a clock said, and those that an erased person sent before;
 * returns how many.
 */
async function removeErased(sql: Sql, erasures: readonly Erasure[]): Promise<number> {
  const { query, dialect } = sql;
  if (erasures.length === 0) return 0;
  const ownSecret = await readSecret(query);
  const secrets = [...new Set(erasures.map(({ secret }) => secret))];
  const erasedAt = new Map(erasures.map(({ hash, secret, at }) => [secret + hash, at]));
  type Message = Pick<RowOf<"messages">, "id" | "reference" | "email" | "acceptedAt" | "formerAddresses">;
  const messages = await query<Message>("SELECT id, reference, email, accepted_at, former_addresses FROM messages");
  const ids = messages.flatMap(({ id, reference, email, acceptedAt, formerAddresses }) => {
    if (secrets.some((secret) => erasedAt.has(secret + hashReference(secret, reference)))) return id;
    const keys = [
      ...secrets.map((secret) => secret + hashAddress(secret, email)),
      ...readFormer(formerAddresses ?? "").map(({ hash }) => ownSecret + hash),
    ];
    return keys.some((key) => acceptedAt <= (erasedAt.get(key) ?? new Date(Number.NaN))) ? id : [];
  });
  await query(`DELETE FROM messages WHERE ${dialect.isIn("id", "$1")}`, [ids]);
  const mails = await query<Pick<RowOf<"mails">, "eventId" | "messageId" | "sender" | "sentAt">>(
    `SELECT event_id, message_id, sender, sent_at FROM mails
     UNION SELECT event_id, replies.message_id, recipient, at FROM replies JOIN events ON events.id = event_id
     WHERE recipient IS NOT NULL`,
  );
  const isErased = ({ sender, sentAt }: (typeof mails)[number]) =>
    [...secrets].some(
      (secret) => sentAt <= (erasedAt.get(secret + hashAddress(secret, sender)) ?? new Date(Number.NaN)),
    );
  await deleteMails(sql, mails.filter(isErased));
  return ids.length;
}

/** Of a damaged file, a row may be left without its message. */
async function removeOrphans({ query }: Sql): Promise<void> {
  for (const [table, columns] of allTables()) {
    for (const [name, { rule }] of columns) {
      const [, target] = /REFERENCES (\w+)/.exec(rule) ?? [];
      if (target) await query(`DELETE FROM ${table} WHERE ${name} NOT IN (SELECT id FROM ${target})`);
    }
  }
}
