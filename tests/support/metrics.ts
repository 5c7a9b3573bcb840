import type { RunningServer } from "./run-server.ts";

/** The metrics URL that a server with METRICS_PORT=0 prints. */
export function metricsUrl(server: RunningServer): string {
  const url = /"event":"metrics","url":"([^"]+)"/.exec(server.output())?.[1];
  if (url === undefined) throw new Error(`The server names no metrics:\n${server.output()}`);
  return url;
}

export async function scrape(url: string) {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  const text = await response.text();
  const samples = new Map(
    [...text.matchAll(/^([^#\s].*) (\S+)$/gm)].map(([, sample = "", value]) => [sample, Number(value)]),
  );
  return {
    text,
    /** All names that a query may use; for a histogram, the names of its parts. */
    names: [...new Set(samples.keys().map((sample) => sample.replace(/\{.*/, "")))],
    /** The value of a sample, written as `name` or `name{label="x"}`; undefined if it is missing. */
    value: (sample: string) => samples.get(sample),
  };
}
