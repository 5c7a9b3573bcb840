import type { RunningServer } from "../../scripts/run-server.ts";

export interface Scrape {
  text: string;
  /** Every name a query may use: of a histogram those of its parts. */
  names: ReadonlySet<string>;
  /** The value of a sample, written as in the text: `name` or `name{label="x"}`; undefined when it is left out. */
  value(sample: string): number | undefined;
}

/** Where a server started with METRICS_PORT=0 says its metrics are. */
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
