import { expect, type Page } from "@playwright/test";
import { recordShifts, shiftsOf } from "../support/layout-shifts.ts";
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

test("the film loops, muted, after the page has loaded, and its button pauses it for the visit", async ({ page }) => {
  const order: string[] = [];
  page.on("request", (request) => request.url().includes("/media/") && order.push("film"));
  page.on("load", () => order.push("load"));
  await page.goto("/");
  await expect(page.locator("#film[muted][loop][autoplay][playsinline]")).toHaveCount(1);
  await expect.poll(() => timeOf(page)).toBeGreaterThan(0);
  expect(order.slice(0, 2)).toEqual(["load", "film"]);

  await pauseFilm(page).click();
  expect(await isPaused(page)).toBe(true);
  await page.reload();
  await playFilm(page).press("Enter");
  await expect.poll(() => isPaused(page)).toBe(false);
});

test.describe("when the display font does not arrive", () => {
  test.use({ expectedTrouble: /\.woff2|ERR_FAILED/ });

  test("nothing moves as the film and its buttons appear", async ({ page }) => {
    await page.route("**/*.woff2", (route) => route.abort());
    // Slows the page down, so that it is painted before its script runs.
    const browserSession = await page.context().newCDPSession(page);
    await browserSession.send("Emulation.setCPUThrottlingRate", { rate: 6 });
    await recordShifts(page);
    for (const size of ["1280x800", "375x667"]) {
      await resize(page, size);
      await page.goto("/");
      await page.locator("#film.is-playing").waitFor();
      await expect(pauseFilm(page)).toBeVisible();
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      expect(await shiftsOf(page), size).toEqual([]);
    }
  });
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

  test("its button is hidden if no source loads or can be decoded, even after changing tabs", async ({ page }) => {
    await page.route("**/media/**", (route) => route.abort());
    await page.goto("/");
    const toggle = page.locator("#film-toggle");
    for (const isHidden of [false, true, false]) {
      // Every source has failed.
      await expect(toggle).toHaveAttribute("data-film", "off");
      await expect(toggle).toBeHidden();
      await page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    }
    await expect(toggle).toBeHidden();

    await page.unrouteAll();
    // Sources of an unknown type simulate a missing decoder.
    await page.route("/", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/type="video\/mp4[^"]*"/g, 'type="video/unknown"');
      await route.fulfill({ response, body });
    });
    await page.evaluate(() => sessionStorage.setItem("film", "off"));
    await page.goto("/");
    await playFilm(page).click();
    await expect(toggle).toBeHidden();
  });
});

test("a visitor who chooses no film gets none, also on later visits, until the choice is undone", async ({ page }) => {
  const films = filmsAskedBy(page);
  const choice = page.getByRole("button", { name: "No film", exact: true });
  const film = page.locator("#film");
  await page.goto("/");
  await film.and(page.locator(".is-playing")).waitFor();

  await choice.click();
  await expect(choice).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("button", { name: /(?:Pause|Play) film/ })).toBeHidden();
  await expect(film).not.toHaveClass(/is-playing/);

  films.length = 0;
  // Simulates a later visit, which keeps only the choice.
  await page.evaluate(() => sessionStorage.clear());
  await page.reload({ waitUntil: "networkidle" });
  await expect(choice).toHaveAttribute("aria-pressed", "true");
  expect(films).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);

  await choice.press("Enter");
  await expect.poll(() => timeOf(page)).toBeGreaterThan(0);
});

test("each screen size gets its own film and picture, and the figure of the larger", async ({ page }) => {
  type Entry = { page: string; screen?: string; grams: number; rating: string };
  const { pages } = (await (await page.request.get("/carbon.json")).json()) as { pages: Entry[] };
  for (const [where, screen, rating, pictureWidth] of [
    ["375x667", "phone", "A+", 960],
    ["844x390", "phone", "A+", 960],
    ["1280x800", "other", "A", 1280],
    ["1920x1080", "other", "A", 1280],
  ] as const) {
    await resize(page, where);
    await page.goto("/");
    await page.locator("#film.is-playing").waitFor();
    const source = await page.locator("#film").evaluate((video: HTMLVideoElement) => video.currentSrc);
    const name = screen === "other" ? "first-light.av1" : `first-light.${screen}.av1`;
    expect(source, where).toMatch(new RegExp(`/media/${name}-[\\w-]{8}\\.mp4$`));
    const entry = pages.find((entry) => entry.page === "/" && entry.screen === screen);
    expect(entry?.rating, where).toBe(rating);
    const larger = pages.find((entry) => entry.page === "/" && entry.screen === "other");
    await expect(page.locator(".footer [data-fact=grams]")).toHaveText(larger?.grams.toFixed(3) ?? "");
    expect(await page.locator(".film img").evaluate((img: HTMLImageElement) => img.naturalWidth), where).toBe(
      pictureWidth,
    );
  }
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the film plays, and a checkbox hides it", async ({ page }) => {
    const requested = page.waitForRequest(/\/media\//);
    await page.goto("/");
    await requested;
    const film = page.locator("noscript video");
    await expect(film).toBeVisible();
    await page.getByRole("checkbox", { name: "Hide film" }).click();
    await expect(film).toBeHidden();
  });
});

