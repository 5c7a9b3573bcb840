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

test("a link cannot show a success that never happened", async ({ page }) => {
  const forged = [
    "reference=%3Cb%3Eevil",
    "reference=BC-7K3Q-9M&footprint=1",
    "reference=BC-7K3Q-9M&code=0123456789abcdef",
  ];
  for (const query of ["", ...forged]) {
    await page.goto(`/contact?${query}#message-sent`);
    await expect(page.getByRole("button", { name: "Submit" })).toBeVisible();
    await expect(page.getByText("Message sent successfully!", { exact: true })).toBeHidden();
    await expect(page.getByText(/evil|BC-7K3Q/)).toHaveCount(0);
  }
});

test("after sending, the page lists what was understood", async ({ page }) => {
  await page.goto("/contact#footprint");
  await fillForm(page, { ...VISITOR, country: "", message: "With an estimate, without script" });
  await page.locator('[id="footprint.carKm"]').fill("8,000");
  await page.getByLabel("Distance in miles").check();
  await page.locator('[id="footprint.shortFlights"]').fill("2");
  await page.locator('[id="footprint.shortFlightKm"]').fill("400");
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByRole("status").filter({ visible: true })).toContainText(
    "We understood: Car: 8,000 miles, petrol; Short return flights: 2 flights of 400 km each way, as domestic flights.",
  );
});

test("an amount that cannot be read is named, and going back finds it", async ({ page }) => {
  await page.goto("/contact#footprint");
  await fillForm(page, { ...VISITOR, country: "" });
  await page.locator('[id="footprint.carKm"]').fill("far");
  await page.locator('[id="footprint.gasKwh"]').fill("1.500");
  await page.getByRole("button", { name: "Submit" }).click();
  const alert = page.getByRole("alert").filter({ visible: true });
  await expect(alert).toContainText(
    "An amount of your estimate could not be read. Natural gas: Did you mean 1500 or 1.5? Car: Enter a number of km",
  );
  await page.goBack();
  await expect(page.locator('[id="footprint.carKm"]')).toHaveValue("far");
});
