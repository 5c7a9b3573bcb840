// The same journeys in Firefox and WebKit; the other specs take them in Chromium. Each opens one browser with a visitor's
// settings, because starting one takes longer than most checks.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@playwright/test";
import { startServer } from "../../scripts/run-server.ts";
import { VISITOR } from "../support/contact.ts";
import { EnginePage, type Modes, NO_MODES } from "../support/engines/engine.ts";
import { FIREFOX } from "../support/engines/firefox.ts";
import { WEBKIT } from "../support/engines/webkit.ts";
import { type Gate, startGate } from "../support/gate.ts";
import { requireEngine, requirePrograms } from "../support/require-program.ts";
import { SCREENS } from "../support/screens.ts";
import { test } from "../support/site.ts";

const PATHS: readonly string[] = [
  ...SCREENS.map(({ paths }) => paths[0]),
  "/about",
  "/assets/carbon",
  "/assets/footprint",
];
const FORM_SCRIPT = /\/assets\/contact-.*\.js$/;
const ELECTRICITY = /\/assets\/electricity-.*\.json$/;
const COUNTRIES = /\/countries\.json$/;
const skip = (reason: string) => test.skip(true, reason) as never;

// Long journeys, on machines that may be busy.
test.describe.configure({ timeout: 180_000 });

for (const engine of [FIREFOX, WEBKIT]) {
  test.describe(engine.name, () => {
    test.beforeEach(() => {
      requireEngine(skip, engine.name);
      requirePrograms(skip, "pdftotext");
    });

    /** Runs a journey in a new browser, and fails on any trouble that the browser reports and the journey does not expect. */
    async function visit(
      serverUrl: string,
      modes: Partial<Modes>,
      journey: (page: EnginePage, gate: Gate) => Promise<void>,
      expectedTrouble?: RegExp,
    ): Promise<void> {
      const gate = await startGate(serverUrl);
      const driver = await engine.launch({ ...NO_MODES, ...modes });
      try {
        await journey(new EnginePage(driver, gate.url), gate);
        const unexpected = (await driver.trouble()).filter((line) => !expectedTrouble?.test(line));
        expect(unexpected, "what the browser reported").toEqual([]);
      } finally {
        await driver.close();
        await gate.close();
      }
    }

    test("every screen narrow and wide, menu, film, print, and what older browsers make of it", async ({ site }) => {
      await visit(site.url, {}, async (page, gate) => {
        for (const path of PATHS) {
          await openWhole(page, path);
          for (const width of [320, 1280]) {
            await page.driver.resize(width, 800);
            // WebKit 2.50 applies no media query to a new size while a film plays and a script asks for the layout.
            if (path === "/") await page.driver.reload();
            await expectNoSidewaysScroll(page, `${path} at ${width}`);
          }
          expect(await linksWithoutLine(page), path).toEqual([]);
          expect(await gapAtHeadersEnd(page), path).toBeCloseTo(0, 0);
        }
        await useMenu(page);
        await watchFilm(page, gate);
        await printPages(page);
        await page.open("/about");
        expect(await movingParts(page), "what moves by default").toContain("g.turbine-rotor: turn");
        await useOldBrowser(page, gate);
      });
    });

    test("the form's whole life, and a film that the browser does not start", async () => {
      const dataDir = await mkdtemp(join(tmpdir(), "engines-"));
      let server = await startServer({ DATA_DIR: dataDir });
      try {
        const expected = /422|502|send-email|Sending the message failed/;
        await visit(
          server.url,
          { isAutoplayBlocked: true },
          async (page, gate) => {
            await page.driver.resize(1280, 900);
            await typeBeforeScript(page, gate);
            await leaveAndComeBack(page, gate, engine.name);
            await correctFields(page, gate);
            await pressTwice(page, gate);
            await seeSuccess(page);

            await fill(page, "While the server is stopped");
            await server.stop();
            await page.click(".form-submit");
            await page.until(() => document.querySelector(".alert-broken"));
            expect(await valueIn(page, "#message")).toBe("While the server is stopped");
            server = await startServer({ DATA_DIR: dataDir });
            gate.leadTo(server.url);
            await page.click(".form-submit");
            await page.until(() => document.querySelector(".alerts .alert-sent"));

            await startBlockedFilm(page);
          },
          expected,
        );
      } finally {
        await server.stop();
        await rm(dataDir, { recursive: true, force: true });
      }
    });

    test("dark, reduced motion and classic scrollbars: nothing moves, and the main button is on the first screen", async ({
      site,
    }) => {
      const modes = { isDark: true, isMotionReduced: true, areScrollbarsClassic: true };
      await visit(site.url, modes, async (page, gate) => {
        await page.driver.resize(320, 640);
        for (const path of PATHS) {
          await openWhole(page, path);
          expect(await movingParts(page), path).toEqual([]);
          expect(await lightnessOf(page, "backgroundColor"), path).toBeLessThan(0.3);
          expect(await lightnessOf(page, "color"), path).toBeGreaterThan(0.8);
          await expectNoSidewaysScroll(page, path);
        }
        await page.open("/");
        expect(await page.evaluate(() => document.documentElement.clientWidth)).toBeLessThan(310);
        await expectInView(page, ".hero .button");
        await page.until(() => document.querySelector("#film-toggle")?.textContent === "Play film");
        await page.click(".menu-toggle");
        expect(await movingParts(page)).toEqual([]);
        expect(gate.requests.filter((request) => request.includes("/media/"))).toEqual([]);
      });
    });

    test("text at 200 % and forced colours: everything fits a phone, and no hidden film is downloaded", async ({
      site,
    }) => {
      const canForceColours = engine !== WEBKIT;
      await visit(site.url, { textScale: 2, areColoursForced: canForceColours }, async (page, gate) => {
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
        if (canForceColours) expect(films).toEqual([]);
      });
    });

    test("without JavaScript: pages, menu, film with a labelled checkbox, and a message that arrives", async ({
      site,
    }) => {
      await visit(site.url, { isScriptOff: true }, async (page, gate) => {
        await page.driver.resize(375, 667);
        for (const { paths, heading } of SCREENS) {
          await page.open(paths[0]);
          expect(await page.evaluate(() => document.querySelector("h1")?.textContent)).toBe(heading);
          await expectNoSidewaysScroll(page, paths[0]);
        }
        await page.click(".menu-toggle");
        await page.until(isMenuOpen);

        await page.open("/");
        await page.until(() => (document.querySelector<HTMLVideoElement>("noscript video")?.currentTime ?? 0) > 0);
        expect(gate.requests.join()).toContain("/media/");
        await expectInView(page, "label.film-toggle span");
        const clip = await page.evaluate(() => {
          const label = document.querySelector("label.film-toggle span");
          return label && getComputedStyle(label).clipPath;
        });
        expect(clip, "the label of Hide film").toBe("none");
        await page.click("label.film-toggle");
        await page.until(() => document.querySelector("noscript video")?.getClientRects().length === 0);

        await page.open("/contact");
        await fill(page, `Without script in ${engine.name}`, "");
        await page.click(".form-submit");
        await page.until(() => location.hash === "#message-sent" && document.readyState === "complete");
        await expectInView(page, "#message-sent .alert");
        expect(await page.evaluate(() => document.querySelector("#message-sent")?.textContent)).toMatch(
          /BC-\w{4}-\w{2}/,
        );
      });
    });
  });
}

