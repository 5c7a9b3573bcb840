import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { StoreUnavailable } from "../store.ts";
import { whenFree } from "./when-free.ts";

const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;

/**
 * Leaves nothing of deleted rows in the database's files. `secure_delete` alone does not: a row that once moved to
 * another page leaves a copy in the free part of the old one, and the write-ahead log holds every page as it was.
 * So the file is written anew, and the log is emptied.
 */
export async function scrub(db: DatabaseSync): Promise<void> {
  await whenFree(() => db.exec("VACUUM"), PATIENCE_MS);
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (!emptyLog(db)) {
    if (performance.now() >= deadlineMs) {
      throw new StoreUnavailable(
        "The messages are gone, but another program keeps old pages of the message database in use; " +
          "close it and ask for the erasure again",
      );
    }
    await setTimeout(PAUSE_MS);
  }
}

/** Empties the write-ahead log; false when somebody still reads from it. */
export function emptyLog(db: DatabaseSync): boolean {
  const row = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
  return row.busy === 0;
}
