import { randomBytes } from "node:crypto";
import type pg from "pg";
import { type ColumnTypes, pendingSql, SCHEMA_VERSION } from "../migrations/migration.ts";
import { StoreRefused } from "../store.ts";
import { MIGRATION_LOCK, type Run, transaction } from "./transaction.ts";

const COLUMN_TYPES: ColumnTypes = {
  identity: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  integer: "BIGINT",
  tableEnd: "",
};

/** Makes the tables or brings them up to date; gives the database's client key. Nodes that start at once take turns. */
export function migrate(pool: pg.Pool): Promise<Uint8Array> {
  return transaction(pool, MIGRATION_LOCK, async (run) => {
    await refuseForeignTables(run);
    await run("CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)");
    const pending = pendingSql(Number((await readMeta(run, "schema_version")) ?? 0), COLUMN_TYPES);
    for (const sql of pending) await run(sql);
    if (pending.length > 0) {
      await run(
        "INSERT INTO store_meta VALUES ('schema_version', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [String(SCHEMA_VERSION)],
      );
    }
    await run("INSERT INTO store_meta VALUES ('client_key', $1) ON CONFLICT DO NOTHING", [
      randomBytes(32).toString("hex"),
    ]);
    return Buffer.from((await readMeta(run, "client_key")) ?? "", "hex");
  });
}

async function readMeta(run: Run, name: string): Promise<string | undefined> {
  const [row] = await run<{ value: string }>("SELECT value FROM store_meta WHERE name = $1", [name]);
  return row?.value;
}

async function refuseForeignTables(run: Run): Promise<void> {
  const [row] = await run<{ is_foreign: boolean }>(
    "SELECT to_regclass('messages') IS NOT NULL AND to_regclass('store_meta') IS NULL AS is_foreign",
  );
  if (row?.is_foreign === true) {
    throw new StoreRefused(
      'The database already has a table "messages" of another program; give this one a database of its own (DATABASE_URL)',
    );
  }
}
