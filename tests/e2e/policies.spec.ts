import { expect } from "@playwright/test";
import { test } from "../support/site.ts";

const marked = (links: Element[]) =>
  links.filter((link) => getComputedStyle(link).fontWeight === "600").map((link) => link.textContent);

test("a policy's table of contents scrolls to its sections inside the pane", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/terms");
  const pane = page.getByRole("region", { name: "full text" });
  const contents = page.getByRole("navigation", { name: "On this page" });
  const titles = await contents.getByRole("link").allTextContents();
  await expect(pane.getByRole("heading", { level: 2 })).toHaveText(titles);

  const last = titles.at(-1) ?? "";
  await contents.getByRole("link", { name: last }).click();
  await expect(pane.getByRole("heading", { name: last })).toBeInViewport();
  expect(await pane.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
  // The contents mark the section in view.
  for (const [key, index] of [
    ["Home", 0],
    ["End", -1],
  ] as const) {
    await pane.press(key);
    await expect.poll(() => contents.getByRole("link").evaluateAll(marked)).toEqual([titles.at(index)]);
  }
});

test("the table of all pages fits a phone of 320 px, and no word leaves its cell", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto("/assets/carbon");
  const overflows = await page
    .locator(".table-box, .table-box :is(th, td)")
    .evaluateAll((boxes) => boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
  expect(overflows.length).toBeGreaterThan(30);
  expect(Math.max(...overflows)).toBe(0);
});

test("in forced colours, nothing covers the last lines of a policy's pane", async ({ page }) => {
  await page.goto("/privacy");
  const sign = page.getByText("More below");
  await expect(sign).toBeVisible();
  await page.emulateMedia({ forcedColors: "active" });
  await expect(sign).toBeHidden();
});

test("the text pane scrolls at 600 px, also by keyboard, and prints in full", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 1000 });
  await page.goto("/privacy");
  const pane = page.getByRole("region", { name: "Privacy policy, full text" });
  expect((await pane.boundingBox())?.height).toBe(600);
  // A sign in the pane says that there is more, and is covered at the end.
  const sign = pane.getByText("More below");
  const isCovered = () =>
    sign.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      element.parentElement?.style.setProperty("pointer-events", "auto");
      return !element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
  await expect(sign).toBeInViewport();
  expect(await isCovered()).toBe(false);
  await pane.focus();
  await page.keyboard.press("End");
  await expect.poll(isCovered).toBe(true);
  await expect(pane.getByRole("heading", { name: "10. Contact us" })).toBeInViewport();
  await page.emulateMedia({ media: "print" });
  const [shown = 0, whole] = await pane.evaluate((element) => [element.clientHeight, element.scrollHeight]);
  expect(shown).toBe(whole);
  expect(shown).toBeGreaterThan(600);
  // WebKit cuts a line in two where a page breaks inside a flex or grid container.
  const around = page.locator("body, .screen, .screen > :not(nav), .footer-inner");
  const displays = await around.evaluateAll((boxes) => boxes.map((box) => getComputedStyle(box).display));
  expect(new Set(displays)).toEqual(new Set(["block"]));
});

test("the refund notice is red", async ({ page }) => {
  await page.goto("/refund");
  // Red in oklch: high chroma, and a hue of about 29 degrees.
  const colour = page.getByText("No refund for any issue.", { exact: true });
  await expect(colour).toHaveCSS("color", /^oklch\(0\.\d+ 0\.[12]\d* (1|2|3)\d(\.\d+)?\)$/);
});

test("on a phone, a link shows the whole policy without its pane", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/privacy");
  const pane = page.getByRole("region", { name: "Privacy policy, full text" });
  const heightOf = () => pane.evaluate((element) => [element.scrollHeight, element.clientHeight]);
  expect((await heightOf())[1]).toBeLessThanOrEqual(600);
  await page.getByRole("link", { name: "Read it as one page" }).click();
  await expect(page).toHaveURL(/\/privacy#all$/);
  const [whole, shown] = await heightOf();
  expect(shown).toBe(whole);
  await expect(pane.getByText("More below")).toBeHidden();
});
