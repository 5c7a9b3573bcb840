// Tests of behaviour that can differ in Firefox and WebKit: layout, styles, media, focus, and what a browser keeps. Our
// own logic is tested in Chromium. Each test opens one browser with a visitor's settings, because starting a browser is
// slow.
import { expect } from "@playwright/test";
import { FIELD_NAMES } from "../../contract/contact-message.ts";
import { EMPTY, VISITOR, valuesOf } from "../support/contact.ts";
import { EnginePage, type Modes } from "../support/engines/engine.ts";
import { FIREFOX } from "../support/engines/firefox.ts";
import { WEBKIT } from "../support/engines/webkit.ts";
import { type Gate, startGate } from "../support/gate.ts";
import { requirePrograms } from "../support/require-program.ts";
import { SCREENS } from "../support/screens.ts";
import { test } from "../support/site.ts";

const PATHS = [
  ...SCREENS.map(({ paths }) => paths[0]),
  "/about",
  "/assets/carbon",
  "/assets/footprint",
  "/assets/accessibility",
];
const COUNTRIES = /\/countries\.json$/;
const skip = (reason: string) => test.skip(true, reason) as never;

// The tests are long, and the machine may be busy.
test.describe.configure({ timeout: 180_000 });

for (const engine of [FIREFOX, WEBKIT]) {
  test.describe(engine.name, () => {
    /** A test in a new browser, which fails on any error that the browser reports. */
    const journey = (title: string, modes: Modes, run: (page: EnginePage, gate: Gate) => Promise<void>) =>
      test(title, async ({ site }) => {
        requirePrograms(skip, engine.name);
        const gate = await startGate(site.url);
        const driver = await engine.launch(modes);
        try {
          await run(new EnginePage(driver, gate.url), gate);
          expect(await driver.trouble(), "what the browser reported").toEqual([]);
        } finally {
          await driver.close();
          await gate.close();
        }
      });

    journey("every screen works in a wide window, with menu and film", {}, async (page) => {
      await page.driver.resize(1280, 800);
      for (const path of PATHS) {
        await openWhole(page, path);
        await expectNoSidewaysScroll(page, path);
      }
      await useMenu(page);
      await watchFilm(page);
      await page.open("/about");
      expect(await movingParts(page), "what moves by default").toContain("g.turbine-rotor: turn");
    });

    const blocked = { isAutoplayBlocked: true };
    journey("the form is left, corrected and sent; a blocked film can be started", blocked, async (page, gate) => {
      await page.driver.resize(1280, 900);
      await leaveAndComeBack(page, gate);
      await correctFields(page);
      await seeSuccess(page);
      await startBlockedFilm(page);
    });

    const still = { isDark: true, isMotionReduced: true, areScrollbarsClassic: true };
    journey("with dark mode, reduced motion and classic scrollbars, nothing moves", still, async (page, gate) => {
      await page.driver.resize(320, 640);
      for (const path of PATHS) {
        await openWhole(page, path);
        expect(await movingParts(page), path).toEqual([]);
        const colours = await page.evaluate(() => {
          const { backgroundColor, color } = getComputedStyle(document.body);
          return `${backgroundColor} ${color}`;
        });
        expect(colours, path).toMatch(/^oklch\(0\.[0-2].* oklch\(0\.[89]/);
        await expectNoSidewaysScroll(page, path);
      }
      await page.open("/");
      expect(await page.evaluate(() => document.documentElement.clientWidth)).toBeLessThan(310);
      await expectInView(page, ".hero .button");
      await page.until(() => document.querySelector<HTMLElement>("#film-toggle")?.title === "Play film");
      await page.click(".menu-toggle");
      expect(await movingParts(page)).toEqual([]);
      expect(gate.requests.filter((request) => request.includes("/media/"))).toEqual([]);
    });

    const large = { textScale: 2, areColoursForced: engine !== WEBKIT };
    journey("with text at 200 % and forced colours, everything fits on a phone", large, async (page, gate) => {
      await page.driver.resize(320, 667);
      for (const path of PATHS) {
        await openWhole(page, path);
        expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("32px");
        await expectNoSidewaysScroll(page, path);
        await expectInView(page, ".menu-toggle");
      }
      await page.click(".menu-toggle");
      await page.until(isMenuOpen);
      await page.click("#menu .button-outline");
      await page.until(() => location.pathname === "/login");
      const films = gate.requests.filter((request) => request.includes("/media/"));
      if (large.areColoursForced) expect(films).toEqual([]);
    });

    journey("without JavaScript, pages, menu and form work", { isScriptOff: true }, async (page) => {
      await page.driver.resize(375, 667);
      for (const path of PATHS) {
        await page.open(path);
        await expectNoSidewaysScroll(page, path);
      }
      await page.click(".menu-toggle");
      await page.until(isMenuOpen);

      await page.open("/contact");
      await fill(page, `Without script in ${engine.name}`, "");
      await page.click("button[type=submit]");
      await page.until(() => location.hash === "#message-sent" && document.readyState === "complete");
      await expectInView(page, "#message-sent");
    });
  });
}

const isMenuOpen = () => document.querySelector("#menu")?.matches(":popover-open");
/** Also waits for the transition: WebKit does not focus a menu that opens again while it is still closing. */
const isMenuClosed = () => document.querySelector("#menu")?.checkVisibility() === false;

/** Opens a page; on the contact page also opens the estimate. */
async function openWhole(page: EnginePage, path: string): Promise<void> {
  await page.open(path);
  if (path !== "/contact") return;
  await countriesLoaded(page);
  await page.evaluate(() => document.querySelector(".footprint")?.setAttribute("open", ""));
  await page.until(() => document.querySelector(".result-title")?.textContent?.includes("as you type"));
}

async function expectNoSidewaysScroll(page: EnginePage, where: string): Promise<void> {
  const [content, window] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth] as const;
  });
  expect(content, `width of ${where}`).toBeLessThanOrEqual(window);
}

