import { join } from "node:path";
import { acceptAll, type Entry } from "./acceptance.ts";
import { writeNewFile } from "./backup-file.ts";
import { fingerprinter } from "./fingerprint.ts";
import { GroupCommit } from "./group-commit.ts";
import { operatorQueries } from "./operator-queries.ts";
import { privacyQueries } from "./privacy-queries.ts";
import { queueQueries } from "./queue-queries.ts";
import { drawReference } from "./reference.ts";
import { openDatabase } from "./sqlite/database.ts";
import { sqliteLedger } from "./sqlite/ledger.ts";
import { SQLITE_DIALECT, sqliteQuery } from "./sqlite/query.ts";
import { emptyLog, scrub } from "./sqlite/scrub.ts";
import { installedSqliteVersion, refuseUnsafeSqlite } from "./sqlite/sqlite-version.ts";
import { transaction } from "./sqlite/transaction.ts";
import { whenFree } from "./sqlite/when-free.ts";
import type { Acceptance, Store } from "./store.ts";

export const SQLITE_FILE = "messages.db";

export interface SqliteOptions {
  sqliteVersion?: string;
  drawReference?: (prefix: string) => string;
}

/** The store without the gathering of messages that arrive together: what may live in a thread of its own. */
export interface SqliteCore extends Omit<Store, "accept"> {
  /** Accepts all of them in one transaction. */
  acceptAll(entries: readonly Arrival[], patienceMs: number): Promise<readonly Acceptance[]>;
}

/** A submission and what it is judged by. */
export type Arrival = Omit<Entry, "fingerprint">;

/**
 * Messages in one file of `dataDir`. For one server, with the operator's commands beside it. The database's calls are
 * synchronous, so a server keeps them in a thread of their own (sqlite-thread-store.ts).
 */
export async function openSqliteStore(dataDir: string, options: SqliteOptions = {}): Promise<Store> {
  return gathering(await openSqliteCore(dataDir, options));
}

/** Messages that arrive together share one transaction of the core. */
export function gathering(core: SqliteCore): Store {
  const { acceptAll, close, ...rest } = core;
  const accepting = new GroupCommit<Arrival, Acceptance>(acceptAll);
  return {
    ...rest,
    accept: (submission, rules, now) => accepting.submit({ submission, rules, nowMs: now.getTime() }),
    async close() {
      await accepting.settled();
      await close();
    },
  };
}

export async function openSqliteCore(dataDir: string, options: SqliteOptions = {}): Promise<SqliteCore> {
  refuseUnsafeSqlite(options.sqliteVersion ?? installedSqliteVersion());
  const { db, clientKey } = await openDatabase(join(dataDir, SQLITE_FILE));
  const ledger = sqliteLedger(db, options.drawReference ?? drawReference);
  const fingerprintOf = fingerprinter(clientKey);
  const query = sqliteQuery(db);

  return {
    clientKey,
    acceptAll(arrivals, patienceMs) {
      const entries = arrivals.map((one) => ({ ...one, fingerprint: fingerprintOf(one.submission.message) }));
      return whenFree(() => transaction(db, () => acceptAll(entries, ledger)), patienceMs);
    },
    ...queueQueries(query, SQLITE_DIALECT),
    ...operatorQueries(query, SQLITE_DIALECT),
    ...privacyQueries(query, SQLITE_DIALECT, {
      afterErasing: () => scrub(db),
      // Not worth waiting for: what stays in the log now is gone with its next turn.
      afterPurging: async () => void emptyLog(db),
    }),
    backup: (file) => writeNewFile(file, async (target) => void (await query("VACUUM INTO $1", [target]))),
    ping: async () => void (await query("SELECT 1 FROM store_meta LIMIT 1")),
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
