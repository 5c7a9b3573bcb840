import { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../store.ts";

// Older ones could lose committed rows when two processes write to one database in WAL mode.
const OLDEST_SAFE = [3, 51, 3] as const;

export function installedSqliteVersion(): string {
  const memory = new DatabaseSync(":memory:");
  const row = memory.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  memory.close();
  return row.version;
}

export function refuseUnsafeSqlite(version: string): void {
  const parts = version.split(".").map(Number);
  const difference = OLDEST_SAFE.map((oldest, index) => (parts[index] ?? 0) - oldest).find((part) => part !== 0) ?? 0;
  if (difference < 0) {
    throw new StoreRefused(
      `SQLite ${version} may lose messages; ${OLDEST_SAFE.join(".")} or newer is needed: update Node, or set DATABASE_URL`,
    );
  }
}
