import { expect, type Page, type Request } from "@playwright/test";
import { EMPTY, field, fillForm, holdScript, openForm, readForm, sent, submit, VISITOR } from "../support/contact.ts";
import { collectTrouble, resize, test } from "../support/site.ts";

/** 128 random bits. */
const KEY = /^[0-9a-f]{32}$/;

const keyOf = (request: Request) => request.headers()["idempotency-key"] ?? "";

/** The request that a press of the button sends. */
async function send(page: Page) {
  const [request] = await Promise.all([page.waitForRequest("**/send-email"), submit(page).click()]);
  return request;
}

test("the form has its texts, fields and countries, and a trap that visitors cannot reach", async ({ page }) => {
  await openForm(page);
  await test.step("both panels have their texts, and fields have their types", async () => {
    const main = page.getByRole("main");
    for (const text of [
      "We're here to help and answer any question you might have.",
      "hello@brightercarbon.example",
      "Carbon Offsetting for a Brighter Future",
      "Sustainability is steady work",
    ]) {
      await expect(main.getByText(text)).toBeVisible();
    }
    for (const [label, attributes] of [
      ["Name", { type: null, autocomplete: "name", required: "", dir: "auto" }],
      ["Email", { type: "email", autocomplete: "email", inputmode: "email", required: "", dir: "auto" }],
      ["Phone Number", { type: "tel", autocomplete: "tel", inputmode: "tel", required: "", dir: "auto" }],
      ["Country", { autocomplete: "country", required: null }],
      ["Message", { required: "", dir: "auto", maxlength: null }],
    ] as const) {
      for (const [name, value] of Object.entries(attributes))
        expect(await field(page, label).getAttribute(name)).toBe(value);
    }
    expect((await submit(page).boundingBox())?.width).toBe((await page.locator("form").boundingBox())?.width);
    expect(await readForm(page)).toEqual(EMPTY);
  });

  await test.step("the country list starts with its placeholder", async () => {
    const names = await page.locator("select[name=country] option").allTextContents();
    expect(names.slice(0, 2)).toEqual(["Select a country", "Afghanistan"]);
  });

  await test.step("visitors cannot see or reach the trap, and browsers do not fill it in", async () => {
    const trap = page.locator("input[name=topic_code][autocomplete=off][tabindex='-1']");
    await expect(trap).not.toBeInViewport();
    await expect(trap).toHaveCount(1);
    await expect(page.getByRole("textbox", { name: "Leave this field empty" })).toHaveCount(0);
  });
});

test("after a success, five strings and a new key were sent; the receipt stands above the empty form", async ({
  page,
  site,
}) => {
  await resize(page, "1440x900");
  await openForm(page);
  await fillForm(page);
  const request = await send(page);
  expect(request.headers()["idempotency-key"]).toMatch(KEY);
  expect(request.postDataJSON()).toEqual({ ...VISITOR, topic_code: "" });

  const status = page.locator(".receipt-text[role=status]");
  await expect(status.getByText("Message sent successfully!", { exact: true })).toBeInViewport();
  await expect(status).toContainText(/Your reference is BC-\w{4}-\w{2}\./);
  await expect(status).toContainText(`Answer goes to: ${VISITOR.email}`);
  await expect(status).toContainText(/Sent on: \d+ \w+ 20\d\d at \d\d:\d\d/);
  const reference = /BC-\w{4}-\w{2}/.exec((await status.textContent()) ?? "")?.[0];
  expect(await readForm(page)).toEqual(EMPTY);
  await expect(page).toHaveTitle("Message sent | Brighter Carbon");
  const ticket = page.getByRole("group", { name: "Message sent successfully! Your reference is" });
  await expect(ticket).toBeFocused();
  for (const whole of [ticket, page.getByRole("heading", { level: 1 })]) {
    await expect(whole).toBeInViewport({ ratio: 1 });
  }
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Copy the reference" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Copied" })).toBeFocused();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(reference);

  await test.step("it stays after a reload and a step back, and a new visit shows the empty form", async () => {
    await page.reload();
    await expect(status).toContainText(String(reference));
    await page.goto("/privacy");
    await page.goBack();
    await expect(status).toContainText(String(reference));
    await page.goto("/contact?again");
    await page.locator("option[value=GB]").first().waitFor({ state: "attached" });
    await expect(status).toHaveCount(0);
    expect(await readForm(page)).toEqual(EMPTY);
    await page.goBack();
    await expect(status).toContainText(String(reference));
  });

  await test.step("it prints as itself, without buttons and form", async () => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await expect(status).toBeVisible();
    await expect(page.getByRole("button", { name: "Print or save" })).toBeHidden();
    await expect(submit(page)).toBeHidden();
    await expect(page.locator("details.footprint")).toBeHidden();
    await expect(page.getByRole("heading", { name: "Get in Touch" })).toBeHidden();
    await expect(page.locator("#footer")).toBeHidden();
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
  });

  await expect.poll(() => site.output()).toContain(`"event":"delivered","channel":"mail","reference":"${reference}"`);
});

