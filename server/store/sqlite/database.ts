import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type ColumnTypes, pendingSql, SCHEMA_VERSION } from "../migrations/migration.ts";
import { StoreRefused, StoreUnavailable } from "../store.ts";
import { primaryCode } from "./errors.ts";
import { transaction } from "./transaction.ts";
import { whenFree } from "./when-free.ts";

const NOT_A_DATABASE = 26;
/** "BCmg": marks a file as ours. */
const APPLICATION_ID = 0x42436d67;
const OPEN_PATIENCE_MS = 10_000;

const COLUMN_TYPES: ColumnTypes = {
  // AUTOINCREMENT: an erased message's number is never given to another.
  identity: "INTEGER PRIMARY KEY AUTOINCREMENT",
  integer: "INTEGER",
  tableEnd: " STRICT",
};

/**
 * synchronous: a commit is on disk before it returns. secure_delete: erased words are overwritten. temp_store: no copies
 * in the system's temporary folder. The last two halve the time of a commit: 32 MB hold the indexes of 100,000 messages,
 * and pages that change again and again reach the file once in 16 MB of log instead of once in 4.
 */
const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA secure_delete = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -32000;
  PRAGMA wal_autocheckpoint = 16000`;

export interface OpenDatabase {
  db: DatabaseSync;
  clientKey: Uint8Array;
}

/** Opens the database, made or brought up to date if need be; safe when several processes do so at once. */
export async function openDatabase(file: string): Promise<OpenDatabase> {
  makePrivateFile(file);
  // No busy timeout: SQLite would wait for the lock on the thread that serves the pages. `whenFree` waits instead.
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    await whenFree(() => refuseForeignFile(db, file), OPEN_PATIENCE_MS);
    await whenFree(() => db.exec("PRAGMA journal_mode = WAL"), OPEN_PATIENCE_MS);
    db.exec(SETTINGS);
    const clientKey = await whenFree(() => transaction(db, () => migrate(db)), OPEN_PATIENCE_MS);
    return { db, clientKey };
  } catch (error) {
    db.close();
    throw error;
  }
}

function makePrivateFile(file: string): void {
  const folder = dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    // The write-ahead log takes its mode from this file.
    chmodSync(file, 0o600);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    throw new StoreUnavailable(
      `The messages cannot be kept in ${folder} (${reason}); set DATA_DIR to a folder that this user may write to`,
      { cause: error },
    );
  }
}

function refuseForeignFile(db: DatabaseSync, file: string): void {
  const refusal = `${file} is not a database of this program; move it away, or set DATA_DIR to another folder`;
  try {
    const { application_id, tables } = readMarks(db);
    if (application_id !== APPLICATION_ID && (application_id !== 0 || tables > 0)) throw new StoreRefused(refusal);
  } catch (error) {
    throw primaryCode(error) === NOT_A_DATABASE ? new StoreRefused(refusal, { cause: error }) : error;
  }
}

/** Both at one moment: another process may be making the database just now. */
function readMarks(db: DatabaseSync): { application_id: number; tables: number } {
  db.exec("BEGIN");
  try {
    const { tables } = db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
    const { application_id } = db.prepare("PRAGMA application_id").get() as { application_id: number };
    return { application_id, tables };
  } finally {
    if (db.isTransaction) db.exec("ROLLBACK");
  }
}

function migrate(db: DatabaseSync): Uint8Array {
  db.exec("CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT");
  const read = db.prepare("SELECT value FROM store_meta WHERE name = ?");
  const write = db.prepare(
    "INSERT INTO store_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const readValue = (name: string) => (read.get(name) as { value: string } | undefined)?.value;

  const pending = pendingSql(Number(readValue("schema_version") ?? 0), COLUMN_TYPES);
  for (const sql of pending) db.exec(sql);
  if (pending.length > 0) {
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    write.run("schema_version", String(SCHEMA_VERSION));
  }
  if (readValue("client_key") === undefined) write.run("client_key", randomBytes(32).toString("hex"));
  return Buffer.from(readValue("client_key") ?? "", "hex");
}
