import { closeSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Config } from "../config.ts";
import { withinMs } from "../time.ts";
import { acknowledgementMethods } from "./acknowledgements.ts";
import type { Database, PendingMessage } from "./database.ts";
import { listingMethods } from "./listing.ts";
import { queueMethods } from "./queue.ts";
import { recordMethods } from "./records.ts";
import { openSqlite, readSqliteSchema, type SqliteThreadOptions, sqliteFile } from "./sqlite.ts";
import { statusMethods } from "./status.ts";
import { type Acceptance, type Store, StoreUnavailable } from "./store.ts";

type StoreSettings = Pick<Config, "dataDir" | "databaseUrl">;

/**
 * Opens the store the settings name, created or upgraded if need be. Rejects with StoreRefused or StoreUnavailable, whose
 * message is one line that says what to do. The PostgreSQL library is loaded only where it is used.
 */
export async function openStore(
  { databaseUrl, dataDir }: StoreSettings,
  options: SqliteThreadOptions = {},
): Promise<Store> {
  if (databaseUrl !== null) return createStore(await (await import("./postgres.ts")).openPostgres(databaseUrl));
  return createStore(await openSqlite(dataDir, options));
}

/** For a whole message, the wait for the batch before it included. */
const ACCEPT_LIMIT_MS = 8000;
/** As long as the longest message with its estimate, so that a disk which takes it takes a message too. */
const LONGEST_MESSAGE = 9000;
const WRITE_CHECK =
  "INSERT INTO store_meta VALUES ('write_check', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

export function createStore(database: Database): Store {
  const accepting = new GroupCommit<PendingMessage, Acceptance>((batch) => database.accept(batch));
  return {
    clientKey: database.clientKey,
    accept: (submission, rules, now) =>
      withinMs(ACCEPT_LIMIT_MS, accepting.submit({ submission, rules, nowMs: now.getTime() }), notStored),
    ...queueMethods(database),
    ...acknowledgementMethods(database),
    ...listingMethods(database),
    ...recordMethods(database),
    ...statusMethods(database),
    backup: (file) => writeNewFile(file, (target) => database.copyTo(target)),
    ping: async () => void (await database.query(WRITE_CHECK, [`${Date.now()} ${"x".repeat(LONGEST_MESSAGE)}`])),
    async close() {
      await accepting.settled();
      await database.close();
    },
  };
}

function notStored(limitMs: number): StoreUnavailable {
  return new StoreUnavailable(`The message database did not store a message within ${limitMs / 1000} s`);
}

const MAX_BATCH = 256;
const MAX_WAITING = 10_000;

interface Waiting<Entry, Result> {
  entry: Entry;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Entries that arrive together share one commit, and so one wait for the disk. Each entry's promise settles after the
 * commit that holds it.
 */
class GroupCommit<Entry, Result> {
  readonly #commit: (entries: readonly Entry[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Entry, Result>[] = [];
  #draining: Promise<void> | null = null;

  /** @param commit commits all entries in one transaction, or none */
  constructor(commit: (entries: readonly Entry[]) => Promise<readonly Result[]>) {
    this.#commit = commit;
  }

  submit(entry: Entry): Promise<Result> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(
        new StoreUnavailable(`${MAX_WAITING} messages are waiting for the database already; try again later`),
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ entry, resolve, reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Resolves when no entry is waiting any more. */
  async settled(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop, so that requests that arrived together are in one batch.
      await setImmediate();
      await this.#settle(this.#waiting.splice(0, MAX_BATCH));
    }
    this.#draining = null;
  }

  async #settle(batch: readonly Waiting<Entry, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(batch.map(({ entry }) => entry));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of batch) reject(error);
      } else {
        // One entry's fault: the others must not suffer from it.
        for (const one of batch) await this.#settle([one]);
      }
    }
  }
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