test.describe("when the message after a sent one fails", () => {
  test.use({ expectedTrouble: /422|send-email/ });

  test("the receipt folds to its reference, the input stays, and the same words get a new key", async ({ page }) => {
    const keys: string[] = [];
    page.on("request", (request) => request.url().endsWith("/send-email") && keys.push(keyOf(request)));
    await openForm(page);
    await fillForm(page);
    await send(page);
    await expect(sent(page)).toBeVisible();
    const reference = String(await page.locator("#reference").textContent());
    await fillForm(page);
    await page.route("**/send-email", (route) => route.fulfill({ status: 422, json: { error: "Later." } }), {
      times: 1,
    });
    await submit(page).click();
    const expectFolded = async () => {
      await expect(page.locator(".receipt-folded")).toContainText(reference);
      await expect(sent(page)).toHaveCount(0);
      expect(await readForm(page)).toEqual(VISITOR);
    };
    await expect(page.getByText("Failed to send message.", { exact: true })).toBeInViewport();
    await expectFolded();
    await page.reload();
    await page.locator("option[value=GB]").first().waitFor({ state: "attached" });
    await expectFolded();

    expect(new Set(keys).size).toBe(2);

    await field(page, "Message").fill("Another one");
    await submit(page).click();
    await expect(sent(page)).toBeVisible();
    await expect(page.locator("#reference")).not.toHaveText(reference);
    expect(await readForm(page)).toEqual(EMPTY);
  });
});

