import { expect, type Locator, type Page } from "@playwright/test";
import { expectAccessible } from "../support/axe.ts";
import { amount, field, fillForm, openForm, submit, VISITOR } from "../support/contact.ts";
import { enlargeText, resize, test } from "../support/site.ts";

const part = (page: Page) => page.locator("details.footprint");
const title = (page: Page) => part(page).locator("summary").first();
const total = (page: Page) => part(page).locator(".footprint-total strong:not([aria-hidden=true])");
const announcement = (page: Page) => page.locator(".form-column > [role=status]");
const addMore = (page: Page) => part(page).locator("summary", { hasText: "Add more" });
const enclosed = (page: Page) => page.locator(".enclosed");
const next = (page: Page) => part(page).getByRole("link", { name: "Send it with a message" });

/** Opens the contact page with the part open and ready to compute. */
async function openPart(page: Page): Promise<void> {
  await openForm(page);
  await title(page).click();
  await expect(part(page).getByText("Your estimate appears here as you type.")).toBeVisible();
}

async function enter(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const isSelect = await amount(page, name).evaluate((element) => element.tagName === "SELECT");
    await (isSelect ? amount(page, name).selectOption(value) : amount(page, name).fill(value));
  }
}

test("the home page's button opens the estimate; nothing of it is fetched before it is opened", async ({ page }) => {
  const fetched: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("estimate-result")) fetched.push(request.url());
  });
  await openForm(page);
  await expect(part(page)).not.toHaveAttribute("open");
  expect(fetched).toEqual([]);

  await page.goto("/");
  await page.getByRole("link", { name: "Start Offsetting Now" }).click();
  await expect(page).toHaveURL(/\/contact#footprint$/);
  await expect(part(page).getByText("Your estimate appears here as you type.")).toBeVisible();
  for (const name of ["Estimate your footprint", "About how much CO₂e do you emit in a year?"]) {
    await expect(part(page).getByRole("heading", { name })).toBeInViewport();
  }
  expect(fetched).toHaveLength(1);
});

test("typing updates the total, the picture, the country figures and what is said about them", async ({ page }) => {
  await openPart(page);
  // No figure, no column.
  await expect(part(page).locator(".column:not([height='0'])")).toHaveCount(0);
  await enter(page, { electricityKwh: "1,500" });
  await expect(total(page)).toHaveText("about 710 kg CO₂e a year");
  await expect(amount(page, "electricityKwh")).toHaveAccessibleDescription("Read as 1,500 kWh");
  await field(page, "Where is the electricity used?").selectOption("FR");
  await expect(field(page, "Country")).toHaveValue("FR");
  await expect(total(page)).toHaveText("about 66 kg CO₂e a year");
  await expect(part(page)).toContainText("the average grid of France (Ember, 2024)");

  await enter(page, { carKm: "10,000", longFlights: "2" });
  await expect(total(page)).toHaveText("about 5.8 t CO₂e a year");
  const rows = part(page).getByRole("table", { name: "The parts of the estimate" }).getByRole("row");
  await expect(rows).toHaveText(["Flights3.7 t", "Car2.1 t", "Electricity66 kg"]);
  await expect(part(page).locator(".picture-fifth")).toHaveText("Flights cut by a fifth: 740 kg less");
  const columns = part(page).locator(".column");
  const heights = await columns.evaluateAll((all) => all.map((column) => Number(column.getAttribute("height"))));
  expect(heights).toEqual([16, 0, 102, 0, 172, 0]);
});

test("the ruler zooms out once, when its first figure is in view; later figures change at once", async ({ page }) => {
  await resize(page, "1280x800");
  await openPart(page);
  await observeShifts(page);
  const ruler = part(page).locator(".estimate-ruler:visible");
  const scales = ruler.locator(".ruler-scale");
  await enter(page, { carKm: "10,000" });
  await expect(scales).toHaveCount(4);
  await expect(ruler.locator("b")).toHaveText("about 0.25 times round the Earth");
  await ruler.evaluate((element) => {
    for (const animation of element.getAnimations({ subtree: true })) animation.finish();
  });
  await expect(scales).toHaveCount(1);
  await expect(scales.locator("text").last()).toHaveText("0.5 lap");

  await enter(page, { carKm: "900,000" });
  await expect(ruler.locator("b")).toHaveText("about 23 times round the Earth");
  await enter(page, { carKm: "" });
  await expect(ruler).toHaveCount(0);
  await enter(page, { carKm: "100" });
  await expect(ruler.locator("b")).toHaveText("about 100 km");
  await expect(scales).toHaveCount(1);
  expect(await page.evaluate("shifts")).toEqual([]);
  // On a phone it stands below the questions, so that it covers none.
  await resize(page, "390x844");
  await expect(part(page).locator(".footprint-result .ruler")).toBeHidden();
  await expect(part(page).locator(".footprint-notes .ruler")).toBeVisible();
});

