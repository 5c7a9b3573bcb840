/** What a statement is given: lists as JSON, times as milliseconds since 1970, flags as 0 or 1. */
export type Value = string | number | boolean | Date | readonly unknown[] | null;

/** Runs one statement and resolves to its rows, as records. Placeholders are `$1`, `$2`, … in both databases. */
export type Query = <Row>(sql: string, values?: readonly Value[]) => Promise<Row[]>;

export interface TransactionOptions {
  /** Of all nodes, only one at a time runs a transaction with this lock. */
  lock?: "accepting" | "admitting" | "migrating";
  /** It may take minutes. */
  isLong?: boolean;
}

/**
 * SQLite or PostgreSQL. Drivers contain no rules: rules are written once and use these two methods. Every
 * method rejects with StoreUnavailable when the database cannot be used.
 */
export interface Database {
  /** Each statement is a transaction of its own, committed when this resolves; on disk, if the server waits for that. */
  query: Query;
  /** All of the work or none of it, committed to disk when this resolves. Within it only the given query may be used. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>;
  readonly dialect: Dialect;
  /** Of the database if several servers may share it, else of this machine. */
  time(): Promise<Date>;
  /** Leaves nothing of deleted rows in the database's own files. */
  eraseTraces(): Promise<void>;
  /** Rejects with StoreLost when the database's files were removed or replaced while they were open. Writes nothing. */
  verify(): Promise<void>;
  /** Writes a SQLite database with all rows into an empty file; `createEmpty` makes one without rows. */
  copyTo(file: string, createEmpty: (file: string) => Promise<Database>): Promise<void>;
  close(): Promise<void>;
}

/** The SQL that differs between the two databases. */
export interface Dialect {
  /** Holds 64-bit numbers: times, numbers of rows, flags. */
  integer: string;
  real: string;
  identity: string;
  /** Comes before the rows of an INSERT that have numbers already, and the statement after it. */
  keptIds: string;
  continueIds(table: string): string;
  /** End the definition of a table, and of one that is only ever searched by its primary key. */
  tableEnd: string;
  keyedTableEnd: string;
  findTable(name: string): string;
  /** Ends a SELECT in a transaction and locks its rows until that ends; `skip`: without rows that are locked already. */
  lockRows(table: string, skip?: "skip"): string;
  /** The email address in lower case, independent of the database's language. */
  lowerCaseEmail: string;
  isIn(column: string, jsonArray: string, type?: "TEXT" | "BIGINT"): string;
  /** The items of a JSON array, as rows with one column `value`. */
  itemsOf(jsonArray: string): string;
  /**
   * Whether a text contains the words of a parameter, which `searchable` makes of those given: in any case of their
   * letters, independent of the database's language.
   */
  contains(text: string, parameter: string): string;
  searchable(words: string): string;
}

export function toParameter(value: Value): string | number | null {
  if (value instanceof Date) return value.getTime();
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

/** A row as the program reads it, by the names of its columns: `due_at` is the time `dueAt`, `is_restricted` a flag. */
export function toRecord<Fields>(row: Readonly<Record<string, unknown>>): Fields {
  const record: Record<string, unknown> = {};
  for (const column of Object.keys(row)) {
    const value = row[column];
    const { name, read } = fieldOf(column);
    record[name] = value === null ? null : read(value);
  }
  return record as Fields;
}

/** Columns that hold times, by their names. */
function isTime(column: string): boolean {
  return column === "at" || column.endsWith("_at");
}

const fields = new Map<string, { name: string; read(value: unknown): unknown }>();

/** Found once for each column: a long list has hundreds of thousands of values. */
function fieldOf(column: string) {
  const known = fields.get(column);
  if (known) return known;
  const name = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const toDate = (ms: unknown) => new Date(ms as number);
  const read = isTime(column) ? toDate : column.startsWith("is_") ? Boolean : (value: unknown) => value;
  const field = { name, read };
  fields.set(column, field);
  return field;
}

/** The row of a statement that always has one. */
export async function onlyRow<Row>(query: Query, sql: string, values?: readonly Value[]): Promise<Row> {
  const [row] = await query<Row>(sql, values);
  if (!row) throw new Error("The database returned no row");
  return row;
}

/** The values of a statement that has one column. */
export async function readColumn<T>(query: Query, sql: string, values?: readonly Value[]): Promise<T[]> {
  const rows = await query<Record<string, T>>(sql, values);
  return rows.flatMap((row) => Object.values(row));
}

export type Row = Readonly<Record<string, string | number | null>>;

/**
 * Inserts all rows, which have the same columns, in one statement. A `reference` stands for the number of its message's
 * row, but in the table of messages itself.
 */
export async function insertRows(
  query: Query,
  { itemsOf }: Dialect,
  table: string,
  rows: readonly Row[],
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

function itemValue(column: string, index: number): string {
  const type = column.endsWith("_kg") ? "DOUBLE PRECISION" : isTime(column) ? "BIGINT" : "TEXT";
  return `CAST(value ->> ${index} AS ${type})`;
}

/** A value that the program remembers by its name; `null` if there is none. */
export async function readMeta(query: Query, name: string): Promise<string | null> {
  const [value = null] = await readColumn<string>(query, "SELECT value FROM meta WHERE name = $1", [name]);
  return value;
}

export async function writeMeta(query: Query, name: string, value: string): Promise<void> {
  await query("INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", [
    name,
    value,
  ]);
}
