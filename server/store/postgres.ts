import pg from "pg";
import { acceptBatch } from "./acceptance.ts";
import { admitAcknowledgements } from "./acknowledgements.ts";
import {
  type Database,
  type Dialect,
  isAscii,
  letterClasses,
  likePattern,
  type NewEvent,
  type Query,
  queryReferences,
  toParameter,
  toRecord,
  type Value,
} from "./database.ts";
import { type ColumnTypes, migrate, readSchemaVersion, type SchemaState } from "./migrations.ts";
import { StoreRefused, StoreUnavailable } from "./store.ts";

const CONNECT_TIMEOUT_MS = 3000;
const STATEMENT_TIMEOUT_MS = 5000;
const LONG_STATEMENT_TIMEOUT_MS = 5 * 60_000;
const MAX_TRIES = 3;
const ROWS_AT_A_TIME = 500;

/** Ids of advisory locks: any numbers that other programs on the same database are unlikely to use. */
const MIGRATION_LOCK = 1_112_763_751;
const ACCEPTANCE_LOCK = 1_112_763_752;
const ACKNOWLEDGEMENT_LOCK = 1_112_763_753;

const dialect: Dialect = {
  leaseNow: () => "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)",
  lockRows: "FOR UPDATE SKIP LOCKED",
  // Some languages fold I to a letter that no e-mail address holds; "C" is plain ASCII.
  lowerCaseEmail: 'lower(email COLLATE "C")',
  // An array and not a join, so that the index is used however large the planner takes the list to be.
  isIn: (column, jsonArray) => `${column} = ANY (ARRAY(SELECT json_array_elements_text(${jsonArray}::json)))`,
  itemsOf: (jsonArray) => `json_array_elements(${jsonArray}::json) AS item (value)`,
  // "C" folds ASCII letters only, and fast, whatever the database's language; other letters are looked for by classes.
  contains(text, words, place) {
    if (isAscii(words)) return `lower((${text}) COLLATE "C") LIKE ${place(likePattern(words.toLowerCase()))}`;
    const classes = letterClasses([...words], (other) => other.replace(/[^\p{L}\p{M}\p{N} ]/u, "\\$&"));
    return `(${text}) COLLATE "C" ~ ${place(classes)}`;
  },
};

const COLUMN_TYPES: ColumnTypes = {
  identity: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  integer: "BIGINT",
  tableEnd: "",
  keyedTableEnd: "",
  recordErasures: [
    // With the present search path, whatever that of the session is which deletes.
    `CREATE FUNCTION record_erasures() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
     BEGIN
       INSERT INTO erased_references
       SELECT reference, CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT) FROM erased
       ON CONFLICT (reference) DO UPDATE SET erased_at = excluded.erased_at;
       RETURN NULL;
     END $$`,
    `CREATE TRIGGER messages_erased AFTER DELETE ON messages REFERENCING OLD TABLE AS erased
     FOR EACH STATEMENT EXECUTE FUNCTION record_erasures()`,
  ],
  numberIn: (json, field) =>
    `DOUBLE PRECISION GENERATED ALWAYS AS (CAST(CAST(${json} AS jsonb) ->> '${field}' AS DOUBLE PRECISION)) STORED`,
};

export interface PostgresOptions {
  /** Kept open at most; 8 unless given. */
  maxConnections?: number | undefined;
  drawReference?: (prefix: string) => string;
}