test("under reduced motion, the ruler has its last figures at once", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await openPart(page);
  await enter(page, { carKm: "10,000" });
  const ruler = part(page).locator(".estimate-ruler:visible");
  await expect(ruler).toContainText("about 0.25 times round the Earth by petrol car: what such a year emits.");
  expect(await ruler.evaluate((element) => element.getAnimations({ subtree: true }).length)).toBe(0);
  const opacities = () =>
    ruler.locator(".ruler-scale").evaluateAll((all) => all.map((scale) => getComputedStyle(scale).opacity));
  expect((await opacities()).slice(0, -1)).not.toContain("1");
  expect((await opacities()).at(-1)).toBe("1");
});

/** Keeps what moves among the questions. */
async function observeShifts(page: Page): Promise<void> {
  await page.evaluate(`
    shifts = [];
    new PerformanceObserver((list) => {
      for (const { sources } of list.getEntries())
        for (const { node } of sources) if (node?.parentElement?.closest(".footprint-inputs")) shifts.push(node.outerHTML);
    }).observe({ type: "layout-shift" });
  `);
}

test("a total is announced after the visitor stops typing, not with every key", async ({ page }) => {
  await page.clock.install({ time: "2026-01-05T10:00:00Z" });
  await openPart(page);
  await page.clock.pauseAt("2026-01-05T11:00:00Z");
  await amount(page, "gasKwh").pressSequentially("12000");
  await expect(total(page)).toHaveText("about 2.6 t CO₂e a year");
  await expect(announcement(page)).toHaveText("");
  await page.clock.runFor(1200);
  await expect(announcement(page)).toHaveText("Your estimate: about 2.6 t CO₂e a year");
  await expect(announcement(page)).toHaveAttribute("aria-live", "polite");
  await expect(announcement(page)).toHaveAttribute("aria-atomic", "true");
});

test("an unreadable amount is reported at its field, other amounts count, and no input is lost", async ({ page }) => {
  await resize(page, "375x667");
  await openPart(page);
  await fillForm(page);
  await enter(page, { carKm: "10000", gasKwh: "many" });
  // No error appears while the visitor types.
  await expect(amount(page, "gasKwh")).not.toHaveAttribute("aria-invalid");
  await next(page).click();
  const problem = "Natural gas: Enter a number, such as 1,500.";
  await expect(amount(page, "gasKwh")).toHaveAccessibleDescription("Enter a number, such as 1,500.");
  await expect(total(page)).toHaveText("about 2.1 t CO₂e a year");
  await expect(announcement(page)).toHaveText(`${problem} Your estimate: about 2.1 t CO₂e a year`);
  await expect(enclosed(page)).toContainText(`Your estimate needs a correction before you send it. ${problem}`);
  await expectAccessible(page);
  await enclosed(page).getByRole("button", { name: "Edit the estimate" }).click();
  await expect(amount(page, "gasKwh")).toBeFocused();

  await title(page).click();
  await submit(page).click();
  await page.getByRole("alert").getByRole("link", { name: problem }).click();
  await expect(amount(page, "gasKwh")).toBeFocused();
  await expect(amount(page, "gasKwh")).toBeInViewport();
  await enter(page, { gasKwh: "11500" });
  await expect(total(page)).toHaveText("about 4.5 t CO₂e a year");
  await expect(amount(page, "gasKwh")).not.toHaveAttribute("aria-invalid");
  await expect(field(page, "Message")).toHaveValue(VISITOR.message);
});

test.describe("when its file does not load", () => {
  test.use({ expectedTrouble: /estimate-result|did not load|ERR_FAILED/ });

  test("the form sends the typed amounts, and opening it again loads it", async ({ page }) => {
    await page.route("**/assets/estimate-result-*", (route) => route.abort());
    await openForm(page);
    await title(page).click();
    await expect(part(page)).toContainText("The estimate cannot be shown at the moment.");
    await enter(page, { gasKwh: "1 000", carKm: "8000", carUnit: "mi" });
    await fillForm(page, { ...VISITOR, message: "Without the estimate" });
    await submit(page).click();
    await expect(page.locator(".receipt dl [data-fact=total]")).toHaveText("about 2.9 t CO₂e a year");
    await expect(page.locator(".receipt .picture")).toHaveCount(0);

    await expect(part(page)).not.toHaveAttribute("open");
    await page.unroute("**/assets/estimate-result-*");
    await title(page).click();
    await expect(part(page).getByText("Your estimate appears here as you type.")).toBeVisible();
  });
});

