import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { serially } from "../../contract/serially.ts";
import { errorName } from "../log.ts";
import { withinMs } from "../time.ts";
import { acceptBatch } from "./acceptance.ts";
import { admitAcknowledgements } from "./acknowledgements.ts";
import {
  casesOf,
  type Database,
  type Dialect,
  isAscii,
  letterClasses,
  likePattern,
  type NewEvent,
  type Query,
  queryReferences,
  toParameter,
  toRecord,
  type Value,
} from "./database.ts";
import { type ColumnTypes, migrate, readSchemaVersion } from "./migrations.ts";
import { createPrivateFile, errorCode, rememberFiles, savedFile, writeNewFile } from "./sqlite-files.ts";
import { StoreLost, StoreRefused, StoreUnavailable } from "./store.ts";

const dialect: Dialect = {
  // One server, so its clock is the only one.
  leaseNow: (nodeNow) => nodeNow,
  lockRows: "",
  lowerCaseEmail: "lower(email)",
  isIn: (column, jsonArray) => `${column} IN (SELECT value FROM json_each(${jsonArray}))`,
  // Binary items, so that reading a field of one does not parse all of it again.
  itemsOf: (jsonArray) => `jsonb_each(${jsonArray})`,
  // LIKE ignores the case of ASCII letters only. GLOB knows classes of any letters, but takes twice as long, even where a
  // plain letter comes first: hence a pattern for each case of the first, and only for what LIKE has let through.
  contains(text, words, place) {
    const isLike = `(${text}) LIKE ${place(likePattern(words).replaceAll(/[^ -~]/gu, "_"))} ESCAPE '\\'`;
    if (isAscii(words)) return isLike;
    const [first = "", ...others] = words;
    const escapeOther = (character: string) => character.replace(/[*?[]/, "[$&]");
    const rest = letterClasses(others, escapeOther);
    const starts = [...new Set([first, ...casesOf(first)])];
    const globs = starts.map((start) => `(${text}) GLOB ${place(`*${escapeOther(start)}${rest}*`)}`);
    return `${isLike} AND (${globs.join(" OR ")})`;
  },
};

export function sqliteFile(dataDir: string): string {
  return join(dataDir, "messages.db");
}

/** Marks the thread that runs this file. */
const THREAD_ROLE = "sqlite";

type Method = Exclude<keyof Database, "dialect" | "clientKey" | "isShared">;

interface Call {
  id: number;
  method: Method;
  args: readonly unknown[];
}

/** Number 0 answers the opening, with the client key. Without a number: the database's files are gone. */
type Reply = { id: number; result: unknown } | { id: number; failure: PlainError } | { lost: string; isDone: boolean };

type PlainError = Pick<NodeJS.ErrnoException, "name" | "message" | "code">;

export interface SqliteThreadOptions {
  /** Called when the thread has ended though nobody closed it: the database cannot be used until a restart. */
  onThreadEnd?(error: StoreUnavailable): void;
  /**
   * Called when the database's files were removed or replaced, after what they held was saved, or could not be. From then on
   * every call rejects with this error, until a restart. Without it nothing is saved: that is up to the server.
   */
  onLost?(error: StoreLost): void;
}

/** A disk that takes longer than this is reported as unavailable; what was asked may still happen. */
const CALL_LIMIT_MS = 8000;
const LONG_CALL_LIMIT_MS = 15 * 60_000;

/**
 * The SQLite database of `dataDir`, in a thread of its own: its calls wait for the disk, and the
 * thread that serves the pages must not. For one server, with the operator's commands beside it.
 */
export async function openSqlite(dataDir: string, options: SqliteThreadOptions = {}): Promise<Database> {
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { role: THREAD_ROLE, file: sqliteFile(dataDir), savesLost: options.onLost !== undefined },
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let isClosed = false;
  let lost: StoreLost | null = null;

  thread.on("message", (reply: Reply) => {
    if ("lost" in reply) {
      lost = new StoreLost(reply.lost);
      if (reply.isDone) options.onLost?.(lost);
      return;
    }
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("result" in reply) call?.resolve(reply.result);
    else call?.reject(toError(reply.failure));
  });

  let reason = "no error was given";
  // The thread's end follows.
  thread.on("error", (error) => {
    reason = errorName(error);
  });
  thread.once("exit", () => {
    if (isClosed) return;
    isClosed = true;
    const error = new StoreUnavailable(
      `The thread of the message database ended unexpectedly (${reason}); restart the server`,
    );
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    options.onThreadEnd?.(error);
  });

  function answerTo<T>(id: number): Promise<T> {
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    return answer.promise as Promise<T>;
  }

  function call<T>(method: Method, args: readonly unknown[], limitMs = CALL_LIMIT_MS): Promise<T> {
    if (isClosed) return Promise.reject(new StoreUnavailable("The message database is closed"));
    // At once, though the thread may be busy with saving.
    if (lost && method !== "close") return Promise.reject(lost);
    lastId += 1;
    thread.postMessage({ id: lastId, method, args } satisfies Call);
    return withinMs(limitMs, answerTo<T>(lastId), noAnswer);
  }

  const clientKey = await answerTo<Uint8Array>(0).catch(async (error) => {
    isClosed = true;
    await thread.terminate();
    throw error;
  });
  return {
    dialect,
    clientKey,
    isShared: false,
    query: (sql, values) => call("query", [sql, values]),
    queryLong: (sql, values) => call("queryLong", [sql, values], LONG_CALL_LIMIT_MS),
    change: (sql, values, event) => call("change", [sql, values, event]),
    accept: (batch) => call("accept", [batch]),
    admitAcknowledgements: (...request) => call("admitAcknowledgements", request),
    eraseTraces: () => call("eraseTraces", [], LONG_CALL_LIMIT_MS),
    checkpoint: () => call("checkpoint", [], LONG_CALL_LIMIT_MS),
    verify: () => call("verify", []),
    copyTo: (file) => call("copyTo", [file], LONG_CALL_LIMIT_MS),
    async close() {
      if (isClosed) return;
      const closed = call<void>("close", []);
      isClosed = true;
      await closed;
      await thread.terminate();
    },
  };
}

function noAnswer(limitMs: number): StoreUnavailable {
  return new StoreUnavailable(
    `The message database has not answered for ${limitMs / 1000} s; check the disk that holds DATA_DIR`,
  );
}

function toError({ name, message, code }: PlainError): Error {
  if (name === "StoreLost") return new StoreLost(message);
  if (name === "StoreUnavailable") return new StoreUnavailable(message);
  if (name === "StoreRefused") return new StoreRefused(message);
  return Object.assign(new Error(message), { name, code });
}

// What follows runs in the thread.

/** How long a statement waits while another process holds the lock. */
const BUSY_TIMEOUT_MS = 3000;
const OPEN_TIMEOUT_MS = 10_000;
const CHECKPOINT_TIMEOUT_MS = 10_000;
const PAUSE_MS = 20;
const UPKEEP_INTERVAL_MS = 1000;
/** However much is written, so that a copy of the main file alone is never much older. */
const CHECKPOINT_INTERVAL_MS = 60_000;
const SAVE_INTERVAL_MS = 10_000;
// Older ones could lose committed rows when two processes write to one database in WAL mode.
const OLDEST_SAFE = "3.51.3";
/** "BCmg": marks a file as ours. */
const APPLICATION_ID = 0x42436d67;

const COLUMN_TYPES: ColumnTypes = {
  // AUTOINCREMENT: an erased message's number is never given to another.
  identity: "INTEGER PRIMARY KEY AUTOINCREMENT",
  integer: "INTEGER",
  tableEnd: " STRICT",
  keyedTableEnd: " STRICT, WITHOUT ROWID",
  recordErasures: [
    `CREATE TRIGGER messages_erased AFTER DELETE ON messages BEGIN
       INSERT OR REPLACE INTO erased_references VALUES (OLD.reference, CAST(unixepoch('subsec') * 1000 AS INTEGER));
     END`,
  ],
  numberIn: (json, field) => `REAL GENERATED ALWAYS AS (CAST(${json} ->> '${field}' AS REAL)) VIRTUAL`,
};

/**
 * synchronous: a commit is on disk before it returns. secure_delete: erased text is overwritten. temp_store: no copies
 * in the system's temporary folder. The next two halve the time of a commit: 32 MB hold the indexes of 100,000 messages,
 * and pages that change again and again reach the file once in 64 MB of log instead of once in 4. The log is never longer
 * for long: the size limit is for when somebody who read for a long time let it grow.
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

export interface SqliteOptions {
  sqliteVersion?: string;
  drawReference?: (prefix: string) => string;
  /** Called when the files are gone: before what they held is saved, and when that is done. Without it nothing is saved. */
  onLost?: ((error: StoreLost, isDone: boolean) => void) | undefined;
}

