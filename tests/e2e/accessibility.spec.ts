import { expect } from "@playwright/test";
import { expectAccessible, expectNoViolations } from "../support/axe.ts";
import { field, fillForm, openForm, submit } from "../support/contact.ts";
import { SCREENS } from "../support/screens.ts";
import { test } from "../support/site.ts";

/** Represents any request that makes the server fail. */
const FAILURE_PATH = "/made-to-fail";

for (const path of [
  ...SCREENS.map(({ paths }) => paths[0]),
  "/about",
  "/assets/carbon",
  "/assets/footprint",
  "/assets/accessibility",
  FAILURE_PATH,
]) {
  const tag = ["/", "/contact"].includes(path) ? [] : ["@full"];
  test(`axe finds no problem on ${path}, and it does not scroll sideways`, { tag }, async ({ page }) => {
    await page.route(`**${FAILURE_PATH}`, (route) => route.fulfill({ path: "dist/site/500.html" }));
    await page.goto(path);
    if (path === FAILURE_PATH) await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Unexpected/);
    await expectAccessible(page);
  });
}

test.describe("states on a phone", () => {
  test.use({ viewport: { width: 320, height: 667 }, expectedTrouble: /send-email|status of 422|failed/ });

  test("axe finds no problem with the menu open", async ({ page }) => {
    await page.goto("/contact");
    await page.getByRole("button", { name: "Menu" }).click();
    await expect(page.locator("#menu")).toHaveCSS("opacity", "1");
    await expectNoViolations(page);
  });

  test("axe finds no problem in any state of the form", { tag: "@full" }, async ({ page }) => {
    await openForm(page);
    await fillForm(page, { email: "ada@gmail", message: "x".repeat(5001) });
    await expect(page.getByText("Did you mean gmail.com?")).toBeVisible();
    await submit(page).click();
    await expect(page.getByRole("alert", { name: "There are 3 problems" })).toBeFocused();
    await expectNoViolations(page);

    await fillForm(page);
    const fields = { name: "Enter your name.", message: "Enter your message." };
    for (const [text, answer] of [
      ["Failed to send message.", { status: 422, json: { success: false, error: "No.", fields } }],
      ["An error occurred while sending your message.", { body: "not JSON" }],
      ["Message sent successfully!", { json: { success: true, reference: "BC-TEST-00" } }],
    ] as const) {
      const held = Promise.withResolvers<void>();
      await page.route("**/send-email", (route) => held.promise.then(() => route.fulfill(answer)), { times: 1 });
      await submit(page).click();
      await expect(page.getByRole("button", { name: "Sending" })).toBeVisible();
      await expectNoViolations(page);
      held.resolve();
      await expect(page.getByText(text, { exact: true }).filter({ visible: true })).toBeVisible();
      await expectNoViolations(page);
    }
  });
});

test("by keyboard alone: skip link, every link in order, the pane, and the form", async ({ page }) => {
  await page.goto("/contact");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the main content" })).toBeFocused();
  await page.keyboard.press("Enter");
  for (const next of [
    page.getByRole("main").getByRole("link", { name: "@" }),
    page.locator("details.footprint > summary"),
    ...["Name", "Email", "Phone Number", "Country", "Message"].map((label) => field(page, label)),
    submit(page),
  ]) {
    await page.keyboard.press("Tab");
    await expect(next).toBeFocused();
    await expect(next).toBeInViewport({ ratio: 1 });
  }
});
