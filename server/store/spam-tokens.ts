import type { ContactMessage } from "../../contract/contact-message.ts";
import { HIDDEN_CHARACTER } from "../../contract/visible-text.ts";

// Naive Bayes on the tokens of a message. Uses no database: the caller passes the learned counts.

/** The maximum number of tokens per message. */
export const MAX_TOKENS = 400;
/** The parts of a longer text that are read. They make about 400 tokens. */
const READ_CHARACTERS = { beginning: 800, end: 300 };
/** No language has longer words. */
const LONGEST_WORD = 40;
/** In scripts without spaces, each letter is a word, so pairs of letters count too. */
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

/** Names tokens: by text for operators, by number in the database. */
export interface Naming<Token> {
  nameOf(text: string): Token;
  pairOf(first: Token, second: Token): Token;
}

export const AS_TEXT: Naming<string> = { nameOf: (text) => text, pairOf: (first, second) => `${first} ${second}` };

/**
 * Words, pairs of words, link hosts, the address's domain, and features such as length, which contain a colon and so
 * differ from words. Lists each token once, in the same order for any naming. Leaves out the sender's name, because
 * messages from other people with that name say nothing.
 */
export function tokensOf<Token>(
  { message, email }: Pick<ContactMessage, "message" | "email">,
  { nameOf, pairOf }: Naming<Token>,
): Token[] {
  // Most messages are ASCII, for which this is ten times as fast.
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
  const hasDigits = /\d/.test(lower);
  let last: Token | undefined;
  for (const word of words) {
    const token = nameOf(word);
    tokens.add(token);
    if (last !== undefined) tokens.add(pairOf(last, token));
    if (hasDigits && /\d/.test(word)) tokens.add(nameOf(`number like: ${word.replaceAll(/\d/g, "0").slice(0, 12)}`));
    last = token;
  }
  return [...tokens].slice(0, MAX_TOKENS);
}

function beginningAndEnd(text: string): string {
  const { beginning, end } = READ_CHARACTERS;
  return text.length <= beginning + end ? text : `${text.slice(0, beginning)} ${text.slice(-end)}`;
}

/** Removes hidden characters and unifies the forms of each letter. */
function readable(text: string): string {
  return text.replaceAll(HIDDEN_CHARACTER, (hidden) => (/\s/.test(hidden) ? " " : "")).normalize("NFKC");
}

function amountOf(count: number): string {
  if (count < 3) return count === 0 ? "none" : String(count);
  return count < 6 ? "3 to 5" : "6 or more";
}

/** The number of messages of each kind: with a token, or in all lessons. */
export interface Counts {
  spam: number;
  good: number;
}

/** With fewer lessons of either kind, the filter does not judge. */
export const NEEDED_LESSONS = 20;
/** Added to a token's counts, because a token may occur in either kind even if it has not yet. */
const SMOOTHING = 0.15;
/** Neutral evidence, so that a few words alone do not decide. */
const DOUBT = 30;
/**
 * Chosen with `npm run bench -- spam` and two collections of mail (SpamAssassin, Enron). After 40 to 500 lessons, at
 * most half of them spam, the filter quarantined at most 0.2% of the good messages of each.
 */
const THRESHOLD = 0.62;
const SHOWN_SIGNS = 5;

export function isTaughtEnough({ spam, good }: Counts): boolean {
  return Math.min(spam, good) >= NEEDED_LESSONS;
}

/** A token's weight: above 0 for spam, 0 for an unknown token. */
export function weightOf({ spam, good }: Counts, taught: Counts): number {
  if (spam + good === 0) return 0;
  const rateOf = (count: number, of: number) => (count + SMOOTHING) / (of + 2 * SMOOTHING);
  return Math.log(rateOf(spam, taught.spam) / rateOf(good, taught.good));
}

/**
 * Decides by the share of evidence for spam, which is comparable for short and long messages. Evidence is the square of
 * a weight, so that a few significant words count more than many common ones.
 */
export function looksLikeSpam(weights: readonly number[]): boolean {
  let [difference, all] = [0, DOUBT];
  for (const weight of weights) {
    difference += weight * Math.abs(weight);
    all += weight ** 2;
  }
  return difference / all >= THRESHOLD;
}

/** The tokens with the highest spam weights, highest first. */
export function signsOf(tokens: readonly string[], weights: readonly number[]): string[] {
  const weighed = tokens.map((token, index) => ({ token, weight: weights[index] ?? 0 }));
  const heaviest = weighed.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight);
  return heaviest.slice(0, SHOWN_SIGNS).map(({ token }) => token);
}
