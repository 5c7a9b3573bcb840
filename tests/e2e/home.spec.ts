import { expect, type Page } from "@playwright/test";
import { test } from "../support/site.ts";

/** Fills with the address of each film that the page asks for. */
function filmsAskedBy(page: Page): string[] {
  const films: string[] = [];
  page.on("request", (request) => request.url().includes("/media/") && films.push(request.url()));
  return films;
}

test("the film loops, muted, after the picture, and its button pauses it for the visit", async ({ page }) => {
  await page.goto("/");
  const film = page.locator("#film");
  for (const attribute of ["muted", "loop", "autoplay", "playsinline"]) {
    await expect(film).toHaveAttribute(attribute, "");
  }
  await expect.poll(() => film.evaluate((video: HTMLVideoElement) => video.currentTime)).toBeGreaterThan(0);

  await page.getByRole("button", { name: "Pause film" }).click();
  expect(await film.evaluate((video: HTMLVideoElement) => video.paused)).toBe(true);
  await page.reload();
  await expect(page.getByRole("button", { name: "Play film" })).toBeVisible();
  await page.getByRole("button", { name: "Play film" }).press("Enter");
  await expect.poll(() => film.evaluate((video: HTMLVideoElement) => video.paused)).toBe(false);
});

test("nothing of the film is asked for before the load event", async ({ page }) => {
  const order: string[] = [];
  page.on("request", (request) => request.url().includes("/media/") && order.push("film"));
  page.on("load", () => order.push("load"));
  await page.goto("/");
  await expect.poll(() => order).toContain("film");
  expect(order[0]).toBe("load");
});

test.describe("with reduced motion", () => {
  test.use({ contextOptions: { reducedMotion: "reduce" } });

  test("the film is not downloaded until the visitor asks for it", async ({ page }) => {
    const films = filmsAskedBy(page);
    await page.goto("/", { waitUntil: "networkidle" });
    expect(films).toEqual([]);
    await page.getByRole("button", { name: "Play film" }).click();
    await expect.poll(() => films.length).toBeGreaterThan(0);
  });
});

test.describe("when the film cannot be loaded", () => {
  test.use({ expectedTrouble: /\/media\/|ERR_FAILED/ });

  test("it has no button, also after the visitor was in another tab", async ({ page }) => {
    await page.route("**/media/**", (route) => route.abort());
    await page.goto("/");
    const toggle = page.locator("#film-toggle");
    // Broken: every source has failed.
    await expect(toggle).toHaveAttribute("data-film", "off");
    await expect(toggle).toBeHidden();
    for (const isHidden of [true, false]) {
      await page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
      await expect(toggle).toHaveAttribute("data-film", "off");
      await expect(toggle).toBeHidden();
    }
  });
});

test("the film is not downloaded under Save-Data", async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(Navigator.prototype, "connection", { get: () => ({ saveData: true }) });
  });
  const films = filmsAskedBy(page);
  await page.goto("/", { waitUntil: "networkidle" });
  await expect(page.getByRole("button", { name: "Play film" })).toBeVisible();
  expect(films).toEqual([]);
});

test("who chooses no film gets none, on later visits either, until the choice is taken back", async ({ page }) => {
  const films = filmsAskedBy(page);
  const name = /^No film: 0\.\d{3} g CO2e instead of 0\.\d{3} g$/;
  const choice = page.getByRole("button", { name });
  const grams = page.getByText(/^This page: 0\.\d{3} g CO2e per view/);
  const film = page.locator("#film");
  await page.goto("/");
  await film.and(page.locator(".is-playing")).waitFor();
  const withFilm = (await grams.textContent()) ?? "";

  await choice.click();
  await expect(choice).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("button", { name: /(?:Pause|Play) film/ })).toBeHidden();
  await expect(film).not.toHaveClass(/is-playing/);
  await expect(grams).not.toHaveText(withFilm);

  films.length = 0;
  const again = await page.context().newPage();
  const filmsAgain = filmsAskedBy(again);
  await again.goto("/", { waitUntil: "networkidle" });
  await expect(again.getByRole("button", { name })).toHaveAttribute("aria-pressed", "true");
  await page.reload({ waitUntil: "networkidle" });
  expect([...films, ...filmsAgain]).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);

  await choice.press("Enter");
  await expect.poll(() => film.evaluate((video: HTMLVideoElement) => video.currentTime)).toBeGreaterThan(0);
  await expect(grams).toHaveText(withFilm);
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

test("the button lies within the first screen, apart from the film's, on every kind of screen", async ({ page }) => {
  await page.goto("/");
  for (const [width, height] of [
    [320, 640],
    [375, 667],
    [667, 375],
    [1280, 720],
    [1920, 1080],
  ] as const) {
    await page.setViewportSize({ width, height });
    const box = await page.getByRole("link", { name: "Start Offsetting Now" }).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0), `${width} x ${height}`).toBeLessThanOrEqual(height);
    const toggle = await page.locator("div.film-controls").boundingBox();
    const isApart =
      !toggle ||
      !box ||
      toggle.x >= box.x + box.width ||
      toggle.y >= box.y + box.height ||
      box.y >= toggle.y + toggle.height;
    expect(isApart, `${width} x ${height}`).toBe(true);
  }
});
