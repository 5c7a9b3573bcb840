import { expect, type Page } from "@playwright/test";
import axe from "axe-core";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Expects that axe finds no problem and nothing scrolls sideways: narrow and light, wide and dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const [width, colorScheme] of [
    [320, "light"],
    [1280, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    await expectNoViolations(page, [colorScheme]);
    await expectNoSidewaysScroll(page, `${width} px`);
  }
}

/** Looks at the page and the parts that scroll by themselves: the pane of a policy, and the main part of the inbox. */
export async function expectNoSidewaysScroll(page: Page, subject = page.url()): Promise<void> {
  const tooWide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll(".pane, #main")]
      .filter((element) => element.scrollWidth > element.clientWidth)
      .map((element) => element.className || element.tagName),
  );
  expect(tooWide, subject).toEqual([]);
}

/** Expects that axe finds no problem at the current width, in both or the given color schemes. */
export async function expectNoViolations(
  page: Page,
  colorSchemes: readonly ("light" | "dark")[] = ["light", "dark"],
): Promise<void> {
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme });
    // In the inbox, Mantine sets its colors a moment after the browser.
    const isReady = `html:is(:not([data-mantine-color-scheme]), [data-mantine-color-scheme=${colorScheme}])`;
    await expect(page.locator(isReady)).toBeAttached();
    await settle(page);
    expect(await findViolations(page), colorScheme).toEqual([]);
  }
}

/**
 * Runs axe directly. `@axe-core/playwright` also checks frames, which no page has, and takes five times as long: it
 * loads axe again for each run, and copies all rules that passed.
 */
async function findViolations(page: Page): Promise<string[]> {
  const isLoaded = await page.evaluate(() => "axe" in window);
  if (!isLoaded) await page.evaluate(axe.source);
  return page.evaluate(async (tags) => {
    const { violations } = await window.axe.run({ runOnly: tags, resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(", ")}`);
  }, TAGS);
}

/** Resolves once every transition has ended, because axe would measure a color in between. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise(requestAnimationFrame);
    // In hidden elements, such as closed details, a transition that axe starts by reading a style never ends.
    const isShown = ({ effect }: Animation) => (effect as KeyframeEffect).target?.checkVisibility();
    const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition && isShown(one));
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  });
}

declare global {
  interface Window {
    axe: typeof axe;
  }
}
