import type { Entry } from "./acceptance.ts";
import { writeNewFile } from "./backup-file.ts";
import { fingerprinter } from "./fingerprint.ts";
import { GroupCommit } from "./group-commit.ts";
import { operatorQueries } from "./operator-queries.ts";
import { acceptBatch } from "./postgres/accept-batch.ts";
import { copyToSqlite } from "./postgres/copy-to-sqlite.ts";
import { migrate } from "./postgres/migrate.ts";
import { createPool, POSTGRES_DIALECT, postgresQuery } from "./postgres/pool.ts";
import { rewriteTable } from "./postgres/rewrite-table.ts";
import { ACCEPTANCE_LOCK, transaction } from "./postgres/transaction.ts";
import { privacyQueries } from "./privacy-queries.ts";
import { queueQueries } from "./queue-queries.ts";
import { drawReference } from "./reference.ts";
import type { Acceptance, Store } from "./store.ts";

export interface PostgresOptions {
  drawReference?: (prefix: string) => string;
}

/** Messages in a PostgreSQL database, for several nodes at once. */
export async function openPostgresStore(databaseUrl: string, options: PostgresOptions = {}): Promise<Store> {
  const pool = createPool(databaseUrl);
  const clientKey = await migrate(pool).catch(async (error) => {
    await pool.end();
    throw error;
  });
  const fingerprintOf = fingerprinter(clientKey);
  const query = postgresQuery(pool);

  // Limits and repeats are decided exactly because batches of all nodes take turns; that costs little, since a turn
  // holds every message that arrived meanwhile.
  const accepting = new GroupCommit<Entry, Acceptance>((entries) =>
    transaction(pool, ACCEPTANCE_LOCK, (run) => acceptBatch(run, entries, options.drawReference ?? drawReference)),
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
    ...queueQueries(query, POSTGRES_DIALECT),
    ...operatorQueries(query, POSTGRES_DIALECT),
    ...privacyQueries(query, POSTGRES_DIALECT, {
      afterErasing: () => rewriteTable(pool),
      // The server's own vacuum sees to these.
      afterPurging: async () => {},
    }),
    backup: (file) => writeNewFile(file, (target) => copyToSqlite(pool, target)),
    ping: async () => void (await query("SELECT 1 FROM store_meta LIMIT 1")),
    async close() {
      await accepting.settled();
      if (!pool.ending) await pool.end();
    },
  };
}