test("the estimate works by keyboard alone, and its input survives going back and a reload", async ({ page }) => {
  await openForm(page);
  await title(page).focus();
  await page.keyboard.press("Enter");
  await expect(part(page).getByRole("button", { name: "Office of 40" })).toBeVisible();
  const tabTo = async (target: Locator) => {
    await page.keyboard.press("Tab");
    await expect(target).toBeFocused();
  };
  for (const name of ["Flat for two", "Office of 40"]) await tabTo(page.getByRole("button", { name }));
  for (const name of ["for", "people", "electricityKwh", "electricityPer", "gasKwh"]) await tabTo(amount(page, name));
  await page.keyboard.type("1");
  // After a number, Enter moves on like the Tab key and does not send the form.
  await page.keyboard.press("Enter");
  await expect(amount(page, "gasPer")).toBeFocused();
  await page.keyboard.press("m");
  await expect(amount(page, "gasPer")).toHaveValue("month");
  await amount(page, "longFlights").focus();
  await page.keyboard.press("Tab");
  await tabTo(addMore(page));
  await page.keyboard.press("Enter");
  await tabTo(amount(page, "railKm"));
  await page.keyboard.type("1000");
  await expect(total(page)).toHaveText("about 42 kg CO₂e a year");
  await page.goto("/privacy");
  await page.goBack();
  await expect(part(page)).toHaveAttribute("open");
  await expect(total(page)).toHaveText("about 42 kg CO₂e a year");

  // The field has the focus, so that there was no `change` event.
  await amount(page, "railKm").fill("2000");
  await expect.poll(() => page.evaluate(() => history.state?.values["footprint.railKm"])).toBe("2000");
  await page.reload();
  await expect(total(page)).toHaveText("about 82 kg CO₂e a year");
  await expect(amount(page, "railKm")).toBeVisible();
  await expect(amount(page, "shortFlightKm")).toBeHidden();
});

test("an example is shown as one, changes no field, and fills what is empty once it is the start", async ({ page }) => {
  await resize(page, "390x844");
  await openPart(page);
  const example = (name: string) => part(page).getByRole("button", { name });
  await example("Flat for two").click();
  await expect(example("Flat for two")).toHaveAttribute("aria-pressed", "true");
  await expect(total(page)).toBeInViewport({ ratio: 1 });
  await expectAccessible(page);
  await expect(part(page).locator(".result-title")).toHaveText("Example: flat for two");
  await expect(amount(page, "gasKwh")).toHaveValue("");
  await expect(enclosed(page)).toHaveCount(0);
  await example("Flat for two").click();
  await expect(total(page)).toHaveCount(0);
  await example("Flat for two").click();
  await example("Start from these figures").press("Enter");
  await expect(next(page)).toBeFocused();
  await expect(amount(page, "gasKwh")).toHaveValue("7500");
  await expect(enclosed(page)).toContainText("Your estimate is included");
});

test("the estimate can be removed, is sent with the message, and is part of the receipt", async ({ page }) => {
  await openPart(page);
  await enter(page, { electricityKwh: "2500", carKm: "8000", carUnit: "mi" });
  await field(page, "Country").selectOption("FR");
  await next(page).click();
  // Screen readers read both together, before the fields.
  const summary = "Your estimate is included: about 2.8 t CO₂e a year.";
  await expect(page.getByRole("group", { name: `Send us a Message ${summary}` })).toBeFocused();
  await enclosed(page).getByRole("button", { name: "Remove the estimate" }).click();
  await expect(enclosed(page)).toHaveCount(0);
  await expect(page.getByRole("group", { name: "Send us a Message" })).toBeFocused();
  await expect(announcement(page)).toHaveText("There is no estimate now.");
  await enter(page, { for: "organisation", people: "40", electricityKwh: "2500", carKm: "10 000" });
  await expect(enclosed(page)).toContainText("Your estimate is included: about 2.2 t CO₂e a year.");

  await fillForm(page, { ...VISITOR, country: "FR", message: "With an estimate to keep" });
  const request = page.waitForRequest("**/send-email");
  await submit(page).click();
  expect((await request).postDataJSON().footprint).toMatchObject({ for: "organisation", people: "40" });
  const receipt = page.locator(".receipt");
  const expectReceipt = async () => {
    await expect(receipt.locator("dl [data-fact=total]")).toHaveText("about 2.2 t CO₂e a year");
    await expect(receipt.locator(".footprint-total strong")).toHaveText("about 2.2 t CO₂e a year");
    await expect(receipt.getByRole("row")).toHaveText(["Car2.1 t", "Electricity110 kg"]);
    await expect(receipt).toContainText("the average grid of France");
    await expect(receipt).toContainText("about 55 kg for each person");
  };
  await expectReceipt();
  await expect(receipt.getByRole("heading", { name: "Message sent successfully!" })).toBeInViewport({ ratio: 1 });
  // The next message has no estimate yet, and nothing is said about the sent one.
  await expect(part(page)).not.toHaveAttribute("open");
  await expect(enclosed(page)).toHaveCount(0);
  await page.reload();
  await expectReceipt();
  await title(page).click();
  await expect(amount(page, "carKm")).toHaveValue("");
});

