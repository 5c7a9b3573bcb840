const ELLIPSIS = "…";
const WIDE =
  /[\u{1100}-\u{115F}\u{2E80}-\u{A4CF}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const NARROWEST = /[\p{M}\u200C\u200D]/u;

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += NARROWEST.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** The beginning of the text that fits, marked as cut. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (widthOf(kept + character) > width - 1) break;
    kept += character;
  }
  return kept + ELLIPSIS;
}

/** Aligned columns, two spaces apart; the first row is the heading. */
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
