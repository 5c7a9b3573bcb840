import { type Browser, chromium } from "@playwright/test";
import { chromiumOptions } from "../../scripts/programs.mjs";
import { SCREENS } from "./screens.ts";
import { type BenchTable, ratio } from "./table.ts";
import { type Site, withBothSites } from "./two-sites.ts";

interface Received {
  requests: number;
  /** Those without which the browser paints nothing: the page itself, and what blocks its rendering. */
  blocking: number;
  bytes: number;
  scriptBytes: number;
}

/** What a browser receives on a first visit to each screen, beside the same page written by hand. */
export async function benchPages(): Promise<BenchTable[]> {
  const browser = await chromium.launch(chromiumOptions());
  try {
    const rows = await withBothSites(async (ours, handWritten) => {
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
      "Before paint: requests without which nothing is painted. The typeface and the picture do not hold it up.",
    ];
    return [{ title: "First visit", rows, chart: { label: "page", value: "KB" }, notes }];
  } finally {
    await browser.close();
  }
}

async function receive(browser: Browser, site: Site, path: string): Promise<Received> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  // Starts the process that is to show the page, or it misses the first files' events.
  await page.goto(`${site.url}/favicon.svg`);
  const asked = new Map<string, { isScript: boolean; bytes: number }>();
  session.on("Network.requestWillBeSent", ({ requestId, type }) =>
    asked.set(requestId, { isScript: type === "Script", bytes: 0 }),
  );
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const request = asked.get(requestId);
    if (request) request.bytes = encodedDataLength;
  });
  await page.goto(site.url + path, { waitUntil: "networkidle" });
  const blocking = await page.evaluate(() => {
    const resources = performance.getEntriesByType("resource") as (PerformanceEntry & {
      renderBlockingStatus: string;
    })[];
    return resources.filter(({ renderBlockingStatus }) => renderBlockingStatus === "blocking").length + 1;
  });
  await context.close();
  const requests = [...asked.values()];
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
