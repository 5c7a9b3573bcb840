import { chromium } from "@playwright/test";
import lighthouse, { type Flags } from "lighthouse";
import { findFreePort } from "../../scripts/free-port.ts";
import { chromiumOptions } from "../../scripts/programs.mjs";
import { SCREENS } from "./screens.ts";
import { type BenchTable, median, ratio } from "./table.ts";
import { withBothSites } from "./two-sites.ts";

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

/** Lighthouse on a simulated phone: every screen by both ways of slowing the network down, medians. */
export async function benchLighthouse(): Promise<BenchTable[]> {
  const port = await findFreePort();
  const browser = await chromium.launch(chromiumOptions(`--remote-debugging-port=${port}`));
  try {
    return await withBothSites(async (ours, handWritten) => {
      const tables: BenchTable[] = [];
      for (const method of METHODS) {
        const rows: BenchTable["rows"] = [];
        for (const [screen, path] of SCREENS) {
          const figures = await medians(ours.url + path, { port, throttlingMethod: method });
          if (screen !== "contact") {
            rows.push({ page: `${screen}, ours`, ...figures });
            continue;
          }
          const limit = await medians(handWritten.url + path, { port, throttlingMethod: method });
          rows.push({ page: `${screen}, hand-written`, ...limit, "LCP to hand-written": "1.00" });
          const toLimit = ratio(figures["LCP s"] ?? 0, limit["LCP s"] ?? 0);
          rows.push({ page: `${screen}, ours`, ...figures, "LCP to hand-written": toLimit });
        }
        tables.push({
          title: `Lighthouse, mobile, throttling: ${method} (medians of ${RUNS})`,
          rows,
          chart: { label: "page", value: "LCP s" },
          notes: [
            "Coming Soon is noindex by intent, which Lighthouse's SEO score does not forgive.",
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
  if (!result) throw new Error(`Lighthouse gave no result for ${url}.`);
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