/** A PostgreSQL database, for several nodes at once; tables are created or upgraded if need be. */
export async function openPostgres(
  databaseUrl: string,
  { maxConnections, drawReference }: PostgresOptions = {},
): Promise<Database> {
  const pool = createPool(databaseUrl, maxConnections);
  const clientKey = await transaction(pool, MIGRATION_LOCK, async (query) => {
    await requireOwnTables(query);
    return migrate(query, COLUMN_TYPES);
  }).catch(async (error) => {
    await pool.end();
    throw error;
  });
  return {
    dialect,
    clientKey,
    isShared: true,
    query: queryOf(pool),
    queryLong: (sql, values) => queryLong(pool, sql, values),
    change: (sql, values, event) => change(queryOf(pool), sql, values, event),
    // Limits and repeats are decided exactly because the nodes accept one after the other. That costs little, since each
    // batch holds every message that arrived meanwhile.
    accept: (batch) =>
      transaction(pool, ACCEPTANCE_LOCK, (query) => acceptBatch(batch, { query, dialect, clientKey, drawReference })),
    admitAcknowledgements: (...request) =>
      transaction(pool, ACKNOWLEDGEMENT_LOCK, (query) =>
        admitAcknowledgements({ query, dialect, clientKey }, ...request),
      ),
    // PostgreSQL only hides deleted rows, and a plain VACUUM frees their space without overwriting it. Its write-ahead log
    // and archives are the server's, and kept as long as its operator says.
    eraseTraces: async () => void (await queryLong(pool, "VACUUM FULL messages, message_events")),
    // The server does this by itself.
    checkpoint: async () => {},
    async verify() {
      if (pool.ending) throw new StoreUnavailable("The message database is closed");
    },
    copyTo: (file) => copyToSqlite(pool, file),
    async close() {
      if (!pool.ending) await pool.end();
    },
  };
}

/** Looks at the database without creating, upgrading or locking anything. */
export async function readPostgresSchema(databaseUrl: string): Promise<SchemaState> {
  const pool = createPool(databaseUrl);
  const query = queryOf(pool);
  try {
    const [setting] = await query<{ synchronousCommit: string }>("SHOW synchronous_commit");
    const [table] = await query<{ exists: boolean }>("SELECT to_regclass('store_meta') IS NOT NULL AS exists");
    const version = table?.exists ? await readSchemaVersion(query) : null;
    const [time] = await query<{ ms: number }>(`SELECT ${dialect.leaseNow("")} AS ms`);
    const clockAheadMs = Date.now() - (time?.ms ?? 0);
    return { version, losesCommits: setting?.synchronousCommit === "off", clockAheadMs };
  } finally {
    await pool.end();
  }
}

/** A few connections, none of which waits for ever for anything. */
function createPool(databaseUrl: string, maxConnections = 8): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: "messages",
    max: maxConnections,
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
        type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format as "text"),
    } as pg.CustomTypesConfig,
  });
  // An idle connection broke. The pool has dropped it already, and the next query opens another.
  pool.on("error", () => {});
  // One in use broke: its query rejects, which is enough. Without a listener Node would end the program.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

function queryOf(connection: pg.Pool | pg.PoolClient): Query {
  return async <Row>(sql: string, values: readonly Value[] = []) => {
    const { rows } = await checked(connection.query(sql, values.map(toParameter)));
    return rows.map((row) => toRecord<Row>(row));
  };
}

function checked<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw toStoreError(error);
  });
}

async function change(query: Query, sql: string, values: readonly Value[], event: NewEvent): Promise<string[]> {
  const [at, kind, detail] = [1, 2, 3].map((number) => `$${values.length + number}`);
  return queryReferences(
    query,
    `WITH changed AS (${sql})
     INSERT INTO message_events (reference, at, kind, detail)
     SELECT reference, CAST(${at} AS BIGINT), ${kind}, ${detail} FROM changed RETURNING reference`,
    [...values, event.at, event.kind, event.detail ?? null],
  );
}

async function queryLong<Row>(pool: pg.Pool, sql: string, values: readonly Value[] = []): Promise<Row[]> {
  const client = await checked(pool.connect());
  try {
    // It waits for a lock only briefly: all who come after it have to wait too.
    await checked(client.query(`SET statement_timeout = ${LONG_STATEMENT_TIMEOUT_MS}; SET lock_timeout = 5000`));
    const query = { text: sql, values: values.map(toParameter), query_timeout: LONG_STATEMENT_TIMEOUT_MS };
    const { rows } = await checked(client.query(query));
    return rows.map((row) => toRecord<Row>(row));
  } finally {
    // The settings end with the connection.
    client.release(true);
  }
}

/**
 * All of the work or none of it, committed when this resolves. Holding `lock`, so that of all nodes only one at a time
 * does this. When the connection is cut during the commit nobody knows its outcome: that is never reported as success.
 */
