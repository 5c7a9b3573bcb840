import pg from "pg";
import { errorCode } from "../errors.ts";
import {
  type Database,
  type Dialect,
  type Query,
  type Sql,
  type TransactionOptions,
  toParameter,
  toRecord,
  type Value,
} from "./database.ts";
import { StoreUnavailable, storeError, UNUSABLE } from "./errors.ts";
import { castTypeOf } from "./tables.ts";

// All our 64-bit numbers are milliseconds, counts and row numbers: far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const CONNECT_TIMEOUT_MS = 3000;
const STATEMENT_TIMEOUT_MS = 5000;
const LONG_STATEMENT_TIMEOUT_MS = 5 * 60_000;
const MAX_TRIES = 3;

/** Ids of advisory locks begin here: any numbers that other programs on the same database are unlikely to use. */
const FIRST_LOCK = 1_112_763_751;
const LOCKS = ["migrating", "accepting", "admitting", "alerting"];

const dialect: Dialect = {
  integer: "BIGINT",
  identity: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  keptIds: "OVERRIDING SYSTEM VALUE",
  continueIds: (table) =>
    `SELECT setval(ids, GREATEST(nextval(ids), (SELECT COALESCE(max(id), 0) + 1 FROM ${table})), false)
     FROM pg_get_serial_sequence('${table}', 'id') AS ids`,
  tableEnd: "",
  keyedTableEnd: "",
  findTable: (name) => `SELECT 1 WHERE to_regclass('${name}') IS NOT NULL`,
  lockRows: (table, skip) => `FOR UPDATE OF ${table}${skip ? " SKIP LOCKED" : ""}`,
  // Some languages fold I to a letter that occurs in no email address; "C" is plain ASCII.
  lowerCaseEmail: 'lower(email COLLATE "C")',
  // An array instead of a join, so that the planner uses the index for any estimated list size.
  isIn: (column, jsonArray) =>
    `${column} = ANY (ARRAY(SELECT CAST(json_array_elements_text(${jsonArray}::json)
       AS ${castTypeOf(column.replace(/^\w+\./, ""))})))`,
  jsonArray: (columns) => `CAST(json_build_array(${columns}) AS TEXT)`,
  itemsOf: (jsonArray) => `json_array_elements(${jsonArray}::json) AS item (value)`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  nowMs: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
};

export async function openPostgres(databaseUrl: string, maxConnections = 3): Promise<Database> {
  const pool = createPool(databaseUrl, maxConnections);
  const query = queryOf(pool);
  return {
    dialect,
    query,
    transaction: (work, options) => transaction(pool, work, options),
    // No query finds deleted rows. PostgreSQL overwrites their space when it is used again, after its own VACUUM, which
    // locks no table.
    async eraseTraces() {},
    async verify() {
      if (pool.ending) throw new StoreUnavailable({ problem: "The message database is closed" });
    },
    async close() {
      if (!pool.ending) await pool.end();
    },
  };
}

function createPool(databaseUrl: string, maxConnections: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: "messages",
    max: maxConnections,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // A node that dies in a transaction must not hold its locks for long.
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // Longer than the server's own limit: for a server that does not answer at all.
    query_timeout: STATEMENT_TIMEOUT_MS + 1000,
  });
  // An idle connection broke: the next query opens another.
  pool.on("error", () => {});
  // A connection in use broke: its query rejects. Without a listener, Node would end the program.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

function queryOf(connection: pg.Pool | pg.PoolClient, timeoutMs?: number): Query {
  const limit = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
  return async <Row>(sql: string, values: readonly Value[] = []) => {
    const { rows } = await checked(connection.query({ text: sql, values: values.map(toParameter), ...limit }));
    return rows.map((row) => toRecord<Row>(row));
  };
}

function checked<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw toStoreError(error);
  });
}

type Work<T> = (sql: Sql) => Promise<T>;

/** If the connection breaks during the commit, the outcome is unknown and is never reported as success. */
async function transaction<T>(pool: pg.Pool, work: Work<T>, options: TransactionOptions = {}): Promise<T> {
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      return await tryTransaction(pool, work, options);
    } catch (error) {
      if (!REPEATABLE.includes(sqlState(error)) || tryNumber === MAX_TRIES) throw error;
    }
  }
}

async function tryTransaction<T>(
  pool: pg.Pool,
  work: Work<T>,
  { lock, isLong, isSnapshot }: TransactionOptions,
): Promise<T> {
  const client = await checked(pool.connect());
  const timeoutMs = isLong ? LONG_STATEMENT_TIMEOUT_MS : STATEMENT_TIMEOUT_MS;
  const sql: Sql = { query: queryOf(client, isLong ? timeoutMs : undefined), dialect };
  const statements = [
    isSnapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN",
    // A server may be configured to answer before a commit is on disk. That would be a false success here.
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'",
    // Repeated for a pooler that drops the settings of a new connection.
    `SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${timeoutMs}`,
    ...(lock ? [`SELECT pg_advisory_xact_lock(${FIRST_LOCK + LOCKS.indexOf(lock)})`] : []),
  ];
  let isUsable = true;
  try {
    await checked(client.query(statements.join("; ")));
    const result = await work(sql);
    // Always short: a missing answer must not block a queue for minutes.
    await queryOf(client)("COMMIT");
    return result;
  } catch (error) {
    // Without a code, the server may not answer a ROLLBACK either.
    isUsable = sqlState(error) !== undefined && (await client.query("ROLLBACK").then(Boolean, () => false));
    throw error;
  } finally {
    client.release(!isUsable);
  }
}

/** A serialization failure, and a deadlock. */
const REPEATABLE: readonly (string | undefined)[] = ["40001", "40P01"];
const NO_PRIVILEGE = "42501";
/** SQLSTATE classes of a wrong statement or value: defects of this program that a retry does not fix. */
const OWN_FAULTS = ["22", "23", "42"];

const DEFECTS = [TypeError, RangeError, ReferenceError, SyntaxError];

/** A StoreUnavailable if the database is away, full or overloaded; any other error unchanged. */
function toStoreError(error: unknown): unknown {
  if (DEFECTS.some((kind) => error instanceof kind)) return error;
  const code = sqlState(error);
  if (code && OWN_FAULTS.some((fault) => code.startsWith(fault)) && code !== NO_PRIVILEGE) return error;
  const problem = `${UNUSABLE}: ${reasonOf(error)}`;
  // The client itself refuses to sign in without a password.
  const isPasswordMissing = error instanceof Error && error.message.startsWith("SASL");
  const given = code ?? (isPasswordMissing ? "28P01" : errorCode(error));
  return storeError(given, { problem, remedy: "check DATABASE_URL and the PostgreSQL server" }, error);
}

function sqlState(error: unknown): string | undefined {
  const source = error instanceof StoreUnavailable ? error.cause : error;
  return source instanceof pg.DatabaseError ? source.code : undefined;
}

// Never includes PostgreSQL's DETAIL, which may contain a row's values.
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message.split("\n", 1).join("") : String(error);
}
