import { escapeHtml } from "../../contract/visible-text.ts";

/** One result: rows to print, and the column that a chart draws, if any. */
export interface BenchTable {
  title: string;
  rows: Readonly<Record<string, string | number>>[];
  chart?: { label: string; value: string };
  /** What a reader must know to understand the rows. */
  notes?: readonly string[];
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The duration of each of several consecutive runs. */
export async function timesMs(step: () => Promise<unknown>, runs: number): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const startedAt = performance.now();
    await step();
    times.push(performance.now() - startedAt);
  }
  return times;
}

export function ratio(part: number, whole: number): string {
  return whole > 0 ? (part / whole).toFixed(2) : "-";
}

const WIDTH = 760;
const LABEL_WIDTH = 280;
const BAR_HEIGHT = 26;

/** Draws a horizontal bar per row, ours in a different colour. Empty if the table has no chart. */
export function chartSvg({ title, rows, chart }: BenchTable): string {
  if (!chart) return "";
  const bars = rows.map((row) => ({ label: String(row[chart.label]), value: Number(row[chart.value]) }));
  const largest = Math.max(...bars.map(({ value }) => value), 1);
  const height = 56 + bars.length * BAR_HEIGHT;
  const drawn = bars.map(({ label, value }, index) => {
    const y = 44 + index * BAR_HEIGHT;
    const width = Math.max(1, ((WIDTH - LABEL_WIDTH - 90) * value) / largest);
    const colour = label.includes("ours") ? "#e9a13b" : "#5d837b";
    return [
      `<text x="${LABEL_WIDTH - 12}" y="${y + 15}" text-anchor="end">${escapeHtml(label)}</text>`,
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT - 6}" rx="3" fill="${colour}"/>`,
      `<text x="${LABEL_WIDTH + width + 8}" y="${y + 15}">${value.toLocaleString("en-GB")}</text>`,
    ].join("");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="13" fill="#12352f">`,
    `<rect width="100%" height="100%" fill="#f8faf7"/>`,
    `<text x="16" y="26" font-size="15" font-weight="600">${escapeHtml(`${title}: ${chart.value}`)}</text>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}
