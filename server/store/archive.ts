import { accessSync, constants } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Advice } from "../../contract/commands.ts";
import type { Core, Part } from "./core.ts";
import { type Dialect, onlyRow, type Query, readMeta, SECRET, type Value, writeMeta } from "./database.ts";
import { ERASURE_MARK, hashWith } from "./people.ts";
import { retentionRules } from "./retention.ts";
import { MIGRATIONS } from "./schema.ts";
import { APPLICATION_ID } from "./sqlite.ts";
import { errorCode, writeNewFile } from "./sqlite-files.ts";
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
 * not a backup of this version. `waiting` is the number of messages that will be sent.
 */
async function restore(core: Core, file: string, isReplacing: boolean, erasures: readonly Erasure[]) {
  const { transaction, dialect, time, lockOut } = core;
  const backup = openBackup(file);
  let unlock = () => {};
  try {
    if (lockOut) unlock = lockOut();
    // A server that starts during the restore waits for the same lock before it reads anything.
    return await transaction(
      async (query) => {
        if (!lockOut && (await readWebsite(query, await time())).isRunning) throw new StoreRefused(IN_USE);
        const { count } = await onlyRow<{ count: number }>(query, "SELECT count(*) AS count FROM messages");
        if (count > 0 && !isReplacing) {
          const remedy = "to remove them and read the backup instead, add --replace";
          throw new StoreRefused({ problem: `This database already has messages (${count})`, remedy });
        }
        return copyAll(backup, query, dialect, erasures);
      },
      { lock: "migrating", isLong: true },
    );
  } finally {
    unlock();
    backup.close();
  }
}

export const archive = { backup, restore, ...retentionRules };
export type Archive = Part<typeof archive>;

export function openBackup(file: string): DatabaseSync {
  const refuse = (reason: string) => new StoreRefused({ problem: `${file} ${reason}`, remedy: "nothing was changed" });
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw refuse(`cannot be read (${errorCode(error)})`);
  }
  let [id, version]: [unknown, unknown] = [0, ""];
  const db = new DatabaseSync(file, { readOnly: true, open: false });
  try {
    db.open();
    id = db.prepare("PRAGMA application_id").get()?.application_id;
    version = db.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get()?.value;
  } catch {
    // The file is not a database, or belongs to another program.
  }
  if (id === APPLICATION_ID && version === String(MIGRATIONS.length)) return db;
  if (db.isOpen) db.close();
  throw refuse(
    id === APPLICATION_ID
      ? `is from another version of the program (schema ${version}, not ${MIGRATIONS.length}): use that version`
      : "is not a backup of this program",
  );
}

/** Replaces all rows with those of the backup, except messages of people who were erased since. */
async function copyAll(backup: DatabaseSync, query: Query, dialect: Dialect, erasures: readonly Erasure[]) {
  const isUnfinished = (await readMeta(query, ERASURE_MARK)) !== null;
  for (const table of ["messages", "hits", "spam_tokens", "meta"]) await query(`DELETE FROM ${table}`);
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
 * Counts the messages in a SQLite file; `null` if it is not our database. `newest` identifies them in another database.
 */
export function readLeftMessages(file: string): { newest: string; messages: number; unsent: number } | null {
  try {
    const db = openBackup(file);
    const sql = `SELECT reference AS newest, (SELECT count(*) FROM messages) AS messages,
        (SELECT count(DISTINCT message_id) FROM deliveries WHERE state = 'queued') AS unsent
      FROM messages ORDER BY id DESC LIMIT 1`;
    const row = db.prepare(sql).get() as { newest: string; messages: number; unsent: number } | undefined;
    db.close();
    return row ?? null;
  } catch {
    return null;
  }
}
