import { randomUUID } from "node:crypto";
import type { ContactMessage } from "../../contract/contact-message.ts";
import { comparableEmail } from "../../contract/email-address.ts";
import { HIDDEN_CHARACTER } from "../../contract/text.ts";
import type { QuarantineReason } from "../message-words.ts";
import type { Database, Query } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";
import type { RowOf } from "./tables.ts";

// The spam filter, which learns only from operators. The lessons are the stored messages that they marked (`taught`).
// Their words are counted in memory only, so a message that is erased, deleted or restored to another text takes its
// lesson with it.

type Lesson = NonNullable<RowOf<"messages">["taught"]>;

/** Its value changes with every change of a lesson. */
export const LESSONS_VERSION = "spam_version";
/** The newest lessons of each kind that are read: more would take longer to read, while a message waits. */
const MAX_LESSONS = 500;
const IS_LESSON = "taught IS NOT NULL AND is_restricted = 0";
/** A message with as many web addresses is quarantined before the filter has learnt anything. */
const MANY_LINKS = 3;

/** Call it in the transaction that changes, restricts or deletes messages. */
export const lessonsChanged = (query: Query): Promise<void> => writeMeta(query, LESSONS_VERSION, randomUUID());

export type Spam = ReturnType<typeof createSpamFilter>;

export function createSpamFilter({ query, dialect }: Database) {
  let memory = learn([]);
  let version: string | null | undefined;

  /** Learns again if any node has changed a lesson since the last call. */
  async function recall(query: Query): Promise<typeof memory> {
    const current = await readMeta(query, LESSONS_VERSION);
    if (current === version) return memory;
    const newest = (kind: Lesson) =>
      `SELECT * FROM (SELECT taught, message, email FROM messages
         WHERE ${IS_LESSON} AND taught = '${kind}' ORDER BY id DESC LIMIT ${MAX_LESSONS}) AS ${kind}`;
    memory = learn(await query<Text & { taught: Lesson }>(`${newest("spam")} UNION ALL ${newest("good")}`));
    version = current;
    return memory;
  }

  return {
    /** The messages to quarantine, and why. None is from an address whose newest marked message is good. */
    async findSpam(
      query: Query,
      messages: readonly ContactMessage[],
    ): Promise<ReadonlyMap<ContactMessage, QuarantineReason>> {
      const found = new Map<ContactMessage, QuarantineReason>();
      if (messages.length === 0) return found;
      const { looksLikeSpam } = await recall(query);
      for (const message of messages) {
        if (hasManyLinks(message)) found.set(message, "links");
        else if (looksLikeSpam(message)) found.set(message, "looks-like-spam");
      }
      if (found.size === 0) return found;
      const addressOf = ({ email }: ContactMessage) => comparableEmail(email);
      const marked = await query<{ email: string; taught: Lesson }>(
        `SELECT ${dialect.lowerCaseEmail} AS email, taught FROM messages
         WHERE ${IS_LESSON} AND ${dialect.isIn(dialect.lowerCaseEmail, "$1")} ORDER BY id`,
        [[...found.keys()].map(addressOf)],
      );
      const newest = new Map(marked.map(({ email, taught }) => [email, taught]));
      for (const message of found.keys()) if (newest.get(addressOf(message)) === "good") found.delete(message);
      return found;
    },

    /** The words of the message with the highest spam weights, at most five. */
    signs: async (message: ContactMessage): Promise<string[]> => (await recall(query)).signsOf(message),
  };
}

function hasManyLinks({ name, phone, message }: ContactMessage): boolean {
  const linksIn = (text: string) => text.match(LINK)?.length ?? 0;
  return linksIn(name) + linksIn(phone) > 0 || linksIn(message) >= MANY_LINKS;
}

// Naive Bayes on the words of a message. Uses no database.

type Text = Pick<ContactMessage, "message" | "email">;