async function transaction<T>(pool: pg.Pool, lock: number, work: (query: Query) => Promise<T>): Promise<T> {
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      return await tryTransaction(pool, lock, work);
    } catch (error) {
      if (!mayTryAgain(error) || tryNumber === MAX_TRIES) throw error;
    }
  }
}

async function tryTransaction<T>(pool: pg.Pool, lock: number, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await checked(pool.connect());
  const query = queryOf(client);
  let isUsable = true;
  try {
    // A server may be set to answer before a commit is on disk; here that would be a false success.
    await checked(
      client.query(`BEGIN;
        SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
        SELECT pg_advisory_xact_lock(${lock})`),
    );
    const result = await work(query);
    await query("COMMIT");
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

async function requireOwnTables(query: Query): Promise<void> {
  const [row] = await query<{ isForeign: boolean }>(
    "SELECT to_regclass('messages') IS NOT NULL AND to_regclass('store_meta') IS NULL AS is_foreign",
  );
  if (row?.isForeign) {
    throw new StoreRefused(
      'The database already has a table "messages" of another program; give this one a database of its own (DATABASE_URL)',
    );
  }
}

/** In this order, so that a row comes after those that it refers to. */
export const COPIED_TABLES = [
  "messages",
  "message_events",
  "message_keys",
  "client_hits",
  "erased_references",
  "store_meta",
] as const;
/** Leases, because whoever opens the copy must be able to claim every message, and the keys of the first version. */
const NOT_COPIED = /lease|^idempotency_key$/;

/** Copies all rows, as one snapshot sees them, into a SQLite database that this program can open. */
async function copyToSqlite(pool: pg.Pool, file: string): Promise<void> {
  const { openSqliteFile } = await import("./sqlite.ts");
  const copy = await openSqliteFile(file);
  const client = await checked(pool.connect()).catch(async (error) => {
    await copy.close();
    throw error;
  });
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    for (const table of COPIED_TABLES) {
      const columns = await copy.query<{ name: string }>("SELECT name FROM pragma_table_info($1)", [table]);
      const names = columns.flatMap(({ name }) => (NOT_COPIED.test(name) ? [] : name));
      const items = names.map((_, index) => `value ->> ${index}`);
      await client.query(`DECLARE copied CURSOR FOR SELECT ${names} FROM ${table}`);
      for (;;) {
        const { rows } = await client.query({ text: `FETCH ${ROWS_AT_A_TIME} FROM copied`, rowMode: "array" });
        if (rows.length === 0) break;
        const sql = `INSERT OR REPLACE INTO ${table} (${names}) SELECT ${items.join()} FROM ${copy.dialect.itemsOf("$1")}`;
        await copy.query(sql, [rows]);
      }
      await client.query("CLOSE copied");
    }
    await client.query("COMMIT");
    client.release();
  } catch (error) {
    client.release(true);
    throw toStoreError(error);
  } finally {
    await copy.close();
  }
}

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const NO_PRIVILEGE = "42501";
/** SQLSTATE classes of a wrong statement or value: faults of this program that another try does not cure. */
const OWN_FAULTS = ["22", "23", "42"];

/** A StoreUnavailable for a database that is away, full or overloaded; any other error as it is. */
function toStoreError(error: unknown): unknown {
  const code = sqlState(error);
  if (code && OWN_FAULTS.some((fault) => code.startsWith(fault)) && code !== NO_PRIVILEGE) return error;
  return new StoreUnavailable(
    `The message database cannot be used: ${reasonOf(error)}; check DATABASE_URL and the PostgreSQL server`,
    { cause: error },
  );
}

/** The transaction had to give way to another one. */
function mayTryAgain(error: unknown): boolean {
  const code = error instanceof StoreUnavailable ? sqlState(error.cause) : undefined;
  return code === SERIALIZATION_FAILURE || code === DEADLOCK;
}

/** The connection failed, or nothing is known about its state. */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  const code = sqlState(error.cause);
  // Class 57P: the server is being shut down and has ended the connection.
  return code === undefined || code.startsWith("57P");
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

// Never PostgreSQL's DETAIL, which may hold a row's values.
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message.split("\n", 1).join("") : String(error);
}
