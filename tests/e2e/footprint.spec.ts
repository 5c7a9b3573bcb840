import { expect, type Locator, type Page } from "@playwright/test";
import { expectNoViolations } from "../support/axe.ts";
import { fillForm, holdScript, openForm, VISITOR } from "../support/contact.ts";
import { test } from "../support/site.ts";

const part = (page: Page) => page.locator("details.footprint");
const amount = (page: Page, name: string) => page.locator(`[id="footprint.${name}"]`);
const total = (page: Page) => part(page).locator(".footprint-total strong");
const categories = (page: Page) => part(page).locator(".footprint-bars li > span:first-child");
const announcement = (page: Page) => part(page).getByRole("status");
const addMore = (page: Page) => part(page).locator("summary", { hasText: "Add more" });
const flightDetails = (page: Page) => part(page).locator("summary", { hasText: "Distance and class" });
const enclosed = (page: Page) => page.locator(".enclosed");

/** Opens the contact page with the part open and ready to compute. */
async function openPart(page: Page): Promise<void> {
  await openForm(page);
  await part(page).locator("summary").first().click();
  await expect(part(page).getByText("Your estimate appears here as you type.")).toBeVisible();
}

/** With everything unfolded. */
async function openAll(page: Page): Promise<void> {
  await openPart(page);
  await flightDetails(page).click();
  await addMore(page).click();
}

