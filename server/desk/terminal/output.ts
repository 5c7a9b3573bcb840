import { formatDuration } from "../../../contract/duration.ts";

/** The time since then: `45s`, `12m`, `3h`, `5d`. */
export function ageOf(moment: Date, now: Date): string {
  return formatDuration(now.getTime() - moment.getTime());
}

/** Columns two spaces apart, as wide as their longest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** The beginning of the text, with an ellipsis if it was cut. */
export function cut(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
