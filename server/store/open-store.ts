import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import type { Config } from "../config.ts";
import { createArchive } from "./archive.ts";
import { type Database, type Query, readColumn, writeMeta } from "./database.ts";
import { createIntake } from "./intake.ts";
import { createMessages } from "./messages.ts";
import { createPeople } from "./people.ts";
import { createQueue } from "./queue.ts";
import { applyRetention } from "./retention.ts";
import { migrate, readSchemaVersion, readSecret } from "./schema.ts";
import { createSpamFilter } from "./spam.ts";
import { lockFolder, openSqlite, openSqliteToRead, sqliteFile } from "./sqlite.ts";
import { createStatus, forgetServers } from "./status.ts";
import type { StoreUnavailable } from "./store.ts";
import { openInThread } from "./thread.ts";

type StoreSettings = Pick<Config, "dataDir" | "databaseUrl" | "retention"> & {
  /** The operator who uses the store; absent for the website. */
  account?: string | null | undefined;
};

export interface StoreOptions {
  /**
   * Opens the store for the website: refuses a second website on the same SQLite file, and runs statements in a thread.
   */
  isServer?: boolean;
  /** Called if that thread ends without `close`. The store is then unusable until a restart. */
  onThreadEnd?(error: StoreUnavailable): void;
  /** The number of connections to PostgreSQL; 8 by default. */
  maxConnections?: number;
  /**
   * What to do with a database that is empty or of an earlier version. `upgrade`, the default: create or upgrade its
   * tables. `refuse`: reject. `keep`: change nothing, and allow only `archive`, whose `restore` upgrades it.
   */
  otherSchema?: "upgrade" | "refuse" | "keep" | undefined;
}

/**
 * Opens the store that the settings name; creates or upgrades it if necessary, unless `otherSchema` forbids
 * it. Rejects with StoreRefused or StoreUnavailable, whose message is one line with the remedy. Loads the PostgreSQL library only if it is needed.
 */
export async function openStore(settings: StoreSettings, options: StoreOptions = {}): Promise<Store> {
  const { databaseUrl, dataDir, retention, account } = settings;
  if (databaseUrl !== null) {
    const { openPostgres } = await import("./postgres.ts");
    return createStore(await openPostgres(databaseUrl, options.maxConnections), retention, { ...options, account });
  }
  if (!options.isServer) return openSqliteStore(settings, options);
  const unlock = lockFolder(dataDir);
  const file = new URL("./sqlite-thread.ts", import.meta.url);
  const store = await openInThread<Store>(file, settings, options.onThreadEnd).catch((error) => {
    unlock();
    throw error;
  });
  const { close } = store;
  return Object.assign(store, { close: () => close().finally(unlock) });
}

/** Runs in the current thread: for the operator's commands, and inside the server's database thread. */
export async function openSqliteStore(
  { dataDir, retention, account }: Omit<StoreSettings, "databaseUrl">,
  { isServer = false, otherSchema }: StoreOptions = {},
): Promise<Store> {
  const database = await openSqlite(sqliteFile(dataDir));
  const store = await createStore(database, retention, {
    otherSchema,
    account,
    isServer,
    lockOut: () => lockFolder(dataDir, "then restore"),
  });
  if (isServer) await forgetServers(database.query);
  return store;
}

/** The size of the longest message with its estimate. */
const MESSAGE_BYTES = 9000;
/** A file of this size is read within seconds. */
const MAX_CHECKED_BYTES = 2 ** 30;
/** More than a message changes in all tables and indexes: a disk with room for this has room for a message. */
const WHOLE_MESSAGE_BYTES = 160 * 1024;
/** A check writes to the disk, and every request for `/readyz` or the metrics needs one. */
const CHECK_INTERVAL_MS = 10_000;
/** Shorter after a failure, so that the end of an outage is noticed soon. */
const RECHECK_INTERVAL_MS = 1000;

/**
 * Stores messages. When a promise resolves, its change is committed to disk. A store that cannot be written rejects
 * with StoreUnavailable; then nothing changed, or the change was never confirmed.
 */
export type Store = Awaited<ReturnType<typeof createStore>>;

