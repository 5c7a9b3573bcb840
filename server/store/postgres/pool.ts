import pg from "pg";
import type { Dialect, Query, Value } from "../query.ts";
import { toStoreError } from "./errors.ts";

const INT8 = 20;
const CONNECT_TIMEOUT_MS = 3000;
const STATEMENT_TIMEOUT_MS = 5000;

export const POSTGRES_DIALECT: Dialect = {
  lockRows: "FOR UPDATE SKIP LOCKED",
  // Some languages fold I to a letter that no e-mail address holds; "C" is plain ASCII.
  foldedEmail: 'lower(email COLLATE "C")',
};

/** A few connections, none of which waits for ever for anything. */
export function createPool(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: "messages",
    max: 8,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // A node that dies in a transaction must not hold its locks for long.
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // The server's own limit comes first; this one is for a server that does not answer at all.
    query_timeout: STATEMENT_TIMEOUT_MS + 1000,
    types: {
      // All our 64-bit numbers are milliseconds, counts and row numbers: far below 2^53.
      getTypeParser: (type: number, format?: "text" | "binary") =>
        type === INT8 ? Number : pg.types.getTypeParser(type, format as "text"),
    } as pg.CustomTypesConfig,
  });
  // An idle connection broke. The pool has dropped it already, and the next query opens another.
  pool.on("error", () => {});
  // One in use broke: its query rejects, which is enough. Without a listener Node would end the program.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function postgresQuery(pool: pg.Pool): Query {
  return async <Row>(sql: string, values: readonly Value[] = []) => {
    try {
      return (await pool.query(sql, [...values])).rows as Row[];
    } catch (error) {
      throw toStoreError(error);
    }
  };
}