test.describe("when the message is refused", () => {
  test.use({ expectedTrouble: /422|send-email|Sending the message failed|ERR_FAILED/ });

  test("the failure alert shows the reason, fields are kept, and only a changed text gets a key", async ({ page }) => {
    await openForm(page);
    const keys: (string | undefined)[] = [];
    const json = { success: false, error: "Try later.", fields: { phone: "Enter digits." } };
    await page.route("**/send-email", (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      return route.fulfill({ status: 422, json });
    });
    await fillForm(page);
    await submit(page).click();
    const alert = page.getByRole("alert").filter({ hasText: "Failed" });
    await expect(alert.getByText("Failed to send message.", { exact: true })).toBeInViewport();
    await expect(alert).toContainText("Try later.");
    await expect(alert).toBeFocused();
    expect(await readForm(page)).toEqual(VISITOR);

    await alert.getByRole("link", { name: "Enter digits." }).click();
    const phone = field(page, "Phone Number");
    await expect(phone).toBeFocused();
    await expect(phone).toHaveAttribute("aria-invalid", "true");
    await expect(phone).toHaveAccessibleDescription("Enter digits.");
    await submit(page).click();
    await expect.poll(() => keys.length).toBe(2);
    await expect(submit(page)).toBeEnabled();
    await phone.pressSequentially("1");
    await expect(phone).toHaveAttribute("aria-invalid", "false");
    await expect(phone).toBeFocused();
    await submit(page).click();
    await expect.poll(() => keys.length).toBe(3);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test("without an answer in JSON, the error is shown and logged, and the fields are kept", async ({ page }) => {
    for (const isAborted of [true, false]) {
      const logged = page.waitForEvent("console", (message) => message.text().includes("Sending the message failed."));
      await openForm(page);
      await page.route("**/send-email", (route) => (isAborted ? route.abort() : route.fulfill({ body: "<html>" })));
      await fillForm(page);
      await submit(page).click();
      const alert = page.getByRole("alert").filter({ hasText: "An error" });
      await expect(alert.getByText("An error occurred while sending your message.", { exact: true })).toBeInViewport();
      await expect(alert).toContainText(
        "We cannot tell whether it arrived. Press Submit again: it will not be sent twice.",
      );
      await expect(page).toHaveTitle("Error: Contact us | Brighter Carbon");
      expect((await logged).type()).toBe("error");
      expect(await readForm(page)).toEqual(VISITOR);
    }
  });
});

test("while a message is sent, the button is busy and sends once, and its fields are read-only", async ({ page }) => {
  await openForm(page);
  let requests = 0;
  const held = Promise.withResolvers<void>();
  await page.route("**/send-email", async (route) => {
    requests += 1;
    await held.promise;
    await route.fulfill({ json: { success: true, reference: "BC-TEST-00" } });
  });
  await fillForm(page);
  const formHeight = () => page.locator("form").evaluate((form: HTMLElement) => form.offsetHeight);
  const heightBefore = await formHeight();
  await submit(page).evaluate((element: HTMLButtonElement) => {
    for (let press = 0; press < 5; press += 1) element.click();
  });
  const busy = page.getByRole("button", { name: "Sending" });
  await expect(busy).toHaveAttribute("aria-disabled", "true");
  // The button stays under the pointer.
  expect(await formHeight()).toBe(heightBefore);
  await busy.press("Enter");
  await field(page, "Message").press("ControlOrMeta+End");
  await page.keyboard.type(" And a solar roof?");
  expect(await readForm(page)).toEqual(VISITOR);
  held.resolve();
  await expect(page.locator(".receipt-reference")).toContainText("BC-TEST-00");
  expect(requests).toBe(1);
});

test("the form asks about an address that looks wrong, and still sends it", async ({ page }) => {
  await openForm(page);
  const email = field(page, "Email");
  await fillForm(page, { ...VISITOR, email: "ada@gmail" });
  const question = page.locator(".field-suggestion [aria-live] > span");
  const phoneTop = async () => (await field(page, "Phone Number").boundingBox())?.y;
  const before = await phoneTop();
  await expect(question).toHaveText("Did you mean gmail.com? A button to use this address follows.");
  await email.press("Tab");
  const use = page.getByRole("button", { name: /^Use it\s+ada@gmail\.com$/ });
  await expect(use).toBeVisible();
  // Nothing moves when it appears, and it stands nearer to its field than to the next label.
  expect(await phoneTop()).toBe(before);
  const [fieldBox, useBox, labelBox] = await Promise.all(
    [email, use, page.locator("label[for=phone]")].map((one) => one.boundingBox()),
  );
  const above = (useBox?.y ?? 0) - (fieldBox?.y ?? 0) - (fieldBox?.height ?? 0);
  expect(above).toBeGreaterThanOrEqual(4);
  expect((labelBox?.y ?? 0) - (useBox?.y ?? 0) - (useBox?.height ?? 0)).toBeGreaterThan(above);
  await use.press("Enter");
  await expect(email).toHaveValue("ada@gmail.com");
  await expect(email).toBeFocused();
  await expect(question).toHaveCount(0);

  await email.fill("ada@company");
  await page.keyboard.press("Tab");
  await expect(question).toHaveCount(0);
  expect((await send(page)).postDataJSON()).toMatchObject({ email: "ada@company" });
  await expect(sent(page)).toBeVisible();
});

test("a message is sent by an old browser over plain HTTP, which has no clipboard", { tag: "@full" }, async ({
  page,
}) => {
  await page.addInitScript(`
    delete String.prototype.isWellFormed; delete String.prototype.toWellFormed; delete Promise.withResolvers;
    delete Object.groupBy; delete Array.fromAsync; delete AbortSignal.any; delete URL.canParse; delete URL.parse;
    delete Crypto.prototype.randomUUID; delete Crypto.prototype.subtle; delete Navigator.prototype.clipboard;
    delete self.requestIdleCallback; delete self.Iterator;
    for (const name of ["toSorted", "toReversed", "with", "findLast"]) delete Array.prototype[name];
    for (const name of ["union", "difference", "intersection"]) delete Set.prototype[name];`);
  await openForm(page);
  await fillForm(page);
  await submit(page).click();
  await expect(sent(page)).toBeVisible();
  await page.getByRole("button", { name: "Copy the reference" }).click();
  await expect(page.getByText("Your browser did not copy it. It is selected: copy it yourself.")).toBeVisible();
});

test("all problems are named at once, above the form and beside their fields", async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 667 });
  await openForm(page);
  let requests = 0;
  page.on("request", (request) => request.method() === "POST" && requests++);
  await expect(page.locator(":is(#name, #email, #phone, #message)[aria-invalid=false]")).toHaveCount(4);
  await submit(page).press("Enter");
  const summary = page.getByRole("alert", { name: "There are 4 problems" });
  await expect(summary).toBeFocused();
  await expect(page).toHaveTitle("Error: Contact us | Brighter Carbon");
  await expect(summary).toBeInViewport({ ratio: 1 });
  await expect(field(page, "Message")).toHaveAccessibleDescription("Enter your message.");
  await expect(page.locator("#country")).not.toHaveAttribute("aria-invalid");

  await test.step("a link leads to its field, with the label and the error in view; the URL stays", async () => {
    for (let press = 0; press < 3; press += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(field(page, "Phone Number")).toBeFocused();
    await expect(page.locator("label[for=phone]")).toBeInViewport({ ratio: 1 });
    await expect(page.locator("#phone-error")).toBeInViewport({ ratio: 1 });
    expect(new URL(page.url()).hash).toBe("");
  });

  await test.step("while a field is corrected, its error goes, and the summary stays as it is", async () => {
    await field(page, "Email").fill(VISITOR.email);
    await expect(page.locator(".field-error")).toHaveText([/name/, /phone/, /message/]);
    await expect(summary.getByRole("link")).toHaveCount(4);
  });

  await fillForm(page, { ...VISITOR, name: "   " });
  await submit(page).click();
  await expect(page.getByRole("alert", { name: "There is a problem" })).toBeFocused();
  await expect(field(page, "Name")).toHaveAccessibleDescription("Enter your name.");
  expect(requests).toBe(0);
});

