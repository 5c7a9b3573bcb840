import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { plural } from "../../contract/plural.ts";
import type { Config } from "../config.ts";
import { withinMs } from "../time.ts";
import { acceptingMethods } from "./accepting.ts";
import { changeMethods } from "./changes.ts";
import { type Database, type Query, readColumn, writeMeta } from "./database.ts";
import { deliveryMethods } from "./deliveries.ts";
import { eventMethods } from "./events.ts";
import { listingMethods, messageReader } from "./listing.ts";
import { rescue } from "./rescue.ts";
import { readLeftMessages, restoreMethods } from "./restore.ts";
import { retentionMethods } from "./retention.ts";
import { type Migration, migrate, readSchemaVersion } from "./schema.ts";
import { createSpamFilter } from "./spam-filter.ts";
import { lockFolder, openSqlite, openSqliteToRead, sqliteFile } from "./sqlite.ts";
import { writeNewFile } from "./sqlite-files.ts";
import { noteDamage, statusMethods } from "./status.ts";
import { type Store, StoreUnavailable } from "./store.ts";
import { openInThread } from "./thread.ts";

type StoreSettings = Pick<Config, "dataDir" | "databaseUrl" | "retention">;

export interface StoreOptions {
  /** This is the website. A second one on the same SQLite file is refused, and its statements run in a thread. */
  isServer?: boolean;
  /** Called when that thread has ended without `close`: the store cannot be used until a restart. */
  onThreadEnd?(error: StoreUnavailable): void;
  /** To PostgreSQL; 8 unless given. */
  maxConnections?: number;
  migrations?: readonly Migration[] | undefined;
}

/**
 * Opens the store the settings name, created or upgraded if need be. Rejects with StoreRefused or StoreUnavailable, whose
 * message is one line that says what to do. The PostgreSQL library is loaded only where it is used.
 */
export async function openStore(settings: StoreSettings, options: StoreOptions = {}): Promise<Store> {
  const { databaseUrl, dataDir, retention } = settings;
  if (databaseUrl !== null) {
    const { openPostgres } = await import("./postgres.ts");
    return createStore(await openPostgres(databaseUrl, options.maxConnections), retention, options);
  }
  if (!options.isServer) return openSqliteStore(settings, options);
  const unlock = lockFolder(dataDir);
  const store = await openInThread<Store>(new URL("./sqlite-thread.ts", import.meta.url), settings, {
    bound: (answer, method) =>
      withinMs(LONG_METHODS.has(method) ? LONG_CALL_LIMIT_MS : CALL_LIMIT_MS, answer, noAnswer),
    onEnd: options.onThreadEnd,
  }).catch((error) => {
    unlock();
    throw error;
  });
  const { close } = store;
  return Object.assign(store, { close: () => close().finally(unlock) });
}

/** A disk that takes longer than this is reported as unavailable; what was asked may still happen. */
const CALL_LIMIT_MS = 8000;
const LONG_CALL_LIMIT_MS = 15 * 60_000;
const LONG_METHODS = new Set<string>([
  "act",
  "backup",
  "erase",
  "flushBacklog",
  "finishErasure",
  "markAnnounced",
  "markReported",
  "purge",
] satisfies (keyof Store)[]);

function noAnswer(limitMs: number): StoreUnavailable {
  const problem = `The message database has not answered for ${limitMs / 1000} s`;
  return new StoreUnavailable(`${problem}; check the disk that holds DATA_DIR`);
}

/** In the present thread. For the operator's commands, and for the thread of the server. */
export async function openSqliteStore(
  { dataDir, retention }: Pick<StoreSettings, "dataDir" | "retention">,
  { isServer = false, migrations }: StoreOptions = {},
): Promise<Store> {
  const database = await openSqlite(sqliteFile(dataDir), { savesLost: isServer });
  const store = await createStore(database, retention, {
    migrations,
    lockOut: () => lockFolder(dataDir, "then restore"),
  });
  if (isServer) {
    // Of the one before, which is gone. Tokens stay: they tell that the outcome of the attempt is unknown.
    await database.query("UPDATE deliveries SET leased_until = NULL WHERE leased_until IS NOT NULL");
    await database.query("DELETE FROM meta WHERE name LIKE 'node.%'");
  }
  return store;
}

