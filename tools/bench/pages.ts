import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import lighthouse, { type Flags } from "lighthouse";
import { compressBeside } from "../../prerender/output.ts";
import { chromiumOptions } from "../../tests/support/programs.ts";
import { findFreePort, startProgram, startServer } from "../../tests/support/run-server.ts";
import { type BenchTable, median, withServer } from "./report.ts";

const PATHS = ["/", "/contact", "/privacy", "/terms", "/cancellation", "/delivery", "/404.html"];
const ROUNDS = 5;
const METHODS = ["simulate", "devtools"] as const;
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;
const AUDITS = {
  "FCP s": "first-contentful-paint",
  "LCP s": "largest-contentful-paint",
  "TBT ms": "total-blocking-time",
  CLS: "cumulative-layout-shift",
} as const;

type Figures = Record<string, number>;

/**
 * All pages, or those with the given paths. They take turns in each round, so that other load on the machine affects all
 * of them equally.
 */
export async function benchPages(paths: readonly string[]): Promise<BenchTable[]> {
  return withBothServers(async (ours, handWritten) => {
    const pages = [
      ["/contact, hand-written", `${handWritten}/contact`],
      ...(paths.length > 0 ? paths : PATHS).map((path) => [path, ours + path]),
    ] as const;
    const tables: BenchTable[] = [];
    for (const method of METHODS) {
      const rounds: Figures[][] = [];
      while (rounds.length < ROUNDS) {
        const round: Figures[] = [];
        for (const [, url] of pages) round.push(await measure(url, { throttlingMethod: method }));
        rounds.push(round);
      }
      const figures = pages.map((_, index) => medians(rounds.map((round) => round[index] ?? {})));
      const toHandWritten = (lcp = Number.NaN) => (lcp / (figures[0]?.["LCP s"] ?? Number.NaN)).toFixed(2);
      const rows = pages.map(([page], index) => ({
        page,
        ...figures[index],
        ...(page.startsWith("/contact") && { "LCP to hand-written": toHandWritten(figures[index]?.["LCP s"]) }),
      }));
      tables.push({
        title: `Lighthouse, mobile, throttling: ${method} (medians of ${ROUNDS} rounds)`,
        rows,
        notes: [
          "/404.html is noindex by intent, for which Lighthouse lowers the SEO score.",
          "CPU: Lighthouse's index of this machine. Below 1,500 the emulated phone is slower than intended:",
          "simulated TBT is this machine's own tasks times four, even without any script.",
        ],
      });
    }
    return tables;
  });
}

function medians(rounds: readonly Figures[]): Figures {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((figures) => figures[name] ?? Number.NaN))]));
}

/** Each measurement has a Chromium of its own, so that none depends on what an earlier one left. */
async function measure(url: string, flags: Flags): Promise<Figures> {
  const port = await findFreePort();
  const browser = await chromium.launch(chromiumOptions(`--remote-debugging-port=${port}`));
  const options: Flags = { ...flags, port, logLevel: "error", onlyCategories: [...CATEGORIES] };
  const result = await lighthouse(url, options).finally(() => browser.close());
  if (!result) throw new Error(`Lighthouse returned no result for ${url}.`);
  const { categories, audits, environment, runtimeError } = result.lhr;
  if (runtimeError) throw new Error(`Lighthouse could not measure ${url}: ${runtimeError.message}`);
  const figures: Figures = {};
  for (const name of CATEGORIES) figures[name] = Math.round((categories[name]?.score ?? 0) * 100);
  for (const [name, id] of Object.entries(AUDITS)) {
    const value = audits[id]?.numericValue ?? Number.NaN;
    figures[name] = Number((name.endsWith(" s") ? value / 1000 : value).toFixed(name.endsWith("ms") ? 0 : 3));
  }
  figures.KB = Math.round((audits["total-byte-weight"]?.numericValue ?? 0) / 1000);
  figures.CPU = Math.round(environment.benchmarkIndex);
  return figures;
}

function withBothServers<T>(measure: (ours: string, handWritten: string) => Promise<T>): Promise<T> {
  const startBare = async (folder: string) => {
    await mkdir(join(folder, "contact"));
    await copyCompressed("tools/bench/hand-written-contact.html", join(folder, "contact/index.html"));
    await copyCompressed("dist/site/favicon.svg", join(folder, "favicon.svg"));
    await copyFile("app/media/display.woff2", join(folder, "display.woff2"));
    return startProgram(["node", "tools/bench/bare-server.ts", folder]);
  };
  const startOurs = (folder: string) => startServer({ DATA_DIR: folder, LOG_LEVEL: "error" });
  return withServer(startBare, (bare) => withServer(startOurs, (ours) => measure(ours.url, bare.url)));
}

async function copyCompressed(from: string, to: string): Promise<void> {
  const content = await readFile(from);
  await writeFile(to, content);
  await compressBeside(to, content);
}
