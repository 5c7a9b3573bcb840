import type { ContactMessage } from "../../contract/contact-message.ts";
import { HIDDEN_CHARACTER } from "../../contract/visible-text.ts";

// Naive Bayes on what a message consists of. No database: what was learned is given.

/** Of one message, however long it is. */
export const MAX_TOKENS = 400;
/** The characters of a longer text that are read. They make about 400 tokens. */
const READ_CHARACTERS = { beginning: 800, end: 300 };
/** What is longer is no word of any language. */
const LONGEST_WORD = 40;
/** Scripts that write no spaces count letter by letter, and so by pairs of letters. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]|[\p{L}\p{M}\p{N}]+/gu;
const PLAIN_WORD = /[a-z\d]+/g;
const LINK = /(?:https?:\/\/|www\.)([^\s/?#:]{1,100})/g;
const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Han", "Hangul", "Devanagari", "Thai"].map(
  (name) => [name, new RegExp(`\\p{Script=${name}}`, "u")] as const,
);
const COUNTED: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["words in capitals", /\p{Lu}{3,}/gu],
  ["exclamation marks", /!/g],
  ["numbers", /\d+/g],
  ["long numbers", /\d[\d -]{3,}\d/g],
  ["prices", /\p{Sc} ?\d|\d ?\p{Sc}/gu],
];

/** What a token is called: by its text for operators, by a number in the database. */
export interface Naming<Token> {
  nameOf(text: string): Token;
  pairOf(first: Token, second: Token): Token;
}

export const AS_TEXT: Naming<string> = { nameOf: (text) => text, pairOf: (first, second) => `${first} ${second}` };

/**
 * Words, pairs of words, hosts of links, the domain of the address, and shapes, which have a colon and so are no words.
 * Each once, and in the same order by any naming. The sender's name is left out: what others of that name wrote says
 * nothing.
 */
export function tokensOf<Token>(
  { message, email }: Pick<ContactMessage, "message" | "email">,
  { nameOf, pairOf }: Naming<Token>,
): Token[] {
  // Most messages are in ASCII, where all of this is ten times as quick.
  const isPlain = !/[^\n -~]/.test(message);
  const text = beginningAndEnd(isPlain ? message : readable(message));
  const lower = text.toLowerCase();
  const hosts = Array.from(lower.matchAll(LINK), ([, host]) => `link: ${host}`);
  const words = (lower.match(isPlain ? PLAIN_WORD : WORD) ?? []).filter((word) => word.length <= LONGEST_WORD);
  const shapes = [
    `address: ${email.slice(email.lastIndexOf("@") + 1).toLowerCase()}`,
    `links: ${amountOf(hosts.length)}`,
    ...COUNTED.map(([what, pattern]) => `${what}: ${amountOf(text.match(pattern)?.length ?? 0)}`),
    ...(isPlain ? SCRIPTS.slice(0, 1) : SCRIPTS).flatMap(([name, letter]) =>
      letter.test(text) ? `letters: ${name}` : [],
    ),
    ...hosts,
  ];
  const tokens = new Set(shapes.map(nameOf));
  let last: Token | undefined;
  for (const word of words) {
    const token = nameOf(word);
    tokens.add(token);
    if (last !== undefined) tokens.add(pairOf(last, token));
    if (/\d/.test(word)) tokens.add(nameOf(`number like: ${word.replaceAll(/\d/g, "0").slice(0, 12)}`));
    last = token;
  }
  return [...tokens].slice(0, MAX_TOKENS);
}

function beginningAndEnd(text: string): string {
  const { beginning, end } = READ_CHARACTERS;
  return text.length <= beginning + end ? text : `${text.slice(0, beginning)} ${text.slice(-end)}`;
}

/** Without hidden characters, and with one form of each letter. */
function readable(text: string): string {
  return text.replaceAll(HIDDEN_CHARACTER, (hidden) => (/\s/.test(hidden) ? " " : "")).normalize("NFKC");
}

function amountOf(count: number): string {
  if (count < 3) return count === 0 ? "none" : String(count);
  return count < 6 ? "3 to 5" : "6 or more";
}

/** How many messages of each kind had a token, or were taught. */
export interface Counts {
  spam: number;
  good: number;
}

/** Fewer of either kind say too little. */
export const NEEDED_LESSONS = 20;
/** Added to the counts of a token: it may come in a message of either kind, though it has not yet. */
const SMOOTHING = 0.15;
/** Evidence for neither side, so that a few words alone do not decide. */
const DOUBT = 30;
/**
 * Chosen by `npm run bench -- spam` and two collections of mail (SpamAssassin, Enron): after 40 to 500 lessons, half or
 * fewer of them spam, it held back at most 0.2% of the good messages of each.
 */
const THRESHOLD = 0.62;
const SHOWN_SIGNS = 5;

export function isTaughtEnough({ spam, good }: Counts): boolean {
  return Math.min(spam, good) >= NEEDED_LESSONS;
}

/** What a token says: above 0 for spam, 0 where it was never seen. */
export function weightOf({ spam, good }: Counts, taught: Counts): number {
  if (spam + good === 0) return 0;
  const rateOf = (count: number, of: number) => (count + SMOOTHING) / (of + 2 * SMOOTHING);
  return Math.log(rateOf(spam, taught.spam) / rateOf(good, taught.good));
}

/**
 * By the share of the evidence that is for spam, which is comparable for short and long messages. Evidence is the square
 * of a weight: a few telling words count for more than many common ones.
 */
export function looksLikeSpam(weights: readonly number[]): boolean {
  let [difference, all] = [0, DOUBT];
  for (const weight of weights) {
    difference += weight * Math.abs(weight);
    all += weight ** 2;
  }
  return difference / all >= THRESHOLD;
}

/** The tokens that weigh most for spam, the heaviest first. */
export function signsOf(tokens: readonly string[], weights: readonly number[]): string[] {
  const weighed = tokens.map((token, index) => ({ token, weight: weights[index] ?? 0 }));
  const heaviest = weighed.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight);
  return heaviest.slice(0, SHOWN_SIGNS).map(({ token }) => token);
}
