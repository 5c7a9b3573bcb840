import { existsSync } from "node:fs";
import { join } from "node:path";
import { versions } from "node:process";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import type { Advice } from "../../contract/commands.ts";
import { serially } from "../../contract/serially.ts";
import { plural } from "../../contract/text.ts";
import type { Config } from "../config.ts";
import { errorCode, errorName, isSystemError } from "../errors.ts";
import { type Database, type Dialect, type Query, toParameter, toRecord, type Value } from "./database.ts";
import { StoreLost, StoreRefused, StoreUnavailable, storeError, UNUSABLE } from "./errors.ts";
import { createPrivateFile, movedFile, rememberFiles } from "./sqlite-files.ts";

export const sqliteDialect: Dialect = {
  integer: "INTEGER",
  // AUTOINCREMENT never reuses the number of an erased message.
  identity: "INTEGER PRIMARY KEY AUTOINCREMENT",
  keptIds: "",
  // SQLite continues after explicit numbers by itself.
  continueIds: () => "SELECT 1",
  tableEnd: " STRICT",
  keyedTableEnd: " STRICT, WITHOUT ROWID",
  findTable: (name) => `SELECT 1 FROM sqlite_schema WHERE name = '${name}'`,
  // A transaction already locks the whole database.
  lockRows: () => "",
  lowerCaseEmail: "lower(email)",
  isIn: (column, jsonArray) => `${column} IN (SELECT value FROM json_each(${jsonArray}))`,
  jsonArray: (columns) => `json_array(${columns})`,
  // Binary items, so that reading a field does not parse the whole item again.
  itemsOf: (jsonArray) => `jsonb_each(${jsonArray})`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  nowMs: null,
};

export function sqliteFile(dataDir: string): string {
  return join(dataDir, "messages.db");
}

