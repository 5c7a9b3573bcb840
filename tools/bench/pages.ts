import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "@playwright/test";
import lighthouse, { type Flags } from "lighthouse";
import { compressBeside } from "../../prerender/compress.ts";
import { chromiumOptions } from "../../scripts/programs.mjs";
import { findFreePort, startProgram, startServer } from "../../scripts/run-server.ts";
import { type BenchTable, median, ratio } from "./report.ts";

/** The seven screens, by a path that shows each. */
const SCREENS: readonly (readonly [name: string, path: string])[] = [
  ["home", "/"],
  ["contact", "/contact"],
  ["privacy", "/privacy"],
  ["terms", "/terms"],
  ["cancellation", "/cancellation"],
  ["delivery", "/delivery"],
  ["Coming Soon", "/404.html"],
];

interface Received {
  requests: number;
  /** Those without which the browser paints nothing: the page itself, and what blocks its rendering. */
  blocking: number;
  bytes: number;
  scriptBytes: number;
}

/** What a browser receives on a first visit to each screen, compared with the same page written by hand. */
export async function benchPages(): Promise<BenchTable[]> {
  const browser = await chromium.launch(chromiumOptions());
  try {
    const rows = await withBothServers(async (ours, handWritten) => {
      const all: BenchTable["rows"] = [];
      for (const [screen, path] of SCREENS) {
        const limit = await receive(browser, handWritten, path);
        const own = await receive(browser, ours, path);
        all.push(shown(`${screen}, hand-written`, limit, limit), shown(`${screen}, ours`, own, limit));
      }
      return all;
    });
    const notes = [
      "Bytes as transferred, headers included. Hand-written: the same markup without React, film or script.",
      "Before paint: requests without which nothing is painted. It does not wait for the typeface and the picture.",
    ];
    return [{ title: "First visit", rows, chart: { label: "page", value: "KB" }, notes }];
  } finally {
    await browser.close();
  }
}

async function receive(browser: Browser, origin: string, path: string): Promise<Received> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  // Starts the process that will show the page; otherwise the events of the first files would be missed.
  await page.goto(`${origin}/favicon.svg`);
  const received = new Map<string, { isScript: boolean; bytes: number }>();
  session.on("Network.requestWillBeSent", ({ requestId, type }) =>
    received.set(requestId, { isScript: type === "Script", bytes: 0 }),
  );
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const request = received.get(requestId);
    if (request) request.bytes = encodedDataLength;
  });
  await page.goto(origin + path, { waitUntil: "networkidle" });
  const blocking = await page.evaluate(() => {
    const resources = performance.getEntriesByType("resource") as (PerformanceEntry & {
      renderBlockingStatus: string;
    })[];
    return resources.filter(({ renderBlockingStatus }) => renderBlockingStatus === "blocking").length + 1;
  });
  await context.close();
  const requests = [...received.values()];
  const sum = (some: typeof requests) => some.reduce((total, { bytes }) => total + bytes, 0);
  return {
    requests: requests.length,
    blocking,
    bytes: sum(requests),
    scriptBytes: sum(requests.filter(({ isScript }) => isScript)),
  };
}

function shown(page: string, one: Received, limit: Received) {
  return {
    page,
    requests: one.requests,
    "before paint": one.blocking,
    KB: Number((one.bytes / 1000).toFixed(1)),
    "script KB": Number((one.scriptBytes / 1000).toFixed(1)),
    "to hand-written": ratio(one.bytes, limit.bytes),
  };
}

const RUNS = 5;
const METHODS = ["simulate", "devtools"] as const;
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;
const AUDITS = {
  "FCP s": "first-contentful-paint",
  "LCP s": "largest-contentful-paint",
  "TBT ms": "total-blocking-time",
  CLS: "cumulative-layout-shift",
} as const;

type Figures = Record<string, number>;

/** Lighthouse on a simulated phone: every screen with both ways of slowing the network down; medians. */
export async function benchLighthouse(): Promise<BenchTable[]> {
  const port = await findFreePort();
  const browser = await chromium.launch(chromiumOptions(`--remote-debugging-port=${port}`));
  try {
    return await withBothServers(async (ours, handWritten) => {
      const tables: BenchTable[] = [];
      for (const method of METHODS) {
        const rows: BenchTable["rows"] = [];
        for (const [screen, path] of SCREENS) {
          const figures = await medians(ours + path, { port, throttlingMethod: method });
          if (screen !== "contact") {
            rows.push({ page: `${screen}, ours`, ...figures });
            continue;
          }
          const limit = await medians(handWritten + path, { port, throttlingMethod: method });
          rows.push({ page: `${screen}, hand-written`, ...limit, "LCP to hand-written": "1.00" });
          const toLimit = ratio(figures["LCP s"] ?? 0, limit["LCP s"] ?? 0);
          rows.push({ page: `${screen}, ours`, ...figures, "LCP to hand-written": toLimit });
        }
        tables.push({
          title: `Lighthouse, mobile, throttling: ${method} (medians of ${RUNS})`,
          rows,
          chart: { label: "page", value: "LCP s" },
          notes: [
            "Coming Soon is noindex by intent, for which Lighthouse lowers the SEO score.",
            "CPU: Lighthouse's own index of this machine. Below 1,500 its phone is slower than the one it means: simulated",
            "TBT is this machine's own tasks times four, also on a page without any script.",
          ],
        });
      }
      return tables;
    });
  } finally {
    await browser.close();
  }
}

async function medians(url: string, flags: Flags): Promise<Figures> {
  const runs: Figures[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await measure(url, flags));
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(runs.map((figures) => figures[name] ?? Number.NaN))]));
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

/** Runs `measure` while both the product and the hand-written pages are served, with the origin of each. */
async function withBothServers<T>(measure: (ours: string, handWritten: string) => Promise<T>): Promise<T> {
  const folder = await writePagesByHand();
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

/**
 * A folder with the same pages as somebody would write them by hand: our own markup, styles, typeface and pictures, and no
 * script at all. The form is then a plain one and the film a still picture, so this is a limit and not a rival.
 */
async function writePagesByHand(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hand-written-"));
  await cp("dist", folder, { recursive: true, filter: (path) => !/dist\/(bench|screenshots)/.test(path) });
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith(".html")) continue;
    const path = join(folder, name);
    const html = (await readFile(path, "utf8"))
      .replaceAll(/<script\b[\s\S]*?<\/script>/g, "")
      .replaceAll(/<video\b[\s\S]*?<\/video>/g, "")
      .replaceAll("<!-- -->", "");
    await writeFile(path, html);
    await compressBeside(path, Buffer.from(html));
  }
  return folder;
}