/** The whole element is in the window, and nothing covers its centre. */
async function expectInView(page: EnginePage, selector: string): Promise<void> {
  await page.until((selector) => {
    const element = document.querySelector(selector);
    if (!element) return false;
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const isInside = top >= 0 && left >= 0 && right <= innerWidth && bottom <= innerHeight;
    return isInside && right > left && seen !== null && (element.contains(seen) || seen.contains(element));
  }, selector);
}

/** All elements with an animation or a transition, running or not. */
function movingParts(page: EnginePage): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const element of document.querySelectorAll("*")) {
      for (const part of ["", "::before", "::after"]) {
        const { animationName, transitionDuration } = getComputedStyle(element, part || null);
        const name = `${element.tagName.toLowerCase()}.${element.getAttribute("class")}${part}`;
        if (animationName !== "none") found.push(`${name}: ${animationName}`);
        if (transitionDuration.split(", ").some((one) => one !== "0s")) found.push(`${name}: ${transitionDuration}`);
      }
    }
    return found;
  });
}

/** Waits for the country list, because WebKit reports a request that ends when the page is left. */
async function openContact(page: EnginePage): Promise<void> {
  await page.open("/contact");
  await countriesLoaded(page);
}

async function useMenu(page: EnginePage): Promise<void> {
  await openContact(page);
  await page.driver.resize(768, 480);
  await page.click(".menu-toggle");
  await page.until(isMenuOpen);
  expect(await page.evaluate(() => scrollY)).toBe(0);
  await page.click(".menu-toggle");
  await page.until(isMenuClosed);
  await page.driver.resize(375, 667);
  await page.evaluate(() => document.querySelector<HTMLElement>(".menu-toggle")?.focus());
  await page.driver.keys("Enter");
  await page.until(isMenuOpen);
  await page.driver.keys("Tab");
  await page.until(() => document.activeElement?.textContent === "Open an Account");
  await page.driver.keys("Escape");
  await page.until(isMenuClosed);
  await page.click(".menu-toggle");
  await page.until(isMenuOpen);
  await page.driver.press(5, 660);
  await page.until(isMenuClosed);
}

async function watchFilm(page: EnginePage): Promise<void> {
  await page.open("/");
  await page.until(() => (document.querySelector<HTMLVideoElement>("#film.is-playing")?.currentTime ?? 0) > 0);
  for (const label of ["Play film", "Pause film"]) {
    await page.click("#film-toggle");
    await page.until((label) => document.querySelector<HTMLElement>("#film-toggle")?.title === label, label);
    expect(await page.evaluate(() => document.querySelector<HTMLVideoElement>("#film")?.paused)).toBe(
      /^Play/.test(label),
    );
  }
}

const values = (page: EnginePage) => page.evaluate(valuesOf, FIELD_NAMES);

function countriesLoaded(page: EnginePage): Promise<void> {
  return page.until(() => document.querySelectorAll("#country option").length > 200);
}

