import { chromium } from "@playwright/test";
import { chromiumOptions } from "../../../scripts/programs.mjs";
import { collectTrouble } from "../site.ts";
import type { Driver, Engine, Modes } from "./engine.ts";

export const CHROMIUM: Engine = { name: "chromium", launch };

async function launch(modes: Modes): Promise<Driver> {
  const browser = await chromium.launch({
    ...chromiumOptions(`--blink-settings=defaultFontSize=${16 * modes.textScale}`),
    ...(modes.areScrollbarsClassic && { ignoreDefaultArgs: ["--hide-scrollbars"] }),
  });
  const page = await browser.newPage({
    colorScheme: modes.isDark ? "dark" : "light",
    reducedMotion: modes.isMotionReduced ? "reduce" : "no-preference",
    forcedColors: modes.areColoursForced ? "active" : "none",
    javaScriptEnabled: !modes.isScriptOff,
  });
  return {
    version: browser.version(),
    open: async (url) => void (await page.goto(url)),
    reload: async () => void (await page.reload()),
    back: async () => void (await page.goBack()),
    evaluate: (code) => page.evaluate<string>(`(() => { ${code} })()`),
    resize: (width, height) => page.setViewportSize({ width, height }),
    press: (x, y) => page.mouse.click(x, y),
    async keys(names) {
      for (const name of names) await page.keyboard.press(name);
    },
    screenshot: () => page.screenshot({ fullPage: true }),
    print: () => page.pdf({ format: "A4", margin: { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" } }),
    trouble: collectTrouble(page, "http://"),
    close: () => browser.close(),
  };
}
