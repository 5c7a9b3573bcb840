import { test as base, type Page } from "@playwright/test";
import { type RunningServer, startServer } from "./run-server.ts";

interface SiteFixtures {
  /** Console errors and failed requests that the test causes on purpose; matching ones do not fail it. */
  expectedTrouble: RegExp | null;
}

interface ServerFixtures {
  /** One server for all tests of a worker, started by the first test that needs it. */
  site: RunningServer;
}

/** Every test gets the real server, and fails on any error that a visitor's browser would report. */
export const test = base.extend<SiteFixtures, ServerFixtures>({
  site: [
    async ({ browserName: _ }, use) => {
      const site = await startServer();
      await use(site);
      await site.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  baseURL: ({ site }, use) => use(site.url),
  expectedTrouble: [null, { option: true }],
  page: async ({ page, baseURL, expectedTrouble }, use) => {
    const trouble = collectTrouble(page, baseURL ?? "");
    await use(page);
    const unexpected = trouble.filter((line) => !expectedTrouble?.test(line));
    if (unexpected.length > 0) throw new Error(`The browser reported:\n${unexpected.join("\n")}`);
  },
});

/** Console errors and warnings, page errors, failed requests, and requests to other origins. */
export function collectTrouble(page: Page, origin: string): string[] {
  const trouble: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) trouble.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => trouble.push(`page error: ${error.message}`));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(origin) || request.url().startsWith("data:");
    if (!isOwn) trouble.push(`foreign request: ${request.url()}`);
  });
  page.on("requestfailed", (request) => {
    // Leaving a page ends its unfinished requests.
    const reason = request.failure()?.errorText ?? "";
    if (reason !== "net::ERR_ABORTED") trouble.push(`failed request: ${request.url()} ${reason}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) trouble.push(`status ${response.status()}: ${response.url()}`);
  });
  return trouble;
}

/** Delays matching requests until the returned function is called. */
export async function hold(page: Page, pattern: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(pattern, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

/** Gives the window a size such as "375x667". */
export async function resize(page: Page, size: string): Promise<void> {
  const [width = 0, height = 0] = size.split("x").map(Number);
  await page.setViewportSize({ width, height });
}

/** As if the visitor had set text at 200 % in the browser. */
export const enlargeText = (page: Page) => page.evaluate('document.documentElement.style.fontSize = "200%"');
