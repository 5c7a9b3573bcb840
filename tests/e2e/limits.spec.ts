import { expect } from "@playwright/test";
import { fillForm, VISITOR } from "../support/contact.ts";
import { test } from "../support/site.ts";

test.use({ serverSettings: { RATE_LIMIT: "1/10m" } });

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled, expectedTrouble: /429/ });

    test("a client over its limit is told that the message failed", async ({ page }) => {
      for (const message of ["First", "Second"]) {
        await page.goto("/contact");
        if (javaScriptEnabled) await page.locator("option[value=GB]").waitFor({ state: "attached" });
        await fillForm(page, { ...VISITOR, country: "", message: `${message} ${javaScriptEnabled}` });
        await page.getByRole("button", { name: "Submit" }).click();
        await expect(page.locator(".alert").filter({ visible: true })).toBeVisible();
      }
      await expect(page.getByText("Failed to send message.", { exact: true }).filter({ visible: true })).toBeVisible();
    });
  });
}