test("the home page's button leads to the open part; until somebody opens it, nothing of it is fetched", async ({
  page,
}) => {
  const fetched: string[] = [];
  page.on("request", (request) => {
    if (/electricity|footprint-estimate/.test(request.url())) fetched.push(new URL(request.url()).pathname);
  });
  await openForm(page);
  await expect(part(page)).not.toHaveAttribute("open");
  expect(fetched).toEqual([]);

  await page.goto("/");
  await page.getByRole("link", { name: "Start Offsetting Now" }).click();
  await expect(page).toHaveURL(/\/contact#footprint$/);
  await expect(part(page).getByText("Your estimate appears here as you type.")).toBeVisible();
  await expect(part(page).getByRole("heading", { name: "Estimate your footprint" })).toBeInViewport();
  await expect(
    part(page).getByRole("heading", { name: "About how much CO₂e do you emit in a year?" }),
  ).toBeInViewport();
  expect(fetched.map((path) => path.replace(/-[\w-]{8}\./, ".")).sort()).toEqual([
    "/assets/electricity.json",
    "/assets/footprint-estimate.js",
  ]);
});

test("while somebody types: total, bars, the largest saving, the country's figures, sources; and it can be removed", async ({
  page,
}) => {
  await openAll(page);
  await test.step("there is no total until something was entered, and 0 is something", async () => {
    await expect(total(page)).toHaveCount(0);
    await amount(page, "shortFlightKm").fill("900");
    await expect(total(page)).toHaveCount(0);
    await amount(page, "railKm").fill("0");
    await expect(total(page)).toHaveText("about 0 kg CO₂e a year");
    await amount(page, "railKm").fill("");
    await expect(total(page)).toHaveCount(0);
  });

  await test.step("the world's average stands in for no country, and the page says so", async () => {
    await amount(page, "electricityKwh").fill("1 500 kWh");
    await expect(total(page)).toHaveText("about 710 kg CO₂e a year");
    await expect(part(page)).toContainText("Read as 1,500 kWh");
    await expect(part(page)).toContainText("Computed with the world’s average for electricity");
    await expect(part(page)).toContainText(
      /From \d+ kg to [\d.]+ \w+: this covers only how the sources’ figures differ for grids of countries \(10th to 90th/,
    );
    await page.getByLabel("Your country").selectOption("FR");
    await expect(page.getByLabel("Country", { exact: true })).toHaveValue("FR");
    await expect(total(page)).toHaveText("about 66 kg CO₂e a year");
    await expect(part(page)).not.toContainText("average for electricity");
    await page.getByLabel("Country", { exact: true }).selectOption("AQ");
    await expect(total(page)).toHaveText("about 710 kg CO₂e a year");
    await expect(page.getByLabel("Your country")).toHaveValue("AQ");
    await expect(part(page)).toContainText("there are no figures for Antarctica");
    await page.getByLabel("Country", { exact: true }).selectOption("FR");
  });

  await test.step("categories by size, and what would save something in the two largest", async () => {
    await amount(page, "carKm").fill("10,000");
    await amount(page, "longFlights").fill("2");
    await amount(page, "longFlightClass").selectOption("business");
    await expect(total(page)).toHaveText("about 13 t CO₂e a year");
    await expect(categories(page)).toHaveText(["Flights", "Car", "Electricity"]);
    await expect(part(page)).toContainText("The largest part: Flights, 83%.");
    await expect(part(page)).toContainText(
      "A fifth fewer flights would save about 2.1 t a year; economy class on all of them, about 7.0 t.",
    );
    const widths = await part(page)
      .locator(".footprint-bars rect")
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(widths.toSorted((a, b) => b - a)).toEqual(widths);
    expect(widths[0]).toBeGreaterThan(100);
  });

  await test.step("miles are converted, and the page shows how", async () => {
    await amount(page, "carUnit").selectOption("miles");
    await expect(part(page)).toContainText("Read as 10,000 miles (16,093 km)");
    await expect(part(page).locator(".footprint-bars li", { hasText: "Car" })).toContainText("3.3 t");
    await amount(page, "carKm").fill("far");
    await amount(page, "carKm").blur();
    await expect(amount(page, "carKm")).toHaveAccessibleDescription("Enter a number of miles, such as 1,500 or 12.5.");
    await amount(page, "carKm").fill("10,000");
    await amount(page, "carUnit").selectOption("km");
  });

  await test.step("a number that can be read in two ways is asked about, and a doubtful flight questioned", async () => {
    await amount(page, "gasKwh").fill("1.500");
    await amount(page, "gasKwh").blur();
    await expect(amount(page, "gasKwh")).toHaveAccessibleDescription("Did you mean 1500 or 1.5?");
    await amount(page, "gasKwh").fill("");
    await amount(page, "shortFlights").fill("1");
    for (const [km, said] of [
      ["20000", "That far? Flights above 3,700 km are long ones."],
      ["400", "Counted as domestic flights, for which classes do not matter"],
    ] as const) {
      await amount(page, "shortFlightKm").fill(km);
      await expect(amount(page, "shortFlightKm")).toHaveAccessibleDescription(said);
    }
    await amount(page, "shortFlights").fill("");
    await amount(page, "shortFlightKm").fill("1500");
  });

  await test.step("each factor with its year and source is a click away", async () => {
    await part(page).getByText("Factors and sources").click();
    const sources = part(page).locator(".footprint-sources");
    await expect(sources.getByRole("listitem").filter({ hasText: "Electricity:" })).toHaveText(
      "Electricity: 0.04418 kg CO₂e per kWh, France.",
    );
    // One link for each source, whatever it is used for.
    await expect(sources.getByRole("link")).toHaveText([/^Ember.+, 2024$/, /^UK Government \(DESNZ\).+ 2026, v1\.2$/]);
    await expect(sources.getByRole("link").first()).toHaveAttribute("href", /^https:\/\/ember-energy\.org\//);
    await expect(sources).toContainText("Electricity is location-based");
    await expect(sources).toContainText(
      "Factor set: DESNZ 2026 v1.2; Ember 2022-2024 (co2.js 0.19.0), for the UK DESNZ.",
    );
    await expect(part(page).getByRole("link", { name: "How we estimate" })).toHaveAttribute(
      "href",
      "/assets/footprint",
    );
  });

  await test.step("removed again, nothing is left of it", async () => {
    await part(page).getByRole("button", { name: "Remove the estimate" }).click();
    await expect(part(page)).not.toHaveAttribute("open");
    await expect(part(page).locator("summary").first()).toBeFocused();
    await expect(amount(page, "longFlightClass")).toHaveValue("economy");
    await fillForm(page);
    const request = page.waitForRequest("**/send-email");
    await page.getByRole("button", { name: "Submit" }).click();
    expect((await request).postDataJSON()).not.toHaveProperty("footprint");
    await expect(page.getByText("Message sent successfully!", { exact: true }).first()).toBeVisible();
  });
});

test("a total is announced once somebody has stopped typing, not with every key; so is what cannot be read", async ({
  page,
}) => {
  await openPart(page);
  const said: string[] = [];
  await page.exposeFunction("say", (text: string) => said.push(text));
  await announcement(page).evaluate((element) => {
    new MutationObserver(() => window.say(element.textContent ?? "")).observe(element, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
  await amount(page, "gasKwh").pressSequentially("12000", { delay: 30 });
  await expect(announcement(page)).toHaveText("Your estimate: about 2.6 t CO₂e a year");
  expect(said).toEqual(["Your estimate: about 2.6 t CO₂e a year"]);
  await amount(page, "gasKwh").fill("a lot");
  await amount(page, "gasKwh").blur();
  await expect(announcement(page)).toHaveText("Natural gas: Enter a number of kWh, such as 1,500 or 12.5.");
  await expect(announcement(page)).toHaveAttribute("aria-live", "polite");
  await expect(announcement(page)).toHaveAttribute("aria-atomic", "true");
});

test.describe("what cannot be used", () => {
  test.use({ expectedTrouble: /status of 422|status 422/ });

  test("is said at the field: by the page, and by the server; nothing is lost", async ({ page }) => {
    await openPart(page);
    await fillForm(page);
    await amount(page, "gasKwh").fill("a lot");
    await amount(page, "gasKwh").blur();
    const sentence = "Enter a number of kWh, such as 1,500 or 12.5.";
    await expect(amount(page, "gasKwh")).toHaveAccessibleDescription(sentence);
    await expect(part(page).locator(".footprint-panel .footprint-problem")).toContainText(sentence);
    await part(page).locator("summary").first().click();
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByRole("alert").getByRole("link", { name: "Natural gas: " }).click();
    await expect(amount(page, "gasKwh")).toBeFocused();
    await expect(amount(page, "gasKwh")).toBeInViewport();

    await amount(page, "gasKwh").fill("9000");
    await expect(amount(page, "gasKwh")).not.toHaveAttribute("aria-invalid");
    await page.route("**/send-email", (route) =>
      route.fulfill({
        status: 422,
        json: { success: false, error: "Please correct the marked fields.", fields: { "footprint.carKm": "Too far." } },
      }),
    );
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByRole("alert").getByRole("link", { name: "Car: Too far." }).click();
    await expect(amount(page, "carKm")).toBeFocused();
    await amount(page, "carKm").blur();
    await expect(amount(page, "carKm")).toHaveAccessibleDescription("Too far.");
    await expect(amount(page, "gasKwh")).toHaveValue("9000");
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue(VISITOR.message);
  });
});

test.describe("when its figures or its script do not load", () => {
  test.use({ expectedTrouble: /electricity|footprint-estimate|did not load|status of 404/ });

  test("there is nothing that stays empty, and the amounts are sent", async ({ page }) => {
    await page.route("**/assets/footprint-estimate-*", (route) => route.fulfill({ status: 404, body: "" }));
    await openForm(page);
    await part(page).locator("summary").first().click();
    await amount(page, "gasKwh").fill("1000");
    await expect(page.getByLabel("Your country")).toHaveCount(0);
    await fillForm(page, { ...VISITOR, message: "Without the script of the estimate" });
    await page.getByRole("button", { name: "Submit" }).click();
    await expect(page.getByText("We received your estimate too: about 210 kg CO₂e a year.")).toBeVisible();
  });

  test("the amounts are sent as they were typed, and the server computes", async ({ page }) => {
    await page.route("**/assets/electricity-*", (route) => route.fulfill({ status: 404, body: "" }));
    await openForm(page);
    await part(page).locator("summary").first().click();
    await expect(part(page)).toContainText("The estimate cannot be shown just now.");
    await fillForm(page, { ...VISITOR, message: "Without figures" });
    await amount(page, "gasKwh").fill("1 000");
    await amount(page, "carKm").fill("8000");
    await amount(page, "carUnit").selectOption("miles");
    const answer = page.waitForResponse("**/send-email");
    await page.getByRole("button", { name: "Submit" }).click();
    const totalKg = expect.closeTo(212.52 + 8000 * 1.609344 * 0.20751, 5);
    expect(await (await answer).json()).toMatchObject({ success: true, footprint: { totalKg } });
    await expect(page.getByRole("status").filter({ visible: true })).toContainText("about 2.9 t CO₂e a year");
    await expect(page.getByRole("link", { name: "See and print it" })).toHaveCount(0);
  });
});

test("by keyboard alone: open, enter, choose, read, send; what was typed survives a reload", async ({ page }) => {
  await openForm(page);
  await part(page).locator("summary").first().focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.getByLabel("Me or my household")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByLabel("My organisation")).toBeChecked();
  await page.keyboard.press("Tab");
  await expect(amount(page, "people")).toBeFocused();
  await page.keyboard.press("Tab");
  const country = page.getByLabel("Your country");
  await expect(country).toBeFocused();
  await expect(country.locator("option[value=FR]")).toBeAttached();
  for (const [keys, code] of [
    [["F", "r"], "FR"],
    [["Home"], ""],
  ] as const) {
    for (const key of keys) await page.keyboard.press(key);
    await expect(country).toHaveValue(code);
    await expect(page.getByLabel("Country", { exact: true })).toHaveValue(code);
  }
  await page.keyboard.press("Tab");
  await expect(amount(page, "electricityKwh")).toBeFocused();
  await page.keyboard.type("2000");
  // Enter ends a number, and sends nothing.
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(amount(page, "gasKwh")).toBeFocused();
  await expect(total(page)).toHaveText("about 950 kg CO₂e a year");
  for (const [name, key, value] of [
    ["carKm", "1", "1"],
    ["carUnit", "m", "mi"],
    ["carFuel", "e", "electric"],
  ] as const) {
    await page.keyboard.press("Tab");
    await expect(amount(page, name)).toBeFocused();
    await page.keyboard.press(key);
    await expect(amount(page, name)).toHaveValue(value);
  }
  await amount(page, "carKm").fill("10000");
  await amount(page, "longFlights").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await expect(addMore(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(amount(page, "railKm")).toBeFocused();
  await page.keyboard.type("1000");
  await expect(total(page)).toHaveText("about 2.5 t CO₂e a year");
  await page.goto("/privacy");
  await page.goBack();
  await expect(part(page)).toHaveAttribute("open");
  await expect(total(page)).toHaveText("about 2.5 t CO₂e a year");
  await expect(amount(page, "railKm")).toBeVisible();
  await expect(amount(page, "shortFlightKm")).toBeHidden();
});

test("the unit goes with the distance, also when the script comes late or the factors fail", async ({ page }) => {
  const arrive = await holdScript(page);
  await page.goto("/contact#footprint");
  await amount(page, "carKm").fill("8000");
  await amount(page, "carUnit").selectOption("miles");
  await fillForm(page, { ...VISITOR, country: "" });
  const request = page.waitForRequest("**/send-email");
  await page.getByRole("button", { name: "Submit" }).click();
  const sent = new URLSearchParams((await request).postData() ?? "");
  expect([sent.get("footprint.carKm"), sent.get("footprint.carUnit")]).toEqual(["8000", "mi"]);
  await expect(page.getByText("We received your estimate too: about 2.7 t CO₂e a year.")).toBeVisible();
  await expect(page.locator("#sent-estimate")).toBeVisible();

  // With the next message, the estimate of this one goes.
  arrive();
  await page.getByRole("link", { name: "Send another message" }).click();
  await expect(page.getByLabel("Message", { exact: true })).toHaveValue("");
  await expect(page.locator("#sent-estimate")).toBeHidden();
});

test("continue to the message: the estimate comes with it, can be edited and removed; after sending it can be printed", async ({
  page,
}) => {
  await openPart(page);
  await page.getByLabel("Your country").selectOption("FR");
  await amount(page, "electricityKwh").fill("2500");
  await amount(page, "carKm").fill("8000");
  await amount(page, "carUnit").selectOption("miles");
  await part(page).getByRole("link", { name: "Continue to your message" }).click();
  await expect(part(page)).not.toHaveAttribute("open");
  const summary = "Your estimate comes with it: about 2.8 t CO₂e a year. The largest part: Car, 96%.";
  await expect(enclosed(page)).toContainText(summary);
  // Read out together, before the buttons.
  await expect(page.getByRole("group", { name: `Send us a Message ${summary}` })).toBeFocused();
  await enclosed(page).getByRole("button", { name: "Remove the estimate" }).click();
  await expect(enclosed(page)).toHaveCount(0);
  await expect(amount(page, "carUnit")).toHaveValue("km");

  await part(page).locator("summary").first().click();
  await amount(page, "electricityKwh").fill("2500");
  await part(page).getByRole("link", { name: "Continue to your message" }).click();
  await enclosed(page).getByRole("button", { name: "Edit the estimate" }).click();
  await expect(part(page)).toHaveAttribute("open");
  await amount(page, "carKm").fill("10 000");
  await part(page).getByRole("link", { name: "Continue to your message" }).click();
  await expect(enclosed(page)).toContainText("Your estimate comes with it: about 2.2 t CO₂e a year.");

  await fillForm(page, { ...VISITOR, country: "FR", message: "With an estimate to print" });
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("link", { name: "See and print it" }).click();
  const report = page.locator("#sent-estimate");
  await expect(report).toBeInViewport();
  await expect(report).toBeFocused();
  await expect(report).toHaveAccessibleName("Your estimate about 2.2 t CO₂e a year");
  await expect(report.getByRole("row", { name: /^Electricity/ })).toHaveText(
    "Electricity2,500 kWh0.04418 kg per kWh, France110 kg",
  );
  await expect(report).toContainText(
    /^.+For one person or household\. Country: France\. Sent on \d+ \w+ 20\d\d with message BC-\w{4}-\w\w\./,
  );
  await expect(report.getByRole("link", { name: /^Ember/ })).toBeVisible();
  for (const width of [320, 500, 768, 1280]) {
    await page.setViewportSize({ width, height: 720 });
    expect(await brokenWords(report.locator("th, td")), `at ${width} px`).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
  await expect(enclosed(page)).toHaveCount(0);
  await page.getByRole("button", { name: "Send another message" }).click();
  await part(page).locator("summary").first().click();
  await amount(page, "gasKwh").fill("1000");
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByRole("heading", { name: "There are 4 problems" })).toBeVisible();
  await page.emulateMedia({ media: "print" });
  await expect(report.getByRole("table")).toBeVisible();
  await expect(page.getByText("Brighter Carbon, http://localhost:3000")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Send us a Message" })).toBeHidden();
  await expect(report.getByRole("button", { name: "Print or save" })).toBeHidden();
});

for (const [width, height] of [
  [320, 568],
  [1280, 800],
] as const) {
  test(`no field is covered while somebody types in it, and the total stays in view, at ${width}x${height}`, {
    tag: "@full",
  }, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await openAll(page);
    await amount(page, "electricityKwh").fill("2500");
    const shown = page.locator(".footprint-bar:not([data-yields]), .footprint-total").filter({ visible: true }).first();
    const fields = await part(page).locator("input:not([type=radio]), select").all();
    for (const field of fields) {
      const name = String(await field.getAttribute("id"));
      const expectUncovered = async (how: string) => {
        await page.keyboard.press("ArrowUp");
        expect(await coveringOf(field), `${name}, ${how}`).toEqual([]);
      };
      await scrollToTop(field);
      await field.focus();
      await expectUncovered("reached by keyboard");
      await expect(shown, name).toBeVisible();
      await expect(shown, name).toBeInViewport({ ratio: 1 });
      await scrollToTop(field);
      await expectUncovered("scrolled to the top");
      await field.blur();
      await scrollToTop(field);
      // As a press on the part of it that is below the bar; on a select that would open a list.
      await field.evaluate((element) => element.focus({ preventScroll: true }));
      await expectUncovered("pressed");
    }
    await part(page).getByText("Factors and sources").click();
    for (const target of await part(page).locator("a, button, .footprint-body summary").all()) {
      await scrollToTop(target);
      await target.focus();
      await expect(target).toBeFocused();
      expect(await isUnderTotal(target), String(await target.textContent())).toBe(false);
    }
  });
}

function isUnderTotal(target: Locator): Promise<boolean> {
  return target.evaluate((element) => {
    const [{ left, top, bottom } = new DOMRect()] = element.getClientRects();
    const found = [top + 2, bottom - 2].map((y) => document.elementFromPoint(left + 4, y));
    return found.some((one) => one?.closest(".footprint-total, .footprint-bar"));
  });
}

/** Where the bar is on a narrow screen; the field's lower edge is below it. */
async function scrollToTop(field: Locator): Promise<void> {
  await field.evaluate((element) => {
    scrollBy({ top: element.getBoundingClientRect().top - 12, behavior: "instant" });
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}

function coveringOf(field: Locator): Promise<string[]> {
  return field.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const found = [top + 2, bottom - 2].map((y) => document.elementFromPoint((left + right) / 2, y));
    return found.filter((one) => one !== element).map((one) => one?.className ?? "out of view");
  });
}

test("one doubtful number hides nothing: it is named, the rest is counted, and the part stays open", async ({
  page,
}) => {
  await page.setViewportSize({ width: 375, height: 667 });
  await openPart(page);
  await amount(page, "carKm").fill("10000");
  await amount(page, "gasKwh").fill("11.500");
  // Nobody is corrected while typing.
  await expect(part(page).locator(".footprint-problem")).toHaveCount(0);
  await part(page).getByRole("link", { name: "Continue to your message" }).click();
  const question = "Natural gas: Did you mean 11500 or 11.5?";
  await expect(part(page)).toHaveAttribute("open");
  await expect(amount(page, "gasKwh")).toBeFocused();
  await expect(amount(page, "gasKwh")).toHaveAccessibleDescription("Did you mean 11500 or 11.5?");
  await expect(total(page)).toHaveText("about 2.1 t CO₂e a year");
  await expect(page.locator(".footprint-bar")).toHaveText(
    `Your estimate: about 2.1 t CO₂e a yearLeft out for now. ${question}`,
  );
  await expect(announcement(page)).toHaveText(`${question} Your estimate: about 2.1 t CO₂e a year`);
  await expect(enclosed(page)).toContainText(`Your estimate needs a correction before you send it. ${question}`);
  await enclosed(page).getByRole("button", { name: "Edit the estimate" }).click();
  await expect(amount(page, "gasKwh")).toBeFocused();
  await amount(page, "gasKwh").fill("11500");
  await expect(total(page)).toHaveText("about 4.5 t CO₂e a year");
  await expect(page.locator(".footprint-problem")).toHaveCount(0);
});

test("for an organisation: other words, an amount for each person, and both travel with the message", async ({
  page,
}) => {
  await openPart(page);
  const legend = (name: string) => part(page).getByRole("group", { name, exact: true });
  await expect(legend("Home energy")).toHaveAccessibleDescription(/For a shared home, enter your share\.$/);
  await expect(legend("Flights")).toHaveAccessibleDescription(/^In your calendar.+up to about 3,700 km one way\.$/);
  await page.getByLabel("My organisation").check();
  await expect(legend("Home energy")).toHaveCount(0);
  await expect(legend("Energy of your site")).toBeVisible();
  await expect(legend("Vehicles")).toHaveAccessibleDescription(
    "All vehicles together, from the fleet’s records or fuel cards.",
  );
  await amount(page, "people").fill("40");
  await expect(total(page)).toHaveCount(0);
  await expect(enclosed(page)).toHaveCount(0);
  await amount(page, "gasKwh").fill("90000");
  await expect(part(page)).toContainText("about 480 kg for each person, for an organisation of 40 people.");
  await fillForm(page);
  const request = page.waitForRequest("**/send-email");
  await page.getByRole("button", { name: "Submit" }).click();
  expect((await request).postDataJSON().footprint).toMatchObject({ for: "organisation", people: "40" });
  await page.getByRole("link", { name: "See and print it" }).click();
  await expect(page.locator("#sent-estimate")).toContainText("For an organisation of 40 people: about 480 kg for each");
  await expect(page.getByLabel("Me or my household")).toBeChecked();
  await expect(page.getByText(/a tonne|within/)).toHaveCount(0);
});

test("the fields of the form end at the same edge at every width, with the estimate closed and open", async ({
  page,
}) => {
  await openForm(page);
  for (const state of ["closed", "open"]) {
    if (state === "open") await part(page).locator("summary").first().click();
    const ragged: string[] = [];
    for (const width of [320, 400, 560, 640, 720, 800, 900, 1024, 1280, 1600, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      const edges = await page.locator("#message-form").evaluate((form) => {
        const ends = (fields: NodeListOf<Element>) =>
          [...fields].map((field) => Math.round(field.getBoundingClientRect().right));
        const boxes = [...form.querySelectorAll("#phone, #country")].map((field) => field.getBoundingClientRect());
        const isOneRow = boxes[0]?.top === boxes[1]?.top;
        return [
          ...ends(form.querySelectorAll(isOneRow ? "#name, #email, #country" : "#name, #email, #phone, #country")),
          ...ends(form.querySelectorAll("#message, button[type=submit]")),
        ];
      });
      if (new Set(edges).size > 1) ragged.push(`${state} ${width}: ${edges}`);
    }
    expect(ragged).toEqual([]);
  }
});

test("the result never scrolls inside itself, and its total is the largest thing in it", async ({ page }) => {
  for (const [width, height] of [
    [1280, 600],
    [1366, 650],
    [1440, 900],
  ] as const) {
    await page.setViewportSize({ width, height });
    await openAll(page);
    const next = part(page).getByRole("link", { name: "Continue to your message" });
    await expect(next).toHaveClass(/button-outline/);
    for (const name of ["electricityKwh", "gasKwh", "carKm", "railKm", "shortFlights", "longFlights", "hotelNights"]) {
      await amount(page, name).fill("1000");
    }
    await expect(next).toHaveClass(/button-primary/);
    const found = await part(page)
      .locator(".footprint-outcome")
      .evaluate((outcome) => {
        const all = [outcome, ...outcome.querySelectorAll("*")];
        const sizes = all.map((element) => Number.parseFloat(getComputedStyle(element).fontSize));
        const strong = outcome.querySelector(".footprint-total strong") as Element;
        return {
          scrolls: all.filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowY)).length,
          stuck: all.filter((element) => getComputedStyle(element).position === "sticky").length,
          isLargest: Number.parseFloat(getComputedStyle(strong).fontSize) === Math.max(...sizes),
          rem: Math.max(...sizes) / 16,
          height: outcome.querySelector<HTMLElement>(".footprint-panel")?.offsetHeight ?? 0,
        };
      });
    const box = (selector: string) =>
      page.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON() as DOMRect);
    const [whole, inputs] = [await box(".footprint"), await box(".footprint-inputs")];
    expect(whole.width).toBeGreaterThan(1000);
    expect((await box(".footprint-panel")).left).toBeGreaterThan(inputs.right);
    expect((await box(".contact-panel")).top).toBeGreaterThan(whole.bottom);
    // It stays in view only where all of it fits the screen.
    expect(found).toMatchObject({ scrolls: 0, stuck: found.height + 32 <= height ? 1 : 0, isLargest: true });
    expect(found.rem).toBeGreaterThan(2.8);
    const bar = page.locator(".footprint-bar");
    await amount(page, "lpgLitres").focus();
    await expect(bar).toBeVisible();
    await total(page).evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
    await expect(bar).toBeHidden();
    await next.focus();
    await expect(next).toBeInViewport({ ratio: 1 });
  }
});

test("axe finds nothing, and nothing scrolls sideways: open, filled in and with an error; narrow and light, wide and dark", {
  tag: "@full",
}, async ({ page }) => {
  await openAll(page);
  await amount(page, "longFlights").fill("123 456,5");
  await amount(page, "hotelNights").fill("12");
  await part(page).getByText("Factors and sources").click();
  for (const state of ["filled in", "with an error"]) {
    if (state === "with an error") await amount(page, "gasKwh").fill("a lot");
    await amount(page, "carKm").focus();
    for (const [width, colorScheme] of [
      [320, "light"],
      [1280, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await expectNoViolations(page, [colorScheme]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `${state} ${width}`).toBeLessThanOrEqual(
        width,
      );
    }
  }
});

test("with text at 200 % no word of its buttons is broken on a phone, nor of the outcome from 375 px", {
  tag: "@full",
}, async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await openPart(page);
  await page.evaluate(() => {
    document.documentElement.style.fontSize = "200%";
  });
  await amount(page, "gasKwh").fill("9000");
  const actions = part(page).locator(".footprint-actions > *");
  await expect(actions.filter({ hasText: "Remove the estimate" })).toBeVisible();
  expect(await brokenWords(actions)).toEqual([]);
  await part(page).getByRole("link", { name: "Continue to your message" }).click();
  await expect(enclosed(page)).toBeVisible();
  expect(await brokenWords(enclosed(page).getByRole("button"))).toEqual([]);
  await fillForm(page, { ...VISITOR, country: "" });
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.locator(".alert-sent")).toBeVisible();
  for (const width of [360, 375, 390]) {
    await page.setViewportSize({ width, height: 640 });
    if (width > 360) expect(await brokenWords(page.locator(".alert-sent .alert-text")), `at ${width} px`).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
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

test("prints the estimate, not the controls to remove it", async ({ page }) => {
  await openPart(page);
  await amount(page, "gasKwh").fill("9000");
  await page.emulateMedia({ media: "print" });
  await expect(total(page)).toBeVisible();
  await expect(part(page).locator(".footprint-panel")).toHaveCSS("position", "static");
  await expect(part(page).getByRole("button", { name: "Remove the estimate" })).toBeHidden();
});

declare global {
  interface Window {
    say(text: string): void;
  }
}
