import { readFileSync } from "node:fs";

/** Words that make a sentence a claim about the environment, each group with its reason. */
interface Group {
  words: string;
  /** The words count only in a sentence that also has one of these. */
  with?: string;
  why: string;
  /** The article that forbids the wording. */
  law?: string;
  better?: string;
}

const GROUPS = JSON.parse(readFileSync(new URL("strong-words.json", import.meta.url), "utf8")) as Group[];
const PATTERNS = GROUPS.map(({ words, with: others, ...group }) => {
  return { pattern: patternOf(words), needed: others === undefined ? /^/ : patternOf(others), group };
});
/** Characters that look like another one, each followed by that one. */
const LOOKALIKES = "аaвbеeкkмmнhоoрpсcтtуyхxіiјjѕsԁdһhӏlгrαaβbεeιiκkνvοoρpτtυuχxηnωwօoոnսuհhɑaɡgıi’'";
const PLAIN = new Map(LOOKALIKES.match(/../gu)?.map((pair) => [pair.slice(0, 1), pair.slice(1)]));
const SEGMENTER = new Intl.Segmenter("en-GB", { granularity: "sentence" });

/** `*` matches any letters; a space matches a space, a hyphen or nothing; `#` matches a figure. */
function patternOf(words: string): RegExp {
  const wholeWord = words.replaceAll(".", "\\.").replaceAll(/(?<=^|, )(?!\*)/g, "(?<!\\p{L})");
  const endings = wholeWord.replaceAll(/(?<=^|, )\*/g, "").replaceAll(/(?<![)\]])\*/g, "[\\p{L}\\d]*");
  const alternatives = endings.replaceAll(", ", "|").replaceAll(" ", "[\\s\\-‐-―]*").replaceAll("#", "[\\d#{]\\S*");
  return new RegExp(`(?:${alternatives})(?!\\p{L})`, "giu");
}

/** Also finds words with invisible characters, letters of other scripts or in a hashtag, such as `#GoGrеen`. */
export function strongWordsOf(sentence: string) {
  const letters = sentence.normalize("NFKD").replaceAll(/[\p{M}\p{DI}]/gu, "");
  const words = letters.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, " ").toLowerCase();
  const plain = words.replaceAll(/./gu, (character) => PLAIN.get(character) ?? character);
  const found = PATTERNS.filter(({ pattern, needed }) => plain.search(pattern) >= 0 && plain.search(needed) >= 0);
  return found.flatMap(({ pattern, group }) => (plain.match(pattern) ?? []).map((word) => ({ word, ...group })));
}

/** Without extra spaces, invisible characters and the final full stop. */
export function sentencesOf(text: string): string[] {
  // Marks of direction stay: they change what a visitor sees.
  const seen = text.replaceAll(/(?![\u202A-\u202E\u2066-\u2069])\p{DI}/gu, "").replaceAll(/\s+/g, " ");
  const segments = [...SEGMENTER.segment(seen.trim())];
  return segments.map(({ segment }) => segment.trim().replace(/\s*\.$/, "")).filter((sentence) => sentence !== "");
}
