import { DAY_MS } from "../time.ts";
import { openBackup, openUpgraded, rowInserter, selectOf } from "./archive.ts";
import { SECRET, writeMeta } from "./database.ts";
import { readEstimate, readJson } from "./message-rows.ts";
import { migrate } from "./schema.ts";
import { sqliteFile, toStoreError } from "./sqlite.ts";
import { writeNewFile } from "./sqlite-files.ts";
import { CHANNELS, StoreDamaged } from "./store.ts";
import { kindOf } from "./tables.ts";

/** The tables whose rows belong to a message, and those that are read as a whole. */
const [PARTS, WHOLE] = [["messages", "deliveries", "events", "drafts", "replies"], ["erasures"]];
/** The JSON in rows of `messages`, which may have been cut. */
const JSON_COLUMNS = [
  { what: "estimate", columns: ["footprint"], parse: readEstimate },
  { what: "draft", columns: ["draft"], parse: readJson },
];
const MESSAGES_AT_A_TIME = 100;

/**
 * Copies every readable message of a damaged SQLite file into a new database, and upgrades that: a damaged file cannot
 * be upgraded. Reads each message by its number, so that a damaged page costs only the messages in it. Leaves out rows
 * whose values cannot be ours. Returns the number of copied messages, and what was left out: references, or row numbers
 * if the references are damaged too.
 */
async function rescue(file: string, target: string) {
  const { db, tables, version, close } = await openBackup(file, true);
  const { query, transaction, dialect, close: closeTarget } = await openUpgraded(target, version);
  /** `null` if the rows are damaged. */
  const read = (sql: string, ...values: number[]) => {
    try {
      return db.prepare(sql).all(...values);
    } catch (error) {
      if (toStoreError(error) instanceof StoreDamaged) return null;
      throw error;
    }
  };
  const copierOf = (table: string) => {
    const columns = tables.get(table) ?? [];
    const sql = selectOf(table, columns);
    return columns.length === 0 ? [] : { table, sql, ...rowInserter(table, columns, query, dialect) };
  };
  const unreadable: string[] = [];
  try {
    const [{ value: secret = "" } = {}] = read(`SELECT value FROM meta WHERE name = '${SECRET}'`) ?? [];
    await writeMeta(query, SECRET, String(secret));
    const references = new Map(read("SELECT id, reference FROM messages")?.map(({ id, reference }) => [id, reference]));
    // Any of these may be damaged; the others still give the highest number.
    const ends = ["id) AS id FROM messages", "message_id) AS id FROM deliveries", "message_id) AS id FROM events"];
    const lastId = Math.max(...ends.map((end) => Number(read(`SELECT max(${end}`)?.[0]?.id ?? 0)));
    const copiers = PARTS.flatMap(copierOf);
    for (let first = 1; first <= lastId; first += MESSAGES_AT_A_TIME) {
      const readable = new Set(Array.from({ length: MESSAGES_AT_A_TIME }, (_, index) => first + index));
      for (const { table, sql, add, end } of copiers) {
        for (const id of readable) {
          const found = read(`${sql} WHERE ${table === "messages" ? "id" : "message_id"} = ?`, id);
          const rows = found?.filter(isSound) ?? [];
          const name = String(isReference(references.get(id)) ? references.get(id) : `message number ${id}`);
          for (const row of rows) {
            for (const { what, columns, parse } of JSON_COLUMNS) {
              const [json] = columns.flatMap((column) => row[column] ?? []);
              if (json === undefined || parse(String(json)) !== null) continue;
              unreadable.push(`the ${what} of ${name}`);
              for (const column of columns) row[column] = null;
            }
            await add(Object.values(row) as string[]);
          }
          if (table === "messages" && rows.length === 0) readable.delete(id);
          if (found !== null && found.length === rows.length) continue;
          unreadable.push(table === "messages" ? name : `rows of ${name} in ${table}`);
        }
        await end();
      }
    }
    for (const { table, sql, add, end } of WHOLE.flatMap(copierOf)) {
      const found = read(sql);
      const rows = found?.filter(isSound) ?? [];
      for (const row of rows) await add(Object.values(row) as string[]);
      await end();
      if (rows.length !== found?.length) unreadable.push(`rows of the table ${table}`);
    }
    await transaction((sql) => migrate(sql));
    // The history says which of these were sent. For the others it is unknown, so an operator decides.
    const sentAt = `(SELECT max(at) FROM events
      WHERE events.message_id = messages.id AND kind = 'delivered' AND channel = 'mail')`;
    await query(
      `INSERT INTO deliveries (message_id, channel, state, changed_at, error)
       SELECT id, 'mail', CASE WHEN sent_at IS NULL THEN 'failed' ELSE 'delivered' END, COALESCE(sent_at, accepted_at),
         CASE WHEN sent_at IS NULL THEN 'its delivery was in a damaged part of the database' END
       FROM (SELECT id, accepted_at, ${sentAt} AS sent_at FROM messages
         WHERE id NOT IN (SELECT message_id FROM deliveries WHERE channel = 'mail')) AS found`,
    );
    const [counted] = await query<{ count: number }>("SELECT count(*) AS count FROM messages");
    return { messages: counted?.count ?? 0, unreadable };
  } finally {
    close();
    await closeTarget();
  }
}

/** Writes a new SQLite file with every readable message of the folder's damaged database. */
export async function rescueMessages(dataDir: string, file: string) {
  let rescued = { messages: 0, unreadable: [] as string[] };
  await writeNewFile(file, async (target) => {
    rescued = await rescue(sqliteFile(dataDir), target);
  });
  return rescued;
}

/** No time in a database is earlier, or this far in the future. */
const [EARLIEST_MS, AHEAD_MS] = [Date.UTC(2020, 0), 366 * DAY_MS];

const isReference = (value: unknown) => typeof value === "string" && /^[A-Z]+-[\dA-Z]{4}-[\dA-Z]{2,}$/.test(value);

/** Whether the row's values can be ours. SQLite reads some damaged pages without an error. */
function isSound(row: Readonly<Record<string, unknown>>): boolean {
  const latestMs = Date.now() + AHEAD_MS;
  return Object.entries(row).every(([column, value]) => {
    if (value === null) return true;
    if (column === "reference") return isReference(value);
    if (column === "channel") return CHANNELS.some((channel) => channel === value);
    if (kindOf(column) === "time") return typeof value === "number" && value >= EARLIEST_MS && value < latestMs;
    return typeof value === "number" || (typeof value === "string" && !value.includes("\uFFFD"));
  });
}