/** Combines all rules with either database. Closes the database if it cannot be used. */
export async function createStore(
  database: Database,
  retention: Config["retention"],
  {
    otherSchema = "upgrade",
    isServer = false,
    account = null,
    checkIntervalMs = CHECK_INTERVAL_MS,
    lockOut = null,
  }: Pick<StoreOptions, "otherSchema" | "isServer"> &
    Pick<StoreSettings, "account"> & {
      checkIntervalMs?: number;
      lockOut?: (() => () => void) | null;
    } = {},
) {
  const { query } = database;
  const opening =
    otherSchema === "upgrade"
      ? database.transaction(
          async (sql) => {
            const secret = await migrate(sql);
            await applyRetention(sql, retention);
            return secret;
          },
          { lock: "migrating", isLong: true },
        )
      : readSecret(database, otherSchema);
  const secret = await opening.catch(async (error) => {
    await database.close();
    throw error;
  });
  // Random bytes, because PostgreSQL compresses other data.
  const writeBytes = (query: Query, bytes: number) =>
    writeMeta(query, "write_check", randomBytes(bytes / 2).toString("hex"));
  const check = shareCheck(checkIntervalMs, (isThorough) =>
    isThorough
      ? database.transaction(({ query }) => writeBytes(query, WHOLE_MESSAGE_BYTES).then(() => storeTrial(query)), {
          lock: "accepting",
        })
      : writeBytes(query, MESSAGE_BYTES),
  );
  const { recall, findSpam, ...spam } = createSpamFilter(database);
  // Now, so that the first message does not wait for it. If it fails, the first message tries again.
  if (isServer) await recall(query).catch(() => {});
  const { settled, ...intake } = createIntake(database, secret, findSpam, check.fail);
  const hashKey: Uint8Array = Buffer.from(secret, "hex");
  return {
    intake,
    queue: createQueue(database, secret, account),
    messages: createMessages(database, account),
    people: createPeople(database, account),
    spam,
    status: createStatus(database, check.run),
    archive: createArchive(database, account, lockOut),
    /** The database's secret, for hashing client addresses; the same on every node. */
    secret: hashKey,
    async close(): Promise<void> {
      await settled();
      await database.close();
    },
  };
}

/** Stores a message and deletes it again: a damaged table or index may still allow other writes. */
async function storeTrial(query: Query): Promise<void> {
  const unique = randomBytes(16).toString("hex");
  const [id = 0] = await readColumn<number>(
    query,
    `INSERT INTO messages (reference, fingerprint, name, email, phone, country, message, accepted_at)
     VALUES ($1, $1, '', $1, '', '', '', $2) RETURNING id`,
    [unique, new Date()],
  );
  await query("INSERT INTO deliveries (message_id, channel, state, changed_at) VALUES ($1, 'mail', 'skipped', 0)", [
    id,
  ]);
  await query("DELETE FROM messages WHERE id = $1", [id]);
}

/**
 * Shares one check between all callers: keeps a success for `intervalMs` and a failure for a second. After a failure,
 * or after a message could not be stored, the check is thorough until it succeeds.
 */
function shareCheck(intervalMs: number, check: (isThorough: boolean) => Promise<void>) {
  let [startedAtMs, hasFailed, last] = [Number.NEGATIVE_INFINITY, false, Promise.resolve()];
  /** Call it when a message could not be stored. */
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
      // A message may have failed since this check started.
      () => (hasFailed = last !== checked),
      () => (hasFailed = true),
    );
    return checked;
  };
  return { run, fail };
}

export type DatabaseState = Awaited<ReturnType<typeof inspectDatabase>>;

/**
 * Inspects a database without creating, upgrading or locking anything. Rejects with StoreUnavailable, or with
 * StoreRefused if this version cannot use its tables.
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
    /** The schema version; `null` if the database has none of our tables yet. */
    version: null as number | null,
    /** Whether the server confirms commits before they are on disk. */
    losesCommits: false,
    /** How far this machine's clock is ahead of the database's. */
    clockAheadMs: 0,
    /** The given references that no message has. */
    unknownReferences: [] as string[],
    /** The damage to the file; `null` if none was found or the file is too large to check here. */
    damage: null as string | null,
  };
  if (database === null) return state;
  const { query, dialect } = database;
  try {
    const commitsEarly = "SELECT 1 WHERE current_setting('synchronous_commit') = 'off'";
    state.losesCommits = databaseUrl !== null && (await query(commitsEarly)).length > 0;
    state.clockAheadMs = Date.now() - (await database.time()).getTime();
    state.version = await readSchemaVersion(database);
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
