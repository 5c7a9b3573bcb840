import { expect } from "@playwright/test";
import { field, fillForm, submit, VISITOR } from "../support/contact.ts";
import { test } from "../support/site.ts";

test.use({ javaScriptEnabled: false });

test("the browser checks the fields, a refused message names the invalid ones, and going back restores the text", async ({
  page,
}) => {
  await page.goto("/contact");
  await fillForm(page, { ...VISITOR, country: "", name: "" });
  await submit(page).click();
  await expect(field(page, "Name")).toBeFocused();
  await expect(page).toHaveURL(/\/contact$/);

  await fillForm(page, { ...VISITOR, country: "", name: "   " });
  await submit(page).click();
  const alert = page.getByRole("alert").filter({ visible: true });
  await expect(alert.getByText("Failed to send message.", { exact: true })).toBeInViewport();
  await expect(alert).toContainText("Enter your name. Go back one page to find what you typed, and try again.");
  await expect(page).toHaveTitle("Error: Contact us | Brighter Carbon");
  await page.goBack();
  await expect(field(page, "Message")).toHaveValue(VISITOR.message);
});

test("the estimate is open at its URL, its groups can be opened, and the answer shows the result", async ({ page }) => {
  await page.goto("/contact#footprint");
  await expect(page.getByRole("heading", { name: "About how much CO₂e do you emit in a year?" })).toBeInViewport();
  await expect(page.getByText("Your estimate appears here.")).toBeHidden();
  await expect(page.getByLabel("Your country")).toBeHidden();
  await expect(page.locator(".footprint noscript p")).toBeVisible();
  await page.getByLabel("My organisation").check();
  await expect(page.getByText("Energy of your site")).toBeVisible();
  await expect(page.getByText("Home energy")).toBeHidden();
  const amount = (name: string) => page.locator(`[id="footprint.${name}"]`);
  await expect(amount("busKm")).toBeHidden();
  await page.getByText("Add more").click();
  await amount("busKm").fill("1000");
  await amount("carKm").fill("8000");
  await amount("carUnit").selectOption("miles");
  await amount("electricityKwh").fill("3500");
  await page.getByRole("link", { name: "Continue to your message" }).click();
  await expect(page.getByRole("heading", { name: "Send us a Message" })).toBeInViewport();
  await fillForm(page, { ...VISITOR, country: "" });
  await page.locator("#plain-country").selectOption("FR");
  await submit(page).click();
  await expect(page.getByText("We received your estimate too: about 3.0 t CO₂e a year.")).toBeInViewport();
  expect(new URL(page.url()).search).toMatch(/^\?reference=[\w-]+&code=[\w-]{16}$/);
  await page.getByRole("link", { name: "See and print it" }).click();
  const report = page.getByRole("region", { name: "Your estimate about 3.0 t CO₂e a year" });
  await expect(report).toContainText("For an organisation. Country: France.");
  await expect(report).toBeInViewport();
  await expect(report).toBeFocused();
  await expect(page.getByRole("heading", { name: /^Message sent successfully! Your reference is BC-/ })).toBeVisible();
  await expect(submit(page)).toBeHidden();
  await page.getByRole("link", { name: "Send another message" }).click();
  await expect(submit(page)).toBeVisible();
});
