import type { DatabaseSync } from "node:sqlite";

/** All of the work or none of it; on disk when this returns. Synchronous, so nothing else gets in between. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after some errors of the disk.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
