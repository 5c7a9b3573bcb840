import { expect } from "@playwright/test";
import { amount, field, fillForm, submit, VISITOR } from "../support/contact.ts";
import { test } from "../support/site.ts";

test.use({ javaScriptEnabled: false, expectedTrouble: /status (422|429)|status of (422|429)/ });

test("the browser checks the fields; a refused message keeps all input; the receipt has the estimate", async ({
  page,
}) => {
  await page.goto("/contact#footprint");
  await expect(page.getByLabel("Where is the electricity used?")).toBeHidden();
  await expect(page.getByRole("heading", { name: "About how much CO₂e do you emit in a year?" })).toBeInViewport();
  await expect(page.locator(".footprint noscript p")).toHaveText(
    "Your estimate is shown after you have sent the message.",
  );
  await expect(page.getByRole("button", { name: "Flat for two" })).toBeHidden();
  await page.getByRole("link", { name: "Send it with a message" }).click();
  await expect(page.getByRole("heading", { name: "Send us a Message" })).toBeInViewport();
  await fillForm(page, { ...VISITOR, country: "", name: "" });
  await submit(page).click();
  await expect(field(page, "Name")).toBeFocused();
  await expect(submit(page)).toBeVisible();

  const typed = { ...VISITOR, name: "   ", phone: `"'><script>1</script>&amp;`, message: "\n</textarea><b>Hello</b>" };
  await fillForm(page, { ...typed, country: "" });
  await page.locator("#plain-country").selectOption("FR");
  await amount(page, "for").selectOption("organisation");
  await amount(page, "gasKwh").fill("many");
  await amount(page, "carFuel").selectOption("electric");
  await submit(page).click();
  const alert = page.getByRole("alert", { name: "There are 2 problems" });
  await expect(alert.getByText("Failed to send message.", { exact: true })).toBeInViewport();
  await expect(alert).toBeFocused();
  for (const [name, value] of Object.entries({ ...typed, country: "" })) {
    if (name !== "country") await expect(page.locator(`#${name}`)).toHaveValue(value);
  }
  await expect(page.locator("#plain-country")).toHaveValue("FR");
  await expect(amount(page, "for")).toHaveValue("organisation");
  await expect(amount(page, "carFuel")).toHaveValue("electric");
  await expect(amount(page, "gasKwh")).toHaveValue("many");
  await expect(amount(page, "gasKwh")).toHaveAccessibleDescription("Enter a number, such as 1,500.");
  await expect(field(page, "Name")).toHaveAccessibleDescription("Enter your name.");
  await expect(field(page, "Email")).toHaveAttribute("aria-invalid", "false");

  await field(page, "Name").fill(VISITOR.name);
  await amount(page, "gasKwh").fill("11500");
  await expect(amount(page, "busKm")).toBeHidden();
  await page.getByText("Add more").click();
  await amount(page, "busKm").fill("1000");
  await submit(page).click();
  await expect(page.getByText("Message sent successfully!", { exact: true })).toBeInViewport();
  await expect(page.locator(".receipt .footprint-total strong")).toHaveText("about 2.6 t CO₂e a year");
  await expect(page).toHaveTitle("Message sent | Brighter Carbon");
  await expect(page.getByRole("button", { name: "Copy the reference" })).toHaveCount(0);
  await expect(page.locator(".receipt-text")).toBeInViewport({ ratio: 1 });
  await expect(field(page, "Message")).toHaveValue("");
  await expect(page.locator(".footprint")).not.toHaveAttribute("open");

  const reference = String(await page.locator("#reference").textContent());
  await fillForm(page, { ...VISITOR, name: "   ", country: "" });
  await submit(page).click();
  await expect(page.getByText("Failed to send message.", { exact: true })).toBeInViewport();
  await expect(page.locator(".receipt-folded")).toContainText(reference);
  await expect(field(page, "Message")).toHaveValue(VISITOR.message);
});
