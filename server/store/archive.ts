import { accessSync, constants, rmSync, writeFileSync } from "node:fs";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import type { Advice } from "../../contract/commands.ts";
import { errorCode, errorName } from "../log.ts";
import { OperatorError } from "../operator-error.ts";
import {
  type Database,
  insertRows,
  onlyRow,
  readColumn,
  readMeta,
  SECRET,
  type Sql,
  timeOf,
  writeMeta,
} from "./database.ts";
import { addEvents } from "./message-rows.ts";
import { ERASURE_MARK, type Erasure, hashWith, readFormer, recordErasures } from "./people.ts";
import { createRetention, FORGET_RETENTION, writeExpiry } from "./retention.ts";
import { migrate, readSchemaVersion, SCHEMA_VERSION } from "./schema.ts";
import { APPLICATION_ID, isDamage, isNotADatabase, openSqlite, toStoreError } from "./sqlite.ts";
import { writeNewFile } from "./sqlite-files.ts";
import { forgetServers, markBackedUp, readWebsite } from "./status.ts";
import { StoreRefused, StoreUnavailable } from "./store.ts";
import { allTables } from "./tables.ts";

// What leaves the store and comes back: backups, and messages at the end of their retention.

const ROWS_AT_A_TIME = 500;
/** Made from network addresses, kept for a day, and never part of a backup. */
const OF_CLIENTS = ["hits", "keys"];

const IN_USE: Advice = {
  problem: "A website uses this database, or crashed within the last three minutes",
  remedy: "stop all of its servers, then restore",
};

export type Archive = ReturnType<typeof createArchive>;

