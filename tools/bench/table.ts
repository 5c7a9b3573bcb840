/** One result: rows to print, and the column that a chart draws, if any. */
export interface BenchTable {
  title: string;
  rows: Readonly<Record<string, string | number>>[];
  chart?: { label: string; value: string };
  /** What a reader must know to read the rows. */
  notes?: readonly string[];
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function ratio(part: number, whole: number): string {
  return whole > 0 ? (part / whole).toFixed(2) : "-";
}
