import { formatDuration } from "../../contract/duration.ts";

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

/** JSON of the same value, safe to show, with a line end. */
export function visibleJson(value: unknown): string {
  const escapeUnits = (hidden: string) =>
    [...Array(hidden.length).keys()]
      .map((index) => `\\u${hidden.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join("");
  // The only hidden characters that JSON.stringify itself writes are its line ends.
  const lines = JSON.stringify(value, null, 2).split("\n");
  return `${lines.map((line) => line.replaceAll(HIDDEN, escapeUnits)).join("\n")}\n`;
}

function escapeCharacter(hidden: string): string {
  if (hidden === "\n") return "\\n";
  if (hidden === "\t") return "\\t";
  return `\\u{${hidden.codePointAt(0)?.toString(16)}}`;
}

/**
 * RFC 4180: CRLF between rows, quotes where they are needed. A cell that a spreadsheet would take for a formula gets an
 * apostrophe before it, so that opening the file runs nothing a visitor wrote.
 */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

function toCell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** `1 message`, `2 messages`. */
export function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

/** How long ago that was: `45s`, `12m`, `3h`, `5d`. */
export function ageOf(moment: Date, now: Date): string {
  return formatDuration(now.getTime() - moment.getTime());
}

/** Columns two spaces apart, aligned by the width of their longest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ""))));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell))).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** A bar for each count, the longest of them `width` columns. */
export function bars(counts: readonly (readonly [label: string, count: number])[], width = 40): string {
  const highest = Math.max(1, ...counts.map(([, count]) => count));
  const digits = String(highest).length;
  return table(
    counts.map(([label, count]) => [
      label,
      String(count).padStart(digits),
      "█".repeat(count === 0 ? 0 : Math.max(1, Math.round((count / highest) * width))),
    ]),
  );
}

/** The beginning of the text that fits into `width` columns, with an ellipsis if it was cut. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, used] = ["", 0];
  for (const { segment } of GRAPHEMES.segment(text)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const GRAPHEMES = new Intl.Segmenter("en");
/** East Asian scripts, full-width forms and emoji take two columns. */
const WIDE =
  /[\u{1100}-\u{115F}\u{2E80}-\u{A4CF}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|\uFE0F/u;

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