const isMenuOpen = () => document.querySelector("#menu")?.matches(":popover-open");
const isMenuClosed = () => !document.querySelector("#menu")?.matches(":popover-open");

/** Opens a page, and on the contact page the estimate too. */
async function openWhole(page: EnginePage, path: string): Promise<void> {
  await page.open(path);
  if (path !== "/contact") return;
  await countriesLoaded(page);
  await page.evaluate(() => document.querySelector(".footprint")?.setAttribute("open", ""));
  await page.until(() => document.querySelector(".footprint-empty")?.textContent?.includes("as you type"));
}

async function expectNoSidewaysScroll(page: EnginePage, where: string): Promise<void> {
  const [content, window] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth] as const;
  });
  expect(content, `width of ${where}`).toBeLessThanOrEqual(window);
}

/** All of the element lies in the window, and nothing else over its middle. */
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

/** Links within a text must not be known by colour alone (WCAG 1.4.1). */
function linksWithoutLine(page: EnginePage): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("main :is(p, li) > a:not(.button, .contents a)")]
      .filter((link) => !getComputedStyle(link).textDecorationLine.includes("underline"))
      .map((link) => link.outerHTML),
  );
}

/** Between the last words of the header and the right edge of the page's content, in a wide window. */
function gapAtHeadersEnd(page: EnginePage): Promise<number> {
  return page.evaluate(() => {
    const words = document.createRange();
    words.selectNodeContents(document.querySelector(".menu-wide > :last-child") ?? document.body);
    const edge = document.querySelector(".footer-inner")?.getBoundingClientRect().right ?? 0;
    return edge - words.getBoundingClientRect().right;
  });
}

