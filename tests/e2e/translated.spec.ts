import { expect, type Page } from "@playwright/test";
import { amount, field, fillForm, holdScript, openForm, readForm, sent, submit, VISITOR } from "../support/contact.ts";
import { test } from "../support/site.ts";

/** Wraps every text in two elements, now and whenever a text appears, as a browser's translator does. */
async function translate(page: Page): Promise<void> {
  await page.evaluate(() => {
    const wrap = (root: Node) => {
      const texts: Text[] = [];
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      if (root instanceof Text) texts.push(root);
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      for (const text of texts) {
        const parent = text.parentElement;
        const isSkipped = !parent || parent.closest("font, script, style, textarea, noscript, svg");
        if (isSkipped || text.nodeValue?.trim() === "") continue;
        const outer = document.createElement("font");
        const inner = outer.appendChild(document.createElement("font"));
        text.replaceWith(outer);
        inner.append(`${text.nodeValue}`);
      }
    };
    wrap(document.body);
    new MutationObserver((changes) => {
      for (const { type, target, addedNodes } of changes) {
        for (const node of type === "characterData" ? [target] : addedNodes) wrap(node);
      }
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
  });
}

test("the form works on a page that was translated after its script loaded", async ({ page }) => {
  await openForm(page);
  await page.locator(".footprint > summary").click();
  await expect(page.getByText("Your estimate appears here as you type.")).toBeVisible();
  await translate(page);
  for (const name of ["Office of 40", "Flat for two", "Flat for two"]) await page.getByRole("button", { name }).click();
  await expect(page.getByText("Your estimate appears here as you type.")).toBeVisible();
  await amount(page, "gasKwh").pressSequentially("11,5x");
  await amount(page, "electricityKwh").pressSequentially("3000");
  await expect(page.getByText("Enter a number, such as 1,500.").first()).toBeVisible();
  await amount(page, "gasKwh").fill("11500");
  for (const country of ["FR", "AQ", "FR"]) await field(page, "Country").selectOption(country);
  await expect(page.locator(".footprint-total")).toContainText("2.6 t");
  await submit(page).click();
  await expect(page.getByRole("alert", { name: "There are 4 problems" })).toBeVisible();
  await fillForm(page, { ...VISITOR, email: "ada@gmail", country: "" });
  await page.getByRole("button", { name: "Use it" }).click();
  await submit(page).click();
  await expect(page.locator(".receipt-estimate")).toContainText("2.6");
  await page.getByRole("button", { name: "Copy the reference" }).click();
  await fillForm(page, { ...VISITOR, message: "Once more", country: "" });
  await submit(page).click();
  await expect(page.locator(".receipt-reference")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Unexpected Application Error!" })).toHaveCount(0);
});

test.describe("translated before the script loads", () => {
  // React reports that the HTML changed, and renders the form again.
  test.use({ expectedTrouble: /Minified React error #418|Hydration/ });

  test("the form keeps what was typed, and sends it", async ({ page }) => {
    const letScriptGo = await holdScript(page);
    await page.goto("/contact#footprint");
    await fillForm(page, { ...VISITOR, country: "" });
    await amount(page, "railKm").evaluate((element: HTMLInputElement) => {
      element.value = "500";
    });
    await translate(page);
    letScriptGo();
    await page.locator("select[name=country] option:nth-child(2)").waitFor({ state: "attached" });
    expect(await readForm(page)).toEqual({ ...VISITOR, country: "" });
    await expect(amount(page, "railKm")).toHaveValue("500");
    await expect(amount(page, "railKm")).toBeVisible();
    // From here on, the page is like the one above.
    await submit(page).click();
    await expect(sent(page)).toBeVisible();
  });
});
