import { expect } from "@playwright/test";
import { test } from "../support/site.ts";

const SECTIONS = {
  "/privacy": [
    "1. Introduction",
    "2. Information we collect",
    "3. How we use your information",
    "4. How we share your information",
    "5. Data security",
    "6. Your data protection rights",
    "7. Cookies",
    "8. Children",
    "9. Changes to this policy",
    "10. Contact us",
  ],
  "/terms": [
    "1. Acceptance of terms",
    "2. Changes to these terms",
    "3. Your account",
    "4. Your conduct",
    "5. Intellectual property",
    "6. Your content",
    "7. Termination",
    "8. Limitation of liability",
    "9. Disclaimer",
    "10. Governing law",
    "11. Dispute resolution",
    "12. Entire agreement",
    "13. Contact us",
  ],
  "/refund": ["1. No cancellations", "2. All sales are final", "3. No refunds", "4. Contacting support"],
  "/delivery": [
    "1. Online services only",
    "2. Digital delivery",
    "3. How to access your services",
    "4. Technical requirements",
    "5. Availability",
    "6. Support",
  ],
} as const;

/** Every fact that the specification names, as it must stand in the text. */
const FACTS = {
  "/privacy": [
    /\bname\b/i,
    /email/i,
    /contact details/i,
    /login information/i,
    /payment information/i,
    /communications/i,
    /IP address/,
    /browser and device/i,
    /operating system/i,
    /usage/i,
    /\baccess\b/i,
    /rectif/i,
    /\berase/i,
    /restrict/i,
    /\bobject\b/i,
    /portab/i,
    /cookies/i,
    /\b18\b/,
    "[website URL]",
    "[last-updated date]",
  ],
  "/terms": [/non-exclusive, worldwide licence/, /binding arbitration/, "[governing law]", "[arbitration body]"],
  "/refund": [
    "Last updated 8th Nov 2024",
    "No refund for any issue.",
    /signed up/,
    /final/,
    /change of mind/i,
    /accidental purchase/i,
    /dissatisfaction/i,
    /technical issues beyond our control/i,
    /does not guarantee a refund/,
    "hello@brightercarbon.example",
  ],
  "/delivery": [
    /no physical/i,
    /instant/i,
    /24 hours/,
    /log in/i,
    /dashboard/i,
    /purchased services/i,
    /stable internet/i,
    /up-to-date browser/i,
    /99\.9\s?%/,
    /planned maintenance/i,
    "hello@brightercarbon.example",
  ],
} as const;

for (const [path, titles] of Object.entries(SECTIONS)) {
  test(`${path} has its numbered sections, and its contents lead to them inside the pane`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(path);
    const pane = page.getByRole("region", { name: "full text" });
    await expect(pane.getByRole("heading", { level: 2 })).toHaveText(titles);
    const contents = page.getByRole("navigation", { name: "On this page" });
    await expect(contents.getByRole("link")).toHaveText(titles);

    const last = titles[titles.length - 1] ?? "";
    await contents.getByRole("link", { name: last }).click();
    await expect(pane.getByRole("heading", { name: last })).toBeInViewport();
    expect(await pane.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
  });
}

for (const [path, facts] of Object.entries(FACTS)) {
  test(`${path} states every fact of the specification`, async ({ page }) => {
    await page.goto(path);
    const pane = page.getByRole("region", { name: "full text" });
    for (const fact of facts) await expect(pane).toContainText(fact);
  });
}

test("the text pane scrolls at 600 px, also by keyboard", async ({ page }) => {
  await page.goto("/privacy");
  const pane = page.getByRole("region", { name: "Privacy policy, full text" });
  expect((await pane.boundingBox())?.height).toBe(600);
  await pane.focus();
  await page.keyboard.press("End");
  await expect(pane.getByRole("heading", { name: "10. Contact us" })).toBeInViewport();
});

test("a policy prints in full", async ({ page }) => {
  await page.goto("/terms");
  await page.emulateMedia({ media: "print" });
  const pane = page.getByRole("region", { name: "full text" });
  const [shown, whole] = await pane.evaluate((element) => [element.clientHeight, element.scrollHeight]);
  expect(shown).toBe(whole);
  expect(shown).toBeGreaterThan(600);
});

test("the refund notice is red", async ({ page }) => {
  await page.goto("/refund");
  const colour = await page.getByText("No refund for any issue.", { exact: true }).evaluate((element) => {
    const canvas = document.createElement("canvas").getContext("2d");
    if (!canvas) throw new Error("no canvas");
    canvas.fillStyle = getComputedStyle(element).color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  });
  const [red = 0, green = 0, blue = 0] = colour;
  expect(red).toBeGreaterThan(150);
  expect(Math.max(green, blue)).toBeLessThan(60);
});
