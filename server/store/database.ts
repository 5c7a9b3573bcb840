import { castTypeOf, type NewRow, type Table } from "./tables.ts";

/** A statement's parameter. Lists become JSON, times milliseconds since 1970, flags 0 or 1. */
export type Value = string | number | boolean | Date | readonly unknown[] | null;

/** Runs one statement and resolves to its rows, as records. Placeholders are `$1`, `$2`, … in both databases. */
export type Query = <Row>(sql: string, values?: readonly Value[]) => Promise<Row[]>;

export interface TransactionOptions {
  /** Only one node at a time runs a transaction with this lock. */
  lock?: "accepting" | "admitting" | "alerting" | "migrating";
  /** The transaction may take minutes. */
  isLong?: boolean;
  /** It only reads, and sees one state of the database while other processes write. */
  isSnapshot?: boolean;
}

/** A database, where each statement is a transaction of its own, or an open transaction. */
export interface Sql {
  readonly query: Query;
  readonly dialect: Dialect;
}

/**
 * Drivers contain no rules: rules are written once, for SQLite and PostgreSQL. Every method rejects with
 * StoreUnavailable if the database cannot be used.
 */
export interface Database extends Sql {
  /** Commits all of the work or none of it, to disk, before it resolves. `work` must use only the given `sql`. */
  transaction<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Removes all traces of deleted rows from SQLite's own files. PostgreSQL does it by itself, later. */
  eraseTraces(): Promise<void>;
  /** Rejects if the database's files were removed or replaced, or if any process found them damaged. Writes nothing. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

export interface Dialect {
  /** The type of 64-bit numbers: times, row numbers, flags. */
  integer: string;
  identity: string;
  /** Precedes the rows of an INSERT that already have numbers. `continueIds` is the statement to run after it. */
  keptIds: string;
  continueIds(table: string): string;
  /** The end of a table definition. The second is for a table that is searched only by its primary key. */
  tableEnd: string;
  keyedTableEnd: string;
  findTable(name: string): string;
  /** Ends a SELECT and locks its rows until the transaction ends. `skip` leaves out rows that are already locked. */
  lockRows(table: string, skip?: "skip"): string;
  /** The email address in lower case, independent of the database's language. */
  lowerCaseEmail: string;
  isIn(column: string, jsonArray: string): string;
  /** The values of columns as a JSON array in text. */
  jsonArray(columns: readonly string[]): string;
  /** The items of a JSON array, as rows with one column `value`. */
  itemsOf(jsonArray: string): string;
  contains(text: string, part: string): string;
  /** The database's own time in milliseconds, which all nodes share; `null` if all of them are on this machine. */
  nowMs: string | null;
}

export function toParameter(value: Value): string | number | null {
  if (value instanceof Date) return value.getTime();
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

/** Converts a row by the names of its columns: `due_at` becomes the time `dueAt`, `is_counted` a boolean. */
export function toRecord<Fields>(row: Readonly<Record<string, unknown>>): Fields {
  const record: Record<string, unknown> = {};
  for (const column of Object.keys(row)) {
    const value = row[column];
    const { name, read } = fieldOf(column);
    record[name] = value === null ? null : read(value);
  }
  return record as Fields;
}

const fields = new Map<string, { name: string; read(value: unknown): unknown }>();

/** Cached per column, because a long list has hundreds of thousands of values. */
function fieldOf(column: string) {
  const known = fields.get(column);
  if (known) return known;
  const name = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const toDate = (ms: unknown) => new Date(ms as number);
  const isTime = column === "at" || column.endsWith("_at");
  const read = isTime ? toDate : column.startsWith("is_") ? Boolean : (value: unknown) => value;
  const field = { name, read };
  fields.set(column, field);
  return field;
}

export async function onlyRow<Row>(query: Query, sql: string, values?: readonly Value[]): Promise<Row> {
  const [row] = await query<Row>(sql, values);
  if (!row) throw new Error("The database returned no row");
  return row;
}

export async function readColumn<T>(query: Query, sql: string, values?: readonly Value[]): Promise<T[]> {
  const rows = await query<Record<string, T>>(sql, values);
  return rows.flatMap((row) => Object.values(row));
}

/**
 * Inserts all rows, which have the same columns and no numbers yet, in one statement. Except in the table `messages`, a `reference` is
 * replaced by the number of its message's row.
 */
export async function insertRows<Name extends Table>(
  { query, dialect: { itemsOf } }: Sql,
  table: Name,
  rows: readonly NewRow<Name>[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(rows[0] ?? {});
  const names = columns.map((name) => (isLink(name) ? "message_id" : name));
  const values = columns.map((name, index) => (isLink(name) ? "messages.id" : itemValue(name, index)));
  const link = columns.findIndex(isLink);
  const messages = link < 0 ? "" : `JOIN messages ON messages.reference = ${itemValue("reference", link)}`;
  await query(
    `INSERT INTO ${table} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${itemsOf("$1")} ${messages}`,
    [rows.map((row) => Object.values(row))],
  );

  function isLink(column: string): boolean {
    return column === "reference" && table !== "messages";
  }
}

/** SQL for a column of a JSON array. */
export function itemValue(column: string, index: number): string {
  return `CAST(value ->> ${index} AS ${castTypeOf(column)})`;
}

/** The time of an operation: the database's own, which all nodes share. `testTime` is `null` outside of tests. */
export async function timeOf({ query, dialect }: Sql, testTime: Date | null = null): Promise<Date> {
  if (testTime || dialect.nowMs === null) return testTime ?? new Date();
  const [ms = 0] = await readColumn<number>(query, `SELECT ${dialect.nowMs}`);
  return new Date(ms);
}
