import { expect, type Page } from "@playwright/test";
import sharp from "sharp";
import { test } from "../support/site.ts";

const SAMPLES = [0, 0.13, 0.25, 0.38, 0.5, 0.63, 0.75, 0.88, 0.99];
const VIEWPORTS = [
  [320, 640],
  [375, 667],
  [768, 1024],
  [844, 390],
  [1280, 720],
  [1920, 1080],
] as const;

// A test hides the words by a style of its own, which the site's policy would rightly refuse.
test.use({ bypassCSP: true });

for (const [width, height] of VIEWPORTS) {
  test(`words over the film keep 4.5:1 on sampled frames at ${width} x ${height}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await page.goto("/");
    const film = page.locator("#film.is-playing");
    await film.waitFor();
    await page.getByRole("button", { name: "Pause film" }).click();
    // The words are hidden for the picture, so that only what lies behind them is measured.
    await page.addStyleTag({
      content: ".hero-text > *, .header > * { visibility: hidden } #film { transition: none }",
    });
    const words = await page.locator(".hero-text > :not(.button), .header-overlaid > :is(.logo, .menu-wide)").all();
    for (const share of SAMPLES) {
      await seek(page, share);
      const picture = await page.screenshot();
      for (const element of words) {
        const box = await element.boundingBox();
        if (!box || box.width === 0) continue;
        const left = Math.max(0, Math.floor(box.x));
        const top = Math.max(0, Math.floor(box.y));
        const region = {
          left,
          top,
          width: Math.min(width - left, Math.ceil(box.width)),
          height: Math.min(height - top, Math.ceil(box.height)),
        };
        if (region.width <= 0 || region.height <= 0) continue;
        const brightest = await brightestLuminance(picture, region);
        const contrast = (0.96 + 0.05) / (brightest + 0.05);
        const name = await element.evaluate((node) => node.className || node.tagName);
        expect(contrast, `${name} at ${share * 100} % of the film`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
}

async function seek(page: Page, share: number): Promise<void> {
  await page.locator("#film").evaluate(async (video: HTMLVideoElement, at) => {
    const seeked = new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
    video.currentTime = video.duration * at;
    await seeked;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }, share);
}

/** The brightest of small patches, since a single noisy pixel does not make a letter unreadable. */
async function brightestLuminance(
  picture: Buffer,
  region: { left: number; top: number; width: number; height: number },
): Promise<number> {
  const patch = { width: Math.ceil(region.width / 4), height: Math.ceil(region.height / 4) };
  const { data } = await sharp(picture)
    .extract(region)
    .removeAlpha()
    .resize(patch.width, patch.height, { kernel: "cubic", fit: "fill" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  let brightest = 0;
  for (let index = 0; index < data.length; index += 3) {
    const [red = 0, green = 0, blue = 0] = [0, 1, 2].map((channel) => linear((data[index + channel] ?? 0) / 255));
    brightest = Math.max(brightest, 0.2126 * red + 0.7152 * green + 0.0722 * blue);
  }
  return brightest;
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

for (const path of ["/", "/contact", "/privacy", "/about"]) {
  test(`nothing on ${path} moves when the display face arrives late`, async ({ page }) => {
    await page.addInitScript(() => {
      const shifts: number[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.route("**/*.woff2", async (route) => {
      await page.waitForTimeout(400);
      await route.continue();
    });
    await page.goto(path, { waitUntil: "networkidle" });
    expect(await page.evaluate(() => document.fonts.check("600 20px 'Bricolage Grotesque'"))).toBe(true);
    const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
    expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.005);
  });
}

test("at 400 % zoom every screen reads in one column, without loss", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 256 });
  for (const path of ["/", "/contact", "/privacy", "/cancellation", "/about"]) {
    await page.goto(path);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    const heading = page.getByRole("heading", { level: 1 });
    await heading.scrollIntoViewIfNeeded();
    await expect(heading).toBeInViewport();
  }
});

test("the social card of each page is a 1200 x 630 picture of at most 60 KB", async ({ page }) => {
  for (const path of ["/", "/contact", "/privacy", "/terms", "/cancellation", "/delivery"]) {
    await page.goto(path);
    const url = new URL((await page.locator("meta[property='og:image']").getAttribute("content")) ?? "");
    const picture = await (await page.request.get(url.pathname)).body();
    expect(await sharp(picture).metadata()).toMatchObject({ width: 1200, height: 630, format: "jpeg" });
    expect(picture.length).toBeLessThanOrEqual(60_000);
  }
});
