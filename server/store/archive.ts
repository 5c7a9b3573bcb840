import { accessSync, constants, rmSync, writeFileSync } from "node:fs";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import type { Advice } from "../../contract/commands.ts";
import { errorCode, errorName } from "../log.ts";
import type { Core, Part } from "./core.ts";
import { type Dialect, onlyRow, type Query, readMeta, SECRET, type Value, writeMeta } from "./database.ts";
import { ERASURE_MARK, hashWith } from "./people.ts";
import { retentionRules } from "./retention.ts";
import { type Migration, migrate, readSchemaVersion } from "./schema.ts";
import { APPLICATION_ID, openSqlite } from "./sqlite.ts";
import { writeNewFile } from "./sqlite-files.ts";
import { forgetServers, markBackedUp, readWebsite } from "./status.ts";
import { StoreRefused, StoreUnavailable } from "./store.ts";

// What leaves the store and comes back: backups, and messages at the end of their retention.

/** An erasure of a person's messages: a hash of the address. */
export interface Erasure {
  hash: string;
  at: Date;
}

const ROWS_AT_A_TIME = 500;

const IN_USE: Advice = {
  problem: "A website uses this database, or crashed within the last three minutes",
  remedy: "stop all of its servers, then restore",
};

type Cell = string | number | null;

/** Writes a consistent copy while other processes write, and records the time. */
async function backup({ query, copyTo }: Core, file: string, now: Date): Promise<void> {
  await writeNewFile(file, copyTo);
  // The copy is complete even if its time cannot be recorded.
  await markBackedUp(query, now).catch((error) => {
    if (!(error instanceof StoreUnavailable)) throw error;
  });
}

/**
 * Reads all rows of a backup, or none. Leaves out messages of people who were erased after the messages were accepted.
 * Rejects with StoreRefused if a website runs, if there are messages and they must not be replaced, or if the file is
 * not a backup of this or an earlier version. `waiting` is the number of messages that will be sent.
 */
async function restore(core: Core, file: string, isReplacing: boolean, erasures: readonly Erasure[]) {
  const { transaction, dialect, time, lockOut, migrations } = core;
  const backup = await openBackup(file, migrations);
  let unlock = () => {};
  try {
    if (lockOut) unlock = lockOut();
    // A server that starts during the restore waits for the same lock before it reads anything.
    return await transaction(
      async (query) => {
        const count = await countAll({ query, dialect });
        if (count !== null && !lockOut && (await readWebsite(query, await time())).isRunning) {
          throw new StoreRefused(IN_USE);
        }
        if (count && !isReplacing) {
          const remedy = "to remove them and read the backup instead, add --replace";
          throw new StoreRefused({ problem: `This database already has messages (${count})`, remedy });
        }
        // Only now: a website of an earlier version may have been running.
        await migrate(query, dialect, migrations);
        return copyAll(backup.db, query, dialect, erasures);
      },
      { lock: "migrating", isLong: true },
    );
  } finally {
    unlock();
    backup.close();
  }
}

/** The number of messages in a database of any version; `null` if it has no tables yet. */
async function countAll({ query, dialect }: Pick<Core, "query" | "dialect">): Promise<number | null> {
  if ((await readSchemaVersion(query, dialect)) === null) return null;
  return (await onlyRow<{ count: number }>(query, "SELECT count(*) AS count FROM messages")).count;
}

export const archive = { backup, restore, countAll, ...retentionRules };
export type Archive = Part<typeof archive>;

/**
 * Opens a backup of any released version for reading. One of an earlier version is copied beside itself, and the copy
 * is upgraded and read. `close` removes the copy.
 */
export async function openBackup(
  file: string,
  migrations: readonly Migration[],
): Promise<{ db: DatabaseSync; close(): void }> {
  const refuse = (reason: string, remedy = "nothing was changed") =>
    new StoreRefused({ problem: `${file} ${reason}`, remedy });
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw refuse(`cannot be read (${errorCode(error)})`);
  }
  const db = new DatabaseSync(file, { readOnly: true, open: false });
  const version = readBackupVersion(db);
  if (version === migrations.length) return { db, close: () => db.close() };
  if (version === null || version > migrations.length) {
    if (db.isOpen) db.close();
    if (version === null) throw refuse("is not a backup of this program");
    const schemas = `schema ${version}, this one knows ${migrations.length}`;
    throw refuse(`is from a newer version of the program (${schemas})`, "use that version; nothing was changed");
  }
  const copy = `${file}.upgraded`;
  const removeCopy = () => {
    for (const end of ["", "-wal", "-shm"]) rmSync(copy + end, { force: true });
  };
  try {
    removeCopy();
    writeFileSync(copy, "", { mode: 0o600 });
    // Copies pages, so that a damaged file can be copied too.
    await copyDatabase(db, copy);
    const database = await openSqlite(copy);
    await database.transaction((query) => migrate(query, database.dialect, migrations)).finally(() => database.close());
    const upgraded = new DatabaseSync(copy, { readOnly: true });
    return {
      db: upgraded,
      close() {
        upgraded.close();
        removeCopy();
      },
    };
  } catch (error) {
    removeCopy();
    if (error instanceof StoreRefused) throw error;
    const reason = `is from an older version of the program, and its copy ${copy} cannot be upgraded (${errorName(error)})`;
    throw refuse(reason, "copy it to a folder that this user may write to; nothing was changed");
  } finally {
    db.close();
  }
}

