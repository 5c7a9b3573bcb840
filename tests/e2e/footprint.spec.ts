import { expect, type Locator, type Page } from "@playwright/test";
import { expectAccessible } from "../support/axe.ts";
import { amount, field, fillForm, openForm, submit, VISITOR } from "../support/contact.ts";
import { enlargeText, resize, test } from "../support/site.ts";

const part = (page: Page) => page.locator("details.footprint");
const title = (page: Page) => part(page).locator("summary").first();
const total = (page: Page) => part(page).locator(".footprint-total strong");
const announcement = (page: Page) => part(page).getByRole("status");
const addMore = (page: Page) => part(page).locator("summary", { hasText: "Add more" });
const enclosed = (page: Page) => page.locator(".enclosed");
const next = (page: Page) => part(page).getByRole("link", { name: "Continue to your message" });

/** Opens the contact page with the part open and ready to compute. */
async function openPart(page: Page): Promise<void> {
  await openForm(page);
  await title(page).click();
  await expect(part(page).getByText("Your estimate appears here as you type.")).toBeVisible();
}

/** Opens the part with all of its groups. */
async function openAll(page: Page): Promise<void> {
  await openPart(page);
  await part(page).locator("summary", { hasText: "Distance and class" }).click();
  await addMore(page).click();
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
    const [name] = /electricity|estimate-result/.exec(request.url()) ?? [];
    if (name) fetched.push(name);
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
  expect(fetched.sort()).toEqual(["electricity", "estimate-result"]);
});