/** Opens the file, created or upgraded if need be; safe when several processes do so at once. */
export async function openSqliteFile(file: string, options: SqliteOptions = {}): Promise<Database> {
  requireSafeVersion(options.sqliteVersion ?? installedVersion());
  createPrivateFile(file);
  const db = new DatabaseSync(file, { timeout: OPEN_TIMEOUT_MS });
  const query = queryOf(db);
  // No statement may get into another's transaction.
  const inTurn = serially();
  const run = <T>(work: () => Promise<T>) => inTurn(work).catch(throwStoreError);
  const checked: Query = <Row>(sql: string, values?: readonly Value[]) =>
    query<Row>(sql, values).catch(throwStoreError);
  try {
    const clientKey = await run(async () => {
      requireOwnFile(db, file);
      await switchToWal(db);
      db.exec(SETTINGS);
      return transaction(db, async () => {
        const key = await migrate(checked, COLUMN_TYPES);
        db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
        return key;
      });
    });
    const parts = { query, dialect, clientKey, drawReference: options.drawReference };
    const upkeep = createUpkeep(db, file, options.onLost);
    const runOnFile = <T>(work: () => Promise<T>) =>
      run(() => {
        upkeep.requireNotLost();
        return work();
      });
    let isTicking = false;
    const timer = setInterval(async () => {
      if (isTicking) return;
      isTicking = true;
      // The next call rejects with what it finds.
      await run(upkeep.tick).catch(() => {});
      isTicking = false;
    }, UPKEEP_INTERVAL_MS).unref();
    return {
      dialect,
      clientKey,
      isShared: false,
      query: (sql, values) => runOnFile(() => query(sql, values)),
      queryLong: (sql, values) => runOnFile(() => query(sql, values)),
      change: (sql, values, event) => runOnFile(() => transaction(db, () => change(query, sql, values, event))),
      accept: (batch) =>
        runOnFile(async () => {
          const acceptances = await transaction(db, () => acceptBatch(batch, parts));
          // Before anybody hears of success: what is in a file that was removed is gone after a restart.
          await upkeep.verify();
          return acceptances;
        }),
      admitAcknowledgements: (...request) =>
        runOnFile(() => transaction(db, () => admitAcknowledgements(parts, ...request))),
      eraseTraces: () => runOnFile(() => eraseTraces(db)),
      checkpoint: () => runOnFile(async () => void checkpoint(db)),
      verify: () => run(upkeep.verify),
      copyTo: (target) => runOnFile(async () => void (await query("VACUUM INTO $1", [target]))),
      close: () =>
        run(async () => {
          clearInterval(timer);
          if (!db.isOpen) return;
          await upkeep.end();
          db.close();
        }),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Looks after the files of an open database. Each of its functions runs between transactions. */
function createUpkeep(db: DatabaseSync, file: string, onLost: SqliteOptions["onLost"]) {
  const files = rememberFiles(file);
  const what = `${file} was removed or replaced while it was in use, and no message is stored any more`;
  let lost: StoreLost | null = null;
  let savedTo: string | null = null;
  let isSaved = false;
  let triedAtMs = 0;
  let logVersion: string | null = null;
  let checkpointedAtMs = performance.now();

  /** Rejects with StoreLost when the files are gone. Then saves what they held, which is still open, if that is wanted. */
  async function verify(): Promise<void> {
    if (!lost && !files.areInPlace()) {
      lost = new StoreLost(`${what}; put the file back and start again`);
      if (onLost) await save(onLost);
    }
    if (lost) throw lost;
  }

  async function save(tell: NonNullable<typeof onLost>): Promise<void> {
    savedTo ??= savedFile(file, new Date());
    triedAtMs = performance.now();
    tell(new StoreLost(`${what}; its messages are being saved to ${savedTo}`), false);
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      await writeNewFile(savedTo, (target) => void db.prepare("VACUUM INTO ?").run(target));
      isSaved = true;
      lost = new StoreLost(
        `${what}; its messages were saved to ${savedTo}: stop the server, move that file to ${file}, start the server`,
      );
    } catch (error) {
      lost = new StoreLost(
        `${what}; its messages could not be saved to ${savedTo} (${errorCode(error)}) and end with this process: do not ` +
          `stop it, make that folder writable, and it is tried again within ${SAVE_INTERVAL_MS / 1000} s`,
      );
    }
    tell(lost, true);
  }

  /** To be called regularly: also empties the write-ahead log when nobody writes. */
  async function tick(): Promise<void> {
    if (!db.isOpen) return;
    if (lost) {
      if (onLost && !isSaved && performance.now() - triedAtMs >= SAVE_INTERVAL_MS) await save(onLost);
      return;
    }
    await verify();
    const before = logVersion;
    logVersion = files.logVersion();
    const isIdle = logVersion === before;
    if (logVersion === null || !(isIdle || performance.now() - checkpointedAtMs >= CHECKPOINT_INTERVAL_MS)) return;
    checkpointedAtMs = performance.now();
    // Waits for nobody: what cannot be moved now is moved the next time.
    db.exec("PRAGMA busy_timeout = 0");
    try {
      checkpoint(db);
    } finally {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  /** To be called before the database is closed. */
  async function end(): Promise<void> {
    await verify().catch(() => {});
    if (lost && onLost && !isSaved) await save(onLost);
    if (isSaved) files.removeStrays();
  }

  /** Throws what `verify` has found. */
  function requireNotLost(): void {
    if (lost) throw lost;
  }

  return { requireNotLost, verify, tick, end };
}

/** Reads the schema's version without creating, upgrading or locking anything; `null` where there is no database. */
export async function readSqliteSchema(file: string): Promise<number | null> {
  if (!existsSync(file)) return null;
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      return await readSchemaVersion(queryOf(db));
    } finally {
      db.close();
    }
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`${file} cannot be read: ${reason}`, { cause: error });
  }
}

/** Statements are prepared once and kept: there are a few dozen of them. */
function queryOf(db: DatabaseSync): Query {
  const prepared = new Map<string, StatementSync>();
  return async <Row>(sql: string, values: readonly Value[] = []) => {
    let statement = prepared.get(sql);
    if (!statement) {
      // SQLite takes `$1` for a name and `?1` for a number.
      statement = db.prepare(sql.replaceAll(/\$(?=\d)/g, "?"));
      prepared.set(sql, statement);
    }
    return statement.all(...values.map(toParameter)).map((row) => toRecord<Row>(row));
  };
}

async function change(query: Query, sql: string, values: readonly Value[], event: NewEvent): Promise<string[]> {
  const references = await queryReferences(query, sql, values);
  if (references.length > 0) {
    await query(
      "INSERT INTO message_events (reference, at, kind, detail) SELECT value, $2, $3, $4 FROM json_each($1)",
      [references, event.at, event.kind, event.detail ?? null],
    );
  }
  return references;
}

/** All of the work or none of it; on disk when this resolves. */
async function transaction<T>(db: DatabaseSync, work: () => Promise<T>): Promise<T> {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = await work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after some errors of the disk. If it cannot, nothing may follow in this transaction.
    try {
      if (db.isTransaction) db.exec("ROLLBACK");
    } catch {
      db.close();
    }
    throw error;
  }
}

