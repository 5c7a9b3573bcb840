import type { Config } from "../config.ts";
import type { Store } from "./store.ts";

/**
 * Opens the store the settings name, made or brought up to date if need be. Rejects with StoreRefused or
 * StoreUnavailable, whose message is one line that says what to do. Only the code of that store is loaded.
 */
export async function openStore({ databaseUrl, dataDir }: Pick<Config, "dataDir" | "databaseUrl">): Promise<Store> {
  if (databaseUrl === null) return (await import("./sqlite-thread-store.ts")).openSqliteThreadStore(dataDir);
  return (await import("./postgres-store.ts")).openPostgresStore(databaseUrl);
}
