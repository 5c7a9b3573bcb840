import { expect } from "@playwright/test";
import { loadBuild } from "../../../server/http/build-files.ts";
import { type AppUnderTest, openApp } from "../../support/app.ts";
import { expectNoViolations } from "../../support/axe.ts";
import { recordShifts, shiftsOf } from "../../support/layout-shifts.ts";
import { buildPages, makePagesBuild } from "../../support/pages-build.ts";
import { listen } from "../../support/raw-http.ts";
import { test as base } from "../../support/site.ts";

/** A site with the pages of tests/fixtures/pages. */
const test = base.extend<object, { origin: string }>({
  origin: [
    async ({ browserName: _ }, use) => {
      const build = makePagesBuild();
      let app: AppUnderTest | undefined;
      try {
        const { status, output } = buildPages(build);
        expect(status, output).toBe(0);
        app = await openApp({}, {}, { build: loadBuild(build.outDir) });
        await use(`http://127.0.0.1:${await listen(app)}`);
      } finally {
        await app?.close();
        build.remove();
      }
    },
    { scope: "worker", timeout: 90_000 },
  ],
  baseURL: ({ origin }, use) => use(origin),
});

test("a page from a file is readable on any screen", async ({ page }) => {
  await recordShifts(page);
  const table = page.getByRole("group", { name: "Table: Numbers" });

  // Narrow windows precede wide ones: a browser that has a larger picture in its cache uses that one.
  await test.step("pictures load, fill the column, and move nothing", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto("/articles/first", { waitUntil: "networkidle" });
    const picture = page.getByRole("img", { name: "A turbine" });
    await picture.scrollIntoViewIfNeeded();
    await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);
    expect(await picture.evaluate((img: HTMLImageElement) => img.currentSrc)).toMatch(/turbine-480-/);
    const box = await picture.boundingBox();
    expect(Math.round(((box?.height ?? 0) / (box?.width ?? 1)) * 300)).toBe(400);
    const shifts = await shiftsOf(page);
    expect(shifts.reduce((sum, { value }) => sum + value, 0)).toBeLessThan(0.005);
  });

  await test.step("a wide table scrolls within its box, by keyboard too", async () => {
    await page.goto("/about");
    await table.focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => table.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0);
  });

  await test.step("axe finds nothing and nothing scrolls sideways, light and dark, narrow and wide", async () => {
    // Opens the page at each width: browsers warn about a preloaded picture that is not used.
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ["/about", "/articles", "/articles/first"]) {
        await page.goto(path);
        await expectNoViolations(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(width);
      }
    }
  });
});
