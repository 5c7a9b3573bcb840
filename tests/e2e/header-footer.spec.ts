import { expect, type Page } from "@playwright/test";
import { test } from "../support/site.ts";

const LABELS = ["About Us", "Carbon Credits", "Business Tools", "Energy Transition", "Support"];
const SMALL_LABELS = ["About Us", "Carbon Offsetting Credits", "Business Tools", "Energy Transition", "Support"];

test("the header has the logo, five plain labels and two buttons; the footer links to the home", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/contact");
  const header = page.getByRole("banner");
  await expect(header.getByRole("listitem").filter({ visible: true })).toHaveText(LABELS);
  await expect(header.getByRole("listitem").getByRole("link")).toHaveCount(0);
  await expect(header.getByRole("link", { name: "Brighter Carbon, home" })).toHaveAttribute("href", "/");
  for (const [name, target] of Object.entries({ "Open an Account": "/open-account", "Login to the web": "/login" })) {
    await expect(header.getByRole("link", { name }).filter({ visible: true })).toHaveAttribute("href", target);
  }
  const logo = page.getByRole("contentinfo").getByRole("link", { name: "Brighter Carbon, home" });
  await expect(logo).toHaveAttribute("href", "/");
});

// The menu needs no script; tests/e2e/engines.spec.ts uses it with scripts on.
test.describe("the small-screen menu", () => {
  test.use({ viewport: { width: 375, height: 667 }, hasTouch: true, javaScriptEnabled: false });

  test("opens and closes with its toggle and Escape, and keeps the focus until then", async ({ page }) => {
    // A low window, where opening the menu could scroll the page.
    await page.setViewportSize({ width: 375, height: 400 });
    await page.goto("/contact");
    const toggle = page.getByRole("button", { name: "Menu" });
    const menu = page.locator("#menu");
    await expect(menu).toBeHidden();

    await toggle.click();
    await expect(menu.getByRole("listitem")).toHaveText(SMALL_LABELS);
    await expect(menu).toHaveCSS("opacity", "1");
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await stateToldOf(page)).toBe(true);
    await toggle.click();
    await expect(menu).toBeHidden();
    expect(await stateToldOf(page)).toBe(false);

    await toggle.press("Enter");
    for (const name of ["Open an Account", "Login to the web"]) {
      await page.keyboard.press("Tab");
      await expect(menu.getByRole("link", { name })).toBeFocused();
    }
    // The menu never covers the focused element.
    await page.keyboard.press("Tab");
    await expect(menu.locator(":focus")).toHaveCount(0);
    await expect(page.locator("body > :not(header)").locator(":focus")).toHaveCount(0);
    await expect(menu).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(menu).toBeHidden();
  });

  test("closes on a press outside, which does not reach the page", async ({ page }) => {
    await page.goto("/");
    const button = await page.getByRole("link", { name: "Start Offsetting Now" }).boundingBox();
    const [x, y] = [(button?.x ?? 0) + 40, (button?.y ?? 0) + 10];
    const menu = page.locator("#menu");
    await page.getByRole("button", { name: "Menu" }).click();
    await expect(menu).toBeVisible();
    const panel = await page.locator(".menu-panel").boundingBox();
    expect((panel?.y ?? 0) + (panel?.height ?? 0)).toBeLessThan(y);
    await page.touchscreen.tap(x, y);
    await expect(menu).toBeHidden();
    await expect(page).toHaveURL(/:\d+\/$/);
    // With the menu closed, the same press reaches the page.
    await page.mouse.click(x, y);
    await expect(page).toHaveURL(/\/contact#footprint$/);
  });
});

/** The expanded state of the toggle in the accessibility tree, which the browser derives from the popover. */
async function stateToldOf(page: Page): Promise<unknown> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const toggle = nodes.find((node) => node.role?.value === "button" && node.name?.value === "Menu");
  return toggle?.properties?.find(({ name }) => name === "expanded")?.value.value;
}

test("the rotor of Coming Soon rests within five seconds, and turns for Get Notified", async ({ page }) => {
  await page.goto("/no-such-page");
  const rotor = page.locator(".turbine-rotor");
  await expect(rotor).toHaveCSS("animation", "4.8s cubic-bezier(0.2, 0.5, 0.2, 1) turn");
  await expect(rotor).toHaveCSS("transition-duration", "4.8s");
  // Without the transition, the angle is the final one at once.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("link", { name: "Get Notified" }).focus();
  await expect(rotor).toHaveCSS("rotate", "1080deg");
});

test("the ruler's segment ends at its figure, also in print and in forced colours, and is not read out", async ({
  page,
}) => {
  await page.goto("/");
  const ruler = page.locator(".ruler");
  for (const mode of [
    { media: "screen", forcedColors: "none" },
    { media: "print", forcedColors: "none" },
    { media: "screen", forcedColors: "active" },
  ] as const) {
    await page.emulateMedia(mode);
    const where = `${mode.media}, forced colours ${mode.forcedColors}`;
    // The segment grows while the ruler comes into view.
    await ruler.scrollIntoViewIfNeeded();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const { figure, end, colours } = await ruler.evaluate((element) => {
      const segment = element.querySelector<SVGPathElement>(".ruler-segment");
      const scale = element.querySelector(".ruler-scale")?.getBoundingClientRect();
      const figure = element.querySelector("b");
      if (!segment || !scale || !figure) throw new Error("The ruler is not complete.");
      const { x } = segment.getPointAtLength(segment.getTotalLength()).matrixTransform(segment.getScreenCTM() ?? {});
      return {
        figure: Number.parseFloat(figure.textContent ?? ""),
        end: (50 * (x - scale.left)) / scale.width,
        colours: [getComputedStyle(segment).stroke, getComputedStyle(figure).color],
      };
    });
    expect(figure, where).toBeGreaterThan(1);
    expect(end, where).toBeCloseTo(figure, 1);
    // Without the footer's dark ground, light words are lost on paper.
    if (mode.media === "print") expect(colours[1]).toBe("rgb(0, 0, 0)");
    expect(colours[0], where).not.toBe(colours[1]);
  }
  const told = await ruler.ariaSnapshot();
  expect(told).toMatch(/by petrol car: about what loading this page emits at most/);
  expect(told).not.toMatch(/\b(10|20|30|40|50 cm)\b/);
});