/**
 * `secure_delete` alone is not enough: a row that once moved to another page leaves a copy in the free part of the old
 * one, and the write-ahead log holds every page as it was. So the file is rewritten, and the log is emptied.
 */
async function eraseTraces(db: DatabaseSync): Promise<void> {
  db.exec("VACUUM");
  const deadlineMs = performance.now() + CHECKPOINT_TIMEOUT_MS;
  while (!checkpoint(db)) {
    if (performance.now() >= deadlineMs) {
      throw new StoreUnavailable(
        "The messages are gone, but another program keeps old pages of the message database in use; " +
          "close it and run the erasure again",
      );
    }
    await setTimeout(PAUSE_MS);
  }
}

/** Empties the write-ahead log; false when somebody still reads from it. */
function checkpoint(db: DatabaseSync): boolean {
  const row = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
  return row.busy === 0;
}

function installedVersion(): string {
  const memory = new DatabaseSync(":memory:");
  const row = memory.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  memory.close();
  return row.version;
}

function requireSafeVersion(version: string): void {
  if (version.localeCompare(OLDEST_SAFE, "en", { numeric: true }) < 0) {
    throw new StoreRefused(
      `SQLite ${version} may lose messages; ${OLDEST_SAFE} or newer is needed: update Node, or set DATABASE_URL`,
    );
  }
}