test("typing updates the total, bars, savings, country figures and sources", async ({ page }) => {
  await openAll(page);
  await enter(page, { railKm: "0" });
  await expect(total(page)).toHaveText("about 0 kg CO₂e a year");
  await enter(page, { railKm: "" });
  await expect(total(page)).toHaveCount(0);

  await test.step("the world's average is used for no country, and the page says so", async () => {
    await enter(page, { electricityKwh: "1 500 kWh" });
    await expect(total(page)).toHaveText("about 710 kg CO₂e a year");
    await expect(part(page)).toContainText("Read as 1,500 kWh");
    await expect(part(page)).toContainText("Computed with the world’s average for electricity");
    await expect(part(page)).toContainText(/From \d+ kg to [\d.]+ \w+: published figures differ for/);
    await page.getByLabel("Your country").selectOption("FR");
    await expect(field(page, "Country")).toHaveValue("FR");
    await expect(total(page)).toHaveText("about 66 kg CO₂e a year");
    await expect(part(page)).not.toContainText("average for electricity");
    await field(page, "Country").selectOption("AQ");
    await expect(page.getByLabel("Your country")).toHaveValue("AQ");
    await expect(part(page)).toContainText("there are no figures for Antarctica");
    await field(page, "Country").selectOption("FR");
  });

  await test.step("categories are sorted by size; savings are shown", async () => {
    await enter(page, { carKm: "10,000", longFlights: "2", longFlightClass: "business" });
    await expect(total(page)).toHaveText("about 13 t CO₂e a year");
    const bars = part(page).locator(".footprint-bars");
    await expect(bars.locator("li > span:first-child")).toHaveText(["Flights", "Car", "Electricity"]);
    await expect(part(page)).toContainText("The largest part: Flights, 83%.");
    const saving =
      "A fifth fewer flights would save about 2.1 t a year; economy class on all of them would save about 7.0 t.";
    await expect(part(page)).toContainText(saving);
    const widths = await bars.locator("rect").evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
    expect(widths.toSorted((a, b) => b - a)).toEqual(widths);
    expect(widths[0]).toBeGreaterThan(100);
  });

  await test.step("miles are converted, and a doubtful flight is questioned", async () => {
    await enter(page, { carUnit: "mi" });
    await expect(part(page)).toContainText("Read as 10,000 miles (16,093 km)");
    await expect(part(page).locator(".footprint-bars li", { hasText: "Car" })).toContainText("3.3 t");
    await enter(page, { carKm: "far", shortFlights: "1" });
    await expect(amount(page, "carKm")).toHaveAccessibleDescription("Enter a number of miles, such as 1,500 or 12.5.");
    for (const [shortFlightKm, said] of [
      ["20000", "Enter flights of more than 3,700 km one way as long flights."],
      ["400", "Counted as domestic flights: the class does not matter"],
    ] as const) {
      await enter(page, { shortFlightKm });
      await expect(amount(page, "shortFlightKm")).toHaveAccessibleDescription(said);
    }
  });

  await test.step("each factor with its year and source is a click away", async () => {
    await part(page).getByText("Factors and sources").click();
    const sources = part(page).locator(".footprint-sources");
    await expect(sources).toContainText("Electricity: 0.04418 kg CO₂e per kWh, France.");
    // One link for each source, whatever it is used for.
    await expect(sources.getByRole("link")).toHaveText([/^Ember.+, 2024$/, /^UK Government \(DESNZ\).+ 2026, v1\.2$/]);
    await expect(sources.getByRole("link").first()).toHaveAttribute("href", /^https:\/\/ember-energy\.org\//);
    await expect(sources).toContainText(
      /Electricity is location-based.+Factor set: DESNZ 2026\sv1\.2; Ember 2022-2024/,
    );
    await expect(part(page).locator("a[href='/assets/footprint']")).toHaveText("How we estimate");
  });

  await test.step("it is printed, and the controls to remove it are not", async () => {
    await page.emulateMedia({ media: "print" });
    await expect(total(page)).toBeVisible();
    await expect(part(page).locator(".footprint-panel")).toHaveCSS("position", "static");
    await expect(part(page).getByRole("button", { name: "Remove the estimate" })).toBeHidden();
  });
});

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

test.describe("an unreadable amount", () => {
  test.use({ viewport: { width: 375, height: 667 }, expectedTrouble: /status of 422|status 422/ });

  test("is reported at its field, by page and server; other amounts count, and no input is lost", async ({ page }) => {
    await openPart(page);
    await fillForm(page);
    await enter(page, { carKm: "10000", gasKwh: "11.500" });
    // No error appears while the visitor types.
    await expect(part(page).locator(".footprint-problem")).toHaveCount(0);
    await next(page).click();
    const question = "Natural gas: Did you mean 11500 or 11.5?";
    await expect(part(page)).toHaveAttribute("open");
    await expect(amount(page, "gasKwh")).toBeFocused();
    await expect(amount(page, "gasKwh")).toHaveAccessibleDescription("Did you mean 11500 or 11.5?");
    await expect(total(page)).toHaveText("about 2.1 t CO₂e a year");
    await expect(page.locator(".footprint-bar")).toHaveText(
      "Your estimate: about 2.1 t CO₂e a year1 amount needs a correction",
    );
    await expect(announcement(page)).toHaveText(`${question} Your estimate: about 2.1 t CO₂e a year`);
    await expect(enclosed(page)).toContainText(`Your estimate needs a correction before you send it. ${question}`);
    await enclosed(page).getByRole("button", { name: "Edit the estimate" }).click();
    await expect(amount(page, "gasKwh")).toBeFocused();

    await title(page).click();
    await submit(page).click();
    await page.getByRole("alert").getByRole("link", { name: question }).click();
    await expect(amount(page, "gasKwh")).toBeFocused();
    await expect(amount(page, "gasKwh")).toBeInViewport();
    await enter(page, { gasKwh: "11500" });
    await expect(total(page)).toHaveText("about 4.5 t CO₂e a year");
    await expect(amount(page, "gasKwh")).not.toHaveAttribute("aria-invalid");
    await expect(page.locator(".footprint-problem")).toHaveCount(0);

    const fields = { "footprint.carKm": "Too far." };
    const json = { success: false, error: "Please correct the marked fields.", fields };
    await page.route("**/send-email", (route) => route.fulfill({ status: 422, json }));
    await submit(page).click();
    await page.getByRole("alert").getByRole("link", { name: "Car: Too far." }).click();
    await expect(amount(page, "carKm")).toBeFocused();
    await expect(amount(page, "carKm")).toHaveAccessibleDescription(/Too far\.$/);
    await expect(amount(page, "gasKwh")).toHaveValue("11500");
    await expect(field(page, "Message")).toHaveValue(VISITOR.message);
  });
});

test.describe("when one of its files does not load", () => {
  test.use({ expectedTrouble: /electricity|estimate-result|did not load|status of 404/ });

  for (const file of ["estimate-result", "electricity"]) {
    test(`the form sends the typed amounts, and the server computes the estimate: ${file}`, async ({ page }) => {
      await page.route(`**/assets/${file}-*`, (route) => route.fulfill({ status: 404, body: "" }));
      await openForm(page);
      await title(page).click();
      await expect(part(page)).toContainText("The estimate cannot be shown at the moment.");
      await fillForm(page, { ...VISITOR, message: `Without ${file}` });
      await enter(page, { gasKwh: "1 000", carKm: "8000", carUnit: "mi" });
      await submit(page).click();
      await expect(page.getByText("We received your estimate too: about 2.9 t CO₂e a year.")).toBeVisible();
      await expect(page.getByRole("link", { name: "See and print it" })).toHaveCount(0);
    });
  }
});

test.describe("when both of its loads failed", () => {
  test.use({ expectedTrouble: /electricity|estimate-result|did not load|ERR_FAILED/ });

  for (const file of ["estimate-result", "electricity"]) {
    test(`opening the estimate again loads it again: ${file}`, async ({ page }) => {
      await page.route(`**/assets/${file}-*`, (route) => route.abort());
      await openForm(page);
      await title(page).click();
      await expect(part(page)).toContainText("The estimate cannot be shown at the moment.");
      await enter(page, { gasKwh: "1000" });
      await page.unroute(`**/assets/${file}-*`);
      await title(page).click();
      await title(page).click();
      await expect(total(page)).toHaveText("about 210 kg CO₂e a year");
      await expect(part(page)).not.toContainText("The estimate cannot be shown at the moment.");
    });
  }
});

test("the estimate works by keyboard alone, and its input survives going back and a reload", async ({ page }) => {
  await openForm(page);
  await title(page).focus();
  await page.keyboard.press("Enter");
  const country = page.getByLabel("Your country");
  const tabTo = async (field: Locator) => {
    await page.keyboard.press("Tab");
    await expect(field).toBeFocused();
  };
  await tabTo(page.getByLabel("Me or my household"));
  await page.keyboard.press("ArrowDown");
  await expect(page.getByLabel("My organisation")).toBeChecked();
  await tabTo(amount(page, "people"));
  await tabTo(country);
  await expect(country.locator("option[value=FR]")).toBeAttached();
  for (const [key, code] of [
    ["F", "FK"],
    ["Home", ""],
  ] as const) {
    await page.keyboard.press(key);
    await expect(country).toHaveValue(code);
    await expect(field(page, "Country")).toHaveValue(code);
  }
  for (const [name, key, value] of [
    ["electricityKwh", "2", "2"],
    ["electricityPer", "m", "month"],
    ["gasKwh", "1", "1"],
    ["gasPer", "m", "month"],
    ["carKm", "1", "1"],
    ["carUnit", "m", "mi"],
    ["carFuel", "e", "electric"],
  ] as const) {
    // After a number, Enter moves on like the Tab key and does not send the form.
    if (name !== "gasPer") await page.keyboard.press("Tab");
    await expect(amount(page, name)).toBeFocused();
    await page.keyboard.press(key);
    await expect(amount(page, name)).toHaveValue(value);
    if (name === "gasKwh") await page.keyboard.press("Enter");
  }
  await amount(page, "longFlights").focus();
  await page.keyboard.press("Tab");
  await tabTo(addMore(page));
  await page.keyboard.press("Enter");
  await tabTo(amount(page, "railKm"));
  await page.keyboard.type("1000");
  await expect(total(page)).toHaveText("about 54 kg CO₂e a year");
  await page.goto("/privacy");
  await page.goBack();
  await expect(part(page)).toHaveAttribute("open");
  await expect(total(page)).toHaveText("about 54 kg CO₂e a year");

  // The field has the focus, so that there was no `change` event.
  await amount(page, "railKm").fill("2000");
  await expect.poll(() => page.evaluate(() => history.state["footprint.railKm"])).toBe("2000");
  await page.reload();
  await expect(total(page)).toHaveText("about 94 kg CO₂e a year");
  await expect(amount(page, "railKm")).toBeVisible();
  await expect(amount(page, "shortFlightKm")).toBeHidden();
});

test("an example is named as one, survives a reload, and is enclosed only once it is used", async ({ page }) => {
  await openPart(page);
  const choose = (name: string) => part(page).getByRole("button", { name }).press("Enter");
  await choose("Office of 40");
  const use = part(page).getByRole("button", { name: "Use this" });
  await expect(use).toBeFocused();
  await expect(use).toHaveClass(/button-primary/);
  await expect(next(page)).toHaveCount(0);
  await expectAccessible(page);
  await choose("Clear the example");
  await expect(next(page)).toBeFocused();
  await expect(amount(page, "people")).toHaveValue("");
  await choose("Office of 40");
  await choose("Flat for two");
  await expect(amount(page, "longFlights")).toHaveValue("");
  await expect(announcement(page)).toHaveText(/^Example: flat for two, about .+ a year$/);
  await expect(page.locator(".form-head")).toContainText("The example is not included.");
  await expect.poll(() => page.evaluate(() => history.state.example)).toBe("flat for two");
  await page.reload();
  await expect(part(page).locator(".footprint-total")).toContainText("Example: flat for two");
  await use.press("Enter");
  await expect(next(page)).toBeFocused();
  await expect(enclosed(page)).toContainText("Your estimate is included");
  await expect(announcement(page)).toHaveText(/^Your estimate: about .+ a year$/);
});

test("the estimate can be edited and removed, is sent with the message, and can be printed", async ({ page }) => {
  await openPart(page);
  await enter(page, { gasKwh: "9999", carUnit: "mi" });
  await part(page).getByRole("button", { name: "Remove the estimate" }).click();
  await expect(title(page)).toBeFocused();
  await expect(part(page)).not.toHaveAttribute("open");
  await title(page).click();
  await expect(amount(page, "carUnit")).toHaveValue("km");
  await page.getByLabel("Your country").selectOption("FR");
  await enter(page, { electricityKwh: "2500", carKm: "8000", carUnit: "mi" });
  await next(page).click();
  await expect(part(page)).not.toHaveAttribute("open");
  const summary = "Your estimate is included: about 2.8 t CO₂e a year. The largest part: Car, 96%.";
  await expect(enclosed(page)).toContainText(summary);
  // Screen readers read both together, before the buttons.
  await expect(page.getByRole("group", { name: `Send us a Message ${summary}` })).toBeFocused();
  await enclosed(page).getByRole("button", { name: "Remove the estimate" }).click();
  await expect(enclosed(page)).toHaveCount(0);

  await title(page).click();
  await enter(page, { electricityKwh: "2500" });
  await next(page).click();
  await enclosed(page).getByRole("button", { name: "Edit the estimate" }).click();
  await expect(part(page)).toHaveAttribute("open");
  await enter(page, { carKm: "10 000" });
  await next(page).click();
  await expect(enclosed(page)).toContainText("Your estimate is included: about 2.2 t CO₂e a year.");

  await fillForm(page, { ...VISITOR, country: "FR", message: "With an estimate to print" });
  await submit(page).click();
  await page.getByRole("link", { name: "See and print it" }).click();
  const report = page.locator("#sent-estimate");
  await expect(report).toBeInViewport();
  await expect(report).toBeFocused();
  await expect(report).toHaveAccessibleName("Your estimate about 2.2 t CO₂e a year");
  await expect(report).toContainText(/Country: France\. Sent on \d+\s\w+ 20\d\d \(UTC\) with message BC-\w{4}-\w\w\./);
  for (const width of [320, 500, 768, 1024, 1280]) {
    await page.setViewportSize({ width, height: 720 });
    expect(await brokenWords(report.locator("th, td")), `at ${width} px`).toEqual([]);
    const lines = await report.locator("tbody :is(th, td)").evaluateAll((cells) =>
      cells.map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return new Set([...text.getClientRects()].map(({ top }) => top)).size;
      }),
    );
    expect(Math.max(...lines), `lines of a cell at ${width} px`).toBeLessThanOrEqual(2);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const [below, above] = await edgesOf(report, page.locator(".contact-panel"));
    expect(below?.top, `below the confirmation at ${width} px`).toBeGreaterThan(above?.bottom ?? Number.NaN);
    expect(below?.right, `as wide as the page at ${width} px`).toBe(above?.right);
  }
  await expect(enclosed(page)).toHaveCount(0);
  await page.getByRole("link", { name: "Send another message" }).click();
  await title(page).click();
  await enter(page, { gasKwh: "1000" });
  await submit(page).click();
  await expect(page.getByRole("heading", { name: "There are 4 problems" })).toBeVisible();
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await expect(page.locator("html")).toHaveCSS("background-color", "rgb(255, 255, 255)");
  await expect(report.getByRole("table")).toBeVisible();
  await expect(page.getByText("Brighter Carbon, http://localhost:3000")).toBeVisible();
  for (const name of ["Get in Touch", "Send us a Message"]) {
    await expect(page.getByRole("heading", { name })).toBeHidden();
  }
  await expect(report.getByRole("button", { name: "Print or save" })).toBeHidden();
});

