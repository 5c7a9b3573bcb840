import type { ContactMessage } from "../../contract/contact-message.ts";
import { HIDDEN_CHARACTER } from "../../contract/visible-text.ts";
import type { Lesson } from "./store.ts";

// Naive Bayes on the words of a message. Uses no database: the caller passes the lessons.

/** The parts of a longer text that are read. */
const READ_CHARACTERS = { beginning: 800, end: 300 };
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** These scripts have no spaces, so a dictionary finds the words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const segmenter = new Intl.Segmenter("en", { granularity: "word" });
const LINK = /(?:https?:\/\/|www\.)([^\s/?#:]{1,100})/g;

/**
 * The words of a message, each once, and what else tells spam: the address's domain, the hosts of links and their
 * number, which contain a colon and so differ from words. Leaves out the sender's name, because messages from other
 * people with that name say nothing.
 */
export function wordsOf({ message, email }: Pick<ContactMessage, "message" | "email">): string[] {
  const { beginning, end } = READ_CHARACTERS;
  const isLong = message.length > beginning + end;
  const text = readable(isLong ? `${message.slice(0, beginning)} ${message.slice(-end)}` : message);
  const links = Array.from(text.matchAll(LINK), ([, host]) => `link: ${host}`);
  const found = text.match(WORD) ?? [];
  const words = UNSPACED.test(text) ? found.flatMap(segmentsOf) : found;
  return [
    ...new Set([
      `address: ${email.slice(email.lastIndexOf("@") + 1).toLowerCase()}`,
      `links: ${links.length < 3 ? links.length : "3 or more"}`,
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
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The number of lessons of each kind. */
export interface Counts {
  spam: number;
  good: number;
}

/** With fewer lessons of either kind, the filter does not judge. */
export const NEEDED_LESSONS = 20;
/** Above this number, the rarest words are dropped. */
export const MAX_KNOWN_WORDS = 200_000;
/** Added to a word's counts, because a word may occur in either kind even if it has not yet. */
const SMOOTHING = 0.15;
/** Neutral evidence, so that a few words alone do not decide. */
const DOUBT = 30;
const THRESHOLD = 0.62;
/**
 * The filter judges only what it knows: a message passes if a smaller share of its words is in two good lessons, unless
 * it nearly copies marked spam. Without this, ten lessons of German spam held half of the genuine German messages.
 */
const FAMILIAR = 0.15;
const NEARLY_COPIED = 0.8;
const SHOWN_SIGNS = 5;

export function isTaughtEnough({ spam, good }: Counts): boolean {
  return Math.min(spam, good) >= NEEDED_LESSONS;
}

/** A word and the number of lessons with it. */
interface Word extends Counts {
  text: string;
}

/** What a message taught; needed to take the lesson back. */
export interface Taught {
  kind: Lesson;
  words: readonly Word[];
}

/** Counts the lessons with each word. */
export function createSpamMemory() {
  const taught: Counts = { spam: 0, good: 0 };
  const known = new Map<string, Word>();

  function weightOf({ spam, good }: Counts): number {
    const rateOf = (count: number, of: number) => (count + SMOOTHING) / (of + 2 * SMOOTHING);
    return Math.log(rateOf(spam, taught.spam) / rateOf(good, taught.good));
  }

  /** The weight of each word that lessons contain: above 0 for spam. None if the filter cannot judge the message. */
  function weigh(texts: readonly string[]): { text: string; weight: number }[] {
    const words = texts.filter((text) => !text.includes(":"));
    const seen = words.flatMap((text) => known.get(text) ?? []);
    const familiar = seen.filter(({ good }) => good >= 2).map(weightOf);
    const copies = seen.filter(({ spam }) => spam > 0).length;
    const isKnown = familiar.length >= FAMILIAR * words.length || copies >= NEARLY_COPIED * words.length;
    if (!isTaughtEnough(taught) || !isKnown) return [];
    // In a language with few good lessons, all words look like spam. Their median shows by how much.
    const bias = Math.max(0, median(familiar));
    return texts.flatMap((text) => {
      const word = known.get(text);
      return word ? { text, weight: weightOf(word) - (text.includes(":") ? 0 : bias) } : [];
    });
  }

  return {
    taught,
    known: known as ReadonlyMap<string, Counts>,

    learn(texts: readonly string[], kind: Lesson): Taught {
      taught[kind] += 1;
      const words = texts.map((text) => {
        const word = known.get(text) ?? { text, spam: 0, good: 0 };
        word[kind] += 1;
        known.set(text, word);
        return word;
      });
      return { kind, words };
    },

    unlearn({ kind, words }: Taught): void {
      taught[kind] -= 1;
      for (const word of words) {
        word[kind] -= 1;
        if (word.spam + word.good === 0 && known.get(word.text) === word) known.delete(word.text);
      }
    },

    dropRarest(): void {
      for (let count = 1; known.size > MAX_KNOWN_WORDS; count += 1) {
        for (const word of known.values()) if (word.spam + word.good <= count) known.delete(word.text);
      }
    },

    /**
     * Decides by the share of evidence for spam, which is comparable for short and long messages. Evidence is the square
     * of a weight, so that a few significant words count more than many common ones.
     */
    looksLikeSpam(texts: readonly string[]): boolean {
      let [difference, all] = [0, DOUBT];
      for (const { weight } of weigh(texts)) {
        difference += weight * Math.abs(weight);
        all += weight ** 2;
      }
      return difference / all >= THRESHOLD;
    },

    /** The words with the highest spam weights, highest first. */
    signsOf(texts: readonly string[]): string[] {
      const signs = weigh(texts).filter(({ weight }) => weight > 0);
      const heaviest = signs.sort((one, other) => other.weight - one.weight).slice(0, SHOWN_SIGNS);
      return heaviest.map(({ text }) => text);
    },
  };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}
