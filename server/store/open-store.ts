import { setImmediate } from "node:timers/promises";
import type { Config } from "../config.ts";
import { withinMs } from "../time.ts";
import { acknowledgementMethods } from "./acknowledgements.ts";
import { changeMethods } from "./actions.ts";
import { type Database, type PendingMessage, writeMeta } from "./database.ts";
import { listingMethods } from "./listing.ts";
import type { SchemaState } from "./migrations.ts";
import { queueMethods } from "./queue.ts";
import { retentionMethods } from "./retention.ts";
import { openSqlite, readSqliteSchema, type SqliteThreadOptions, sqliteFile } from "./sqlite.ts";
import { writeNewFile } from "./sqlite-files.ts";
import { statusMethods } from "./status.ts";
import { type Acceptance, type Store, StoreUnavailable } from "./store.ts";

type StoreSettings = Pick<Config, "dataDir" | "databaseUrl">;

/**
 * Opens the store the settings name, created or upgraded if need be. Rejects with StoreRefused or StoreUnavailable, whose
 * message is one line that says what to do. The PostgreSQL library is loaded only where it is used.
 */
export async function openStore(
  { databaseUrl, dataDir }: StoreSettings,
  options: SqliteThreadOptions & { maxConnections?: number } = {},
): Promise<Store> {
  if (databaseUrl !== null) {
    return createStore(await (await import("./postgres.ts")).openPostgres(databaseUrl, options));
  }
  return createStore(await openSqlite(dataDir, options));
}

/** For a whole message, the wait for the batch before it included. */
const ACCEPT_LIMIT_MS = 8000;
/** As long as the longest message with its estimate, so that a disk which takes it takes a message too. */
const LONGEST_MESSAGE = 9000;

/** A check writes to the disk, and whoever asks for `/readyz` or the metrics asks for one. */
const CHECK_INTERVAL_MS = 10_000;
/** After a failure, so that the end of an outage is noticed soon. */
const RECHECK_INTERVAL_MS = 1000;

export function createStore(database: Database, checkIntervalMs = CHECK_INTERVAL_MS): Store {
  const writeCheck = shareCheck(checkIntervalMs, () =>
    writeMeta(database.query, "write_check", `${Date.now()} ${"x".repeat(LONGEST_MESSAGE)}`),
  );
  const accepting = groupCommits<PendingMessage, Acceptance>((batch) =>
    database.accept(batch).catch((error) => {
      writeCheck.expire();
      throw error;
    }),
  );
  const { markBackedUp, ...status } = statusMethods(database);
  return {
    clientKey: database.clientKey,
    accept: (submission, rules, now) =>
      withinMs(ACCEPT_LIMIT_MS, accepting.submit({ submission, rules, nowMs: now.getTime() }), notStored),
    ...queueMethods(database),
    ...acknowledgementMethods(database),
    ...listingMethods(database),
    ...changeMethods(database),
    ...status,
    ...retentionMethods(database),
    async backup(file, now) {
      await writeNewFile(file, (target) => database.copyTo(target));
      // The copy is whole, whether or not its time can be noted.
      await markBackedUp(now).catch(ignoreUnavailable);
    },
    async ping() {
      await database.verify();
      await writeCheck.run();
    },
    async close() {
      await accepting.settled();
      await database.close();
    },
  };
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
}

function notStored(limitMs: number): StoreUnavailable {
  return new StoreUnavailable(`The message database did not store a message within ${limitMs / 1000} s`);
}

/** One check for all who ask: a success is kept for some time, a failure for a second. */
function shareCheck(intervalMs: number, check: () => Promise<void>) {
  let startedAtMs = Number.NEGATIVE_INFINITY;
  let isFresh = false;
  let last = Promise.resolve();
  /** Something else failed: the next who asks gets a new check, at most one a second. */
  const expire = () => {
    isFresh = false;
  };
  const run = (): Promise<void> => {
    const keptMs = isFresh ? intervalMs : Math.min(intervalMs, RECHECK_INTERVAL_MS);
    if (performance.now() - startedAtMs >= keptMs) {
      startedAtMs = performance.now();
      isFresh = true;
      last = check();
      last.catch(expire);
    }
    return last;
  };
  return { run, expire };
}

const MAX_BATCH = 256;
const MAX_WAITING = 10_000;

/**
 * Entries that arrive together share one commit, and so one wait for the disk. Each entry's promise settles after the
 * commit that holds it. `commit` commits all entries in one transaction, or none.
 */
function groupCommits<Entry, Result>(commit: (entries: readonly Entry[]) => Promise<readonly Result[]>) {
  type Waiting = PromiseWithResolvers<Result> & { entry: Entry };
  const waiting: Waiting[] = [];
  let draining: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // One turn of the event loop, so that requests that arrived together are in one batch.
      await setImmediate();
      await settle(waiting.splice(0, MAX_BATCH));
    }
    draining = null;
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await commit(batch.map(({ entry }) => entry));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of batch) reject(error);
      } else {
        // One entry's fault: the others must not suffer from it.
        for (const one of batch) await settle([one]);
      }
    }
  }

  return {
    async submit(entry: Entry): Promise<Result> {
      if (waiting.length >= MAX_WAITING) {
        throw new StoreUnavailable(`${MAX_WAITING} messages are waiting for the database already; try again later`);
      }
      const one = { entry, ...Promise.withResolvers<Result>() };
      waiting.push(one);
      draining ??= drain();
      return one.promise;
    },
    /** Resolves when no entry is waiting any more. */
    async settled(): Promise<void> {
      while (draining) await draining;
    },
  };
}

/** Looks at a database without creating, upgrading or locking anything. Rejects with StoreUnavailable. */
export async function readSchema({ databaseUrl, dataDir }: StoreSettings): Promise<SchemaState> {
  if (databaseUrl !== null) return (await import("./postgres.ts")).readPostgresSchema(databaseUrl);
  return { version: await readSqliteSchema(sqliteFile(dataDir)), losesCommits: false, clockAheadMs: 0 };
}