function edgesOf(...elements: Locator[]) {
  return Promise.all(elements.map((element) => element.evaluate((node) => node.getBoundingClientRect().toJSON())));
}

for (const size of ["320x568", "1280x800"]) {
  test(`nothing covers a field while typing; the total is in view, at ${size}`, { tag: "@full" }, async ({ page }) => {
    await resize(page, size);
    await openAll(page);
    await enter(page, { electricityKwh: "2500" });
    const shown = page.locator(".footprint-bar, .footprint-total").filter({ visible: true }).first();
    for (const field of await part(page).locator("input:not([type=radio]), select").all()) {
      const name = String(await field.getAttribute("id"));
      const expectUncovered = async (how: string) => {
        await page.keyboard.press("ArrowUp");
        expect(await coveringOf(field), `${name}, ${how}`).toEqual([]);
      };
      await scrollToTop(field);
      await field.focus();
      await expectUncovered("reached by keyboard");
      await expect(shown, name).toBeInViewport({ ratio: 1 });
    }
    await part(page).getByText("Factors and sources").click();
    for (const target of await part(page).locator("a, button, .footprint-body summary").all()) {
      await scrollToTop(target);
      await target.focus();
      await expect(target).toBeFocused();
      expect(await coveringOf(target), String(await target.textContent())).toEqual([]);
    }
  });
}

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

