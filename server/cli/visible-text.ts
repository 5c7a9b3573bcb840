/**
 * Control characters could move the cursor, change the terminal's colours or title or run its commands; the invisible
 * characters that turn the reading direction make a text read as another. Joiners stay: emoji and scripts need them.
 */
const HIDDEN = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The text on one line, with every hidden character shown as `\u{...}`. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, escapeCharacter);
}

/** The same over several lines. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

/** JSON that stands for the same value, safe to show. */
export function visibleJson(value: unknown): string {
  const escapeUnits = (hidden: string) =>
    [...Array(hidden.length).keys()]
      .map((index) => `\\u${hidden.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join("");
  // The only hidden characters that JSON.stringify itself writes are its line ends.
  const lines = JSON.stringify(value, null, 2).split("\n");
  return lines.map((line) => line.replaceAll(HIDDEN, escapeUnits)).join("\n");
}

function escapeCharacter(hidden: string): string {
  if (hidden === "\n") return "\\n";
  if (hidden === "\t") return "\\t";
  return `\\u{${hidden.codePointAt(0)?.toString(16)}}`;
}