test("headline, subtitle and button are on the first screen, apart from the film's buttons", async ({ page }) => {
  await page.goto("/");
  const parts = page.locator(".hero-text > *, .film-controls");
  const look = await parts.evaluateAll((all) =>
    all.map((part) => `${part.className || part.tagName} ${getComputedStyle(part).fontWeight}`),
  );
  // Only headline and subtitle are prominent; the film's buttons come first, as on the screen of a phone.
  expect(look).toEqual([
    expect.stringMatching(/^film-controls/),
    "H1 600",
    "hero-subtitle 500",
    "hero-line 400",
    expect.stringMatching(/^button button-primary/),
    "hero-caption 400",
    "hero-more 400",
  ]);
  // Waits for the left one of the film's two buttons.
  await pauseFilm(page).waitFor();
  for (const where of ["320x568", "375x667", "390x844", "667x375", "768x1024", "1280x720", "1920x1080"]) {
    await resize(page, where);
    const controls = await page.getByRole("button", { name: /(?:Pause|Play) film/ }).boundingBox();
    for (const part of [
      page.getByRole("heading", { level: 1 }),
      page.locator(".hero-subtitle"),
      page.getByRole("link", { name: "Start Offsetting Now" }),
    ]) {
      const box = await part.boundingBox();
      if (!box || !controls) throw new Error(`Something is not shown at ${where}.`);
      await expect(part, where).toBeInViewport({ ratio: 1 });
      const isApart =
        controls.x >= box.x + box.width || controls.y >= box.y + box.height || box.y >= controls.y + controls.height;
      expect(isApart, where).toBe(true);
    }
    // The button has one line.
    const button = await page.getByRole("link", { name: "Start Offsetting Now" }).boundingBox();
    expect(button?.height, where).toBeLessThan(60);
  }
});

test("text and column grow on screens wider than 1920 px, and their edges stay aligned", async ({ page }) => {
  await page.goto("/");
  const measure = async (width: number) => {
    await page.setViewportSize({ width, height: (width * 9) / 16 });
    return page.evaluate(() => {
      const leftOf = (selector: string) => document.querySelector(selector)?.getBoundingClientRect().left ?? 0;
      const sizeOf = (selector: string) =>
        Number.parseFloat(getComputedStyle(document.querySelector(selector) as Element).fontSize);
      const lefts = [".header .logo", ".hero h1", ".footer .logo"].map(leftOf);
      return { lefts, h1: sizeOf(".hero h1"), text: sizeOf(".hero-line"), column: innerWidth - 2 * leftOf(".hero h1") };
    });
  };
  const [usual, wide, widest] = [await measure(1920), await measure(2560), await measure(3840)];
  for (const { lefts } of [usual, wide, widest]) expect(Math.max(...lefts) - Math.min(...lefts)).toBeLessThan(1);
  for (const part of ["h1", "text", "column"] as const) {
    expect(wide[part] / usual[part], part).toBeGreaterThan(1.15);
    expect(widest[part] / usual[part], part).toBeGreaterThan(1.5);
  }
  expect(wide.column).toBeGreaterThan(1500);
});

test("with text at 200 % on a phone, the film's buttons are icons that do not cover the picture", async ({ page }) => {
  await resize(page, "375x667");
  await page.goto("/");
  await enlargeText(page);
  for (const name of [/film$/, "No film"]) {
    const box = await page.getByRole("button", { name }).first().boundingBox();
    expect([box?.width, box?.height]).toEqual([44, 44]);
  }
});

test("all text of the hero is printed in black", async ({ page }) => {
  await page.goto("/");
  await page.emulateMedia({ media: "print" });
  const colours = await page
    .locator(".hero > p, .hero-text > :not(.button)")
    .evaluateAll((texts) => texts.map((text) => getComputedStyle(text).color));
  expect(new Set(colours)).toEqual(new Set(["rgb(0, 0, 0)"]));
});
