import type { SQLInputValue } from "node:sqlite";
import type pg from "pg";
import { openDatabase } from "../sqlite/database.ts";
import { toStoreError } from "./errors.ts";

const TABLES = {
  messages: [
    ...["id", "reference", "idempotency_key", "fingerprint", "name", "email", "phone", "country", "message", "state"],
    ...["accepted_at", "state_changed_at", "due_at", "attempts", "last_error", "is_restricted"],
  ],
  client_hits: ["client_hash", "at"],
  store_meta: ["name", "value"],
} as const;
const ROWS_AT_A_TIME = 500;

/**
 * Copies all rows, as one snapshot sees them, into a SQLite database that this program can open. Leases stay behind:
 * whoever opens the copy must be able to claim every message.
 */
export async function copyToSqlite(pool: pg.Pool, file: string): Promise<void> {
  const { db } = await openDatabase(file);
  const client = await pool.connect().catch((error) => {
    db.close();
    throw toStoreError(error);
  });
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    db.exec("BEGIN");
    for (const [table, columns] of Object.entries(TABLES)) {
      const insert = db.prepare(
        `INSERT OR REPLACE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      );
      await client.query(`DECLARE copied CURSOR FOR SELECT ${columns.join(", ")} FROM ${table}`);
      for (;;) {
        const { rows } = await client.query<SQLInputValue[]>({
          text: `FETCH ${ROWS_AT_A_TIME} FROM copied`,
          rowMode: "array",
        });
        if (rows.length === 0) break;
        for (const row of rows) insert.run(...row);
      }
      await client.query("CLOSE copied");
    }
    db.exec("COMMIT");
    await client.query("COMMIT");
    client.release();
  } catch (error) {
    client.release(true);
    throw toStoreError(error);
  } finally {
    db.close();
  }
}