/** Opens the file. `null` if it is not a database, or belongs to another program. */
function readBackupVersion(db: DatabaseSync): number | null {
  try {
    db.open();
    const id = db.prepare("PRAGMA application_id").get()?.application_id;
    const version = db.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get()?.value;
    return id === APPLICATION_ID && /^[1-9]\d*$/.test(String(version)) ? Number(version) : null;
  } catch {
    return null;
  }
}

/** Replaces all rows with those of the backup, except messages of people who were erased since. */
async function copyAll(backup: DatabaseSync, query: Query, dialect: Dialect, erasures: readonly Erasure[]) {
  const isUnfinished = (await readMeta(query, ERASURE_MARK)) !== null;
  for (const table of ["messages", "hits", "spam_months", "meta"]) await query(`DELETE FROM ${table}`);
  const { value: secret } = backup.prepare("SELECT value FROM meta WHERE name = ?").get(SECRET) ?? {};
  const isErased = ({ email, accepted_at: acceptedAtMs }: Readonly<Record<string, unknown>>) => {
    const hash = erasures.length > 0 ? hashWith(String(secret), String(email)) : "";
    return erasures.some((erasure) => erasure.hash === hash && Number(acceptedAtMs) <= erasure.at.getTime());
  };
  const erased = new Set<unknown>();
  const tables = backup.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid",
  );
  for (const { name: table } of tables.all()) {
    const insert = rowInserter(backup, String(table), query, dialect);
    for (const row of backup.prepare(`SELECT * FROM ${table}`).iterate()) {
      if (table === "messages" && isErased(row)) erased.add(row.id);
      else if (!erased.has(row.message_id)) await insert.add(Object.values(row) as Cell[]);
    }
    await insert.end();
  }
  for (const table of ["messages", "events"]) await query(dialect.continueIds(table));
  await forgetServers(query);
  if (isUnfinished) await writeMeta(query, ERASURE_MARK, "1");
  const counted = `SELECT count(*) AS messages, (SELECT count(DISTINCT message_id) FROM deliveries
    WHERE state = 'queued') AS waiting FROM messages`;
  return { ...(await onlyRow<{ messages: number; waiting: number }>(query, counted)), erased: erased.size };
}

/** Inserts many rows with one statement. */
export function rowInserter(
  backup: DatabaseSync,
  table: string,
  query: Query,
  { integer, real, keptIds, itemsOf }: Dialect,
) {
  const columns = backup.prepare(`SELECT name, type, pk FROM pragma_table_info('${table}')`).all();
  const types: Readonly<Record<string, string>> = { INTEGER: integer, REAL: real };
  const items = columns.map(({ type }, index) => `CAST(value ->> ${index} AS ${types[String(type)] ?? "TEXT"})`);
  const names = columns.map(({ name }) => name).join(", ");
  const ids = columns.some(({ name }) => name === "id") ? keptIds : "";
  const sql = `INSERT INTO ${table} (${names}) ${ids} SELECT ${items.join(", ")} FROM ${itemsOf("$1")}`;
  let rows: Value[][] = [];
  async function end(): Promise<void> {
    if (rows.length > 0) await query(sql, [rows]);
    rows = [];
  }
  return {
    end,
    async add(row: Cell[]): Promise<void> {
      rows.push(row);
      if (rows.length === ROWS_AT_A_TIME) await end();
    },
  };
}

/**
 * Counts the messages in a SQLite file of any version; `null` if it is not our database. `newest` identifies them in
 * another database.
 */
export function readLeftMessages(file: string): { newest: string; messages: number; unsent: number } | null {
  const db = new DatabaseSync(file, { readOnly: true, open: false });
  try {
    if (readBackupVersion(db) === null) return null;
    const sql = `SELECT reference AS newest, (SELECT count(*) FROM messages) AS messages,
        (SELECT count(DISTINCT message_id) FROM deliveries WHERE state = 'queued') AS unsent
      FROM messages ORDER BY id DESC LIMIT 1`;
    return (db.prepare(sql).get() as { newest: string; messages: number; unsent: number } | undefined) ?? null;
  } catch {
    return null;
  } finally {
    if (db.isOpen) db.close();
  }
}