async function fill(page: EnginePage, message: string, country = VISITOR.country): Promise<void> {
  for (const name of ["name", "email", "phone"] as const) await page.type(`#${name}`, VISITOR[name]);
  await page.type("#message", message);
  if (country === "") return;
  await page.evaluate((code) => {
    const select = document.querySelector<HTMLSelectElement>("#country");
    if (!select) return;
    select.value = code;
    for (const type of ["input", "change"]) select.dispatchEvent(new Event(type, { bubbles: true }));
  }, country);
}

async function leaveAndComeBack(page: EnginePage, gate: Gate): Promise<void> {
  await openContact(page);
  await fill(page, VISITOR.message);
  const goBack = async () => {
    await page.open("/privacy");
    await page.driver.back();
  };
  for (const comeBack of [goBack, () => page.reload()]) {
    await comeBack();
    await countriesLoaded(page);
    await expect.poll(() => values(page)).toEqual(VISITOR);
  }

  // Leaving the page while a file is loading is no error.
  await page.open("/terms");
  const letGo = gate.hold(COUNTRIES);
  gate.requests.length = 0;
  await page.open("/contact#footprint");
  await expect.poll(() => gate.requests.some((request) => COUNTRIES.test(request))).toBe(true);
  await page.open("/terms");
  letGo();

  await page.open("/contact#footprint");
  await countriesLoaded(page);
  await page.until(() => document.querySelector(".result-title")?.textContent?.includes("as you type"));
  await page.type('[id="footprint.gasKwh"]', "1000");
  const isCounted = () => document.querySelector(".footprint-total")?.textContent?.includes("about 210");
  await page.until(isCounted);
  for (const comeBack of [goBack, () => page.reload()]) {
    await comeBack();
    await countriesLoaded(page);
    await page.until(isCounted);
  }
}

async function correctFields(page: EnginePage): Promise<void> {
  await page.driver.resize(375, 667);
  await openContact(page);
  await fill(page, "To be corrected");
  await page.type("#phone", "   ");
  await page.click("button[type=submit]");
  await page.until(() => document.activeElement?.matches('.error-summary[role="alert"]'));
  await expectInView(page, ".error-summary");
  await page.click(".error-summary a");
  await page.until(() => document.activeElement?.id === "phone");
  await expectInView(page, "#phone");
  await expectInView(page, "#phone-error");
  expect(await values(page)).toEqual({ ...VISITOR, phone: "   ", message: "To be corrected" });
}

async function seeSuccess(page: EnginePage): Promise<void> {
  await page.driver.resize(1280, 900);
  await page.type("#phone", VISITOR.phone);
  const [phone, country] = await page.evaluate(() =>
    ["#phone", "#country"].map((id) => {
      const { top, height } = document.querySelector(id)?.getBoundingClientRect() ?? {};
      return { top, height };
    }),
  );
  expect(country, "the select lies level with the field beside it").toEqual(phone);
  // Screen readers announce what changes in a region that was there before.
  await page.evaluate(() => document.querySelector('.live[aria-live="polite"]')?.setAttribute("data-seen", ""));
  await page.click("button[type=submit]");
  await page.until(() => document.querySelector(".receipt"));
  expect(await page.evaluate(() => document.querySelector("[data-seen] .receipt-text")?.role)).toBe("status");
  await expectInView(page, ".receipt-text");
  await expectInView(page, ".receipt .actions .button");
  expect(await values(page)).toEqual(EMPTY);
  await page.reload();
  await page.until(() => document.querySelector(".receipt-reference"));
  await countriesLoaded(page);
  // Firefox restores fields.
  expect(await values(page)).toEqual(EMPTY);
  expect(await page.evaluate(() => document.title)).toMatch(/^Message sent/);
}

async function startBlockedFilm(page: EnginePage): Promise<void> {
  await page.open("/");
  await page.until(() => {
    const toggle = document.querySelector<HTMLElement>("#film-toggle");
    return toggle?.hidden === false && toggle.title === "Play film";
  });
  // Otherwise it would start when the pointer is pressed, and the click would stop it again.
  expect(await page.evaluate(() => document.querySelector<HTMLVideoElement>("#film")?.autoplay)).toBe(false);
  await page.click("#film-toggle");
  await page.until(() => (document.querySelector<HTMLVideoElement>("#film.is-playing")?.currentTime ?? 0) > 0);
  expect(await page.evaluate(() => document.querySelector<HTMLElement>("#film-toggle")?.title)).toBe("Pause film");
}