test("an organisation gets its own texts and an amount per person, and the message contains both", async ({ page }) => {
  await openPart(page);
  const legend = (name: string) => part(page).getByRole("group", { name, exact: true });
  await expect(legend("Home energy")).toHaveAccessibleDescription(/for the whole home\.$/);
  await expect(legend("Flights")).toHaveAccessibleDescription(
    /^From calendars.+three flights\. .+up to about 3,700\skm one way\.$/,
  );
  await page.getByLabel("My organisation").check();
  await expect(legend("Home energy")).toHaveCount(0);
  await expect(legend("Energy of your site")).toHaveAccessibleDescription(/enter your share\.$/);
  await expect(legend("Vehicles")).toHaveAccessibleDescription(/^All vehicles together/);
  await enter(page, { people: "40" });
  await expect(total(page)).toHaveCount(0);
  await expect(enclosed(page)).toHaveCount(0);
  await enter(page, { gasKwh: "90000" });
  await expect(part(page)).toContainText("about 480 kg for each person, for an organisation of 40 people.");
  await submit(page).click();
  await expect(page.getByText("There are 4 problems")).toBeVisible();
  await expect(enclosed(page)).toContainText("Your estimate is included: about 19 t CO₂e a year.");
  await fillForm(page, { ...VISITOR, country: "" });
  const request = page.waitForRequest("**/send-email");
  await submit(page).click();
  expect((await request).postDataJSON().footprint).toMatchObject({ for: "organisation", people: "40" });
  await page.getByRole("link", { name: "See and print it" }).click();
  await expect(page.locator("#sent-estimate")).toContainText(
    "For an organisation of 40 people: about 480 kg for each person. Country: not chosen",
  );
  await expect(page.getByText(/Credits for|within/)).toHaveCount(0);
  // A sent message is not invited to add an estimate.
  await expect(part(page)).toBeHidden();
  await page.getByRole("link", { name: "Send another message" }).click();
  await title(page).click();
  await expect(page.getByLabel("Me or my household")).toBeChecked();
});

