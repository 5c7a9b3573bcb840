import { expect } from "@playwright/test";
import { fillForm, VISITOR } from "../support/contact.ts";
import { SCREENS } from "../support/screens.ts";
import { test } from "../support/site.ts";

test.use({ javaScriptEnabled: false });

test("every page is complete without JavaScript", async ({ page }) => {
  for (const { heading, paths } of SCREENS) {
    await page.goto(paths[0]);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("contentinfo").getByRole("link", { name: "Privacy policy" })).toBeVisible();
  }
});

test("a message can be sent, and the page says so with its reference", async ({ page, site }) => {
  await page.goto("/contact");
  await fillForm(page, { ...VISITOR, country: "", message: "Sent without script" });
  await page.getByRole("button", { name: "Submit" }).click();
  const status = page.getByRole("status").filter({ visible: true });
  await expect(status.getByText("Message sent successfully!", { exact: true })).toBeInViewport();
  await expect(status).toContainText(/Your reference is BC-[0-9A-Z]{4}-[0-9A-Z]{2}\./);
  const reference = /BC-\w{4}-\w{2}/.exec((await status.textContent()) ?? "")?.[0];
  await expect.poll(() => site.output()).toContain(`"event":"delivered","reference":"${reference}"`);
});

test("a refused message shows the failure alert, and going back finds the text", async ({ page }) => {
  await page.goto("/contact");
  await fillForm(page, { ...VISITOR, country: "", name: "   " });
  await page.getByRole("button", { name: "Submit" }).click();
  const alert = page.getByRole("alert").filter({ visible: true });
  await expect(alert.getByText("Failed to send message.", { exact: true })).toBeInViewport();
  await page.goBack();
  await expect(page.getByLabel("Message", { exact: true })).toHaveValue(VISITOR.message);
});

test("a reference that is none is not written into the page", async ({ page }) => {
  await page.goto("/contact?reference=%3Cb%3Eevil#message-sent");
  await expect(page.getByText("Message sent successfully!", { exact: true })).toBeVisible();
  await expect(page.getByText("evil")).toHaveCount(0);
});

test("an amount that cannot be read is named, and going back finds it", async ({ page }) => {
  await page.goto("/contact#footprint");
  await fillForm(page, { ...VISITOR, country: "" });
  await page.locator('[id="footprint.carKm"]').fill("far");
  await page.getByRole("button", { name: "Submit" }).click();
  const alert = page.getByRole("alert").filter({ visible: true });
  await expect(alert).toContainText("An amount of your estimate could not be read.");
  await page.goBack();
  await expect(page.locator('[id="footprint.carKm"]')).toHaveValue("far");
});
