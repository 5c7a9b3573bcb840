import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import type { Advice } from "../../contract/commands.ts";
import type { Config } from "../config.ts";
import { errorCode, errorName } from "../log.ts";
import { OperatorError } from "../operator-error.ts";
import {
  copyRows,
  type Database,
  onlyRow,
  readColumn,
  readMeta,
  readSecret,
  type Sql,
  timeOf,
  type Value,
  writeMeta,
} from "./database.ts";
import { addEvents } from "./message-rows.ts";
import { StoreRefused, StoreUnavailable } from "./model.ts";
import { ERASURE_MARK, type Erasure, hashWith, readFormer, recordErasures } from "./people.ts";
import { FORGET_RETENTION, writeExpiry } from "./retention.ts";
import { migrate, readSchemaVersion, SCHEMA_VERSION } from "./schema.ts";
import { APPLICATION_ID, FULL, lockFolder, openSqlite, primaryCode } from "./sqlite.ts";
import { createPrivateFile, removeDatabase, restoringFile, writeNewFile } from "./sqlite-files.ts";
import { forgetServers, markBackedUp, readWebsite } from "./status.ts";
import { allTables, type RowOf, type Table } from "./tables.ts";

// Backups: how messages leave the store and come back.

/** Made from network addresses, kept for a day, and never part of a backup. */
const OF_CLIENTS: readonly Table[] = ["hits", "keys"];

const IN_USE: Advice = {
  problem: "A website uses this database, or crashed within the last three minutes",
  remedy: "stop all of its servers, then restore",
};

type Settings = Partial<Pick<Config, "dataDir" | "databaseUrl">> & { account?: string | null | undefined };

export function createArchive(database: Database, { dataDir = "", databaseUrl = null, account = null }: Settings) {
  const { query, transaction, verify } = database;
  return {
    countAll: () => countAll(database),

    /** Writes a consistent copy while other processes write, without hashes of clients, and records the time. */
    async backup(file: string, now: Date): Promise<void> {
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
          .finally(copy.close);
        // A file in WAL mode could not be read in a folder that is read-only.
        using db = new DatabaseSync(target);
        db.exec("PRAGMA journal_mode = DELETE");
      });
      // The copy is complete even if its time cannot be recorded.
      await markBackedUp(query, now).catch((error) => {
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    },

    /**
     * Reads all rows of a backup, or none. Leaves out messages of people who were erased after the messages were
     * accepted: those that this database, the backup or `listed` names, a list that 1.1.0 kept for either of them.
     * `waiting` is the number of messages that will be sent, `restrictions` of the restricted ones that are newer than
     * the backup.
     */
    async restore(file: string, isReplacing: boolean, listed: readonly ListedErasure[]) {
      const isShared = databaseUrl !== null;
      await verify();
      // Before the copy: it is the only one in this folder, and a website that runs may need the space.
      const unlock = lockFolder(dataDir, "then restore");
      let copy: Database | null = null;
      try {
        copy = await openCopy(file, restoringFile(dataDir));
        const backup = copy;
        // A server that starts during the restore waits for the same lock before it reads anything.
        return await transaction(
          async (sql) => {
            const now = await timeOf(sql);
            const present = await countAll(sql);
            if (present !== null && isShared && (await readWebsite(sql)).isRunning) throw new StoreRefused(IN_USE);
            if (present?.messages && !isReplacing) {
              const remedy = "to remove them and read the backup instead, add --replace";
              throw new StoreRefused({ problem: `This database already has messages (${present.messages})`, remedy });
            }
            // Only now: a website of an earlier version may have been running.
            await migrate(sql);
            return replaceAll(sql, backup, listed, account, now).catch((error) => {
              throw refusalOf(file, error);
            });
          },
          { lock: "migrating", isLong: true },
        );
      } finally {
        await copy?.close();
        removeDatabase(restoringFile(dataDir));
        unlock();
      }
    },
  };
}

async function countAll(sql: Sql): Promise<{ messages: number; erasures: number } | null> {
  const version = await readSchemaVersion(sql);
  if (version === null) return null;
  // Version 1.1.0 listed them in a file.
  const erasures = version < SCHEMA_VERSION ? "0" : "(SELECT count(*) FROM erasures)";
  return onlyRow(sql.query, `SELECT count(*) AS messages, ${erasures} AS erasures FROM messages`);
}

const UNCHANGED = "nothing was changed";

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
  if (!db.prepare("SELECT 1 FROM meta WHERE name = 'schema_version'").get())
    throw new StoreRefused({ problem: `${file} is not a backup of this program`, remedy: UNCHANGED });
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
type ListedErasure = Omit<Erasure, "secret">;

async function replaceAll(sql: Sql, backup: Sql, listed: readonly ListedErasure[], account: string | null, now: Date) {
  const { query, dialect } = sql;
  const isUnfinished = (await readMeta(query, ERASURE_MARK)) !== null;
  const restricted = await readColumn<string>(query, "SELECT reference FROM messages WHERE is_restricted = 1");
  const secrets = [await readSecret(query), await readSecret(backup.query)];
  const ofLists = secrets.flatMap((secret) => listed.map((one) => ({ ...one, secret })));
  await recordErasures(sql, [...(await backup.query<Erasure>(ERASURES)), ...ofLists]);
  const erased = await removeErased(backup, await query<Erasure>(ERASURES));
  await removeOrphans(backup);
  for (const table of ["messages", "hits", "retention", "meta"]) await query(`DELETE FROM ${table}`);
  await copyRows(backup, sql, [...OF_CLIENTS, "erasures"]);
  await query(
    `INSERT INTO deliveries (message_id, channel, state, changed_at, error)
     SELECT id, 'mail', 'failed', accepted_at, 'its delivery was in a damaged part of the database' FROM messages
     WHERE id NOT IN (SELECT message_id FROM deliveries WHERE channel = 'mail')`,
  );
  await query(FORGET_RETENTION);
  await forgetServers(query);
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

/** Removes the messages of people who were erased after these were accepted; returns how many. */
async function removeErased({ query, dialect }: Sql, erasures: readonly Erasure[]): Promise<number> {
  if (erasures.length === 0) return 0;
  const ownSecret = await readSecret(query);
  const secrets = new Set(erasures.map(({ secret }) => secret));
  const erasedAt = new Map(erasures.map(({ hash, secret, at }) => [secret + hash, at]));
  type Message = Pick<RowOf<"messages">, "id" | "email" | "acceptedAt" | "formerAddresses">;
  const messages = await query<Message>("SELECT id, email, accepted_at, former_addresses FROM messages");
  const ids = messages.flatMap(({ id, email, acceptedAt, formerAddresses }) => {
    const keys = [
      ...Array.from(secrets, (secret) => secret + hashWith(secret, email)),
      ...readFormer(formerAddresses ?? "").map(({ hash }) => ownSecret + hash),
    ];
    return keys.some((key) => acceptedAt <= (erasedAt.get(key) ?? new Date(Number.NaN))) ? id : [];
  });
  await query(`DELETE FROM messages WHERE ${dialect.isIn("id", "$1")}`, [ids]);
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
