import { expect } from "@playwright/test";
import { collectTrouble, test } from "../../support/site.ts";

// A violation is a console error, which fails every test in the other files.
test.use({ expectedTrouble: /Content Security Policy|csp|foreign request/i });

const INTRUSIONS = {
  "script-src": "Object.assign(document.createElement('script'), { text: 'self.hasRun = true' })",
  "img-src": "Object.assign(new Image(), { src: 'https://evil.example/x.png' })",
};

test("foreign content in a page is blocked, and the tests detect it", async ({ page, site }) => {
  const trouble = collectTrouble(page, site.url);
  await page.goto("/contact");
  for (const [directive, element] of Object.entries(INTRUSIONS)) {
    await page.evaluate(`void document.body.append(${element})`);
    const violation = new RegExp(`violates the following Content Security Policy directive.+${directive} `);
    await expect.poll(() => trouble.join("\n")).toMatch(violation);
  }
  expect(await page.evaluate("self.hasRun")).toBeUndefined();
});