/** Changes nothing in a file of another program. */
function requireOwnFile(db: DatabaseSync, file: string): void {
  const refusal = `${file} is not a database of this program; move it away, or set DATA_DIR to another folder`;
  try {
    // Both at one moment: another process may be creating the database just now.
    db.exec("BEGIN");
    const { tables } = db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
    const { application_id: id } = db.prepare("PRAGMA application_id").get() as { application_id: number };
    db.exec("ROLLBACK");
    if (id !== APPLICATION_ID && (id !== 0 || tables > 0)) throw new StoreRefused(refusal);
  } catch (error) {
    throw primaryCode(error) === NOT_A_DATABASE ? new StoreRefused(refusal, { cause: error }) : error;
  }
}

/** SQLite does not wait for the lock here by itself. */
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

const BUSY = 5;
const NOT_A_DATABASE = 26;
/** Result codes that say "not now" or "not on this disk", and what to do about each. */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  [BUSY]: "it stayed locked by another program; close that program",
  6: "it stayed locked by another program; close that program",
  7: "there is no memory left",
  8: "it is read-only; make the file and its folder (DATA_DIR) writable",
  10: "the disk reported an error; check the disk that holds DATA_DIR",
  11: "its file is damaged; stop the server and restore a backup",
  13: "the disk is full; free some space where DATA_DIR lies",
  14: "its file cannot be opened; check that DATA_DIR exists and is writable",
  15: "its lock files cannot be used; DATA_DIR must lie on a local disk",
  [NOT_A_DATABASE]: "its file is damaged; stop the server and restore a backup",
};