/** Files of the folder that hold people, although the messages are in PostgreSQL. */
export function leftFiles({ dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">): string[] {
  const files = [movedFile(dataDir), ...(databaseUrl === null ? [] : [sqliteFile(dataDir)])];
  return files.filter((file) => existsSync(file));
}

/** Once the messages are in PostgreSQL, nothing would send what waits in the folder's own file. */
export function requireNothingLeft(dataDir: string): void {
  const file = sqliteFile(dataDir);
  if (!existsSync(file)) return;
  let count = 0;
  try {
    using db = new DatabaseSync(file);
    if (db.prepare(sqliteDialect.findTable("deliveries")).get() === undefined) return;
    count = Number(db.prepare("SELECT count(*) AS count FROM deliveries WHERE state = 'queued'").get()?.count);
  } catch (error) {
    const problem = `DATABASE_URL is set, and it is unknown whether deliveries wait in ${file} (${errorName(error)})`;
    throw new StoreRefused({ problem, remedy: "restore it, or move it away" }, { cause: error });
  }
  if (count === 0) return;
  const problem = `DATABASE_URL is set, and ${plural(count, "delivery")} in ${file} would never be sent`;
  throw new StoreRefused({ problem, remedy: "move its messages", command: `messages restore ${file}` });
}

/** How long a statement waits while another process holds the lock. */
const BUSY_TIMEOUT_MS = 3000;
const OPEN_TIMEOUT_MS = 10_000;
const CHECKPOINT_TIMEOUT_MS = 10_000;
const PAUSE_MS = 20;
const UPKEEP_INTERVAL_MS = 1000;
// Older versions could lose committed rows if two processes write to one database in WAL mode.
const OLDEST_SAFE = "3.51.3";
/** "BCmg": marks a file as ours. */
export const APPLICATION_ID = 0x42436d67;

/**
 * synchronous: a commit is on disk before it returns. secure_delete: erased text is overwritten. temp_store: no copies
 * in the system's temporary folder. cache_size and wal_autocheckpoint make commits faster. journal_size_limit shrinks a
 * log that grew during a long read.
 */
const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA secure_delete = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -32000;
  PRAGMA wal_autocheckpoint = 16000;
  PRAGMA journal_size_limit = 65536000;
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`;

/**
 * Opens the file; creates it if necessary. Safe if several processes do so at once. Once the files are no longer those
 * that were opened, every call rejects with StoreLost, until the file is back if it may be reopened.
 */
export async function openSqlite(file: string, mayReopen = false): Promise<Database> {
  requireSafeVersion(versions.sqlite ?? "");
  createPrivateFile(file);
  // Keeps statements out of each other's transactions.
  const inTurn = serially();
  const run = <T>(work: () => Promise<T>) =>
    inTurn(work).catch((error) => {
      throw toStoreError(error);
    });
  let opened = await run(() => connect(file));
  const runOnFile = <T>(work: (connection: typeof opened) => Promise<T>) =>
    run(async () => {
      if (mayReopen && opened.upkeep.isBack()) opened = await connect(file);
      await opened.upkeep.verify();
      return work(opened).catch((error) => {
        if (isDamage(error)) markDamaged(opened.db);
        throw error;
      });
    });
  // If it finds a problem, the next call rejects with it.
  const timer = setInterval(() => void run(() => opened.upkeep.tick()).catch(() => {}), UPKEEP_INTERVAL_MS).unref();
  return {
    dialect: sqliteDialect,
    query: (sql, values) => runOnFile(({ query }) => query(sql, values)),
    transaction: (work, { isSnapshot = false } = {}) =>
      runOnFile(({ db, query }) => transaction(db, () => work({ query, dialect: sqliteDialect }), isSnapshot)),
    eraseTraces: () => runOnFile(({ db }) => eraseTraces(db)),
    verify: () =>
      runOnFile(async ({ db }) => {
        if (isMarkedDamaged(db)) throw new StoreUnavailable(DAMAGE);
      }),
    close: () =>
      run(async () => {
        clearInterval(timer);
        const { db, upkeep } = opened;
        if (!db.isOpen) return;
        db.close();
        upkeep.end();
      }),
  };
}

async function connect(file: string) {
  const db = new DatabaseSync(file, { timeout: OPEN_TIMEOUT_MS });
  try {
    requireOwnFile(db, file);
    await switchToWal(db);
    db.exec(`${SETTINGS}; PRAGMA application_id = ${APPLICATION_ID}`);
  } catch (error) {
    db.close();
    throw error;
  }
  return { db, query: queryOf(db), upkeep: createUpkeep(db, file) };
}

/** The system releases the lock when the process ends. Throws StoreRefused if another website holds it. */
export function lockFolder(
  dataDir: string,
  remedy = "or set DATA_DIR to another folder (or DATABASE_URL, for several nodes)",
): () => void {
  const file = join(dataDir, "website.lock");
  // Opening and closing the file would release a lock that this process holds.
  if (!existsSync(file)) createPrivateFile(file);
  const lock = new DatabaseSync(file, { timeout: 0, open: false });
  try {
    lock.open();
    // No journal file, because there is nothing to roll back.
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    lock[Symbol.dispose]();
    if (primaryCode(error) !== BUSY) throw toStoreError(error);
    throw new StoreRefused({ problem: `A website already uses ${dataDir}`, remedy: `stop it, ${remedy}` });
  }
  return () => lock[Symbol.dispose]();
}

function createUpkeep(db: DatabaseSync, file: string) {
  const files = rememberFiles(file);
  let loss: StoreLost | null = null;
  let logVersion: string | null = null;

  async function verify(): Promise<void> {
    if (loss === null && !files.areInPlace()) {
      const problem = `${file}, or its -wal or -shm file, was removed or replaced while it was in use`;
      loss = new StoreLost({ problem, remedy: "put the files back or restore a backup, then restart" });
      db.close();
      files.removeStrays();
    }
    if (loss) throw loss;
  }

  async function tick(): Promise<void> {
    if (!db.isOpen) return;
    await verify();
    const before = logVersion;
    logVersion = files.logVersion();
    // Empties the log once nobody writes. Does not wait: the next checkpoint moves what this one cannot.
    if (logVersion !== null && logVersion === before) checkpoint(db, 0);
  }

  /** The same file, not another one in its place. */
  const isBack = () => loss !== null && files.isOpened();
  return { verify, tick, isBack, end: files.removeStrays };
}

export function queryOf(db: DatabaseSync): Query {
  const prepared = new Map<string, StatementSync>();
  return async <Row>(sql: string, values: readonly Value[] = []) => {
    try {
      let statement = prepared.get(sql);
      if (!statement) {
        // SQLite reads `$1` as a name and `?1` as a number.
        statement = db.prepare(sql.replaceAll(/\$(?=\d)/g, "?"));
        prepared.set(sql, statement);
      }
      return statement.all(...values.map(toParameter)).map((row) => toRecord<Row>(row));
    } catch (error) {
      throw toStoreError(error);
    }
  };
}

async function transaction<T>(db: DatabaseSync, work: () => Promise<T>, isSnapshot: boolean): Promise<T> {
  db.exec(isSnapshot ? "BEGIN" : "BEGIN IMMEDIATE");
  try {
    const result = await work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // After some disk errors SQLite rolls back by itself. If a rollback fails, nothing may follow in this transaction.
    try {
      if (db.isTransaction) db.exec("ROLLBACK");
    } catch {
      db.close();
    }
    throw error;
  }
}

/**
 * `secure_delete` alone is not enough: a row that moved to another page leaves a copy in the free part of the old page,
 * and the write-ahead log contains old versions of pages. So this rewrites the file and empties the log.
 */
async function eraseTraces(db: DatabaseSync): Promise<void> {
  db.exec("VACUUM");
  if (checkpoint(db, CHECKPOINT_TIMEOUT_MS)) return;
  const problem = "The messages are deleted, but another program keeps old pages of the message database in use";
  throw new StoreUnavailable({ problem, remedy: "close it: the website removes what is left within an hour" });
}

/** Empties the write-ahead log. Returns false if a reader uses it for the whole time. */
function checkpoint(db: DatabaseSync, timeoutMs: number): boolean {
  db.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
  try {
    return db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

export function requireSafeVersion(version: string): void {
  if (version.localeCompare(OLDEST_SAFE, "en", { numeric: true }) < 0) {
    const remedy = `${OLDEST_SAFE} or newer is needed: update Node, or set DATABASE_URL`;
    throw new StoreRefused({ problem: `SQLite ${version} may lose messages`, remedy });
  }
}

/** Refuses another program's file and does not change it. */
function requireOwnFile(db: DatabaseSync, file: string): void {
  const refusal = {
    problem: `${file} is not a database of this program`,
    remedy: "move it away, or set DATA_DIR to another folder",
  };
  try {
    // Reads both values in one transaction, because another process may be creating the database.
    db.exec("BEGIN");
    const { tables } = db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
    const { application_id: id } = db.prepare("PRAGMA application_id").get() as { application_id: number };
    db.exec("ROLLBACK");
    if (id !== APPLICATION_ID && (id !== 0 || tables > 0)) throw new StoreRefused(refusal);
  } catch (error) {
    throw primaryCode(error) === NOT_A_DATABASE ? new StoreRefused(refusal, { cause: error }) : error;
  }
}

/** Retries, because SQLite itself does not wait for the lock here. */
async function switchToWal(db: DatabaseSync): Promise<void> {
  const deadlineMs = performance.now() + OPEN_TIMEOUT_MS;
  for (;;) {
    try {
      return db.exec("PRAGMA journal_mode = WAL");
    } catch (error) {
      if (primaryCode(error) !== BUSY || performance.now() >= deadlineMs) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}

export const BUSY = 5;
export const FULL = 13;
const NOT_A_DATABASE = 26;
const DAMAGED: readonly (number | undefined)[] = [11, NOT_A_DATABASE];
const DAMAGE: Advice = {
  problem: "The file of the message database is damaged",
  remedy: "recover its messages with sqlite3, as docs/operations.md describes, or restore the last backup",
};
const LOCKED = ["it stayed locked by another program", "close that program"] as const;
/** Result codes that mean "not now" or "not on this disk", each with its cause and remedy. */
const UNAVAILABLE: Readonly<Record<number, readonly [reason: string, remedy: string]>> = {
  [BUSY]: LOCKED,
  6: LOCKED,
  7: ["there is no memory left", "free some memory"],
  8: ["it is read-only", "make the file and its folder (DATA_DIR) writable"],
  10: ["the disk reported an error", "check the disk that holds DATA_DIR"],
  [FULL]: ["the disk is full", "free some space on the disk with DATA_DIR"],
  14: ["its file cannot be opened", "check that DATA_DIR exists and is writable"],
  15: ["its lock files cannot be used", "DATA_DIR must be on a local disk"],
};

function toStoreError(error: unknown): unknown {
  if (isSystemError(error)) {
    const problem = `${UNUSABLE}: its files cannot be reached (${errorCode(error)})`;
    const remedy = "check the disk that holds DATA_DIR, and whether the server's user may read and write there";
    return storeError(errorCode(error), { problem, remedy }, error);
  }
  if (error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE") {
    return new StoreUnavailable({ problem: "The message database is closed" }, { cause: error });
  }
  const code = primaryCode(error) ?? 0;
  if (DAMAGED.includes(code)) return storeError(`sqlite ${code}`, DAMAGE, error);
  const [reason, remedy] = UNAVAILABLE[code] ?? [];
  if (!reason || !remedy) return error;
  const problem = `${UNUSABLE}: ${reason} (SQLite error ${code})`;
  return storeError(`sqlite ${code}`, { problem, remedy }, error);
}

function isDamage(error: unknown): boolean {
  return DAMAGED.includes(primaryCode(error instanceof StoreUnavailable ? error.cause : error));
}

/** Marks the file in its header, so that every process knows of the damage, also after a restart. */
function markDamaged(db: DatabaseSync): void {
  try {
    if (!isMarkedDamaged(db)) db.exec("PRAGMA user_version = 1");
  } catch {
    // The damage includes the header, and every call fails.
  }
}

function isMarkedDamaged(db: DatabaseSync): boolean {
  return db.prepare("PRAGMA user_version").get()?.user_version !== 0;
}

/** Extended codes such as SQLITE_IOERR_FSYNC contain the primary code in their low byte. */
export function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;
}
