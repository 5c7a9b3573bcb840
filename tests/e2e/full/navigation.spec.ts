import { readFileSync } from "node:fs";
import { expect } from "@playwright/test";
import budgetsOfPages from "../../budgets.json" with { type: "json" };
import { openRawBrowser, type RawBrowser } from "../../support/raw-browser.ts";
import { COMING_SOON_PATH, SCREENS } from "../../support/screens.ts";
import { test } from "../../support/site.ts";

const budgets: Readonly<Record<string, { requests: number }>> = budgetsOfPages;
const PAGES: readonly string[] = [...SCREENS.map(({ paths }) => paths[0]), COMING_SOON_PATH];

// One after the other, so that all use one browser.
test.describe.configure({ mode: "default" });

let browser: RawBrowser;
test.beforeAll(async () => {
  browser = await openRawBrowser();
});
test.beforeEach(() => browser.becomeNewVisitor());
test.afterAll(() => browser.close());

/** A page that is just giving way to the next answers nothing. */
const isUp = (path: string) => {
  const isComplete = `document.readyState === "complete" && location.pathname === "${path}"`;
  return expect.poll(() => browser.evaluate(isComplete).catch(() => false)).toBe(true);
};

test("a page is prepared while the pointer rests on its link, and its film waits for the visit", async ({ site }) => {
  await browser.open(`${site.url}/privacy`);
  await isUp("/privacy");
  await browser.hover("footer a[href='/']");
  await expect.poll(() => browser.preparation()).toBe("Ready");
  await browser.click("footer a[href='/']");
  await isUp("/");
  const activatedAt = await browser.evaluate<number>("performance.getEntriesByType('navigation')[0].activationStart");
  expect(activatedAt).toBeGreaterThan(0);
  const filmAskedAt = "performance.getEntriesByType('resource').find(({ name }) => /media/.test(name))?.startTime ?? 0";
  await expect.poll(() => browser.evaluate<number>(filmAskedAt)).toBeGreaterThanOrEqual(activatedAt);
});

test("the contact form's script waits for the visit too, and then takes over", async ({ site }) => {
  await browser.open(`${site.url}/privacy`);
  await isUp("/privacy");
  await browser.hover("footer a[href='/contact']");
  await expect.poll(() => browser.preparation()).toBe("Ready");
  await browser.click("footer a[href='/contact']");
  await isUp("/contact");
  const activatedAt = await browser.evaluate<number>("performance.getEntriesByType('navigation')[0].activationStart");
  expect(activatedAt).toBeGreaterThan(0);
  const scriptAskedAt =
    "performance.getEntriesByType('resource').find(({ name }) => /\\.js$/.test(name))?.startTime ?? 0";
  await expect.poll(() => browser.evaluate<number>(scriptAskedAt)).toBeGreaterThanOrEqual(activatedAt);
  await expect.poll(() => browser.evaluate<number>("document.querySelectorAll('#country option').length")).toBe(251);
});

test("the way back to any page is instant: the browser keeps it whole", async ({ site }) => {
  for (const path of PAGES) {
    await browser.open(site.url + path);
    await isUp(path);
    await browser.evaluate("addEventListener('pageshow', ({ persisted }) => { globalThis.isKept = persisted })");
    const next = path === "/terms" ? "/privacy" : "/terms";
    await browser.open(site.url + next);
    await isUp(next);
    await browser.evaluate("history.back()");
    await isUp(path);
    expect(await browser.evaluate("globalThis.isKept"), path).toBe(true);
  }
});

test("a first view receives the bytes that the footer's figure was computed from", async ({ site }) => {
  const { pages } = JSON.parse(readFileSync("dist/carbon.json", "utf8")) as {
    pages: { page: string; screen?: string; bytes: number }[];
  };
  for (const path of PAGES) {
    await browser.becomeNewVisitor();
    // The first page of an origin starts a process, which may miss what is reported of the page's first files.
    await browser.open(`${site.url}/robots.txt`);
    await expect.poll(() => browser.evaluate("document.readyState + location.pathname")).toBe("complete/robots.txt");
    await browser.open(site.url + path);
    const name = path === COMING_SOON_PATH ? "coming-soon" : path;
    // The browser's window is that of a laptop.
    const counted = pages.find(({ page, screen = "between" }) => page === name && screen === "between")?.bytes ?? 0;
    const total = () => browser.received().reduce((sum, { bytes }) => sum + bytes, 0);
    await expect.poll(total, { message: path }).toBeGreaterThan(counted * 0.96);
    expect(total(), path).toBeLessThan(counted * 1.02);
    const { requests } = budgets[path === COMING_SOON_PATH ? "/404.html" : path === "/" ? "/ between" : path] ?? {};
    // A browser without a window does not ask for the manifest.
    expect(browser.received().length, path).toBeLessThanOrEqual(requests ?? 0);
  }
});
