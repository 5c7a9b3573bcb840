import { statSync } from "node:fs";
import type { Config } from "../config.ts";
import { errorCode } from "../errors.ts";
import { createActions } from "./actions.ts";
import { createArchive } from "./archive.ts";
import type { Database, Sql } from "./database.ts";
import { StoreLost, StoreNotReady, StoreRefused, type StoreUnavailable } from "./errors.ts";
import { type AcceptanceRules, createIntake } from "./intake.ts";
import { createMailbox } from "./mailbox.ts";
import { createMessages } from "./messages.ts";
import { readSecret } from "./meta.ts";
import { createPeople } from "./people.ts";
import { createQueue } from "./queue.ts";
import { createReplies } from "./replies.ts";
import { applyRetention, createRetention } from "./retention.ts";
import { migrate, requireVersion } from "./schema.ts";
import { createSpamFilter } from "./spam.ts";
import { lockFolder, openSqlite, requireNothingLeft, sqliteFile } from "./sqlite.ts";
import { removeDatabase, restoringFile } from "./sqlite-files.ts";
import { createStatus, forgetServers } from "./status.ts";
import { openInThread } from "./thread.ts";

/** Low for commands and inboxes, so that they leave enough PostgreSQL connections for the servers. */
const MAX_CONNECTIONS = { server: 8, command: 3 };

type StoreSettings = Pick<Config, "dataDir" | "databaseUrl"> & {
  acknowledge?: Config["acknowledge"] | undefined;
  retention?: Config["retention"] | undefined;
  /** The operator who uses the store; absent for the website. */
  account?: string | null | undefined;
  /** By which the website accepts messages. */
  rules?: AcceptanceRules | undefined;
};

export interface StoreOptions {
  /**
   * For the website, which alone runs statements in a thread, excludes a second website from a SQLite file, and creates
   * or upgrades the tables. Otherwise a database of another version is refused, because its website may be using it.
   */
  isServer?: boolean;
  /** Called once if a call finds that the open store is unusable until a restart. */
  onEnd?(error: StoreUnavailable): void;
}

/** Rejects with StoreUnavailable while it is away; with StoreLost or StoreRefused if an operator must do something. */
export async function openStore(settings: StoreSettings, options: StoreOptions = {}): Promise<Store> {
  let isOpen = false;
  // Before, `openStore` itself rejects.
  const onEnd = (error: StoreUnavailable) => {
    if (isOpen) options.onEnd?.(error);
    isOpen = false;
  };
  if (options.isServer && settings.databaseUrl !== null) requireNothingLeft(settings.dataDir);
  const isThreaded = options.isServer && settings.databaseUrl === null;
  const store = await (isThreaded ? openThread(settings, onEnd) : openHere(settings, { ...options, onEnd }));
  isOpen = true;
  return store;
}

async function openThread(settings: StoreSettings, onEnd: (error: StoreUnavailable) => void): Promise<Store> {
  const unlock = lockFolder(settings.dataDir);
  try {
    removeDatabase(restoringFile(settings.dataDir));
    const store = await openInThread<Store>(new URL("./sqlite-thread.ts", import.meta.url), settings, onEnd);
    const { close } = store;
    return Object.assign(store, { close: () => close().finally(unlock) });
  } catch (error) {
    unlock();
    throw error;
  }
}

export async function openHere(settings: StoreSettings, options: StoreOptions): Promise<Store> {
  const { databaseUrl, dataDir } = settings;
  const { isServer = false } = options;
  const isSqlite = databaseUrl === null;
  if (isSqlite && !isServer) requireFile(dataDir);
  const database = reportingLoss(await openDatabase(settings, isServer), options.onEnd);
  const store = await createStore(database, settings, isServer);
  if (isSqlite && isServer) await forgetServers(database.query);
  return store;
}

function reportingLoss(database: Database, onEnd: StoreOptions["onEnd"]): Database {
  const { query, transaction } = database;
  const report = (error: unknown) => {
    if (error instanceof StoreLost) onEnd?.(error);
    throw error;
  };
  return {
    ...database,
    query: (sql, values) => query<never>(sql, values).catch(report),
    transaction: (work, options) => transaction(work, options).catch(report),
  };
}

/** What `restore` needs of a database that may be empty or of an earlier version: the restore upgrades it. */
export async function openArchive(settings: StoreSettings) {
  const database = await openDatabase(settings);
  return { ...createArchive(database, settings), close: database.close };
}

export async function openDatabase({ databaseUrl, dataDir }: StoreSettings, isServer = false) {
  // A website ends, and starts again; an inbox that is open goes on.
  if (databaseUrl === null) return openSqlite(sqliteFile(dataDir), !isServer);
  const { openPostgres } = await import("./postgres.ts");
  return openPostgres(databaseUrl, MAX_CONNECTIONS[isServer ? "server" : "command"]);
}

/** A mistyped folder, or another user's folder, must not look like a folder without messages. */
function requireFile(dataDir: string): void {
  try {
    statSync(sqliteFile(dataDir));
  } catch (error) {
    if (errorCode(error) === "EACCES") {
      const remedy = "run the command as the server's user, e.g. with sudo";
      throw new StoreRefused({ problem: `This user may not read ${dataDir}`, remedy });
    }
    const remedy = "start the website first, or set DATA_DIR to the server's data folder";
    throw new StoreNotReady({ problem: `There are no messages in ${dataDir}`, remedy });
  }
}

/**
 * Stores messages. When a promise resolves, its change is committed to disk. A store that cannot be written rejects
 * with StoreUnavailable; then nothing changed, or the change was never confirmed.
 */
export type Store = Awaited<ReturnType<typeof createStore>>;

export async function createStore(database: Database, settings: Partial<StoreSettings>, upgrades = true) {
  const { retention, account = null, rules } = settings;
  const { query, transaction } = database;
  async function prepare(sql: Sql): Promise<void> {
    await migrate(sql);
    if (retention) await applyRetention(sql, retention);
  }
  const ready = upgrades ? transaction(prepare, { lock: "migrating", isLong: true }) : requireVersion(database);
  const secret = await ready
    .then(() => readSecret(query))
    .catch(async (error) => {
      await database.close();
      throw error;
    });
  const { findSpam, ...spam } = createSpamFilter(database);
  const { settled, ...intake } = createIntake(database, { rules, secret, findSpam });
  return {
    intake,
    queue: createQueue(database, secret, account),
    messages: createMessages(database),
    actions: createActions(database, account),
    replies: createReplies(database, account),
    mailbox: createMailbox(database),
    people: createPeople(database, account),
    spam,
    status: createStatus(database),
    retention: createRetention(database),
    archive: createArchive(database, settings),
    /** The same on every node. */
    secret,
    async close(): Promise<void> {
      await settled();
      await database.close();
    },
  };
}