/** A StoreUnavailable for whatever a later try may succeed at; any other error as it is. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE") {
    return new StoreUnavailable("The message database is closed", { cause: error });
  }
  const reason = UNAVAILABLE[primaryCode(error) ?? 0];
  return reason ? new StoreUnavailable(`The message database cannot be used: ${reason}`, { cause: error }) : error;
}

function throwStoreError(error: unknown): never {
  throw toStoreError(error);
}

/** Extended codes such as SQLITE_IOERR_FSYNC carry the primary one in their low byte. */
function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;
}

if (parentPort && workerData?.role === THREAD_ROLE) {
  const port = parentPort;
  const reply = (message: Reply) => port.postMessage(message);
  try {
    const tellLost = ({ message }: StoreLost, isDone: boolean) => reply({ lost: message, isDone });
    const database = await openSqliteFile(workerData.file, { onLost: workerData.savesLost ? tellLost : undefined });
    port.on("message", async ({ id, method, args }: Call) => {
      try {
        const run = database[method] as (...values: unknown[]) => Promise<unknown>;
        reply({ id, result: await run(...args) });
      } catch (error) {
        reply({ id, failure: plain(error) });
      }
    });
    reply({ id: 0, result: database.clientKey });
  } catch (error) {
    // Stays until it is terminated, so that its answer arrives before its end.
    port.once("message", () => {});
    reply({ id: 0, failure: plain(error) });
  }
}

/** Errors lose their class between threads, so it travels by name. */
function plain(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, code } = error as NodeJS.ErrnoException;
  return code === undefined ? { name, message } : { name, message, code };
}