/** The parts of a longer text that are read. */
const READ_CHARACTERS = { beginning: 800, end: 300 };
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** These scripts have no spaces, so a dictionary finds the words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
let segmenter: Intl.Segmenter | undefined;
const LINK = /(?:https?:\/\/|www\.)([^\s/?#:]{1,100})/gi;

/**
 * Also what else tells spam: the address's domain, the hosts of links and their number, which contain a colon and so
 * differ from words. Leaves out the sender's name: messages from other people with that name say nothing.
 */
export function wordsOf({ message, email }: Text): string[] {
  const { beginning, end } = READ_CHARACTERS;
  const isLong = message.length > beginning + end;
  const text = readable(isLong ? `${message.slice(0, beginning)} ${message.slice(-end)}` : message);
  const links = Array.from(text.matchAll(LINK), ([, host]) => `link: ${host}`);
  const found = text.match(WORD) ?? [];
  const words = UNSPACED.test(text) ? found.flatMap(segmentsOf) : found;
  return [
    ...new Set([
      `address: ${email.slice(email.lastIndexOf("@") + 1).toLowerCase()}`,
      `links: ${links.length < MANY_LINKS ? links.length : `${MANY_LINKS} or more`}`,
      ...links,
      // No language has longer words.
      ...words.filter((word) => word.length <= 40),
    ]),
  ];
}

/** Removes hidden characters and unifies the forms of each letter. */
function readable(text: string): string {
  const visible = text.replaceAll(HIDDEN_CHARACTER, (hidden) => (/\s/.test(hidden) ? " " : ""));
  return visible.normalize("NFKC").toLowerCase();
}

function segmentsOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "word" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** With fewer lessons of either kind, the filter does not judge. */
const NEEDED_LESSONS = 20;
/** Added to a word's counts, because a word may occur in either kind even if it has not yet. */
const SMOOTHING = 0.15;
/** Neutral evidence, so that a few words alone do not decide. */
const DOUBT = 30;
const THRESHOLD = 0.62;
/**
 * The filter judges only what it knows: a message passes if a smaller share of its words is in two good lessons, unless
 * it nearly copies marked spam. Otherwise lessons in one language hold genuine messages in it.
 */
const FAMILIAR = 0.15;
const NEARLY_COPIED = 0.8;
const SHOWN_SIGNS = 5;

export function learn(lessons: readonly (Text & { taught: Lesson })[]) {
  type Counts = Record<Lesson, number>;
  const taught: Counts = { spam: 0, good: 0 };
  const known = new Map<string, Counts>();
  for (const { taught: kind, ...message } of lessons) {
    taught[kind] += 1;
    for (const word of wordsOf(message)) {
      const counts = known.get(word) ?? { spam: 0, good: 0 };
      counts[kind] += 1;
      known.set(word, counts);
    }
  }

  function weightOf({ spam, good }: Counts): number {
    const rateOf = (count: number, of: number) => (count + SMOOTHING) / (of + 2 * SMOOTHING);
    return Math.log(rateOf(spam, taught.spam) / rateOf(good, taught.good));
  }

  /** The weight of each word that lessons contain: above 0 for spam. None if the filter cannot judge the message. */
  function weigh(message: Text): { text: string; weight: number }[] {
    const texts = wordsOf(message);
    const words = texts.filter((text) => !text.includes(":"));
    const seen = words.flatMap((text) => known.get(text) ?? []);
    const familiar = seen.filter(({ good }) => good >= 2).map(weightOf);
    const copies = seen.filter(({ spam }) => spam > 0).length;
    const isKnown = familiar.length >= FAMILIAR * words.length || copies >= NEARLY_COPIED * words.length;
    if (Math.min(taught.spam, taught.good) < NEEDED_LESSONS || !isKnown) return [];
    // In a language with few good lessons, all words look like spam. Their median shows by how much.
    const bias = Math.max(0, median(familiar));
    return texts.flatMap((text) => {
      const word = known.get(text);
      return word ? { text, weight: weightOf(word) - (text.includes(":") ? 0 : bias) } : [];
    });
  }

  return {
    /**
     * Decides by the share of evidence for spam, which is comparable for short and long messages. Evidence is the square
     * of a weight, so that a few significant words count more than many common ones.
     */
    looksLikeSpam(message: Text): boolean {
      let [difference, all] = [0, DOUBT];
      for (const { weight } of weigh(message)) {
        difference += weight * Math.abs(weight);
        all += weight ** 2;
      }
      return difference / all >= THRESHOLD;
    },

    signsOf(message: Text): string[] {
      const signs = weigh(message).filter(({ weight }) => weight > 0);
      const heaviest = signs.sort((one, other) => other.weight - one.weight).slice(0, SHOWN_SIGNS);
      return heaviest.map(({ text }) => text);
    },
  };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}
