import { randomUUID } from "node:crypto";
import type { ContactMessage } from "../../contract/contact-message.ts";
import { type Database, normaliseEmail, onlyRow, type Query, readMeta, type Sql, writeMeta } from "./database.ts";
import { type Counts, createSpamMemory, isTaughtEnough, NEEDED_LESSONS, type Taught, wordsOf } from "./spam-words.ts";
import { type EventKind, type Lesson, StoreDamaged } from "./store.ts";

// The lessons are the stored messages that operators marked (`taught`). Their words are counted in memory only, so a
// message that is erased, deleted or restored to another text takes its lesson with it.

/** Its value changes with every change of a lesson. */
const VERSION = "spam_version";
/** The newest lessons of each kind that are read: more would not judge better, and take longer to read. */
const MAX_LESSONS = 2000;
const IS_LESSON = "taught IS NOT NULL AND is_restricted = 0";
/** The operators' marks for an address: known senders, and others. */
const GOOD_MARKS: readonly EventKind[] = ["answered", "replied", "released"];
const OTHER_MARKS: readonly EventKind[] = ["unanswered", "marked-as-spam"];
const UNDONE = "undone" satisfies EventKind;

const monthOf = (now: Date) => now.getUTCFullYear() * 100 + now.getUTCMonth() + 1;

/** Call it in the transaction that changes, restricts or deletes messages. */
export const lessonsChanged = (query: Query): Promise<void> => writeMeta(query, VERSION, randomUUID());

/** Each message teaches one lesson: a new lesson replaces the old one, and `null` removes it. */
export async function teach({ query, dialect }: Sql, ids: readonly number[], lesson: Lesson | null): Promise<void> {
  if (ids.length === 0) return;
  await query(`UPDATE messages SET taught = $2 WHERE ${dialect.isIn("id", "$1")}`, [ids, lesson]);
  await lessonsChanged(query);
}

/** Counts the messages that the filter quarantined, and those of them that were released. */
export async function countMonth(query: Query, now: Date, { held = 0, released = 0 }): Promise<void> {
  if (held + released === 0) return;
  await query(
    `INSERT INTO spam_months (month, held, released) VALUES ($1, $2, $3) ON CONFLICT (month) DO UPDATE
     SET held = spam_months.held + excluded.held, released = spam_months.released + excluded.released`,
    [monthOf(now), held, released],
  );
}

export type Spam = ReturnType<typeof createSpamFilter>;

/** The spam filter, which learns only from operators. */
export function createSpamFilter({ query, transaction, dialect }: Database) {
  const memory = createSpamMemory();
  const lessons = new Map<string, Taught>();
  let version: string | null | undefined;

  /** Learns the lessons of any node since the last call, and unlearns those that are gone. */
  async function recall(query: Query): Promise<typeof memory> {
    const current = await readMeta(query, VERSION);
    if (current === version) return memory;
    const newest = (kind: Lesson) =>
      `SELECT * FROM (SELECT id, taught, COALESCE(corrected_at, 0) AS corrected FROM messages
         WHERE ${IS_LESSON} AND taught = '${kind}' ORDER BY id DESC LIMIT ${MAX_LESSONS}) AS ${kind}`;
    type Row = { id: number; taught: Lesson; corrected: number };
    const rows = await query<Row>(`${newest("spam")} UNION ALL ${newest("good")}`);
    const keyed = new Map(rows.map((row) => [Object.values(row).join(" "), row]));
    const added = [...keyed].flatMap(([key, { id }]) => (lessons.has(key) ? [] : id));
    const messages = await query<{ id: number } & Pick<ContactMessage, "message" | "email">>(
      `SELECT id, message, email FROM messages WHERE ${dialect.isIn("id", "$1")}`,
      [added],
      // The filter must not stop the acceptance of messages.
    ).catch((error) => (error instanceof StoreDamaged ? [] : Promise.reject(error)));
    // Nothing is awaited from here on, so that simultaneous calls do not learn a lesson twice.
    const texts = new Map(messages.map((message) => [message.id, message]));
    for (const [key, taught] of lessons) {
      if (keyed.has(key)) continue;
      memory.unlearn(taught);
      lessons.delete(key);
    }
    for (const [key, { id, taught }] of keyed) {
      const message = texts.get(id);
      if (message && !lessons.has(key)) lessons.set(key, memory.learn(wordsOf(message), taught));
    }
    memory.dropRarest();
    version = current;
    return memory;
  }

  /** The addresses whose newest mark is a good one. */
  async function knownAddresses(query: Query, addresses: readonly string[]): Promise<ReadonlySet<string>> {
    const events = await query<{ id: number; email: string; kind: EventKind }>(
      `SELECT messages.id, ${dialect.lowerCaseEmail} AS email, kind FROM events JOIN messages ON messages.id = message_id
       WHERE ${dialect.isIn(dialect.lowerCaseEmail, "$1")} AND ${dialect.isIn("kind", "$2")} ORDER BY events.id`,
      [addresses, [...GOOD_MARKS, ...OTHER_MARKS, UNDONE]],
    );
    // An undone mark counts no more: the mark before it decides.
    const marks: typeof events = [];
    for (const event of events) {
      const undone = marks.findLast(({ id }) => event.kind === UNDONE && id === event.id);
      if (undone) marks.splice(marks.indexOf(undone), 1);
      if (event.kind !== UNDONE) marks.push(event);
    }
    const newest = new Map(marks.map(({ email, kind }) => [email, kind]));
    return new Set([...newest].flatMap(([email, kind]) => (GOOD_MARKS.includes(kind) ? email : [])));
  }

  return {
    recall,

    /** The messages to quarantine: none before the filter has enough lessons, and none from a known address. */
    async findSpam(query: Query, messages: readonly ContactMessage[]): Promise<ReadonlySet<ContactMessage>> {
      if (messages.length === 0) return new Set();
      const { looksLikeSpam } = await recall(query);
      const suspects = messages.filter((message) => looksLikeSpam(wordsOf(message)));
      if (suspects.length === 0) return new Set();
      const addressOf = ({ email }: ContactMessage) => normaliseEmail(email);
      const known = await knownAddresses(query, suspects.map(addressOf));
      return new Set(suspects.filter((message) => !known.has(addressOf(message))));
    },

    /** The number of lessons, the number needed of each kind, and this month's quarantined and released messages. */
    async read(now: Date) {
      const count = (kind: Lesson) => `count(CASE taught WHEN '${kind}' THEN 1 END) AS ${kind}`;
      const lessons = `SELECT ${count("spam")}, ${count("good")} FROM messages WHERE ${IS_LESSON}`;
      const taught = await onlyRow<Counts>(query, lessons);
      const sql = "SELECT held, released FROM spam_months WHERE month = $1";
      const [month] = await query<{ held: number; released: number }>(sql, [monthOf(now)]);
      const { held = 0, released = 0 } = month ?? {};
      return { taught, needed: NEEDED_LESSONS, isDeciding: isTaughtEnough(taught), held, released };
    },

    /** The words of the message with the highest spam weights, at most five. */
    signs: async (message: ContactMessage): Promise<string[]> => (await recall(query)).signsOf(wordsOf(message)),

    forget: (): Promise<void> =>
      transaction(async ({ query }) => {
        await query("UPDATE messages SET taught = NULL WHERE taught IS NOT NULL");
        await lessonsChanged(query);
      }),
  };
}
