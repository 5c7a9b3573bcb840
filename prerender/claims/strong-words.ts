import { readFileSync } from "node:fs";

export interface StrongWord {
  word: string;
  why: string;
  /** The article that forbids the wording. */
  law?: string;
  better?: string;
}

/** `with`: the words count only in a sentence that also has one of these. */
type Entry = Omit<StrongWord, "word"> & { words: string; with?: string };
const ENTRIES = JSON.parse(readFileSync(new URL("strong-words.json", import.meta.url), "utf8")) as Entry[];
const PATTERNS = ENTRIES.map(({ words, with: others, ...entry }) => {
  return { pattern: patternOf(words), needed: others === undefined ? /^/ : patternOf(others), entry };
});
/** Letters of other scripts, each followed by the Latin letter that looks the same. */
const LOOKALIKES = "аaвbеeкkмmнhоoрpсcтtуyхxіiјjѕsԁdһhӏlгrαaβbεeιiκkνvοoρpτtυuχxηnωwօoոnսuհhɑaɡgıi";
const LATIN = new Map(LOOKALIKES.match(/../gu)?.map((pair) => [pair.slice(0, 1), pair.slice(1)]));

/** `*` matches any letters; a space matches a space, a hyphen or nothing; `#` matches a figure. */
function patternOf(words: string): RegExp {
  const wholeWord = words.replaceAll(".", "\\.").replaceAll(/(?<=^|, )(?!\*)/g, "(?<!\\p{L})");
  const endings = wholeWord.replaceAll(/(?<=^|, )\*/g, "").replaceAll(/(?<![)\]])\*/g, "[\\p{L}\\d]*");
  const alternatives = endings.replaceAll(", ", "|").replaceAll(" ", "[\\s\\-‐-―]*").replaceAll("#", "[\\d#{]\\S*");
  return new RegExp(`(?:${alternatives})(?!\\p{L})`, "giu");
}

/** The words that a reader sees, in plain Latin letters: `#GoGrеen` with a Cyrillic letter is "go green". */
function plainText(sentence: string): string {
  const letters = sentence
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{DI}]/gu, "")
    .replaceAll("’", "'");
  const words = letters.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, " ").toLowerCase();
  return words.replaceAll(/\p{L}/gu, (letter) => LATIN.get(letter) ?? letter);
}

export function strongWordsOf(sentence: string): StrongWord[] {
  const plain = plainText(sentence);
  const found = PATTERNS.filter(({ pattern, needed }) => plain.search(pattern) >= 0 && plain.search(needed) >= 0);
  return found.flatMap(({ pattern, entry }) => (plain.match(pattern) ?? []).map((word) => ({ word, ...entry })));
}
