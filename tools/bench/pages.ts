import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import lighthouse, { type Flags } from "lighthouse";
import { compressBeside } from "../../prerender/output.ts";
import { chromiumOptions } from "../../tests/support/programs.ts";
import { findFreePort, startProgram, startServer } from "../../tests/support/run-server.ts";
import { type BenchTable, median } from "./report.ts";

const SCREENS: readonly (readonly [name: string, path: string])[] = [
  ["home", "/"],
  ["contact", "/contact"],
  ["privacy", "/privacy"],
  ["terms", "/terms"],
  ["cancellation", "/cancellation"],
  ["delivery", "/delivery"],
  ["Coming Soon", "/404.html"],
];

const HAND_WRITTEN = "contact, hand-written";
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

/** The pages take turns in each round, so that other load on the machine affects all of them equally. */
export async function benchPages(): Promise<BenchTable[]> {
  const port = await findFreePort();
  const browser = await chromium.launch(chromiumOptions(`--remote-debugging-port=${port}`));
  try {
    return await withBothServers(async (ours, handWritten) => {
      const pages = [
        [HAND_WRITTEN, `${handWritten}/contact`],
        ...SCREENS.map(([screen, path]) => [`${screen}, ours`, ours + path]),
      ] as const;
      const tables: BenchTable[] = [];
      for (const method of METHODS) {
        const rounds: Figures[][] = [];
        while (rounds.length < ROUNDS) {
          const round: Figures[] = [];
          for (const [, url] of pages) round.push(await measure(url, { port, throttlingMethod: method }));
          rounds.push(round);
        }
        const figures = pages.map((_, index) => medians(rounds.map((round) => round[index] ?? {})));
        const toHandWritten = (lcp = Number.NaN) => (lcp / (figures[0]?.["LCP s"] ?? Number.NaN)).toFixed(2);
        const rows = pages.map(([page], index) => ({
          page,
          ...figures[index],
          ...(page.startsWith("contact") && { "LCP to hand-written": toHandWritten(figures[index]?.["LCP s"]) }),
        }));
        tables.push({
          title: `Lighthouse, mobile, throttling: ${method} (medians of ${ROUNDS} rounds)`,
          rows,
          notes: [
            "Coming Soon is noindex by intent, for which Lighthouse lowers the SEO score.",
            "CPU: Lighthouse's index of this machine. Below 1,500 the emulated phone is slower than intended:",
            "simulated TBT is this machine's own tasks times four, even without any script.",
          ],
        });
      }
      return tables;
    });
  } finally {
    await browser.close();
  }
}

function medians(rounds: readonly Figures[]): Figures {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((figures) => figures[name] ?? Number.NaN))]));
}

async function measure(url: string, flags: Flags): Promise<Figures> {
  const result = await lighthouse(url, { ...flags, logLevel: "error", onlyCategories: [...CATEGORIES] });
  if (!result) throw new Error(`Lighthouse returned no result for ${url}.`);
  const { categories, audits, environment } = result.lhr;
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

async function withBothServers<T>(measure: (ours: string, handWritten: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "hand-written-"));
  await mkdir(join(folder, "contact"));
  await Promise.all([
    copyCompressed("tools/bench/hand-written-contact.html", join(folder, "contact/index.html")),
    copyCompressed("dist/favicon.svg", join(folder, "favicon.svg")),
    copyFile("app/media/display.woff2", join(folder, "display.woff2")),
  ]);
  const [ours, bare] = await Promise.all([
    startServer({ LOG_LEVEL: "error" }),
    startProgram(["node", "tools/bench/bare-servers.ts", "pages", folder]),
  ]);
  try {
    return await measure(ours.url, bare.url);
  } finally {
    await Promise.all([ours.stop(), bare.stop(), rm(folder, { recursive: true, force: true })]);
  }
}

async function copyCompressed(from: string, to: string): Promise<void> {
  const content = await readFile(from);
  await writeFile(to, content);
  await compressBeside(to, content);
}
