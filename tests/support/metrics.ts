import type { RunningServer } from "../../scripts/run-server.ts";

export interface Scrape {
  text: string;
  /** All names that a query may use; for a histogram, the names of its parts. */
  names: ReadonlySet<string>;
  /** The value of a sample, written as `name` or `name{label="x"}`; undefined if it is missing. */
  value(sample: string): number | undefined;
}

/** The metrics URL that a server with METRICS_PORT=0 prints. */
export function metricsUrl(server: RunningServer): string {
  const url = /"event":"metrics","url":"([^"]+)"/.exec(server.output())?.[1];
  if (url === undefined) throw new Error(`The server names no metrics:\n${server.output()}`);
  return url;
}

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  const text = await response.text();
  const samples = new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line): [string, number] => {
        const end = line.lastIndexOf(" ");
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );
  const names = new Set([...samples.keys()].map((sample) => sample.split("{", 1).join("")));
  return { text, names, value: (sample) => samples.get(sample) };
}
