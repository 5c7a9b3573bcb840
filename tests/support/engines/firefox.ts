import puppeteer, { type LaunchOptions } from "puppeteer-core";
import { findFirefox } from "../programs.ts";
import type { Driver, Engine, Modes } from "./engine.ts";

/** Driven by WebDriver BiDi, a protocol that Firefox supports directly. */
export const FIREFOX: Engine = { name: "firefox", launch: (modes) => launchFirefox(modes) };

/** Puppeteer's default preferences already disable connections to other machines. */
function preferences(modes: Modes): Readonly<Record<string, unknown>> {
  return {
    "ui.prefersReducedMotion": Number(modes.isMotionReduced ?? false),
    "layout.css.prefers-color-scheme.content-override": modes.isDark ? 0 : 1,
    "browser.display.document_color_use": modes.areColoursForced ? 2 : 1,
    "javascript.enabled": !modes.isScriptOff,
    "media.autoplay.default": modes.isAutoplayBlocked ? 5 : 0,
    "ui.useOverlayScrollbars": Number(!modes.areScrollbarsClassic),
    "font.size.variable.x-western": 16 * (modes.textScale ?? 1),
  };
}

export async function launchFirefox(modes: Modes, options: LaunchOptions = {}): Promise<Driver> {
  const browser = await puppeteer.launch({
    ...options,
    browser: "firefox",
    executablePath: findFirefox() ?? "firefox",
    extraPrefsFirefox: { ...preferences(modes), ...options.extraPrefsFirefox },
  });
  const page = await browser.newPage();
  const trouble: string[] = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) trouble.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => trouble.push(`page error: ${error}`));
  page.on("response", (response) => {
    if (response.status() >= 400) trouble.push(`status ${response.status()}: ${response.url()}`);
  });
  page.on("requestfailed", (request) => {
    // Leaving a page ends its unfinished requests.
    const reason = request.failure()?.errorText ?? "";
    if (reason !== "NS_BINDING_ABORTED") trouble.push(`failed request: ${request.url()} ${reason}`);
  });
  // Firefox writes these only to its own console.
  await page.evaluateOnNewDocument(() =>
    addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
      console.error("refused by the policy:", effectiveDirective, blockedURI),
    ),
  );
  return {
    open: async (url) => void (await page.goto(url)),
    // Puppeteer's own methods never resolve for a page from the back/forward cache.
    reload: () => page.evaluate(() => location.reload()),
    back: () => page.evaluate(() => history.back()),
    evaluate: (code) => page.evaluate(`(() => { ${code} })()`) as Promise<string>,
    resize: (width, height) => page.setViewport({ width, height }),
    press: (x, y) => page.mouse.click(x, y),
    async keys(...names) {
      for (const name of names) await page.keyboard.press(name as Parameters<typeof page.keyboard.press>[0]);
    },
    trouble: async () => trouble,
    close: () => browser.close(),
  };
}
