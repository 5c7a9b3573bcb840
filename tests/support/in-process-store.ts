import { createStore, openStore } from "../../server/store/open-store.ts";
import { openSqliteFile, type SqliteOptions, sqliteFile } from "../../server/store/sqlite.ts";
import type { Store } from "../../server/store/store.ts";

/**
 * The store as the server opens it, but with SQLite in this thread: a thread of its own takes ten times as long to start
 * as the database. Only for one node: two of them in one thread would wait for each other's locks.
 */
export async function openStoreInProcess(
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | null },
  options: SqliteOptions = {},
): Promise<Store> {
  if (databaseUrl !== null) return openStore({ dataDir, databaseUrl });
  return createStore(await openSqliteFile(sqliteFile(dataDir), options));
}
