import { expect, type Page } from "@playwright/test";
import { enlargeText, resize, test } from "../support/site.ts";

const playFilm = (page: Page) => page.getByRole("button", { name: "Play film" });
const pauseFilm = (page: Page) => page.getByRole("button", { name: "Pause film" });
const isPaused = (page: Page) => page.locator("#film").evaluate((video: HTMLVideoElement) => video.paused);
const timeOf = (page: Page) => page.locator("#film").evaluate((video: HTMLVideoElement) => video.currentTime);

/** The URLs of the films that the page requests. */
function filmsAskedBy(page: Page): string[] {
  const films: string[] = [];
  page.on("request", (request) => request.url().includes("/media/") && films.push(request.url()));
  return films;
}

test("the film loops, muted, after the page has loaded, and its button pauses it for good", async ({ page }) => {
  const order: string[] = [];
  page.on("request", (request) => request.url().includes("/media/") && order.push("film"));
  page.on("load", () => order.push("load"));
  await page.goto("/");
  await expect(page.locator("#film[muted][loop][autoplay][playsinline]")).toHaveCount(1);
  await expect.poll(() => timeOf(page)).toBeGreaterThan(0);
  expect(order.slice(0, 2)).toEqual(["load", "film"]);

  await pauseFilm(page).click();
  expect(await isPaused(page)).toBe(true);
  // Simulates a later visit: the session is over, and the browser's cache is empty.
  await page.evaluate(() => sessionStorage.clear());
  const films = filmsAskedBy(page);
  await page.reload({ waitUntil: "networkidle" });
  await expect(playFilm(page)).toBeVisible();
  expect(films).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);

  await playFilm(page).press("Enter");
  await expect.poll(() => isPaused(page)).toBe(false);
  await page.reload();
  await expect.poll(() => timeOf(page)).toBeGreaterThan(0);
});

for (const mode of ["reduced motion", "Save-Data"]) {
  test(`under ${mode} the film is not downloaded until the visitor asks for it`, async ({ page }) => {
    if (mode === "reduced motion") await page.emulateMedia({ reducedMotion: "reduce" });
    else await page.addInitScript("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })");
    const films = filmsAskedBy(page);
    await page.goto("/", { waitUntil: "networkidle" });
    expect(films).toEqual([]);
    await playFilm(page).click();
    await expect.poll(() => films.length).toBeGreaterThan(0);
  });
}

test.describe("when the film cannot be shown", () => {
  test.use({ expectedTrouble: /\/media\/|ERR_FAILED/ });

  test("its button is hidden", async ({ page }) => {
    await page.route("**/media/**", (route) => route.abort());
    await page.goto("/");
    const toggle = page.locator("#film-toggle");
    // Every source has failed.
    await expect(toggle).toHaveAttribute("data-film", "off");
    await expect(toggle).toBeHidden();
  });
});

test("each screen size gets its own film and picture", async ({ page }) => {
  for (const [where, film, pictureWidth] of [
    ["844x390", "first-light.phone.av1", 960],
    ["1280x800", "first-light.av1", 1280],
  ] as const) {
    await resize(page, where);
    await page.goto("/");
    await page.locator("#film.is-playing").waitFor();
    const source = await page.locator("#film").evaluate((video: HTMLVideoElement) => video.currentSrc);
    expect(source, where).toMatch(new RegExp(`/media/${film}-[\\w-]{8}\\.mp4$`));
    const width = await page.locator(".film img").evaluate((img: HTMLImageElement) => img.naturalWidth);
    expect(width, where).toBe(pictureWidth);
  }
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the still picture stays, without a button for the film", async ({ page }) => {
    const films = filmsAskedBy(page);
    await page.goto("/", { waitUntil: "networkidle" });
    expect(films).toEqual([]);
    await expect(page.locator(".film img")).toBeVisible();
    await expect(page.locator("#film-toggle")).toBeHidden();
  });
});

// The edges of every layout, and sizes between them.
const WIDTHS = [320, 560, 561, 640, 740, 1024, 1231, 1232, 1279, 1280, 1600, 2560];
const HEIGHTS = [400, 480, 481, 568, 720, 1024, 1400];

test("the hero's texts are on the first screen, and no control covers words in any window, also with large text", async ({
  page,
}) => {
  await page.goto("/");
  await pauseFilm(page).waitFor();
  for (const where of ["320x568", "375x667", "667x375", "768x1024", "1280x720", "1920x1080"]) {
    await resize(page, where);
    for (const part of ["h1", ".hero-subtitle", ".hero .button"]) {
      await expect(page.locator(part), where).toBeInViewport({ ratio: 1 });
    }
  }
  const covered: string[] = [];
  const look = async (where: string) => {
    const found = await page.evaluate(coveredWords);
    covered.push(...found.map((pair) => `${where}: ${pair}`));
  };
  for (const width of WIDTHS) {
    for (const height of HEIGHTS) {
      await page.setViewportSize({ width, height });
      await look(`${width}x${height}`);
    }
  }
  await enlargeText(page);
  for (const size of ["320x568", "667x480", "683x620", "768x1024", "1280x720", "1920x1080"]) {
    await resize(page, size);
    await look(`${size} with text at 200 %`);
  }
  expect(covered).toEqual([]);
});

/** Compares the rectangle of each button and link in header and hero with each line of text outside it. */
function coveredWords(): string[] {
  const controls = [...document.querySelectorAll(".header :is(a, button), .hero :is(a, button)")];
  const lines: { text: string; rect: DOMRect; parent: Element }[] = [];
  for (const root of document.querySelectorAll(".header, .hero")) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const parent = node.parentElement ?? root;
      for (const rect of range.getClientRects()) lines.push({ text: node.textContent ?? "", rect, parent });
    }
  }
  return controls.flatMap((control) => {
    const { left, right, top, bottom } = control.getBoundingClientRect();
    if (left === right) return [];
    return lines
      .filter(({ rect, parent }) => {
        const isApart = rect.left >= right || rect.right <= left || rect.top >= bottom || rect.bottom <= top;
        return !isApart && !control.contains(parent);
      })
      .map(({ text }) => `${control.id || control.className} covers "${text.slice(0, 20)}"`);
  });
}

test("on a wide screen, the rest is one row with one top, and the button stands below the headline", async ({
  page,
}) => {
  for (const size of ["1366x768", "1920x1080"]) {
    await resize(page, size);
    await page.goto("/");
    const boxes = (...selectors: string[]) => Promise.all(selectors.map((one) => page.locator(one).boundingBox()));
    const [title, subtitle, line, more, button, toggle] = await boxes(
      ...["h1", ".hero-subtitle", ".hero-line", ".hero-more", ".hero .button", "#film-toggle"],
    );
    const tops = [subtitle, line, more].map((box) => box?.y ?? 0);
    expect(Math.max(...tops) - Math.min(...tops), size).toBeLessThan(6);
    const middleOf = (box = title) => (box?.y ?? 0) + (box?.height ?? 0) / 2;
    expect(Math.abs(middleOf(button) - middleOf(toggle)), size).toBeLessThan(1);
    expect(button?.x, size).toBe(title?.x);
  }
});

test("the logo stays in its place when pages change", async ({ page }) => {
  for (const size of ["1440x900", "1920x1080", "2560x1440"]) {
    await resize(page, size);
    const places = [];
    for (const path of ["/", "/contact", "/privacy", "/about"]) {
      await page.goto(path);
      for (const part of [".header", ".footer"]) places.push((await page.locator(`${part} .logo`).boundingBox())?.x);
    }
    expect(new Set(places).size, size).toBe(1);
  }
});
