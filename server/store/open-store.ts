import { closeSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import type { Config } from "../config.ts";
import type { PendingMessage } from "./acceptance.ts";
import type { Database } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import { queueMethods } from "./queue.ts";
import { recordMethods } from "./records.ts";
import { openSqlite, sqliteFile } from "./sqlite.ts";
import type { Acceptance, Store } from "./store.ts";

type StoreSettings = Pick<Config, "dataDir" | "databaseUrl">;

/**
 * Opens the store the settings name, created or upgraded if need be. Rejects with StoreRefused or StoreUnavailable, whose
 * message is one line that says what to do. Only the code of that database is loaded.
 */
export async function openStore({ databaseUrl, dataDir }: StoreSettings): Promise<Store> {
  if (databaseUrl !== null) return createStore(await (await import("./postgres.ts")).openPostgres(databaseUrl));
  return createStore(await openSqlite(dataDir));
}

export function createStore(database: Database): Store {
  const accepting = new GroupCommit<PendingMessage, Acceptance>((batch) => database.accept(batch));
  return {
    clientKey: database.clientKey,
    accept: (submission, rules, now) => accepting.submit({ submission, rules, nowMs: now.getTime() }),
    ...queueMethods(database),
    ...recordMethods(database),
    backup: (file) => writeNewFile(file, (target) => database.copyTo(target)),
    ping: async () => void (await database.query("SELECT 1 FROM store_meta LIMIT 1")),
    async close() {
      await accepting.settled();
      await database.close();
    },
  };
}

export interface SchemaState {
  /** `null`: the database has no tables of ours yet. */
  version: number | null;
  /** A commit is confirmed before it is on disk. */
  losesCommits: boolean;
}

/** Looks at a database without creating, upgrading or locking anything. Rejects with StoreUnavailable. */
export async function readSchema({ databaseUrl, dataDir }: StoreSettings): Promise<SchemaState> {
  if (databaseUrl !== null) return (await import("./postgres.ts")).readPostgresSchema(databaseUrl);
  const { readSqliteSchema } = await import("./sqlite-thread.ts");
  return { version: await readSqliteSchema(sqliteFile(dataDir)), losesCommits: false };
}

/**
 * Lets `write` fill a private file beside `file`, then renames it: a backup is whole or absent, and no other file is ever
 * overwritten. What an interrupted backup left is removed.
 */
async function writeNewFile(file: string, write: (temporaryFile: string) => Promise<void>): Promise<void> {
  const temporaryFile = `${file}.partial`;
  rmSync(temporaryFile, { force: true });
  closeSync(openSync(temporaryFile, "wx", 0o600));
  try {
    await write(temporaryFile);
    const written = openSync(temporaryFile, "r");
    fsyncSync(written);
    closeSync(written);
    // Unlike a rename, this refuses a name that is taken.
    linkSync(temporaryFile, file);
  } finally {
    rmSync(temporaryFile, { force: true });
  }
}
