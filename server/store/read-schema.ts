import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { StoreUnavailable } from "./store.ts";

export interface SchemaState {
  /** `null`: the database has no tables of ours yet. */
  version: number | null;
  /** A commit is confirmed before it is on disk. */
  losesCommits: boolean;
}

/** Looks at a database without making, upgrading or locking anything. Rejects with StoreUnavailable. */
export function readSchema({ databaseUrl, dataDir }: Pick<Config, "dataDir" | "databaseUrl">): Promise<SchemaState> {
  return databaseUrl === null ? readSqlite(dataDir) : readPostgres(databaseUrl);
}

async function readSqlite(dataDir: string): Promise<SchemaState> {
  const { SQLITE_FILE } = await import("./sqlite-store.ts");
  const { DatabaseSync } = await import("node:sqlite");
  const file = join(dataDir, SQLITE_FILE);
  if (!existsSync(file)) return { version: null, losesCommits: false };
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const row = db.prepare("SELECT value FROM store_meta WHERE name = 'schema_version'").get();
      return { version: Number(row?.value), losesCommits: false };
    } finally {
      db.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`${file} cannot be read: ${reason}`, { cause: error });
  }
}

async function readPostgres(databaseUrl: string): Promise<SchemaState> {
  const { createPool, postgresQuery } = await import("./postgres/pool.ts");
  const pool = createPool(databaseUrl);
  const query = postgresQuery(pool);
  try {
    const [setting] = await query<{ synchronous_commit: string }>("SHOW synchronous_commit");
    const losesCommits = setting?.synchronous_commit === "off";
    const [table] = await query<{ is_there: boolean }>("SELECT to_regclass('store_meta') IS NOT NULL AS is_there");
    if (!table?.is_there) return { version: null, losesCommits };
    const [row] = await query<{ value: string }>("SELECT value FROM store_meta WHERE name = 'schema_version'");
    return { version: Number(row?.value), losesCommits };
  } finally {
    await pool.end();
  }
}
