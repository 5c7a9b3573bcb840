import { hash, randomUUID } from "node:crypto";
import type { ContactMessage } from "../../contract/contact-message.ts";
import { type Database, normaliseEmail, type Query, readColumn, readMeta, writeMeta } from "./database.ts";
import {
  AS_TEXT,
  type Counts,
  isTaughtEnough,
  looksLikeSpam,
  type Naming,
  NEEDED_LESSONS,
  signsOf,
  tokensOf,
  weightOf,
} from "./spam-tokens.ts";
import type { Lesson, StoredMessage } from "./store.ts";

// The rows of `spam_tokens`. Numbers above 0 are keyed hashes of tokens. Erasing a message keeps its counts, because
// they reveal nothing about a message or a person.

/** The row that counts the messages that were taught. */
const TAUGHT = 0;
/** Its value changes after each lesson. */
const VERSION = "spam_version";
/** The maximum number of cached words with their hashes (20 MB), and of cached tokens with their weights (4 MB). */
const MAX_REMEMBERED = 200_000;
/** Odd, so that different first words make different pairs. */
const PAIR_FACTOR = 0x9e3779b1;
const asToken = (number: number) => number >>> 1 || 1;
const NOTHING: Counts = { spam: 0, good: 0 };
/** A sender whom we replied to or whose message was answered, unless marked as spam since. */
const IS_CORRESPONDENT = `COALESCE(taught, '') <> 'spam' AND (answered_at > 0 OR EXISTS (SELECT 1 FROM deliveries
  WHERE message_id = messages.id AND channel = 'reply' AND state IN ('queued', 'delivered', 'failed')))`;

/** The row that counts a month's messages. */
const monthOf = (now: Date) => -(now.getUTCFullYear() * 100 + now.getUTCMonth() + 1);

/**
 * Whole numbers from 1 to 2³¹ - 1, which V8 stores and compares without allocating. With 50,000 known tokens, one
 * unknown token in 40,000 is taken for a known one. A pair's number is computed from those of its words.
 */
function createNaming(secret: string): Naming<number> {
  const hashes = new Map<string, number>();
  return {
    nameOf(text) {
      const remembered = hashes.get(text);
      if (remembered !== undefined) return remembered;
      if (hashes.size >= MAX_REMEMBERED) hashes.clear();
      const number = asToken(Number.parseInt(hash("sha256", secret + text).slice(0, 8), 16));
      hashes.set(text, number);
      return number;
    },
    pairOf: (first, second) => asToken(Math.imul(first, PAIR_FACTOR) + second),
  };
}

export type Spam = ReturnType<typeof createSpamFilter>;

