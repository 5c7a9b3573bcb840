import type pg from "pg";
import { toStoreError } from "./errors.ts";

const TIMEOUT_MS = 60_000;

/**
 * Leaves nothing of deleted rows in the table's files: PostgreSQL only hides them, and a plain VACUUM frees their space
 * without overwriting it. Its write-ahead log and archives are the server's, and kept as long as its operator says.
 */
export async function rewriteTable(pool: pg.Pool): Promise<void> {
  try {
    const client = await pool.connect();
    try {
      // Waits for its turn only briefly: all who come after it have to wait too.
      await client.query(`SET statement_timeout = ${TIMEOUT_MS}; SET lock_timeout = 5000`);
      await client.query({ text: "VACUUM FULL messages", query_timeout: TIMEOUT_MS } as pg.QueryConfig);
    } finally {
      // With it go the settings.
      client.release(true);
    }
  } catch (error) {
    throw toStoreError(error);
  }
}