/** As long as the longest message with its estimate. */
const MESSAGE_BYTES = 9000;
/** What is read within seconds. */
const MAX_CHECKED_BYTES = 2 ** 30;
/** More pages than a message changes in all tables and indexes: a disk that takes as many takes a message too. */
const WHOLE_MESSAGE_BYTES = 160 * 1024;
/** A check writes to the disk, and every request for `/readyz` or the metrics asks for one. */
const CHECK_INTERVAL_MS = 10_000;
/** After a failure, so that the end of an outage is noticed soon. */
const RECHECK_INTERVAL_MS = 1000;

/** All rules, on either database. Closes it when it cannot be used. */
export async function createStore(
  opened: Database,
  retention: Config["retention"],
  {
    migrations,
    checkIntervalMs = CHECK_INTERVAL_MS,
    lockOut = null,
  }: Pick<StoreOptions, "migrations"> & { checkIntervalMs?: number; lockOut?: (() => () => void) | null } = {},
): Promise<Store> {
  const { database, damagedAt } = noteDamage(opened);
  const { query, dialect } = database;
  const clientKey = await database
    .transaction((query) => migrate(query, dialect, migrations), { lock: "migrating", isLong: true })
    .catch(async (error) => {
      await database.close();
      throw error;
    });
  // Random, because PostgreSQL compresses what it can.
  const writeBytes = (query: Query, bytes: number) =>
    writeMeta(query, "write_check", randomBytes(bytes / 2).toString("hex"));
  const check = shareCheck(checkIntervalMs, (isThorough) =>
    isThorough
      ? database.transaction((query) => writeBytes(query, WHOLE_MESSAGE_BYTES), { lock: "accepting" })
      : writeBytes(query, MESSAGE_BYTES),
  );
  const readMessages = messageReader(dialect, retention);
  const spamFilter = createSpamFilter(database, clientKey);
  const { settled, ...accepting } = acceptingMethods(database, clientKey, spamFilter, check.fail);
  const { markBackedUp, ...status } = statusMethods(database);
  return {
    clientKey,
    ...accepting,
    ...deliveryMethods(database, clientKey, readMessages),
    ...listingMethods(database, readMessages),
    ...eventMethods(database),
    ...changeMethods(database, readMessages, spamFilter),
    ...spamFilter.methods,
    ...retentionMethods(database, retention),
    ...restoreMethods(database, status, lockOut),
    ...status,
    damagedAt,
    async backup(file, now) {
      await writeNewFile(file, (target) => database.copyTo(target, createEmpty));
      // The copy is whole, whether or not its time can be noted.
      await markBackedUp(now).catch((error) => {
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    },
    async ping() {
      await database.verify();
      await check.run();
    },
    async close() {
      await settled();
      await database.close();
    },
  };
}

/** Writes a new SQLite file with every message that can still be read in the damaged database of the folder. */
export async function rescueMessages(dataDir: string, file: string): Promise<Awaited<ReturnType<typeof rescue>>> {
  let rescued = { messages: 0, unreadable: [] as string[] };
  await writeNewFile(file, async (target) => {
    const database = await createEmpty(target);
    rescued = await rescue(sqliteFile(dataDir), database).finally(() => database.close());
  });
  return rescued;
}

async function createEmpty(file: string): Promise<Database> {
  const database = await openSqlite(file);
  await database.transaction((query) => migrate(query, database.dialect));
  return database;
}

/**
 * One check for all who ask: a success is kept for some time, a failure for a second. After a failure, or after a message
 * could not be stored, it is thorough until it succeeds.
 */
function shareCheck(intervalMs: number, check: (isThorough: boolean) => Promise<void>) {
  let startedAtMs = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  let last = Promise.resolve();
  /** A message could not be stored. */
  const fail = (error: unknown) => {
    if (!hasFailed) startedAtMs = performance.now();
    hasFailed = true;
    last = Promise.reject(error);
    last.catch(() => {});
  };
  const run = (): Promise<void> => {
    const keptMs = hasFailed ? Math.min(intervalMs, RECHECK_INTERVAL_MS) : intervalMs;
    if (performance.now() - startedAtMs < keptMs) return last;
    startedAtMs = performance.now();
    const checked = check(hasFailed);
    last = checked;
    checked.then(
      () => {
        // Nothing has failed since.
        if (last === checked) hasFailed = false;
      },
      () => {
        hasFailed = true;
      },
    );
    return last;
  };
  return { run, fail };
}

/**
 * Messages that stayed in DATA_DIR when DATABASE_URL was set: what is wrong and what to do, and the reference of the newest.
 * They were moved if the other database has that. `null` where there are none.
 */
export function findLeftMessages({ dataDir, databaseUrl }: Omit<StoreSettings, "retention">, program: string) {
  const file = sqliteFile(dataDir);
  const left = databaseUrl === null ? null : readLeftMessages(file);
  if (left === null) return null;
  const { newest, messages, unsent } = left;
  const problem = `${file} still holds ${plural(messages, "message")}, ${unsent} of them unsent, and the newest is not in the database of DATABASE_URL`;
  const remedy = `to move them there, stop the website and run: ${program} restore ${file}; once they are no longer needed, delete that file`;
  return { newest, problem, remedy };
}

export type DatabaseState = Awaited<ReturnType<typeof inspectDatabase>>;

/**
 * What is known of a database without creating, upgrading or locking anything. Rejects with StoreUnavailable, or with
 * StoreRefused where the tables are none that this version can use.
 */
export async function inspectDatabase(
  { databaseUrl, dataDir }: Pick<StoreSettings, "databaseUrl" | "dataDir">,
  references: readonly string[],
) {
  const database =
    databaseUrl === null
      ? await openSqliteToRead(sqliteFile(dataDir))
      : await (await import("./postgres.ts")).openPostgres(databaseUrl, 1);
  const state = {
    /** Of the schema; `null`: the database has no tables of ours yet. */
    version: null as number | null,
    /** A commit is confirmed before it is on disk. */
    losesCommits: false,
    /** How far this machine's clock is ahead of the database's. */
    clockAheadMs: 0,
    /** Those of the given references that no message has. */
    unknownReferences: [] as string[],
    /** What is wrong with the file; `null`: nothing was found, or it is too large to be read here. */
    damage: null as string | null,
  };
  if (database === null) return state;
  const { query, dialect } = database;
  try {
    const commitsEarly = "SELECT 1 WHERE current_setting('synchronous_commit') = 'off'";
    state.losesCommits = databaseUrl !== null && (await query(commitsEarly)).length > 0;
    state.clockAheadMs = Date.now() - (await database.time()).getTime();
    state.version = await readSchemaVersion(query, dialect);
    if (state.version === null) return state;
    if (databaseUrl === null && statSync(sqliteFile(dataDir)).size < MAX_CHECKED_BYTES) {
      const [problem] = await readColumn<string>(query, "PRAGMA quick_check(1)");
      if (problem !== "ok") state.damage = problem ?? "it cannot be checked";
    }
    const sql = `SELECT reference FROM messages WHERE ${dialect.isIn("reference", "$1")}`;
    const known = new Set(await readColumn<string>(query, sql, [references]));
    state.unknownReferences = references.filter((reference) => !known.has(reference));
    return state;
  } finally {
    await database.close();
  }
}
