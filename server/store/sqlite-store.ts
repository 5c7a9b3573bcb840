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

/**
 * Messages in one file of `dataDir`. For one server, with the operator's commands beside it. The database's calls are
 * synchronous: everything here is short, except `erase` and `backup`, which belong in the commands' own process.
 */
export async function openSqliteStore(dataDir: string, options: SqliteOptions = {}): Promise<Store> {
  refuseUnsafeSqlite(options.sqliteVersion ?? installedSqliteVersion());
  const { db, clientKey } = await openDatabase(join(dataDir, SQLITE_FILE));
  const ledger = sqliteLedger(db, options.drawReference ?? drawReference);
  const fingerprintOf = fingerprinter(clientKey);
  const query = sqliteQuery(db);

  const accepting = new GroupCommit<Entry, Acceptance>((entries, patienceMs) =>
    whenFree(() => transaction(db, () => acceptAll(entries, ledger)), patienceMs),
  );

  return {
    clientKey,
    accept: (submission, rules, now) =>
      accepting.submit({
        submission,
        fingerprint: fingerprintOf(submission.message),
        rules,
        nowMs: now.getTime(),
      }),
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
      await accepting.settled();
      if (db.isOpen) db.close();
    },
  };
}
