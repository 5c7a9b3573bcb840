import { type CDPSession, expect, type Page } from "@playwright/test";
import sharp from "sharp";
import { recordShifts, shiftsOf } from "../../support/layout-shifts.ts";
import { hold, test } from "../../support/site.ts";

const SAMPLES = [0, 0.25, 0.5, 0.8, 0.99];
/** For each size of the film, the windows that get it. */
const VIEWPORTS = {
  phone: [
    [375, 667],
    [320, 640],
    [844, 390],
  ],
  between: [
    [1280, 720],
    [768, 1024],
    [1366, 650],
  ],
  large: [
    [1920, 1080],
    [2560, 1440],
  ],
} as const;

// A test hides the words by a style of its own, which the site's policy would rightly refuse.
test.use({ bypassCSP: true });

for (const [view, viewports] of Object.entries(VIEWPORTS)) {
  test(`words over the film of size "${view}" keep 4.5:1, and the headline 3:1, on sampled frames`, async ({
    page,
  }) => {
    await expectContrast(page, viewports);
  });
}

async function expectContrast(page: Page, viewports: readonly (readonly [number, number])[]): Promise<void> {
  test.setTimeout(180_000);
  const [width, height] = viewports[0] ?? [0, 0];
  await page.setViewportSize({ width, height });
  await page.goto("/");
  await page.locator("#film.is-playing").waitFor();
  await page.getByRole("button", { name: "Pause film" }).click();
  // The words are hidden for the picture, so that only what lies behind them is measured.
  await page.addStyleTag({
    content: ".hero-text > *, .header > * { visibility: hidden } #film { transition: none }",
  });
  const browserSession = await page.context().newCDPSession(page);
  for (const share of SAMPLES) {
    await seek(page, share);
    for (const [width, height] of viewports) {
      await page.setViewportSize({ width, height });
      const words = await boxesOfWords(page);
      expect(words.length).toBeGreaterThan(3);
      const picture = await takePicture(browserSession);
      for (const { name, box, colour } of words) {
        const contrast = (luminanceOf(colour) + 0.05) / ((await brightestLuminance(picture, box)) + 0.05);
        const where = `${name} at ${share * 100} % of the film, ${width} x ${height}`;
        expect.soft(contrast, where).toBeGreaterThanOrEqual(name === "H1" ? 3 : 4.5);
      }
    }
  }
}

test("no edge shows where the film begins beside the words, also with large text", async ({ page }) => {
  await page.setViewportSize({ width: 844, height: 390 });
  await page.goto("/");
  await page.addStyleTag({ content: ".hero-text > *, .header > *, .film-controls { visibility: hidden }" });
  const browserSession = await page.context().newCDPSession(page);
  for (const size of ["100%", "200%"]) {
    await page.evaluate((size) => {
      document.documentElement.style.fontSize = size;
    }, size);
    const left = Math.round((await page.locator(".film").boundingBox())?.x ?? 0);
    const { data, info } = await takePicture(browserSession);
    for (let y = 0; y < info.height; y += 1) {
      const at = (x: number) => data[(y * info.width + x) * info.channels + 1] ?? 0;
      expect(Math.abs(at(left) - at(left - 1)), `text at ${size}, row ${y}`).toBeLessThanOrEqual(2);
    }
  }
});

test("the sun shines: nothing dims it where no words are", async ({ page }) => {
  await page.goto("/");
  await page.addStyleTag({
    content: ".hero-text > *, .header > *, .film-controls, #film { visibility: hidden }",
  });
  const browserSession = await page.context().newCDPSession(page);
  for (const [width, height] of [
    [375, 667],
    [667, 375],
    [768, 1024],
    [1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    const picture = await takePicture(browserSession);
    const luminance = await brightestLuminance(picture, { left: 0, top: 0, width, height });
    expect(luminance, `${width} x ${height}`).toBeGreaterThan(0.75);
  }
});

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Where words lie over the film, in whole pixels of the first screen, and their colour as red, green and blue. */
function boxesOfWords(page: Page): Promise<{ name: string; box: Box; colour: number[] }[]> {
  const words = page.locator(".hero-text > :not(.button), .header-overlaid > :is(.logo, .menu-wide, .menu-toggle)");
  return words.evaluateAll((elements) =>
    elements.flatMap((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      const [left, top] = [Math.max(0, Math.floor(x)), Math.max(0, Math.floor(y))];
      const box = {
        left,
        top,
        width: Math.min(innerWidth - left, Math.ceil(width)),
        height: Math.min(innerHeight - top, Math.ceil(height)),
      };
      if (box.width <= 0 || box.height <= 0) return [];
      const canvas = new OffscreenCanvas(1, 1).getContext("2d");
      if (!canvas) throw new Error("A colour cannot be read.");
      canvas.fillStyle = getComputedStyle(element).color;
      canvas.fillRect(0, 0, 1, 1);
      const colour = [...canvas.getImageData(0, 0, 1, 1).data];
      return { name: element.getAttribute("class") || element.tagName, box, colour };
    }),
  );
}

async function seek(page: Page, share: number): Promise<void> {
  await page.locator("#film").evaluate(async (video: HTMLVideoElement, at) => {
    const seeked = new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
    video.currentTime = video.duration * at;
    await seeked;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }, share);
}

interface Picture {
  data: Buffer;
  info: { width: number; height: number; channels: 1 | 2 | 3 | 4 };
}

/** The same pixels as Playwright's own screenshot in a sixth of the time, which that takes to make a smaller file. */
async function takePicture(browserSession: CDPSession): Promise<Picture> {
  const { data } = await browserSession.send("Page.captureScreenshot", { format: "png", optimizeForSpeed: true });
  return sharp(Buffer.from(data, "base64")).removeAlpha().raw().toBuffer({ resolveWithObject: true });
}

/** The brightest of small patches, since a single noisy pixel does not make a letter unreadable. */
async function brightestLuminance({ data: pixels, info }: Picture, box: Box): Promise<number> {
  const { width, height, channels } = info;
  const data = await sharp(pixels, { raw: { width, height, channels } })
    .extract(box)
    .resize(Math.ceil(box.width / 4), Math.ceil(box.height / 4), { kernel: "cubic", fit: "fill" })
    .raw()
    .toBuffer();
  let brightest = 0;
  for (let index = 0; index < data.length; index += 3) {
    brightest = Math.max(brightest, luminanceOf([...data.subarray(index, index + 3)]));
  }
  return brightest;
}

function luminanceOf(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => linear(channel / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

for (const width of [320, 390, 768, 1280]) {
  test(`nothing moves when the display font arrives late, at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await recordShifts(page);
    for (const path of ["/", "/contact", "/privacy", "/contact#footprint", "/about"]) {
      const arrive = await hold(page, "**/*.woff2");
      await page.goto(path, { waitUntil: "commit" });
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
      arrive();
      await page.waitForLoadState("load");
      await page.evaluate(async () => {
        await document.fonts.ready;
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      });
      expect(await shiftsOf(page), path).toEqual([]);
      await page.unrouteAll();
    }
  });
}