export function createArchive(database: Database, account: string | null, lockOut: (() => () => void) | null) {
  const { query, transaction, copyTo, verify } = database;
  return {
    ...createRetention(database),
    countAll: () => countAll(database),

    /** Writes a consistent copy while other processes write, without hashes of clients, and records the time. */
    async backup(file: string, now: Date): Promise<void> {
      await writeNewFile(file, async (target) => {
        await copyTo(target, openUpgraded);
        const copy = new DatabaseSync(target);
        const removals = OF_CLIENTS.map((table) => `DELETE FROM ${table}`);
        copy.exec(["PRAGMA journal_mode = MEMORY", "PRAGMA secure_delete = ON", ...removals].join("; "));
        copy.close();
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
      const backup = await openBackup(file);
      let unlock = () => {};
      try {
        await verify();
        if (lockOut) unlock = lockOut();
        // A server that starts during the restore waits for the same lock before it reads anything.
        return await transaction(
          async (sql) => {
            const now = await timeOf(sql);
            const present = await countAll(sql);
            if (present !== null && !lockOut && (await readWebsite(sql)).isRunning) throw new StoreRefused(IN_USE);
            if (present?.messages && !isReplacing) {
              const remedy = "to remove them and read the backup instead, add --replace";
              throw new StoreRefused({ problem: `This database already has messages (${present.messages})`, remedy });
            }
            // Only now: a website of an earlier version may have been running.
            await migrate(sql);
            return copyAll(sql, backup, listed, account, now).catch((error) => {
              // Errors of the database are named already. All others are about the backup, and must not look like its damage.
              throw refusalOf(file, error);
            });
          },
          { lock: "migrating", isLong: true },
        );
      } finally {
        unlock();
        backup.close();
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
const ANOTHER = `use another backup; ${UNCHANGED}`;
const NOT_OURS = "is not a backup of this program";
const DAMAGED = "is damaged and cannot be read completely";

function refuse(file: string, reason: string, remedy = UNCHANGED, cause?: unknown): StoreRefused {
  return new StoreRefused({ problem: `${file} ${reason}`, remedy }, { cause });
}

/** Why a backup cannot be read. Only databases give their errors a code: any other error is a defect, and unchanged. */
function refusalOf(file: string, error: unknown): unknown {
  if (error instanceof OperatorError || error instanceof TypeError || errorCode(error) === undefined) return error;
  if (isNotADatabase(error)) return refuse(file, NOT_OURS);
  if (isDamage(toStoreError(error))) return refuse(file, DAMAGED, ANOTHER, error);
  const row = `contains a row that this program cannot have written (${errorName(error)})`;
  return refuse(file, row, ANOTHER, error);
}

interface Backup {
  db: DatabaseSync;
  close(): void;
}

/** One of an earlier version is copied beside itself, and the copy is upgraded and read. `close` removes the copy. */
async function openBackup(file: string): Promise<Backup> {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw refuse(file, `cannot be read (${errorCode(error)})`);
  }
  const db = new DatabaseSync(file, { readOnly: true, open: false });
  try {
    const version = readBackupVersion(db, file);
    if (version > SCHEMA_VERSION) {
      const schemas = `schema ${version}, this one knows ${SCHEMA_VERSION}`;
      throw refuse(file, `is from a newer version of the program (${schemas})`, `use that version; ${UNCHANGED}`);
    }
    if (version < SCHEMA_VERSION) return await upgradeCopy(db, file).finally(() => db.close());
    requireTables(db, file);
    return { db, close: () => db.close() };
  } catch (error) {
    if (db.isOpen) db.close();
    throw refusalOf(file, error);
  }
}

/**
 * Other tables, such as `lost_and_found` of SQLite's `.recover`, are not read: only names of our own become part of a
 * statement.
 */
function requireTables(db: DatabaseSync, file: string): void {
  const columns = db.prepare(
    `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables
     JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
  );
  const found = new Set(columns.all().map(({ name }) => name));
  for (const [table, columns] of allTables()) {
    const missing = columns.find(([name]) => !found.has(`${table}.${name}`));
    if (missing) throw refuse(file, `${NOT_OURS}: it has no column ${table}.${missing[0]}`);
  }
}

async function openUpgraded(file: string): Promise<Database> {
  const database = await openSqlite(file);
  await database
    .transaction((sql) => migrate(sql))
    .catch((error) => database.close().then(() => Promise.reject(error)));
  return database;
}

async function upgradeCopy(db: DatabaseSync, file: string): Promise<Backup> {
  const copy = `${file}.upgraded`;
  const removeCopy = () => {
    for (const end of ["", "-wal", "-shm"]) rmSync(copy + end, { force: true });
  };
  try {
    removeCopy();
    writeFileSync(copy, "", { mode: 0o600 });
    await copyDatabase(db, copy);
    await (await openUpgraded(copy)).close();
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
    if (isDamage(error)) throw refuse(file, DAMAGED, ANOTHER);
    if (errorCode(error) === undefined) throw error;
    const reason = `is from an older version of the program, and its copy ${copy} cannot be upgraded (${errorName(error)})`;
    throw refuse(file, reason, `copy it to a folder that this user may write to; ${UNCHANGED}`, error);
  }
}

/** Opens the file. Throws StoreRefused if it is not a database of this program. */
function readBackupVersion(db: DatabaseSync, file: string): number {
  db.open();
  const id = db.prepare("PRAGMA application_id").get()?.application_id;
  const hasMeta = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").get();
  // SQLite's `.dump` does not copy the id.
  if ((id !== APPLICATION_ID && id !== 0) || !hasMeta) throw refuse(file, NOT_OURS);
  const { value } = db.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get() ?? {};
  if (!/^[1-9]\d*$/.test(String(value))) throw refuse(file, `${NOT_OURS}: it has no schema version`);
  return Number(value);
}

async function copyAll(sql: Sql, { db }: Backup, listed: readonly ListedErasure[], account: string | null, now: Date) {
  const { query, dialect } = sql;
  const isUnfinished = (await readMeta(query, ERASURE_MARK)) !== null;
  const restricted = await readColumn<string>(query, "SELECT reference FROM messages WHERE is_restricted = 1");
  const erasures = await allErasures(sql, db, listed);
  for (const table of ["messages", "hits", "retention", "meta"]) await query(`DELETE FROM ${table}`);
  await recordErasures(sql, erasures);
  const isErased = erasedBy(erasures, secretOf(db));
  let erased = 0;
  const copied = new Map<string, Set<unknown>>();
  for (const [table, columns] of allTables()) {
    if (OF_CLIENTS.includes(table) || table === "erasures") continue;
    const ids = new Set<unknown>();
    copied.set(table, ids);
    const links = columns.flatMap(([name, { rule }]) => {
      const [, target] = /REFERENCES (\w+)/.exec(rule) ?? [];
      return target === undefined ? [] : [{ name, ids: copied.get(target) }];
    });
    // Of a damaged file, a row may be left without its message.
    const isOrphan = (row: Row) => links.some(({ name, ids }) => !ids?.has(row[name]));
    const read = db.prepare(`SELECT ${columns.map(([name]) => name).join(", ")} FROM ${table}`);
    for (const rows of inBatches(read.iterate() as Iterable<Row>)) {
      const kept = rows.filter((row) => {
        const isLeftOut = table === "messages" ? isErased(row) : isOrphan(row);
        if (isLeftOut && table === "messages") erased += 1;
        if (!isLeftOut) ids.add(row.id);
        return !isLeftOut;
      });
      await insertRows(sql, table, kept);
    }
  }
  await query(
    `INSERT INTO deliveries (message_id, channel, state, changed_at, error)
     SELECT id, 'mail', 'failed', accepted_at, 'its delivery was in a damaged part of the database' FROM messages
     WHERE id NOT IN (SELECT message_id FROM deliveries WHERE channel = 'mail')`,
  );
  for (const table of ["messages", "events"]) await query(dialect.continueIds(table));
  await query(FORGET_RETENTION);
  await forgetServers(query);
  if (isUnfinished) await writeMeta(query, ERASURE_MARK, "1");
  const counted = `SELECT count(*) AS messages, (SELECT count(DISTINCT message_id) FROM deliveries
    WHERE state = 'queued') AS waiting FROM messages`;
  const counts = await onlyRow<{ messages: number; waiting: number }>(query, counted);
  return { ...counts, erased, restrictions: await keepRestrictions(sql, restricted, account, now) };
}

/** Restricts the messages that were restricted before; returns how many were not in the backup. */
async function keepRestrictions(sql: Sql, restricted: readonly string[], author: string | null, now: Date) {
  const { query, dialect } = sql;
  const isTheirs = dialect.isIn("reference", "$1");
  const change = `UPDATE messages SET is_restricted = 1 WHERE is_restricted = 0 AND ${isTheirs} RETURNING id`;
  const ids = await readColumn<number>(query, change, [restricted]);
  await writeExpiry(sql, ids);
  await addEvents(sql, ids, { kind: "restricted", at: now, author });
  return ids.length;
}

type ListedErasure = Omit<Erasure, "secret">;

function secretOf(db: DatabaseSync): string {
  return String(db.prepare("SELECT value FROM meta WHERE name = ?").get(SECRET)?.value);
}

async function allErasures({ query }: Sql, db: DatabaseSync, listed: readonly ListedErasure[]): Promise<Erasure[]> {
  const sql = "SELECT hash, secret, at FROM erasures";
  const ofBackup = db.prepare(sql).all() as { hash: string; secret: string; at: number }[];
  const secrets = [(await readMeta(query, SECRET)) ?? "", secretOf(db)];
  return [
    ...(await query<Erasure>(sql)),
    ...ofBackup.map((row) => ({ ...row, at: new Date(row.at) })),
    ...secrets.flatMap((secret) => listed.map((one) => ({ ...one, secret }))),
  ];
}

/** `ownSecret` is the one of the database of the rows, which made the hashes of their former addresses. */
function erasedBy(erasures: readonly Erasure[], ownSecret: string) {
  const erasedAtMs = new Map<string, number>();
  for (const { hash, secret, at } of erasures) {
    const key = secret + hash;
    erasedAtMs.set(key, Math.max(at.getTime(), erasedAtMs.get(key) ?? 0));
  }
  const secrets = [...new Set(erasures.map(({ secret }) => secret))];
  return (row: Readonly<Record<string, unknown>>): boolean => {
    if (erasedAtMs.size === 0) return false;
    const former = row.former_addresses === null ? [] : readFormer(String(row.former_addresses));
    const keys = [
      ...secrets.map((secret) => secret + hashWith(secret, String(row.email))),
      ...former.map(({ hash }) => ownSecret + hash),
    ];
    return keys.some((key) => Number(row.accepted_at) <= (erasedAtMs.get(key) ?? Number.NEGATIVE_INFINITY));
  };
}

type Row = Record<string, string | number | null>;

function* inBatches(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = [];
  for (const row of rows) {
    if (batch.push(row) < ROWS_AT_A_TIME) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}
