import { expect } from "@playwright/test";
import { expectNoViolations } from "../support/axe.ts";
import { fillForm, openForm } from "../support/contact.ts";
import { SCREENS } from "../support/screens.ts";
import { test } from "../support/site.ts";

/** Stands for any request that made the server fail. */
const FAILURE_PATH = "/made-to-fail";
const ALL_SCREENS = [
  ...SCREENS.map(({ paths }) => paths[0]),
  "/about",
  "/assets/carbon",
  "/assets/footprint",
  FAILURE_PATH,
];

const INVALID = { name: "Enter your name.", message: "Enter your message." };
const FORM_STATES = [
  ["failed", "Failed to send message.", { status: 422, json: { success: false, error: "No.", fields: INVALID } }],
  ["broken", "An error occurred while sending your message.", { body: "not JSON" }],
  ["sent", "Message sent successfully!", { json: { success: true, reference: "BC-TEST-00" } }],
] as const;

for (const path of ALL_SCREENS) {
  const tag = ["/", "/contact", "/privacy"].includes(path) ? [] : ["@full"];
  test(`axe finds nothing on ${path}, and it does not scroll sideways: light and narrow, dark and wide`, {
    tag,
  }, async ({ page }) => {
    await page.route(`**${FAILURE_PATH}`, (route) => route.fulfill({ path: "dist/500.html" }));
    await page.setViewportSize({ width: 320, height: 800 });
    await page.goto(path);
    if (path === FAILURE_PATH) await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Unexpected/);
    for (const [width, colorScheme] of [
      [320, "light"],
      [1280, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await expectNoViolations(page, [colorScheme]);
      const tooWide = await page.evaluate(() =>
        [document.documentElement, ...document.querySelectorAll(".pane")]
          .filter((element) => element.scrollWidth > element.clientWidth)
          .map((element) => element.className || element.tagName),
      );
      expect(tooWide, `${width} px`).toEqual([]);
    }
  });
}

test.describe("states on a phone", () => {
  test.use({ viewport: { width: 320, height: 667 }, expectedTrouble: /send-email|status of 422|failed/ });

  test("axe finds nothing with the menu open", async ({ page }) => {
    await page.goto("/contact");
    await page.getByRole("button", { name: "Menu" }).click();
    await expect(page.locator("#menu")).toHaveCSS("opacity", "1");
    await expectNoViolations(page);
  });

  test("axe finds nothing on the form while it asks, counts, and lists what is wrong", { tag: "@full" }, async ({
    page,
  }) => {
    await openForm(page);
    await fillForm(page, { email: "ada@gmail", message: "x".repeat(5001) });
    await expect(page.getByText("Did you mean ada@gmail.com?")).toBeVisible();
    await page.getByRole("button", { name: "Submit" }).click();
    await expect(page.getByRole("alert", { name: "There are 3 problems" })).toBeFocused();
    await expectNoViolations(page);
  });

  for (const [state, text, answer] of FORM_STATES) {
    test(`axe finds nothing on the form while sending, then ${state}`, { tag: "@full" }, async ({ page }) => {
      await openForm(page);
      const held = Promise.withResolvers<void>();
      await page.route("**/send-email", async (route) => {
        await held.promise;
        await route.fulfill(answer);
      });
      await fillForm(page);
      await page.getByRole("button", { name: "Submit" }).click();
      await expect(page.getByRole("button", { name: "Sending" })).toBeVisible();
      await expectNoViolations(page);
      held.resolve();
      await expect(page.getByText(text, { exact: true }).filter({ visible: true })).toBeVisible();
      await expectNoViolations(page);
    });
  }
});

test("by keyboard alone: skip link, every link in order, the pane, and the form", async ({ page }) => {
  await page.goto("/contact");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the main content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("main").getByRole("link", { name: "@" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.locator("details.footprint > summary")).toBeFocused();
  for (const label of ["Name", "Email", "Phone Number", "Country", "Message"]) {
    await page.keyboard.press("Tab");
    await expect(page.getByLabel(label, { exact: true })).toBeFocused();
  }
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Submit" })).toBeFocused();
});