/** Everything that has an animation or a transition, whether it runs now or not. */
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

/** Of the page's colours, 0 to 1. */
async function lightnessOf(page: EnginePage, property: "color" | "backgroundColor"): Promise<number> {
  const colour = await page.evaluate((property) => getComputedStyle(document.body)[property], property);
  return Number(/oklch\(([\d.]+)/.exec(colour)?.[1]);
}

/** Until its list is there: WebKit reports a request that ends because the page is left. */
async function openContact(page: EnginePage): Promise<void> {
  await page.open("/contact");
  await countriesLoaded(page);
}

async function useMenu(page: EnginePage): Promise<void> {
  for (const [width, height] of [
    [375, 667],
    [768, 1024],
  ] as const) {
    await page.driver.resize(width, height);
    await openContact(page);
    await page.click(".menu-toggle");
    await page.until(isMenuOpen);
    const heights = await page.evaluate(() =>
      [...document.querySelectorAll("#menu .button")].map((button) => button.getBoundingClientRect().height),
    );
    expect(heights).toHaveLength(2);
    expect(Math.max(...heights), `a button of the menu at ${width}`).toBeLessThan(60);
    await page.click(".menu-toggle");
    await page.until(isMenuClosed);
  }
  await openContact(page);
  await page.evaluate(() => document.querySelector<HTMLElement>(".menu-toggle")?.focus());
  await page.keys("Enter");
  await page.until(isMenuOpen);
  await page.keys("Tab");
  await page.until(() => document.activeElement?.textContent === "Open an Account");
  await page.keys("Escape");
  await page.until(isMenuClosed);
  await page.click(".menu-toggle");
  await page.until(isMenuOpen);
  await page.driver.press(5, 1000);
  await page.until(isMenuClosed);
}

async function watchFilm(page: EnginePage, gate: Gate): Promise<void> {
  await page.open("/");
  await page.until(() => (document.querySelector<HTMLVideoElement>("#film.is-playing")?.currentTime ?? 0) > 0);
  await page.until(() => document.querySelector("#film-toggle")?.textContent === "Pause film");
  await page.click("#film-toggle");
  await page.until(() => document.querySelector<HTMLVideoElement>("#film")?.paused);
  expect(await page.evaluate(() => document.querySelector("#film-toggle")?.textContent)).toBe("Play film");
  await page.click("#film-toggle");
  await page.until(() => document.querySelector<HTMLVideoElement>("#film")?.paused === false);
  await page.click("#film-toggle");
  await page.until(() => document.querySelector<HTMLVideoElement>("#film")?.paused);

  // Firefox warns of these in its console, but not over its protocol.
  expect(await page.evaluate(() => document.querySelectorAll("source:not([src], [srcset])").length)).toBe(0);

  // Without a decoder there is nothing to control. Sources of another type stand for one that is missing.
  gate.changePage = (html) => html.replaceAll(/type="video\/mp4[^"]*"/g, 'type="video/unknown"');
  await page.open("/");
  await page.until(() => document.querySelector("#film-toggle")?.textContent === "Play film");
  await page.click("#film-toggle");
  await page.until(() => document.querySelector<HTMLElement>("#film-toggle")?.hidden);
  gate.changePage = null;
}

/** WebKit can cut a line of text in two: its upper half at the end of one page, the lower half on the next. */
async function printPages(page: EnginePage): Promise<void> {
  for (const path of ["/privacy", "/terms", "/assets/carbon"]) {
    await page.open(path);
    const { stdout } = spawnSync("pdftotext", ["-layout", "-", "-"], { input: await page.driver.print() });
    const sheets = stdout.toString().split("\f").slice(0, -1);
    expect(sheets.length, `sheets of ${path}`).toBeGreaterThan(1);
    const linesOf = (sheet = "") =>
      sheet
        .split("\n")
        .map((line) => line.replaceAll(/\W/g, ""))
        .filter(Boolean);
    for (const [index, sheet] of sheets.slice(1).entries()) {
      expect(linesOf(sheet)[0], `the first line of sheet ${index + 2} of ${path}`).not.toBe(
        linesOf(sheets[index]).at(-1),
      );
    }
  }
}

/** The page as a browser sees it that has neither popovers nor the newest parts of JavaScript. */
async function useOldBrowser(page: EnginePage, gate: Gate): Promise<void> {
  const removeNewParts = `<script>
    delete String.prototype.isWellFormed; delete String.prototype.toWellFormed; delete Promise.withResolvers;
    delete Object.groupBy; delete Array.fromAsync; delete AbortSignal.any; delete URL.canParse; delete URL.parse;
    delete crypto.randomUUID; delete self.requestIdleCallback; delete self.Iterator;
    for (const name of ["toSorted", "toReversed", "with", "findLast"]) delete Array.prototype[name];
    for (const name of ["union", "difference", "intersection"]) delete Set.prototype[name];
  </script>`;
  gate.changePage = (html) =>
    html
      .replace("<head>", `<head>${removeNewParts}`)
      .replaceAll(/ popover="auto"| popovertarget="menu"/gi, "")
      .replaceAll(":popover-open", ":not-known-yet");
  await page.driver.resize(375, 667);
  await page.open("/contact");
  const isMenuAt = (x: number, y: number) => document.elementFromPoint(x, y)?.closest("#menu") !== null;
  expect(await page.evaluate(isMenuAt, 180, 200), "an invisible menu takes presses").toBe(false);
  await page.click(".menu-toggle");
  await page.until(isMenuAt, 180, 200);
  await page.driver.press(5, 660);
  await page.until((x, y) => document.elementFromPoint(x, y)?.closest("#menu") === null, 180, 200);

  await countriesLoaded(page);
  await fill(page, "From an old browser");
  await page.click(".form-submit");
  await page.until(() => document.querySelector(".alerts .alert-sent"));
  gate.changePage = null;
}

function valueIn(page: EnginePage, selector: string): Promise<string | undefined> {
  return page.evaluate((selector) => document.querySelector<HTMLInputElement>(selector)?.value, selector);
}

function values(page: EnginePage): Promise<typeof VISITOR> {
  return page.evaluate(() => {
    const value = (id: string) => document.querySelector<HTMLInputElement>(`#${id}`)?.value ?? "";
    return {
      name: value("name"),
      email: value("email"),
      phone: value("phone"),
      country: value("country"),
      message: value("message"),
    };
  });
}

function countriesLoaded(page: EnginePage): Promise<void> {
  return page.until(() => document.querySelectorAll("#country option").length > 200);
}

async function fill(page: EnginePage, message: string, country = VISITOR.country): Promise<void> {
  await page.type("#name", VISITOR.name);
  await page.type("#email", VISITOR.email);
  await page.type("#phone", VISITOR.phone);
  await page.type("#message", message);
  if (country !== "") await chooseCountry(page, country);
}

async function chooseCountry(page: EnginePage, code: string): Promise<void> {
  await page.evaluate((code) => {
    const select = document.querySelector<HTMLSelectElement>("#country");
    if (!select) return;
    select.value = code;
    for (const type of ["input", "change"]) select.dispatchEvent(new Event(type, { bubbles: true }));
  }, code);
}

function posts(gate: Gate): number {
  return gate.requests.filter((request) => request === "POST /send-email").length;
}

async function typeBeforeScript(page: EnginePage, gate: Gate): Promise<void> {
  const letScriptGo = gate.hold(FORM_SCRIPT);
  await leaveEarly(page, gate, FORM_SCRIPT);
  await page.open("/contact");
  await fill(page, VISITOR.message, "");
  letScriptGo();
  await countriesLoaded(page);
  expect(await values(page)).toEqual({ ...VISITOR, country: "" });
}

async function leaveAndComeBack(page: EnginePage, gate: Gate, engineName: string): Promise<void> {
  await chooseCountry(page, VISITOR.country);
  await page.open("/privacy");
  await page.driver.back();
  await countriesLoaded(page);
  await page.until((country) => document.querySelector<HTMLSelectElement>("#country")?.value === country, "GB");
  expect(await values(page)).toEqual(VISITOR);

  await page.reload();
  await countriesLoaded(page);
  // Firefox keeps what was typed, and then the country too; the others start again with an empty form.
  const kept = engineName === "firefox" ? VISITOR : { name: "", email: "", phone: "", country: "", message: "" };
  expect(await values(page)).toEqual(kept);

  const letCountriesGo = gate.hold(COUNTRIES);
  await leaveEarly(page, gate, COUNTRIES);
  letCountriesGo();
  const letFiguresGo = gate.hold(ELECTRICITY);
  await leaveEarly(page, gate, ELECTRICITY, "/contact#footprint");
  letFiguresGo();
}

/** Leaves the contact page while it waits for a file, which is no error. */
async function leaveEarly(page: EnginePage, gate: Gate, file: RegExp, path = "/contact"): Promise<void> {
  gate.requests.length = 0;
  await page.open(path);
  await expect.poll(() => gate.requests.some((request) => file.test(request))).toBe(true);
  await page.open("/terms");
}

async function correctFields(page: EnginePage, gate: Gate): Promise<void> {
  await page.open("/contact");
  await countriesLoaded(page);
  await fill(page, "To be corrected");
  await page.type("#name", "   ");
  await page.click(".form-submit");
  await page.until(() => document.querySelector("#name-error")?.textContent === "Enter your name.");
  await page.until(() => document.activeElement?.matches(".error-summary"));
  expect(posts(gate)).toBe(0);
  await page.type("#name", VISITOR.name);

  // The browser applies the server's own rules, so that only a message that changed on its way is refused.
  gate.changePost = (body) => ({ ...body, phone: "" });
  await page.driver.resize(375, 667);
  await page.click(".form-submit");
  await page.until(() => document.querySelector("#phone-error"));
  gate.changePost = null;
  await page.until(() => document.activeElement?.matches(".error-summary"));
  await expectInView(page, ".error-summary");
  await page.click(".error-summary a");
  await page.until(() => document.activeElement?.id === "phone");
  await expectInView(page, "#phone");
  await expectInView(page, "#phone-error");
  expect(await values(page)).toEqual({ ...VISITOR, message: "To be corrected" });
  await page.driver.resize(1280, 900);
  await page.type("#phone", VISITOR.phone);
}

async function pressTwice(page: EnginePage, gate: Gate): Promise<void> {
  const before = posts(gate);
  await page.evaluate(() => {
    const button = document.querySelector<HTMLElement>(".form-submit");
    // Nobody presses it once the confirmation has taken its place.
    const press = () => button?.checkVisibility() && button.click();
    for (const delayMs of [0, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100]) setTimeout(press, delayMs);
    setTimeout(() => document.documentElement.classList.add("presses-done"), 120);
  });
  await page.until(() => document.querySelector(".presses-done .alerts .alert-sent"));
  expect(posts(gate) - before).toBe(1);

  await page.click(".send-another");
  await fill(page, "Pressed twice by hand");
  await page.click(".form-submit");
  await page.evaluate(() => {
    const button = document.querySelector<HTMLElement>(".form-submit");
    if (button?.checkVisibility()) button.click();
  });
  await page.until(() => document.querySelector(".alerts .alert-sent"));
  expect(posts(gate) - before).toBe(2);
}

async function seeSuccess(page: EnginePage): Promise<void> {
  await page.open("/contact");
  await countriesLoaded(page);
  await fill(page, "With a reference");
  const [phone, country] = await page.evaluate(() =>
    ["#phone", "#country"].map((id) => {
      const { top, height } = document.querySelector(id)?.getBoundingClientRect() ?? {};
      return { top, height };
    }),
  );
  expect(country, "the select lies level with the field beside it").toEqual(phone);
  await page.click(".form-submit");
  await page.until(() => document.querySelector<HTMLTextAreaElement>("#message")?.value === "");
  await expectInView(page, ".alerts .alert-sent");
  await expectInView(page, ".send-another");
  const reference = await page.evaluate(() => {
    const element = document.querySelector(".alert-sent b") ?? document.body;
    return { text: element.textContent, whiteSpace: getComputedStyle(element).whiteSpace };
  });
  expect(reference).toEqual({ text: expect.stringMatching(/^BC-\w{4}-\w{2}$/), whiteSpace: "nowrap" });
  expect(await values(page)).toEqual({ name: "", email: "", phone: "", country: "", message: "" });
  await page.click(".send-another");
}

async function startBlockedFilm(page: EnginePage): Promise<void> {
  await page.open("/");
  await page.until(() => {
    const toggle = document.querySelector<HTMLElement>("#film-toggle");
    return toggle?.hidden === false && toggle.textContent === "Play film";
  });
  // Else it would start as soon as the pointer is pressed, and the click would stop it again.
  expect(await page.evaluate(() => document.querySelector<HTMLVideoElement>("#film")?.autoplay)).toBe(false);
  await page.click("#film-toggle");
  await page.until(() => (document.querySelector<HTMLVideoElement>("#film.is-playing")?.currentTime ?? 0) > 0);
  expect(await page.evaluate(() => document.querySelector("#film-toggle")?.textContent)).toBe("Pause film");
}
