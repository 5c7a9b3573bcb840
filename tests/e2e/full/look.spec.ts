import { expect, type Page } from "@playwright/test";
import { wcagLuminance } from "culori";
import sharp from "sharp";
import { hold, resize, test } from "../../support/site.ts";

const SAMPLES = [0, 0.25, 0.5, 0.8, 0.99];
/** The viewports that get each film. */
const VIEWPORTS = { phone: ["375x667", "320x640", "844x390"], other: ["1280x720", "768x1024", "1920x1080"] };

// The tests hide the text with an extra style, which the site's policy blocks.
test.use({ bypassCSP: true });

for (const [view, viewports] of Object.entries(VIEWPORTS)) {
  test(`text over the film "${view}" has a contrast of 4.5:1 (headline 3:1) on sampled frames`, async ({ page }) => {
    test.setTimeout(180_000);
    await resize(page, viewports[0] ?? "");
    await page.goto("/");
    await page.locator("#film.is-playing").waitFor();
    await page.getByRole("button", { name: "Pause film" }).click();
    // Hides the text, so that only the background is measured.
    await page.addStyleTag({
      content: ".hero-text > *, .header > * { visibility: hidden } #film { transition: none }",
    });
    for (const share of SAMPLES) {
      await seek(page, share);
      for (const size of viewports) {
        await resize(page, size);
        const words = await boxesOfWords(page);
        expect(words.length).toBeGreaterThan(3);
        const picture = await page.screenshot();
        for (const { name, box, luminance } of words) {
          const contrast = (luminance + 0.05) / ((await brightestLuminance(picture, box)) + 0.05);
          const where = `${name} at ${share * 100} % of the film, ${size}`;
          expect.soft(contrast, where).toBeGreaterThanOrEqual(name === "H1" ? 3 : 4.5);
        }
      }
    }
  });
}

type Box = Record<"left" | "top" | "width" | "height", number>;

/** The boxes of all text over the film, in whole pixels of the first screen, with the text's luminance. */
async function boxesOfWords(page: Page): Promise<{ name: string; box: Box; luminance: number }[]> {
  const words = page.locator(".hero-text :is(h1, p), .header-overlaid > :is(.logo, .menu-wide, .menu-toggle)");
  const found = await words.evaluateAll((elements) =>
    elements.flatMap((element) => {
      const colour = getComputedStyle(element).color;
      const words = document.createRange();
      words.selectNodeContents(element);
      // Each line of text: the box of an element is wider than its words.
      return [...words.getClientRects()].map(({ x, y, right, bottom }) => {
        const [left, top] = [Math.max(0, Math.floor(x)), Math.max(0, Math.floor(y))];
        const width = Math.min(innerWidth, Math.ceil(right)) - left;
        const height = Math.min(innerHeight, Math.ceil(bottom)) - top;
        return { name: element.className || element.tagName, box: { left, top, width, height }, colour };
      });
    }),
  );
  return found
    .filter(({ box }) => box.width > 0 && box.height > 0)
    .map(({ colour, ...word }) => ({ ...word, luminance: wcagLuminance(colour) }));
}

async function seek(page: Page, share: number): Promise<void> {
  await page.locator("#film").evaluate(async (video: HTMLVideoElement, at) => {
    const seeked = new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
    video.currentTime = video.duration * at;
    await seeked;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }, share);
}

/** The luminance of the brightest small patch. A single noisy pixel does not make a letter unreadable. */
async function brightestLuminance(picture: Buffer, box: Box): Promise<number> {
  const data = await sharp(picture)
    .extract(box)
    .removeAlpha()
    .resize(Math.ceil(box.width / 4), Math.ceil(box.height / 4), { kernel: "cubic", fit: "fill" })
    .raw()
    .toBuffer();
  const patches = Array.from({ length: data.length / 3 }, (_, index) => data.subarray(3 * index, 3 * index + 3));
  return Math.max(
    ...patches.map(([r = 0, g = 0, b = 0]) => wcagLuminance({ mode: "rgb", r: r / 255, g: g / 255, b: b / 255 })),
  );
}

for (const width of [375, 1280]) {
  test(`nothing moves when the display font and the film arrive late, at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    for (const path of ["/", "/contact", "/privacy", "/contact#footprint", "/about"]) {
      const arrive = await hold(page, "**/*.woff2");
      await page.goto(path, { waitUntil: "commit" });
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
      // A busy browser may paint before it has parsed the whole page. Only what the font moves is counted.
      await page.waitForLoadState("domcontentloaded");
      await twoFrames(page);
      const before = await shiftsOf(page);
      arrive();
      await page.waitForLoadState("load");
      await page.evaluate(() => document.fonts.ready.then(() => undefined));
      if (path === "/") await page.locator("body:has(#film.is-playing) #film-toggle").waitFor();
      await twoFrames(page);
      expect(await shiftsOf(page), path).toEqual(before);
      await page.unrouteAll();
    }
  });
}

function twoFrames(page: Page): Promise<void> {
  return page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
}

/** What has moved on the open page by itself: the start of each element's HTML. */
function shiftsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: "layout-shift", buffered: true });
    // TypeScript does not have this type yet.
    const shifts = observer.takeRecords() as (PerformanceEntry & { sources: { node: Element | null }[] })[];
    return shifts.flatMap(({ sources }) => sources.map(({ node }) => node?.outerHTML?.slice(0, 60) ?? "text"));
  });
}
