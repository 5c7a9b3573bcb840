import { expect } from "@playwright/test";
import { PATHS_WITHOUT_PAGE, SCREENS } from "../support/screens.ts";
import { test } from "../support/site.ts";

for (const { heading, paths } of SCREENS) {
  for (const path of paths) {
    test(`${path} shows "${heading}" with its canonical address`, async ({ page }) => {
      const response = await page.goto(path);
      expect(response?.status()).toBe(200);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
      await expect(page.locator("link[rel=canonical]")).toHaveAttribute("href", `http://localhost:3000${paths[0]}`);
      await expect(page.locator("meta[name=robots]")).toHaveCount(0);
      expect(response?.headers()["x-robots-tag"]).toBeUndefined();
    });
  }
}

const ODD_SPELLINGS: [path: string, heading: string][] = [
  ["/contact/", "Get in Touch"],
  ["/contact///", "Get in Touch"],
  ["/contact?from=mail&x=%zz", "Get in Touch"],
  ["/%63ontact", "Get in Touch"],
  ["/Delivery/?a", "Shipping and delivery"],
];
for (const [path, heading] of ODD_SPELLINGS) {
  test(`${path} is the same page`, async ({ page }) => {
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
  });
}

const UNKNOWN = [
  ...PATHS_WITHOUT_PAGE,
  "/Contact",
  "/404.html",
  "/500.html",
  "/DELIVERY",
  "/nothing/here",
  "/contact/us",
  "/index.htm",
  "/%E4%B8%AD",
  "/%",
  "/%zz/%E0%A4%A",
  "/..%2f..%2fetc%2fpasswd",
  "/.git/config",
  "/constructor",
  "/__proto__",
  `/${"long".repeat(1000)}`,
];
for (const path of UNKNOWN) {
  test(`${path.slice(0, 40)} shows Coming Soon inside header and footer`, async ({ page }) => {
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    expect(response?.headers()["x-robots-tag"]).toBe("noindex");
    await expect(page.locator("meta[name=robots]")).toHaveAttribute("content", "noindex");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Coming Soon");
    await expect(page.getByRole("banner")).toBeVisible();
    await expect(page.getByRole("contentinfo")).toBeVisible();
  });
}

test("Coming Soon says all its words and leads to the contact page", async ({ page }) => {
  await page.goto("/about");
  await expect(page.getByText("Something amazing is on the way! Stay tuned.", { exact: true })).toBeVisible();
  await expect(page.getByText("For more details, contact us at:")).toBeVisible();
  await expect(page.getByRole("main").getByRole("link", { name: "@" })).toHaveAttribute(
    "href",
    "mailto:hello@brightercarbon.example",
  );
  await expect(page.locator(".turbine-rotor")).toHaveCSS("animation-name", "turn");
  await page.getByRole("link", { name: "Get Notified" }).click();
  await expect(page).toHaveURL(/\/contact$/);
});
