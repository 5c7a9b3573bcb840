import { readFileSync } from "node:fs";

export interface StrongWord {
  word: string;
  why: string;
  /** The article that forbids the wording in any context. */
  law?: string;
  better?: string;
}

/** `with`: the words count only in a sentence that also has one of these. */
type Entry = Omit<StrongWord, "word"> & { words: string; with?: string };
const ENTRIES = JSON.parse(readFileSync(new URL("strong-words.json", import.meta.url), "utf8")) as Entry[];
const PATTERNS = ENTRIES.map(({ words, with: others, ...entry }) => {
  return { pattern: patternOf(words), needed: others === undefined ? /^/ : patternOf(others), entry };
});
/** Domains and email addresses do not count as words. */
const ADDRESS = /https?:\/\/[^\s/]+|[^\s@]+@[^\s@]+\.\p{L}+|(?:[\p{L}\d-]+\.)+(?:com|org|net|example|[a-z]{2})\b/gu;

/** `*` matches any letters; a space matches a space, a hyphen or nothing; `#` matches a figure. */
function patternOf(words: string): RegExp {
  const wholeWord = words.replaceAll(".", "\\.").replaceAll(/(?<=^|, )(?!\*)/g, "(?<![\\p{L}\\d])");
  const endings = wholeWord.replaceAll(/(?<=^|, )\*/g, "").replaceAll(/(?<![)\]])\*/g, "[\\p{L}\\d]*");
  const alternatives = endings.replaceAll(", ", "|").replaceAll(" ", "[\\s\\-‐-―]*").replaceAll("#", "[\\d#{]\\S*");
  return new RegExp(`(?:${alternatives})(?![\\p{L}\\d])`, "giu");
}

/** CO₂ and CO² count as CO2. */
export function strongWordsOf(sentence: string): StrongWord[] {
  const plain = sentence.replaceAll(ADDRESS, "·").replaceAll(/[²₀-₉]/g, (digit) => digit.normalize("NFKC"));
  const found = PATTERNS.filter(({ pattern, needed }) => plain.search(pattern) >= 0 && plain.search(needed) >= 0);
  return found.flatMap(({ pattern, entry }) => (plain.match(pattern) ?? []).map((word) => ({ word, ...entry })));
}
