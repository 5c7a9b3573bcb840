import { openBackup, rowInserter, selectOf, sharedColumns } from "./archive.ts";
import { type Database, SECRET, writeMeta } from "./database.ts";
import type { Migration } from "./schema.ts";
import { toStoreError } from "./sqlite.ts";
import { StoreDamaged } from "./store.ts";

/** The tables whose rows belong to a message. */
const PARTS = ["deliveries", "events", "drafts"];
const MESSAGES_AT_A_TIME = 100;

/**
 * Copies every readable message of a damaged SQLite file into the empty database. Reads each message by its number, so
 * that a damaged page costs only the messages in it. Returns the number of copied messages and the references of the
 * others, or their row numbers if the references are damaged too.
 */
export async function rescue(file: string, { query, dialect }: Database, migrations: readonly Migration[]) {
  // A damaged file cannot be upgraded, so this reads the columns of its own version.
  const backup = await openBackup(file, migrations, true);
  const { db, close } = backup;
  /** `null` if the rows are damaged. */
  const read = (sql: string, ...values: number[]) => {
    try {
      return db.prepare(sql).all(...values);
    } catch (error) {
      if (toStoreError(error) instanceof StoreDamaged) return null;
      throw error;
    }
  };
  try {
    const [{ value: secret = "" } = {}] = read(`SELECT value FROM meta WHERE name = '${SECRET}'`) ?? [];
    await writeMeta(query, SECRET, String(secret));
    const references = new Map(read("SELECT id, reference FROM messages")?.map(({ id, reference }) => [id, reference]));
    // Any of these may be damaged; the others still give the highest number.
    const ends = ["id) AS id FROM messages", "message_id) AS id FROM deliveries", "message_id) AS id FROM events"];
    const lastId = Math.max(...ends.map((end) => Number(read(`SELECT max(${end}`)?.[0]?.id ?? 0)));
    const inserters = ["messages", ...PARTS].flatMap((table) => {
      const columns = sharedColumns(table, backup, migrations);
      if (columns.length === 0) return [];
      const sql = `${selectOf(table, columns)} WHERE ${table === "messages" ? "id" : "message_id"} = ?`;
      return { table, sql, ...rowInserter(table, columns, query, dialect) };
    });
    const unreadable: string[] = [];
    for (let first = 1; first <= lastId; first += MESSAGES_AT_A_TIME) {
      const readable = new Set(Array.from({ length: MESSAGES_AT_A_TIME }, (_, index) => first + index));
      for (const { table, sql, add, end } of inserters) {
        for (const id of readable) {
          const rows = read(sql, id);
          for (const row of rows ?? []) await add(Object.values(row) as string[]);
          if (table !== "messages" || (rows && rows.length > 0)) continue;
          readable.delete(id);
          if (!rows) unreadable.push(String(references.get(id) ?? `message number ${id}`));
        }
        await end();
      }
    }
    // It is unknown whether these were sent, so an operator decides.
    await query(
      `INSERT INTO deliveries (message_id, channel, state, changed_at, error)
       SELECT id, 'mail', 'failed', accepted_at, 'its delivery was in a damaged part of the database' FROM messages
       WHERE id NOT IN (SELECT message_id FROM deliveries WHERE channel = 'mail')`,
    );
    const [counted] = await query<{ count: number }>("SELECT count(*) AS count FROM messages");
    return { messages: counted?.count ?? 0, unreadable };
  } finally {
    close();
  }
}
