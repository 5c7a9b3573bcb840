import { readFileSync } from "node:fs";

const LINES = readFileSync(new URL("vocabulary.txt", import.meta.url), "utf8").split("\n");
const WORDS = LINES.filter((line) => line.includes(":") && !line.startsWith("#")).flatMap((line) =>
  line.slice(line.indexOf(":") + 1).split(","),
);

const SUBJECT_TO_REVIEW = new RegExp(`(?<![\\p{L}\\d])(?:${WORDS.map(patternOf).join("|")})(?![\\p{L}\\d])`, "giu");

function patternOf(word: string): string {
  const literal = word.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return literal.replaceAll("\\*", "\\p{L}*").replaceAll(" ", "[\\s\\-‐-―]*");
}

/** Where a sentence speaks of the environment; nowhere if it does not. Our own names do not count. */
export function wordsToReview(sentence: string, ourNames: readonly string[]): { start: number; end: number }[] {
  // CO₂ and CO² are CO2. Digits only, because nothing may move.
  const plain = sentence.replaceAll(/[²₀-₉]/g, (digit) => digit.normalize("NFKC"));
  const others = ourNames.reduce((text, name) => text.replaceAll(name, " ".repeat(name.length)), plain);
  return [...others.matchAll(SUBJECT_TO_REVIEW)].map(({ index, 0: word }) => ({
    start: index,
    end: index + word.length,
  }));
}
