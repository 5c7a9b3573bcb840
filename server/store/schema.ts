import { randomBytes } from "node:crypto";
import type { Dialect, Sql } from "./database.ts";
import { StoreNotReady, StoreRefused, StoreUnavailable } from "./errors.ts";
import { readMeta, SECRET, writeMeta } from "./meta.ts";
import { writeSearchTexts } from "./search.ts";
import { allTables, INDEXES, KEYS, type NewRow, type Table } from "./tables.ts";

/** The version of the tables that tables.ts declares. Version 3 is that of 2.0.0, version 4 that of 2.1.0. */
export const SCHEMA_VERSION = 4;
export const FIRST_VERSION = 3;

/** Creates or upgrades the tables. Run it in a transaction with the lock `migrating`. */
export async function migrate(sql: Sql): Promise<void> {
  const { query } = sql;
  const version = await readSchemaVersion(sql);
  if (version !== SCHEMA_VERSION) {
    const changing = version === null ? create(sql) : upgrade(sql);
    await changing.catch((error) => {
      if (error instanceof StoreUnavailable) throw error;
      const problem = `The schema of the message database does not match its version ${version ?? 0} (${error.message})`;
      throw new StoreRefused({ problem, remedy: "restore a backup" });
    });
    await writeMeta(query, "schema_version", String(SCHEMA_VERSION));
  }
  const newKey = randomBytes(32).toString("hex");
  await query("INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING", [SECRET, newKey]);
}

async function create({ query, dialect }: Sql): Promise<void> {
  for (const statement of [...createTables(dialect), ...createIndexes(dialect)]) await query(statement);
}

type Declared = ReturnType<typeof allTables>[number][1][number];

function columnOf({ identity, integer }: Dialect, [name, { kind, rule }]: Declared): string {
  return kind === "id" ? `${name} ${identity}` : `${name} ${kind === "text" ? "TEXT" : integer} ${rule}`.trimEnd();
}

function createTable(dialect: Dialect, table: Table, columns: readonly Declared[]): string {
  const parts = columns.map((column) => columnOf(dialect, column));
  const key = KEYS[table];
  if (key) parts.push(`PRIMARY KEY (${key})`);
  return `CREATE TABLE ${table} (${parts.join(", ")})${key ? dialect.keyedTableEnd : dialect.tableEnd}`;
}

export function createTables(dialect: Dialect): string[] {
  return allTables().map(([table, columns]) => createTable(dialect, table, columns));
}

export function createIndexes({ lowerCaseEmail }: Dialect): string[] {
  return INDEXES.map((index) => `CREATE ${index.replace("LOWER_CASE_EMAIL", lowerCaseEmail)}`);
}

/** For commands: the website may run another version, so they must not change the schema. */
export async function requireVersion(sql: Sql): Promise<void> {
  const version = await readSchemaVersion(sql);
  if (version === null) {
    const remedy = "start the website first, or correct DATA_DIR or DATABASE_URL";
    throw new StoreNotReady({ problem: "The message database is empty", remedy });
  }
  if (version !== SCHEMA_VERSION) {
    throw new StoreNotReady({
      problem: `This database was written by an older version of the program (schema ${version}, this one needs ${SCHEMA_VERSION})`,
      remedy:
        "restart the website with this version, which upgrades the database; until then use the older version's commands",
    });
  }
}

/** `null` for a database without our tables. */
export async function readSchemaVersion({ query, dialect: { findTable } }: Sql): Promise<number | null> {
  if ((await query(findTable("meta"))).length === 0) {
    if ((await query(findTable("messages"))).length === 0) return null;
    const problem = 'The database already has a table "messages" of another program';
    throw new StoreRefused({ problem, remedy: "set DATABASE_URL to a separate database" });
  }
  const version = await readMeta(query, "schema_version");
  if (Number(version) > SCHEMA_VERSION) {
    const problem = `This database was written by a newer version of the program (schema ${version}, this one knows ${SCHEMA_VERSION})`;
    const remedy =
      "run that version; to go back, restore a backup made before the upgrade into an empty database, as docs/operations.md describes";
    throw new StoreRefused({ problem, remedy });
  }
  if (version !== null && Number(version) < FIRST_VERSION)
    throw new StoreRefused({ problem: "This database is of version 1.x", remedy: "start it once with 2.0.0" });
  return version === null ? null : Number(version);
}

/** The columns that version 4 added to tables of version 3. Its new tables are created. */
const ADDED: { readonly [Name in Table]?: readonly (keyof NewRow<Name>)[] } = {
  messages: ["new_answer_at"],
  deliveries: ["unknown_outcomes", "last_mail_at"],
  events: ["note_key"],
  replies: ["recipient", "came_back"],
};

/** From version 3, also in a copy of a backup. Never changes what a released version had. */
async function upgrade(sql: Sql): Promise<void> {
  const { query, dialect } = sql;
  for (const [table, columns] of allTables()) {
    const isNew = (await query(dialect.findTable(table))).length === 0;
    if (isNew) await query(createTable(dialect, table, columns));
    const added = columns.filter(([name]) => !isNew && (ADDED[table] as readonly string[] | undefined)?.includes(name));
    for (const column of added) await query(`ALTER TABLE ${table} ADD COLUMN ${columnOf(dialect, column)}`);
  }
  const isUnknown = "leased_until IS NOT NULL OR state = 'failed' AND error LIKE 'given up: %'";
  await query(`UPDATE deliveries SET unknown_outcomes = 1 WHERE ${isUnknown}`);
  // Notes for an undo have only the old columns.
  await query("UPDATE events SET step = NULL, replaced = NULL WHERE replaced IS NOT NULL");
  // Version 3 did not fold letters such as ł and signs such as ’.
  await writeSearchTexts(sql);
  for (const statement of createIndexes(dialect)) await query(statement.replace("INDEX ", "INDEX IF NOT EXISTS "));
}
