import type { Config } from "../config.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { openSqliteThreadStore } from "./sqlite-thread-store.ts";
import type { Store } from "./store.ts";

/**
 * Opens the store the settings name, made or brought up to date if need be. Rejects with StoreRefused or
 * StoreUnavailable, whose message is one line that says what to do.
 */
export function openStore(config: Pick<Config, "dataDir" | "databaseUrl">): Promise<Store> {
  return config.databaseUrl === null ? openSqliteThreadStore(config.dataDir) : openPostgresStore(config.databaseUrl);
}
