import { expect } from "@playwright/test";
import { loadBuild } from "../../../server/http/build-files.ts";
import { type AppUnderTest, openApp } from "../../support/app.ts";
import { expectNoSidewaysScroll, expectNoViolations } from "../../support/axe.ts";
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
        app = await openApp({}, {}, { build: loadBuild(build.distDir) });
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

test("on a page from a file, axe finds nothing, nothing scrolls sideways, and a wide table does by keyboard", async ({
  page,
}) => {
  // Opens the page at each width, the narrow one first: browsers warn about a preloaded picture that is not used.
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of ["/articles", "/articles/first", "/about"]) {
      await page.goto(path);
      await expectNoViolations(page);
      await expectNoSidewaysScroll(page);
    }
  }
  await page.setViewportSize({ width: 320, height: 800 });
  const table = page.getByRole("group", { name: "Table: Numbers" });
  await table.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => table.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0);
});