/** The spam filter, which learns only from operators. */
export function createSpamFilter({ query, transaction, dialect }: Database, databaseSecret: string) {
  const asNumber = createNaming(`${databaseSecret} token `);
  let known = { version: "" as string | null, taught: NOTHING, weightOfToken: createWeights([]) };
  const isGiven = dialect.isIn("hash", "$1", "BIGINT");

  async function readRows(query: Query, hashes: readonly number[]): Promise<Map<number, Counts>> {
    const sql = `SELECT hash, spam, good FROM spam_tokens WHERE ${isGiven}`;
    const rows = await query<Counts & { hash: number }>(sql, [hashes]);
    return new Map(rows.map(({ hash, ...counts }) => [hash, counts]));
  }

  /** Returns a function for the token weights of a message: none before the filter has enough lessons. */
  async function readWeights(query: Query): Promise<(message: ContactMessage) => number[]> {
    const { taught, weightOfToken } = await recall(query);
    if (!isTaughtEnough(taught)) return () => [];
    return (message) => tokensOf(message, asNumber).map(weightOfToken);
  }

  /**
   * The state after the last lesson on any node. Reads all tokens at once: a batch has thousands, most of them unknown.
   */
  async function recall(query: Query): Promise<typeof known> {
    const version = await readMeta(query, VERSION);
    if (version === known.version) return known;
    const taught = (await readRows(query, [TAUGHT])).get(TAUGHT) ?? NOTHING;
    // Read as one text, because separate rows cost ten times as much.
    const [rows] = await readColumn<string | null>(
      query,
      `SELECT string_agg(hash || ' ' || spam || ' ' || good, ',') FROM
         (SELECT * FROM spam_tokens WHERE hash > ${TAUGHT} ORDER BY spam + good DESC LIMIT ${MAX_REMEMBERED}) AS tokens`,
    );
    const learned = (rows?.split(",") ?? []).map((row): [token: number, weight: number] => {
      const [token = 0, spam = 0, good = 0] = row.split(" ").map(Number);
      return [token, weightOf({ spam, good }, taught)];
    });
    known = { version, taught, weightOfToken: createWeights(learned) };
    return known;
  }

  async function add(query: Query, counts: ReadonlyMap<number, Counts>): Promise<void> {
    // Sorted by number, so that two nodes cannot deadlock.
    const rows = [...counts].map(([hash, { spam, good }]) => [hash, spam, good]).sort(([a = 0], [b = 0]) => a - b);
    const values = [0, 1, 2].map((index) => `CAST(value ->> ${index} AS BIGINT)`);
    await query(
      `INSERT INTO spam_tokens (hash, spam, good) SELECT ${values.join(", ")} FROM ${dialect.itemsOf("$1")} WHERE TRUE
       ON CONFLICT (hash) DO UPDATE SET spam = spam_tokens.spam + excluded.spam, good = spam_tokens.good + excluded.good`,
      [rows],
    );
    await query(`DELETE FROM spam_tokens WHERE ${isGiven} AND spam = 0 AND good = 0`, [[...counts.keys()]]);
  }

  return {
    /** The messages to quarantine: none before the filter has enough lessons, and none from a correspondent. */
    async findSpam(query: Query, messages: readonly ContactMessage[]): Promise<ReadonlySet<ContactMessage>> {
      if (messages.length === 0) return new Set();
      const weightsOf = await readWeights(query);
      const suspects = messages.filter((message) => looksLikeSpam(weightsOf(message)));
      if (suspects.length === 0) return new Set();
      const sql = `SELECT ${dialect.lowerCaseEmail} AS email FROM messages
        WHERE ${dialect.isIn(dialect.lowerCaseEmail, "$1")} AND ${IS_CORRESPONDENT}`;
      const known = await query<{ email: string }>(sql, [suspects.map(({ email }) => normaliseEmail(email))]);
      const addresses = new Set(known.map(({ email }) => email));
      return new Set(suspects.filter(({ email }) => !addresses.has(normaliseEmail(email))));
    },

    /** Each message teaches one lesson: a new lesson replaces the old one, and `null` removes it. */
    async teach(query: Query, messages: readonly StoredMessage[], lesson: Lesson | null): Promise<void> {
      const changed = messages.filter(({ taught }) => taught !== lesson);
      const counts = new Map<number, Counts>();
      for (const [taught, group] of Map.groupBy(changed, (message) => message.taught)) {
        // Runs first, because it locks the messages: if two operators teach the same, one lesson counts.
        const updated = await query<{ id: number }>(
          `UPDATE messages SET taught = $2 WHERE ${dialect.isIn("id", "$1", "BIGINT")}
           AND taught IS NOT DISTINCT FROM CAST($3 AS TEXT) RETURNING id`,
          [group.map(({ id }) => id), lesson, taught],
        );
        const ids = new Set(updated.map(({ id }) => id));
        for (const message of group.filter(({ id }) => ids.has(id))) {
          for (const key of [TAUGHT, ...tokensOf(message, asNumber)]) {
            const { spam, good } = counts.get(key) ?? NOTHING;
            const change = (kind: Lesson) => Number(lesson === kind) - Number(taught === kind);
            counts.set(key, { spam: spam + change("spam"), good: good + change("good") });
          }
        }
      }
      if (counts.size === 0) return;
      await add(query, counts);
      await writeMeta(query, VERSION, randomUUID());
    },

    /** Counts the messages that it quarantined, and those of them that were released. */
    async countMonth(query: Query, now: Date, { held = 0, released = 0 }): Promise<void> {
      if (held + released > 0) await add(query, new Map([[monthOf(now), { spam: held, good: released }]]));
    },

    /** The number of lessons, the number needed of each kind, and this month's quarantined and released messages. */
    async read(now: Date) {
      const rows = await readRows(query, [TAUGHT, monthOf(now)]);
      const taught = rows.get(TAUGHT) ?? NOTHING;
      const { spam: held, good: released } = rows.get(monthOf(now)) ?? NOTHING;
      return { taught, needed: NEEDED_LESSONS, isDeciding: isTaughtEnough(taught), held, released };
    },

    /** The parts of the message with the highest spam weights, at most five. */
    async signs(message: ContactMessage): Promise<string[]> {
      const weightsOf = await readWeights(query);
      return signsOf(tokensOf(message, AS_TEXT), weightsOf(message));
    },

    forget: (): Promise<void> =>
      transaction(async (query) => {
        await query("UPDATE messages SET taught = NULL WHERE taught IS NOT NULL");
        await query(`DELETE FROM spam_tokens WHERE hash >= ${TAUGHT}`);
        await writeMeta(query, VERSION, randomUUID());
      }),
  };
}

/**
 * A hash table in typed arrays. A `Map` of this size takes seven times as long, because each lookup waits for the
 * memory several times.
 */
function createWeights(learned: readonly (readonly [token: number, weight: number])[]): (token: number) => number {
  const mask = 2 ** Math.ceil(Math.log2(2 * learned.length + 2)) - 1;
  const tokens = new Int32Array(mask + 1);
  const weights = new Float32Array(mask + 1);
  const slotOf = (token: number) => {
    let slot = token & mask;
    while (tokens[slot] !== 0 && tokens[slot] !== token) slot = (slot + 1) & mask;
    return slot;
  };
  for (const [token, weight] of learned) {
    const slot = slotOf(token);
    tokens[slot] = token;
    weights[slot] = weight;
  }
  return (token) => weights[slotOf(token)] ?? 0;
}
