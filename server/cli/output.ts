import { formatDuration } from "../../contract/duration.ts";

/** The time since then: `45s`, `12m`, `3h`, `5d`. */
export function ageOf(moment: Date, now: Date): string {
  return formatDuration(now.getTime() - moment.getTime());
}

/** A narrower column would be unreadable. */
const SHORTEST_LAST_COLUMN = 30;

/**
 * Columns two spaces apart, aligned by the width of their longest cell. The last column is cut so that no line is
 * wider than `maxWidth`, but stays at least 30 wide.
 */
export function table(rows: readonly (readonly string[])[], maxWidth = Number.POSITIVE_INFINITY): string {
  const widthOfColumn = (column: number) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? "")), 0);
  const widths = (rows[0] ?? []).slice(0, -1).map((_, column) => widthOfColumn(column));
  const lastWidth = Math.max(SHORTEST_LAST_COLUMN, maxWidth - widths.reduce((sum, width) => sum + width + 2, 0));
  const line = (row: readonly string[]) => {
    const aligned = widths.map((width, column) => {
      const cell = row[column] ?? "";
      return cell + " ".repeat(width - widthOf(cell));
    });
    return [...aligned, cut(row[widths.length] ?? "", lastWidth)].join("  ");
  };
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** One bar per count; the longest has 40 columns. */
export function bars(counts: readonly (readonly [label: string, count: number])[]): string {
  const highest = Math.max(1, ...counts.map(([, count]) => count));
  const barOf = (count: number) => "█".repeat(Math.max(Math.sign(count), Math.round((count / highest) * 40)));
  const digits = String(highest).length;
  return table(counts.map(([label, count]) => [label, String(count).padStart(digits), barOf(count)]));
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
