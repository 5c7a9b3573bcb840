import { readFileSync } from "node:fs";
import { chromium, expect } from "@playwright/test";
import puppeteer, { type Browser } from "puppeteer-core";
import budgetsOfPages from "../../budgets.json" with { type: "json" };
import { startGate } from "../../support/gate.ts";
import { CHROMIUM_FLAGS, findChromium } from "../../support/programs.ts";
import { COMING_SOON_PATH, SCREENS } from "../../support/screens.ts";
import { test } from "../../support/site.ts";

const budgets: Readonly<Record<string, { requests: number }>> = budgetsOfPages;
const PAGES: readonly string[] = [...SCREENS.map(({ paths }) => paths[0]), COMING_SOON_PATH];

// Runs the tests one after another, so that they share one browser.
test.describe.configure({ mode: "default" });

/** Not Playwright's browser, which disables prerendering and the back/forward cache. */
let browser: Browser;
test.beforeAll(async () => {
  const executablePath = findChromium() ?? chromium.executablePath();
  browser = await puppeteer.launch({ executablePath, args: [...CHROMIUM_FLAGS], defaultViewport: null });
});
test.afterAll(() => browser.close());

/** A page of a new visitor, with an empty cache and no history. */
const newVisitor = async () => (await browser.createBrowserContext()).newPage();

for (const [path, file] of [
  ["/", "media"],
  ["/contact", "\\.js$"],
] as const) {
  test(`${path} is prerendered while the pointer rests on its link, without its film or script`, async ({ site }) => {
    const gate = await startGate(site.url);
    const page = await newVisitor();
    await page.goto(`${gate.url}/privacy`);
    await page.hover(`footer a[href='${path}']`);
    await expect.poll(() => gate.requests).toContain(`GET ${path}`);
    await page.click(`footer a[href='${path}']`);
    await expect.poll(() => page.evaluate(() => location.pathname).catch(String)).toBe(path);
    const activatedAt = await page.evaluate(
      () => (performance.getEntriesByType("navigation")[0] as unknown as { activationStart: number }).activationStart,
    );
    expect(activatedAt).toBeGreaterThan(0);
    const askedAt = () =>
      page.evaluate((file) => {
        const found = performance.getEntriesByType("resource").find(({ name }) => new RegExp(file).test(name));
        return found?.startTime ?? 0;
      }, file);
    await expect.poll(askedAt).toBeGreaterThanOrEqual(activatedAt);
    // The form's script has started.
    if (path === "/contact") await page.waitForSelector("#country option:nth-child(251)");
    await page.close();
    await gate.close();
  });
}

test("going back to any page is instant, because the browser caches the whole page", async ({ site }) => {
  const page = await newVisitor();
  for (const path of PAGES) {
    await page.goto(site.url + path);
    await page.evaluate(() => addEventListener("pageshow", ({ persisted }) => Object.assign(window, { persisted })));
    await page.goto(site.url + (path === "/terms" ? "/privacy" : "/terms"));
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe(path);
    expect(await page.evaluate("persisted"), path).toBe(true);
  }
});

test("a first view receives the bytes that the footer's figure was computed from", async ({ site }) => {
  const { pages } = JSON.parse(readFileSync("dist/site/carbon.json", "utf8")) as {
    pages: { page: string; screen?: string; bytes: number }[];
  };
  for (const path of PAGES) {
    const page = await newVisitor();
    const session = await page.createCDPSession();
    // The first page of an origin starts a process, and the events of its first files may be missed.
    await page.goto(`${site.url}/robots.txt`);
    const received: number[] = [];
    session.on("Network.loadingFinished", ({ encodedDataLength }) => received.push(encodedDataLength));
    await session.send("Network.enable");
    await page.goto(site.url + path);
    const name = path === COMING_SOON_PATH ? "coming-soon" : path;
    // The browser's window has the size of a laptop.
    const counted = pages.find(({ page, screen = "other" }) => page === name && screen === "other")?.bytes ?? 0;
    const total = () => received.reduce((sum, bytes) => sum + bytes, 0);
    await expect.poll(total, { message: path }).toBeGreaterThan(counted * 0.96);
    expect(total(), path).toBeLessThan(counted * 1.02);
    const { requests } = budgets[path === COMING_SOON_PATH ? "/404.html" : path === "/" ? "/ other" : path] ?? {};
    // A headless browser does not fetch the manifest.
    expect(received.length, path).toBeLessThanOrEqual(requests ?? 0);
  }
});