test.describe("when the country list fails", () => {
  test.use({ expectedTrouble: /countries\.json|country list|status of 500/ });

  test("it is only logged and the form still works", { tag: "@full" }, async ({ page }) => {
    await page.route("**/countries.json", (route) => route.fulfill({ status: 500 }));
    const logged = page.waitForEvent("console", (line) => line.text().includes("The country list did not load."));
    await page.goto("/contact");
    await logged;
    await expect(page.locator("select[name=country] option")).toHaveText(["Select a country"]);
    await fillForm(page, { ...VISITOR, country: "", message: "Without a list" });
    await submit(page).click();
    await expect(sent(page)).toBeVisible();
  });
});

test("input from before the script loads survives the script and going back", async ({ page }) => {
  const letScriptGo = await holdScript(page);
  await page.goto("/contact");
  await fillForm(page, { ...VISITOR, country: "" });
  letScriptGo();
  await page.locator("option[value=GB]").first().waitFor({ state: "attached" });
  expect(await readForm(page)).toEqual({ ...VISITOR, country: "" });

  await field(page, "Country").selectOption(VISITOR.country);
  // A link within the page keeps all input.
  await page.getByRole("link", { name: "Skip to the main content" }).press("Enter");
  await expect(page).toHaveURL(/#/);
  // The page stores the values in the new history entry at the `hashchange` event, which follows the URL change.
  await expect.poll(() => page.evaluate(() => history.state?.values)).toMatchObject({ country: VISITOR.country });
  await page.goto("/privacy");
  await page.goBack();
  await expect(field(page, "Country")).toHaveValue(VISITOR.country);
  expect(await readForm(page)).toEqual(VISITOR);
});

test("a submit before the script loads is a plain post, whose result stays", async ({ page }) => {
  const letScriptGo = await holdScript(page);
  await page.goto("/contact#footprint");
  await field(page, "Distance").fill("8000");
  await field(page, "Unit").selectOption("miles");
  await fillForm(page, { ...VISITOR, country: "", message: "Quicker than the script" });
  await submit(page).click();
  await expect(page).toHaveURL(/#message-sent$/);
  const receipt = page.locator(".receipt");
  await expect(receipt).toContainText(/Message sent successfully!.*Your reference is BC-.*about 2\.7\st\sCO₂e a year/);
  letScriptGo();
  await page.getByRole("button", { name: "Copy the reference" }).waitFor();
  await expect(receipt.locator(".footprint-total strong")).toHaveText("about 2.7 t CO₂e a year");
  expect(await readForm(page)).toEqual(EMPTY);
  await fillForm(page, { ...VISITOR, country: "", message: "The next one" });
  await submit(page).click();
  await expect.poll(() => readForm(page)).toEqual(EMPTY);
  await expect(receipt.locator(".footprint-total")).toHaveCount(0);
});

test("a picture of another site is blocked, and would fail any other test", async ({ context, site }) => {
  const page = await context.newPage();
  const trouble = collectTrouble(page, site.url);
  await openForm(page);
  await page.evaluate(`new Image().src = "https://evil.example/x.png"`);
  await expect.poll(() => trouble.join()).toContain("img-src");
});