test("an open estimate is a stage over both columns, its result in view, and the form follows", async ({ page }) => {
  await resize(page, "1280x800");
  await openForm(page);
  const boxOf = async (one: Locator) => (await one.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const place = async (one: Locator) => {
    const { x, y } = await boxOf(one);
    return [x, y];
  };
  await fillForm(page, { name: VISITOR.name });
  const [titleBefore, formBefore] = [await place(title(page)), await boxOf(page.locator(".contact-panel"))];
  await title(page).click();
  await expect(part(page).locator(".columns")).toBeVisible();
  expect(await place(title(page))).toEqual(titleBefore);
  const [stage, form] = [await boxOf(part(page)), await boxOf(page.locator(".contact-panel"))];
  expect(stage.x + stage.width).toBe(form.x + form.width);
  expect(form.y).toBeGreaterThan(stage.y + stage.height);
  expect(form.width).toBe(formBefore.width);
  const result = part(page).locator(".footprint-result");
  for (const name of ["electricityKwh", "carKm", "longFlights"]) {
    await amount(page, name).focus();
    await expect(result).toBeInViewport({ ratio: 1 });
    expect((await boxOf(result)).x).toBeGreaterThan((await boxOf(amount(page, name))).x);
  }
  await next(page).click();
  await expect(page.getByRole("group", { name: "Send us a Message" })).toBeFocused();
  await expect(field(page, "Name")).toHaveValue(VISITOR.name);
  await page.evaluate("scrollTo(0, 0)");
  await title(page).click();
  expect(await place(title(page))).toEqual(titleBefore);
  expect(await boxOf(page.locator(".contact-panel"))).toEqual(formBefore);
});

test("on a phone, the form's first field is on the first screen", async ({ page }) => {
  await resize(page, "390x844");
  await page.goto("/contact");
  await expect(field(page, "Name")).toBeInViewport({ ratio: 1 });
});

test("nothing covers a field that is reached by keyboard; the result stays in view", { tag: "@full" }, async ({
  page,
}) => {
  await openPart(page);
  await part(page).locator("summary", { hasText: "Distance and class" }).click();
  await addMore(page).click();
  await enter(page, { electricityKwh: "2500" });
  for (const size of ["320x568", "768x1024", "1280x800"]) {
    await resize(page, size);
    // At the end of the stage, the total and its ruler are in view.
    const shown = size === "768x1024" ? [total(page), part(page).locator(".columns")] : [total(page)];
    for (const field of await part(page).locator("input, select").all()) {
      const name = `${await field.getAttribute("id")} at ${size}`;
      await scrollToTop(field);
      await field.focus();
      await page.keyboard.press("ArrowUp");
      expect(await coveringOf(field), name).toEqual([]);
      for (const one of shown) await expect(one, name).toBeInViewport({ ratio: 1 });
    }
    const others = part(page).locator("a, button, .footprint-body summary").filter({ visible: true });
    for (const target of await others.all()) {
      await scrollToTop(target);
      await target.focus();
      await expect(target).toBeFocused();
      expect(await coveringOf(target), `${await target.textContent()} at ${size}`).toEqual([]);
    }
  }
  await expect(total(page)).toHaveCSS("font-size", "72px");
});

/** Scrolls the field to the bar's position on a narrow screen; the field's lower edge is below the bar. */
async function scrollToTop(field: Locator): Promise<void> {
  await field.evaluate((element) => {
    scrollBy({ top: element.getBoundingClientRect().top - 12, behavior: "instant" });
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}

/** The elements that cover the upper or lower edge of the target's first line. */
function coveringOf(target: Locator): Promise<string[]> {
  return target.evaluate((element) => {
    const [{ left, right, top, bottom } = new DOMRect()] = element.getClientRects();
    const found = [top + 2, bottom - 2].map((y) => document.elementFromPoint((left + right) / 2, y));
    return found.filter((one) => !element.contains(one)).map((one) => one?.className ?? "out of view");
  });
}

test("with text at 200 %, everything fits on a phone", { tag: "@full" }, async ({ page }) => {
  await resize(page, "320x640");
  await openPart(page);
  await enlargeText(page);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await part(page).getByRole("button", { name: "Office of 40" }).click();
  await enter(page, { gasKwh: "9000" });
  await expect(enclosed(page)).toBeVisible();
  expect(await width()).toBe(320);
  await fillForm(page, { ...VISITOR, country: "" });
  await submit(page).click();
  // The letters of a reference are random, and have different widths.
  await page.locator(".receipt-reference b").evaluate((element) => element.replaceChildren("BC-WWWW-WW"));
  expect(await width()).toBe(320);
});
