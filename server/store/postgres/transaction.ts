import type pg from "pg";
import { isConnectionLost, mustGiveWay, toStoreError } from "./errors.ts";

const MAX_TRIES = 3;

/** Ids of advisory locks: any numbers that other programs on the same database are unlikely to use. */
export const MIGRATION_LOCK = 1_112_763_751;
export const ACCEPTANCE_LOCK = 1_112_763_752;

/** Runs a statement within the transaction and gives its rows. */
export type Run = <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/**
 * All of the work or none of it, committed when this resolves. Holding `lock`, so that of all nodes only one at a time
 * does this. When the connection is cut during the commit nobody knows its outcome: that is never reported as success.
 */
export async function transaction<T>(pool: pg.Pool, lock: number, work: (run: Run) => Promise<T>): Promise<T> {
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      return await tryOnce(pool, lock, work);
    } catch (error) {
      if (!mustGiveWay(error) || tryNumber === MAX_TRIES) throw error;
    }
  }
}

async function tryOnce<T>(pool: pg.Pool, lock: number, work: (run: Run) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error) => {
    throw toStoreError(error);
  });
  const run: Run = async <Row>(sql: string, values?: readonly unknown[]) => {
    try {
      return (await client.query(sql, values && [...values])).rows as Row[];
    } catch (error) {
      throw toStoreError(error);
    }
  };

  let isUsable = true;
  try {
    // A server may be set to answer before a commit is on disk; here that would be a false success.
    await run(`BEGIN;
      SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
      SELECT pg_advisory_xact_lock(${lock})`);
    const result = await work(run);
    await run("COMMIT");
    return result;
  } catch (error) {
    isUsable = !isConnectionLost(error) && (await hasRolledBack(client));
    throw error;
  } finally {
    client.release(!isUsable);
  }
}

function hasRolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query("ROLLBACK").then(
    () => true,
    () => false,
  );
}
