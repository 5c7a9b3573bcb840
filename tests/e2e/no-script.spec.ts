import { expect } from "@playwright/test";
import { fillForm, VISITOR } from "../support/contact.ts";
import { test } from "../support/site.ts";

test.use({ javaScriptEnabled: false });

test("the browser checks the fields; a refused message shows which are wrong, and going back finds the text", async ({
  page,
}) => {
  await page.goto("/contact");
  await fillForm(page, { ...VISITOR, country: "", name: "" });
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
  await expect(page).toHaveURL(/\/contact$/);

  await fillForm(page, { ...VISITOR, country: "", name: "   " });
  await page.getByRole("button", { name: "Submit" }).click();
  const alert = page.getByRole("alert").filter({ visible: true });
  await expect(alert.getByText("Failed to send message.", { exact: true })).toBeInViewport();
  await expect(alert).toContainText("Enter your name. Go back one page to find what you typed, and try again.");
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

test("an amount that cannot be read is named, and going back finds it", async ({ page }) => {
  await page.goto("/contact#footprint");
  await fillForm(page, { ...VISITOR, country: "" });
  await page.locator('[id="footprint.carKm"]').fill("far");
  await page.locator('[id="footprint.gasKwh"]').fill("1.500");
  await page.getByRole("button", { name: "Submit" }).click();
  const alert = page.getByRole("alert").filter({ visible: true });
  await expect(alert).toContainText(
    "Failed to send message.Natural gas: Did you mean 1500 or 1.5? Car: Enter a number of km",
  );
  await page.goBack();
  await expect(page.locator('[id="footprint.carKm"]')).toHaveValue("far");
});