test("the form's fields are aligned at every width, with the estimate closed or open", async ({ page }) => {
  await openForm(page);
  for (const state of ["closed", "open"]) {
    if (state === "open") await title(page).click();
    for (const width of [320, 400, 560, 640, 720, 800, 900, 1024, 1280, 1600, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      const edges = await page.locator("#message-form").evaluate((form) => {
        const boxOf = (field: string) => form.querySelector(field)?.getBoundingClientRect() ?? new DOMRect();
        const isOneRow = boxOf("#phone").top === boxOf("#country").top;
        const fields = ["#name", "#email", "#country", "#message", "button[type=submit]"];
        return [...fields, ...(isOneRow ? [] : ["#phone"])].map((field) => Math.round(boxOf(field).right));
      });
      expect(new Set(edges).size, `${state} at ${width}: ${edges}`).toBe(1);
    }
  }
});

test("the result stays beside the fields on a desktop, and the total is its largest text", async ({ page }) => {
  await resize(page, "1366x650");
  await openAll(page);
  await expect(next(page)).toHaveClass(/button-outline/);
  const names = ["electricityKwh", "gasKwh", "carKm", "railKm", "shortFlights", "longFlights", "hotelNights"];
  await enter(page, Object.fromEntries(names.map((name) => [name, "1000"])));
  await expect(next(page)).toHaveClass(/button-primary/);
  for (const size of ["1366x650", "1440x900"]) {
    await resize(page, size);
    await amount(page, "electricityKwh").focus();
    const found = await part(page)
      .locator(".footprint-outcome")
      .evaluate((outcome) => {
        const styles = [outcome, ...outcome.querySelectorAll("*")].map((element) => getComputedStyle(element));
        const strong = outcome.querySelector(".footprint-total strong") as Element;
        return {
          scrolls: styles.some(({ overflowY }) => /auto|scroll/.test(overflowY)),
          total: getComputedStyle(strong).fontSize,
          largest: `${Math.max(...styles.map(({ fontSize }) => Number.parseFloat(fontSize)))}px`,
        };
      });
    expect(found).toMatchObject({ scrolls: false, total: found.largest });
    expect(Number.parseFloat(found.total)).toBeGreaterThan(2.8 * 16);
    const box = (selector: string) =>
      page.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON() as DOMRect);
    const [whole, inputs] = [await box(".footprint"), await box(".footprint-inputs")];
    expect(whole.width).toBeGreaterThan(1000);
    expect((await box(".footprint-panel")).left).toBeGreaterThan(inputs.right);
    expect((await box(".contact-panel")).top).toBeGreaterThan(whole.bottom);
    await amount(page, "lpgLitres").focus();
    await expect(total(page)).toBeInViewport({ ratio: 1 });
    await expect(next(page)).toBeInViewport({ ratio: 1 });
    await expect(page.locator(".footprint-bar")).toBeHidden();
  }
});

test("axe finds no problem after input, or with an error", { tag: "@full" }, async ({ page }) => {
  await openAll(page);
  await enter(page, { longFlights: "123 456,5", hotelNights: "12" });
  await part(page).getByText("Factors and sources").click();
  await expectAccessible(page);
  await enter(page, { gasKwh: "a lot", carKm: "1" });
  await expect(part(page).locator(".footprint-panel .footprint-problem")).toBeVisible();
  await expectAccessible(page);
});

test("with text at 200 %, no word in its buttons or the outcome breaks", { tag: "@full" }, async ({ page }) => {
  await resize(page, "320x640");
  await openPart(page);
  await enlargeText(page);
  await enter(page, { gasKwh: "9000" });
  const actions = part(page).locator(".footprint-actions > *");
  await expect(actions.filter({ hasText: "Remove the estimate" })).toBeVisible();
  expect(await brokenWords(actions)).toEqual([]);
  await next(page).click();
  await expect(enclosed(page)).toBeVisible();
  expect(await brokenWords(enclosed(page).getByRole("button"))).toEqual([]);
  await fillForm(page, { ...VISITOR, country: "" });
  await submit(page).click();
  await expect(page.locator(".alert-sent")).toBeVisible();
  const reference = page.locator(".sent-reference b");
  for (const width of [320, 360, 375, 390]) {
    await page.setViewportSize({ width, height: 640 });
    // The letters of a reference are random, and have different widths.
    await reference.evaluate((element) => element.replaceChildren("BC-1234-56"));
    if (width > 360) expect(await brokenWords(page.locator(".alert-sent .sent-title")), `at ${width} px`).toEqual([]);
    await reference.evaluate((element) => element.replaceChildren("BC-WWWW-WW"));
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `at ${width} px`).toBe(width);
  }
});

function brokenWords(elements: Locator): Promise<string[]> {
  return elements.evaluateAll((all) =>
    all.flatMap((element) => {
      const broken: string[] = [];
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        for (const { index, 0: word } of (node.nodeValue ?? "").matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
        }
      }
      return broken;
    }),
  );
}
