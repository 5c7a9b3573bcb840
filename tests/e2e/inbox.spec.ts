import { readFile } from "node:fs/promises";
import { expect, type Locator, type Page } from "@playwright/test";
import { type ContactMessage, parseContactMessage } from "../../contract/contact-message.ts";
import { REPLY_UNDO_MS } from "../../contract/operator-limits.ts";
import { visible, visibleLines } from "../../contract/text.ts";
import { exportMessages } from "../../server/desk/export.ts";
import type { Store } from "../../server/store/open-store.ts";
import type { Outcome } from "../../server/store/queue.ts";
import { MINUTE_MS } from "../../server/time.ts";
import { claimOne, estimateOf, finish, messageWith, store as send, submissionOf } from "../store-contract/samples.ts";
import { expectAccessible, expectNoSidewaysScroll, expectNoViolations } from "../support/axe.ts";
import { HARMLESS, HOSTILE_CASES } from "../support/hostile-messages.ts";
import { test } from "../support/inbox-page.ts";
import { hold } from "../support/site.ts";

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);

/** Stores a message and brings it to the state. No older message may be waiting. */
async function put(
  store: Store,
  state: "waiting" | "delivered" | "failed" | "held",
  fields: Partial<ContactMessage> = {},
  acceptedAt = minutesAgo(1),
): Promise<string> {
  const submission = submissionOf(messageWith(fields), { isTrapped: state === "held" });
  const reference = await send(store, submission, acceptedAt);
  if (state === "delivered" || state === "failed") await finish(store, state, acceptedAt);
  return reference;
}

/** Stores one message in each state, accepted in this order a minute apart. Returns their references. */
async function putSamples(store: Store) {
  const grace = { name: "Grace Hopper", email: "grace@example.com", country: "US" };
  const emile = { name: "Émile Zola", email: "emile@example.fr", country: "FR" };
  const program = { name: "Program", email: "program@example.net", country: "" };
  return {
    delivered: await put(store, "delivered", grace, minutesAgo(5)),
    failed: await put(store, "failed", emile, minutesAgo(4)),
    held: await put(store, "held", program, minutesAgo(3)),
    waiting: await put(store, "waiting", { message: "Wind in the sails" }, minutesAgo(2)),
  };
}

/** A message with an estimate that uses every category. */
function putEstimate(store: Store, email: string): Promise<string> {
  const footprint = estimateOf(
    { electricityKwh: 3000, gasKwh: 9000, carKm: 12_000, railKm: 800, longFlights: 1, hotelNights: 4 },
    "",
  );
  return send(store, submissionOf(messageWith({ email, country: "" }), { footprint }), minutesAgo(1));
}

const rows = (page: Page) => page.locator(".row");
const row = (page: Page, reference: string) => rows(page).filter({ has: page.locator(`#message-${reference}`) });
const select = (page: Page, reference: string) => row(page, reference).getByRole("checkbox").check();
const tab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Messages by state" }).getByRole("link", { name: new RegExp(`^${name} `) });
const title = (page: Page) => page.getByRole("heading", { level: 1 });
const messagesLink = (page: Page) =>
  page.getByRole("navigation", { name: "Inbox" }).getByRole("link", { name: "Messages" });
const dialogOf = (page: Page) => page.getByRole("dialog");
const historyOf = (page: Page) => page.getByRole("region", { name: "History" });
const notice = (page: Page) => page.locator(".notices[data-position=bottom-center]");
/** The server's answer to a call that failed. */
const failure = (message: string) => ({
  status: 503,
  json: { error: { json: { message, code: -32603, data: { code: "SERVICE_UNAVAILABLE", httpStatus: 503 } } } },
});
/** Chooses an item of the message's menu. */
async function choose(page: Page, name: string): Promise<void> {
  await button(page, "More").click();
  await page.getByRole("menuitem", { name, exact: true }).click();
}
const press = async (page: Page, ...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
const button = (page: Page | Locator, name: string) => page.getByRole("button", { name, exact: true });

test("filters the list by tab and search, both in the URL", async ({ page, inbox }) => {
  const { failed, held } = await putSamples(inbox.store);
  await put(inbox.store, "delivered", { name: "Old Friend" }, minutesAgo(3 * 24 * 60));
  await inbox.open();
  await expect(rows(page)).toHaveCount(5);
  await expect(rows(page).first()).toContainText("Wind in the sails");
  await expect(row(page, failed)).toContainText("Failed");
  await expect(tab(page, "Unanswered")).toContainText("4");

  await tab(page, "Quarantined").click();
  await expect(rows(page)).toHaveCount(1);
  await expect(row(page, held)).toBeVisible();
  await expect(page).toHaveURL("/?tab=quarantined");
  await tab(page, "Answered").click();
  await expect(page.getByText("Nothing is answered yet")).toBeVisible();
  await tab(page, "All").click();

  await page.getByLabel("Search").fill("émile");
  await expect(rows(page)).toHaveCount(1);
  await expect(row(page, failed)).toBeVisible();
  await page.getByLabel("Search").fill("no such words");
  await expect(page.getByText("No message matches")).toBeVisible();
  await page.getByRole("link", { name: "Clear the search" }).click();
  await expect(rows(page)).toHaveCount(5);

  await page.getByLabel("Search").fill("émile");
  await expect(page).toHaveURL("/?tab=all&search=%C3%A9mile");
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  await page.goBack();
  await expect(page.getByText("No message matches")).toBeVisible();
});

test("what needs attention stands above the list and in the header", async ({ page, inbox }) => {
  await putSamples(inbox.store);
  await inbox.open();
  const attention = page.locator(".attention");
  const status = page.getByRole("region", { name: "Status" });
  await expect(attention.locator("summary")).toHaveText("The website is not running, and 2 more");
  await expect(status).toContainText("No backup yet");
  await expect(attention.getByText("1 message could not be emailed.")).toBeVisible();
  const unseen = attention.getByText("1 message quarantined as suspected abuse, not opened yet.");
  await expect(unseen).toBeVisible();
  await inbox.store.archive.backup(test.info().outputPath("backup.db"), new Date());
  await tab(page, "Quarantined").click();
  await rows(page).getByRole("link").first().click();
  await expect(historyOf(page)).toBeVisible();
  await messagesLink(page).click();
  await expect(unseen).toBeHidden();
  await expect(status).toContainText("Last backup: now");
});

test("on a phone the first message is in the upper half, and nothing covers it", async ({ page, inbox }) => {
  const { delivered } = await putSamples(inbox.store);
  await inbox.store.status.reportNode([], new Date());
  await put(inbox.store, "waiting", { name: "محمد عبد الله الأحمدي ".repeat(5).trim() }, minutesAgo(1));
  await page.setViewportSize({ width: 375, height: 740 });
  await inbox.open();
  await expect(rows(page)).toHaveCount(5);
  const boxOf = async (selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    if (!box) throw new Error(`${selector} is not shown`);
    return { ...box, bottom: box.y + box.height };
  };
  expect((await boxOf(".row")).y).toBeLessThan(740 / 2);
  for (const line of [".tabs", "search"]) expect((await boxOf(line)).height, line).toBeLessThan(60);

  // Only unusual states have a mark. Arabic text is cut off at its end, on the left.
  await expect(row(page, delivered)).not.toContainText("Delivered");
  const name = rows(page).first().locator(".row-who bdi").first();
  expect(await name.evaluate((bdi) => getComputedStyle(bdi).direction)).toBe("rtl");
  expect(await name.evaluate((bdi) => bdi.scrollWidth > bdi.clientWidth)).toBe(true);

  await page.getByLabel("Select all").check();
  for (const name of ["Mark answered", "Spam", "Delete"]) await expect(button(page, name)).toBeInViewport({ ratio: 1 });
  await button(page, "Mark answered").click();
  await expect(notice(page)).toContainText("5 messages marked as answered.");
  expect((await boxOf(".notice")).y).toBeGreaterThanOrEqual((await boxOf("#main")).bottom);
});

test("a defect on one message does not affect other screens", async ({ page, inbox }) => {
  inbox.expectTrouble(/undefined/);
  const { delivered, failed } = await putSamples(inbox.store);
  await page.route(`**/operations/message?*${failed}*`, async (route) => {
    const answer = await (await route.fetch()).json();
    delete answer.result.data.json.history;
    await route.fulfill({ json: answer });
  });
  await inbox.open(`/messages/${delivered}`);
  await expect(title(page)).toHaveText("Grace Hopper");
  await page.getByRole("link", { name: "Previous" }).click();
  await expect(title(page)).toHaveText("This page failed");
  await page.goBack();
  await expect(title(page)).toHaveText("Grace Hopper");
  await page.goForward();
  await expect(title(page)).toHaveText("This page failed");
  await page.getByRole("navigation", { name: "Inbox" }).getByRole("link", { name: "Messages" }).click();
  await expect(rows(page)).toHaveCount(3);
});

test("a new message appears without a reload, and does not keep the command running", async ({ page, inbox }) => {
  const marked: string[] = [];
  page.on("request", (request) => {
    if (request.headers()["x-operator"] === "1") marked.push(new URL(request.url()).pathname);
  });
  await inbox.open();
  await expect(page.getByText("No messages yet")).toBeVisible();
  await expect(page).toHaveTitle(/^Messages/);
  const reference = await put(inbox.store, "waiting");
  await expect(row(page, reference)).toBeVisible();
  await expect(page).toHaveTitle(/^\(1\) Messages/);
  await inbox.store.messages.act("answer", { references: [reference] }, new Date());
  await expect(row(page, reference)).toContainText("Answered");
  await expect(page).toHaveTitle(/^Messages/);
  expect(marked).toEqual([]);
  await tab(page, "Waiting").click();
  await expect(page).toHaveURL(/waiting/);
  await expect.poll(() => marked).toHaveLength(1);
});

test("exports the listed messages as a file", async ({ page, inbox }) => {
  await putSamples(inbox.store);
  // Longer than any part of a random reference, which the search also finds.
  await inbox.open("/?search=lovelace");
  await expect(rows(page)).toHaveCount(1);
  const download = page.waitForEvent("download");
  await button(page, "Export CSV").click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^messages-\d{4}-\d\d-\d\d\.csv$/);
  const parts = await Array.fromAsync(
    exportMessages({ filter: { search: "lovelace" }, format: "csv" }, inbox.store.messages),
  );
  expect(await readFile(await file.path(), "utf8")).toBe(parts.join(""));
  await expect(notice(page)).toContainText(`Saved as ${file.suggestedFilename()}`);
});

test("shows a message's estimate, which can be removed", async ({ page, inbox }) => {
  const footprint = estimateOf({ electricityKwh: 3000, longFlights: 2, longFlightClass: "business" }, "GB");
  const reference = await send(inbox.store, submissionOf(messageWith(), { footprint }), minutesAgo(1));
  await inbox.open(`/messages/${reference}`);
  const card = page.getByRole("region", { name: "Footprint estimate" });
  await expect(card).toContainText("About 11 t CO₂e a year.");
  await expect(card.getByRole("listitem")).toHaveText([/^Flights 11 t$/, /^Electricity 500 kg$/]);
  const widths = await card
    .locator(".mantine-Progress-section")
    .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  expect((widths[1] ?? 0) / (widths[0] ?? 1)).toBeCloseTo((3000 * 0.16778) / (2 * 13_000 * 0.41077), 2);
  await expect(card.getByRole("row")).toHaveText([
    "Electricity3,000 kWh500 kg",
    "Long return flights2 flights of 6,500 km each way, business11 t",
  ]);
  await expect(card).toContainText(`Computed with: ${footprint.factorSet}.An estimate, not a certificate.`);

  await page.getByRole("link", { name: "ada@example.com" }).click();
  await button(page, "Correct").click();
  await dialogOf(page).getByLabel("Remove the footprint estimate").check();
  await button(dialogOf(page), "Save").click();
  await expect(notice(page)).toContainText("1 message corrected.");
  await page.locator(`#message-${reference}`).click();
  await expect(historyOf(page)).toContainText("Corrected by operator");
  await expect(card).toHaveCount(0);
});

test("finds a person; exports, corrects, restricts and erases their messages", async ({ page, inbox }) => {
  // The page may request a deleted message once more before it leaves it.
  inbox.expectTrouble(/404|503/);
  const { waiting } = await putSamples(inbox.store);
  // The newest message, which the correction form shows. Its address differs from the page's address in case.
  await put(inbox.store, "waiting", { email: "ADA@example.com" }, minutesAgo(-1));
  await inbox.open(`/messages/${waiting}`);
  await page.getByRole("link", { name: "ada@example.com" }).click();
  await expect(rows(page)).toHaveCount(2);

  const download = page.waitForEvent("download");
  await button(page, "Export").click();
  const exported = JSON.parse(await readFile(await (await download).path(), "utf8"));
  expect(exported).toMatchObject({ messages: [{ email: "ADA@example.com" }, { reference: waiting }] });

  const field = (label: string) => dialogOf(page).getByLabel(label);
  const save = () => button(dialogOf(page), "Save").click();
  await button(page, "Correct").click();
  await field("Email").fill("nonsense");
  await save();
  await expect(field("Email")).toHaveAccessibleDescription("Enter an email address like name@example.com.");
  await expect(field("Email")).toBeFocused();
  await expect(field("Email")).toHaveAttribute("aria-invalid", "true");
  await field("Email").fill("ada@example.com");
  await field("Country").selectOption("Ireland");
  await page.route("**/operations/correct*", (route) => route.fulfill(failure("The database does not answer.")));
  await save();
  await expect(dialogOf(page).getByRole("alert")).toHaveText("The database does not answer.");
  await page.unroute("**/operations/correct*");
  await save();
  await expect(notice(page)).toContainText("2 messages corrected.");
  // The second correction keeps the first one.
  await button(page, "Correct").click();
  await field("Name").fill("Ada King");
  await save();
  await expect(page.locator("main dd").first()).toHaveText("Ada King");
  const corrected = { name: "Ada King", email: "ada@example.com", country: "IE" };
  expect(await inbox.store.messages.list({ email: "ada@example.com" })).toMatchObject([corrected, corrected]);

  await button(page, "Restrict").click();
  await expect(notice(page)).toContainText("2 messages from this address restricted");
  await expect(title(page)).toBeFocused();
  await button(page, "Lift restriction").click();
  await expect(notice(page)).toContainText("2 messages from this address no longer restricted.");

  const confirmErasure = async () => {
    await button(page, "Erase").click();
    await expect(button(dialogOf(page), "Erase 2 messages")).toBeDisabled();
    await field("Type the address to confirm").fill("Ada@Example.com");
  };
  await confirmErasure();
  await inbox.store.messages.act("answer", { references: [waiting] }, new Date());
  await button(dialogOf(page), "Erase 2 messages").click();
  await expect(notice(page)).toContainText("This person’s messages changed in the meantime.");
  await expect(row(page, waiting)).toContainText("Answered");
  await confirmErasure();
  await button(dialogOf(page), "Erase 2 messages").click();
  await expect(notice(page)).toContainText("2 messages and 0 .eml files erased.");
  await expect(page.getByText("There are no messages from this address")).toBeVisible();

  await messagesLink(page).click();
  await page.getByLabel("Search").fill("emile@example.fr");
  await page.getByRole("link", { name: /everything from emile@example\.fr/ }).click();
  await expect(rows(page)).toHaveCount(1);
});

test("retries, releases, marks and deletes messages, but none that changed", async ({ page, inbox }) => {
  inbox.expectTrouble(/404/);
  const { delivered, failed, held, waiting } = await putSamples(inbox.store);
  await inbox.open();
  for (const reference of [delivered, failed, held]) await select(page, reference);
  await expect(page.getByText("3 messages selected")).toBeVisible();
  await button(page, "Mark answered").click();
  await expect(notice(page)).toContainText("3 messages marked as answered.");
  for (const [reference, action, outcome] of [
    [held, "Mark unanswered", "1 message marked as unanswered."],
    [failed, "Retry", "1 message queued again."],
    [held, "Release", "1 message released."],
  ] as const) {
    await select(page, reference);
    await button(page, action).click();
    await expect(notice(page)).toContainText(outcome);
  }
  for (const reference of [failed, held]) await expect(row(page, reference)).toContainText("Waiting");

  await select(page, waiting);
  await select(page, held);
  await button(page, "Delete").click();
  await button(dialogOf(page), "Cancel").click();
  await button(page, "Delete").click();
  await inbox.store.messages.act("answer", { references: [held] }, new Date());
  await button(dialogOf(page), "Delete 2 messages").click();
  await expect(notice(page)).toContainText("1 message deleted.");
  await expect(notice(page)).toContainText(`Skipped, because they changed in the meantime: ${held} (now waiting)`);
  await expect(rows(page)).toHaveCount(3);

  await page.goto(`/messages/${held}`);
  await choose(page, "Delete");
  await inbox.store.messages.act("delete", { references: [held] }, new Date());
  await button(dialogOf(page), "Delete 1 message").click();
  await expect(notice(page)).toContainText(`No longer there: ${held}`);
});

test("a message's page shows everything, and works by keyboard without losing the focus", async ({ page, inbox }) => {
  inbox.expectTrouble(/404/);
  const { failed, held, waiting } = await putSamples(inbox.store);
  const pressOn = async (target: Locator, key = "Enter") => {
    await tabTo(page, target);
    await page.keyboard.press(key);
  };
  await inbox.open();
  await expect(rows(page)).toHaveCount(4);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await pressOn(row(page, waiting).getByRole("checkbox"), "Space");
  await pressOn(button(page, "Mark answered"));
  await expect(notice(page)).toContainText("1 message marked as answered.");
  await expect(page.getByLabel(/^Select all/)).toBeFocused();

  await pressOn(page.locator(`#message-${failed}`));
  await expect(title(page)).toHaveText("Émile Zola");
  await expect(title(page)).toBeFocused();
  const history = historyOf(page).getByRole("listitem");
  const failure = /^Failed for good.*550 no such user/;
  await expect(history).toContainText([/^Received/, failure]);
  await pressOn(button(page, "More"));
  await page.getByRole("menuitem", { name: "Mark answered" }).click();
  await expect(history).toContainText([/^Received/, failure, /^Marked as answered/]);
  const openDelete = async () => {
    await page.keyboard.press("Enter");
    // The menu takes the focus shortly after it is rendered.
    await expect(page.getByRole("menu").locator(":focus")).toHaveCount(1);
    await press(page, "ArrowDown", "End");
    await expect(page.getByRole("menuitem", { name: "Delete" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(dialogOf(page)).toBeVisible();
  };
  await tabTo(page, button(page, "More"));
  await openDelete();
  await page.keyboard.press("Escape");
  await expect(dialogOf(page)).toBeHidden();
  await expect(button(page, "More")).toBeFocused();
  await openDelete();
  await pressOn(button(dialogOf(page), "Delete 1 message"));
  await expect(page).toHaveURL("/?tab=all");
  await expect(rows(page)).toHaveCount(3);

  await page.locator(`#message-${held}`).focus();
  await page.keyboard.press("o");
  await expect(page.getByText("A hidden field was filled in").first()).toBeVisible();
  await pressOn(button(page, "Release"));
  await expect(notice(page)).toContainText("1 message released");
  await expect(title(page)).toBeFocused();
  await expect(history.last()).toContainText("Released by operator");
  await expect(page.locator("main header .marks")).toContainText("Waiting");
  await tabTo(page, page.getByLabel("Note"));
  await page.keyboard.type("Wants an offer\nuntil Friday");
  await pressOn(button(page, "Add note"));
  await expect(history.last()).toContainText(/^Note by operator.*Wants an offer\s+until Friday/);
  await expect(page.getByLabel("Note")).toHaveValue("");
  await expect(button(page, "Add note")).toBeFocused();

  // An action that starts while the page still reloads asks at once, and runs after the reload.
  const answer = await hold(page, "**/operations/status*");
  await choose(page, "Mark answered");
  await expect(history.last()).toContainText("Marked as answered");
  await choose(page, "Delete");
  await expect(page.getByRole("dialog", { name: "Delete the message from Program?" })).toBeVisible();
  await button(dialogOf(page), "Delete 1 message").click();
  answer();
  await expect(page).toHaveURL("/?tab=all");
  await expect(rows(page)).toHaveCount(2);

  await page.goto("/?search=grace&tab=unanswered");
  await expect(rows(page)).toHaveCount(1);
  await press(page, "j", "e");
  await expect(rows(page)).toHaveCount(0);
  await expect(title(page)).toBeFocused();
});

test("the token is in no request URL, survives a reload, and reaches new tabs", async ({ page, inbox, context }) => {
  const { waiting } = await putSamples(inbox.store);
  const token = inbox.token();
  const requests: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  inbox.expectTrouble(new RegExp(`^foreign request: ${new URL(inbox.url()).origin}/`));
  await page.goto(inbox.url());
  await expect(rows(page)).toHaveCount(3);
  await expect(page).toHaveURL(/^http:\/\/\w+\.localhost:\d+\/$/);
  await page.reload();
  await expect(rows(page)).toHaveCount(3);
  const opened = context.waitForEvent("page");
  await page.locator(`#message-${waiting}`).click({ modifiers: ["ControlOrMeta"] });
  const newTab = await opened;
  await expect(newTab.getByRole("heading", { level: 1 })).toHaveText("Ada Lovelace");
  expect(requests.length).toBeGreaterThan(5);
  expect(requests.filter((url) => url.replace(/#.*/, "").includes(token))).toEqual([]);
  expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).not.toContain(token);
});

test("a hidden tab ends its connection, because a browser opens only six", async ({ page, inbox, context }) => {
  await put(inbox.store, "waiting");
  await inbox.open();
  await expect(rows(page)).toHaveCount(1);
  const setHidden = (isHidden: boolean) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/operations/changes"));
  await setHidden(true);
  await ended;
  const visibleTab = await context.newPage();
  await visibleTab.goto("/");
  await expect(rows(visibleTab)).toHaveCount(1);
  await put(inbox.store, "waiting");
  await expect(rows(visibleTab)).toHaveCount(2);
  await expect(rows(page)).toHaveCount(1);
  await setHidden(false);
  await expect(rows(page)).toHaveCount(2);
});

test("shows nothing without this run's token, and keeps the data if the inbox stops", async ({ page, inbox }) => {
  inbox.expectTrouble(/401|ERR_/);
  await putSamples(inbox.store);
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Open the address from the terminal" })).toBeVisible();
  await page.goto(`/#${"x".repeat(43)}`);
  const outdated = page.getByRole("heading", { name: "This address is no longer valid" });
  await expect(outdated).toBeVisible();
  const newTab = await page.context().newPage();
  await newTab.goto("/");
  await expect(newTab.getByRole("heading", { name: "Open the address from the terminal" })).toBeVisible();
  await inbox.open();
  await expect(rows(page)).toHaveCount(4);
  await inbox.stop();
  await expect(page.getByText("The inbox does not answer.")).toBeVisible();
  await expect(page.getByText("If the inbox was stopped, run messages inbox and open")).toBeVisible();
  await expect(rows(page)).toHaveCount(4);
  await inbox.restart();
  await expect(outdated).toBeVisible();
});

test("says when the database does not answer", async ({ page, inbox }) => {
  await putSamples(inbox.store);
  await page.route("**/operations/changes*", (route) => {
    const state = 'data: {"json":{"problem":"unavailable","message":"No"}}';
    const body = `event: connected\ndata: {}\n\n${state}\n\nevent: return\ndata:\n\n`;
    return route.fulfill({ contentType: "text/event-stream", body });
  });
  await inbox.open();
  await expect(rows(page)).toHaveCount(4);
  await expect(page.getByText("The database does not answer.")).toBeVisible();
  await expect(page.getByText("stop the inbox, then run messages inbox and open the address")).toBeVisible();
  await page.unroute("**/operations/changes*");
  await expect(page.getByRole("alert").getByText("The database")).toHaveCount(0);
});

test("shows that one of two actions failed, although the other one succeeded", async ({ page, inbox }) => {
  inbox.expectTrouble(/500/);
  const [second = "", first = ""] = await Promise.all(
    [1, 2].map((age) => put(inbox.store, "waiting", {}, minutesAgo(age))),
  );
  const bothPressed = Promise.withResolvers<void>();
  let calls = 0;
  await page.route("**/operations/act*", async (route) => {
    calls += 1;
    await bothPressed.promise;
    if (calls > 1) await route.continue();
    else await route.fulfill({ ...failure("It went wrong."), status: 500 });
  });
  await inbox.open();
  await expect(rows(page)).toHaveCount(2);
  await press(page, "j", "e", "j", "e");
  bothPressed.resolve();
  await expect(notice(page)).toContainText(
    "The action failed. It went wrong. Some messages may have changed: check them",
  );
  await expect(notice(page)).toContainText("1 message marked as answered.");
  const answeredAt = async (reference: string) => (await inbox.store.messages.find(reference))?.answeredAt;
  expect([await answeredAt(second), await answeredAt(first)]).toEqual([null, expect.any(Date)]);
});

test("a list of several pages marks only arriving messages as new, and keeps the focus", async ({ page, inbox }) => {
  const sent = Array.from({ length: 52 }, (_, index) => put(inbox.store, "waiting", {}, minutesAgo(index + 5)));
  const references = await Promise.all(sent);
  await inbox.open("/?tab=unanswered");
  await expect(rows(page)).toHaveCount(50);
  await page.getByRole("link", { name: "Older" }).first().click();
  await expect(rows(page)).toHaveCount(2);
  await expect(page.getByText("51–52 of 52").first()).toBeVisible();
  await page.getByRole("link", { name: "Newer" }).first().click();
  await expect(rows(page)).toHaveCount(50);
  const far = rows(page).nth(45).getByRole("link");
  await far.click();
  await expect(historyOf(page)).toBeVisible();
  await page.goBack();
  await expect(far).toBeFocused();
  await expect(far).toBeInViewport();

  // A message that moves up from the next page is not marked as new; an arriving one is.
  await page.reload();
  await expect(rows(page)).toHaveCount(50);
  await press(page, "j", "j");
  await expect(page.locator(`#message-${references[1]}`)).toBeFocused();
  await page.keyboard.press("e");
  await expect(row(page, references[1] ?? "")).toHaveCount(0);
  await expect(page.locator(`#message-${references[2]}`)).toBeFocused();
  await expect(page.locator(`#message-${references[50]}`)).toBeVisible();
  await expect(page.locator("[data-fresh=true]")).toHaveCount(0);
  const arrived = await put(inbox.store, "waiting", { name: "Just Now", country: "FR" });
  await expect(page.locator("[data-fresh=true]")).toHaveCount(1);
  await expect(page.getByText("1 new message")).toBeAttached();

  // After going back from a message that has left the list, the row in its place has the focus.
  await page.locator(`#message-${references[3]}`).click();
  await choose(page, "Mark answered");
  await expect(page.locator("main header .marks")).toContainText("Answered");
  await page.goBack();
  await expect(row(page, references[3] ?? "")).toHaveCount(0);
  await expect(page.locator(`#message-${references[4]}`)).toBeFocused();

  // A delayed search does not undo a choice that was made while typing.
  await page.keyboard.press("/");
  await expect(page.getByLabel("Search")).toBeFocused();
  await page.keyboard.type("just");
  await tab(page, "Waiting").click();
  await expect(page).toHaveURL(/tab=waiting&search=just|search=just&tab=waiting/);
  await expect(page.getByLabel("Search")).toHaveValue("just");
  await expect(row(page, arrived)).toBeVisible();
});

test("buttons and keys lead from message to message, and undo the last mark", async ({ page, inbox }) => {
  inbox.expectTrouble(/503/);
  const put4 = ["Fourth", "Third", "Second", "First"].map((name, index) =>
    put(inbox.store, "waiting", { name, message: `I am ${name}` }, minutesAgo(9 - index)),
  );
  const [, , second = ""] = await Promise.all(put4);
  await inbox.open("/?tab=unanswered");
  await expect(rows(page)).toHaveCount(4);
  await press(page, "j", "o");
  await expect(title(page)).toHaveText("First");
  await expect(page.getByText("1 of 4")).toBeVisible();
  await page.getByRole("link", { name: "Next" }).click();
  await expect(title(page)).toHaveText("Second");
  await expect(title(page)).toBeFocused();
  await page.keyboard.press("k");
  await expect(title(page)).toHaveText("First");
  await page.keyboard.press("j");
  await expect(page.getByText("2 of 4")).toBeVisible();

  await choose(page, "Mark answered");
  await expect(notice(page)).toContainText("1 message marked as answered.");

  // A key that is pressed before the neighbours have loaded takes effect afterwards.
  const tellPlaces = await hold(page, "**/operations/place?*");
  await page.keyboard.press("j");
  await expect(title(page)).toHaveText("Third");
  const answered = page.waitForResponse("**/operations/act*");
  await page.keyboard.press("e");
  await answered;
  tellPlaces();
  await expect(title(page)).toHaveText("Fourth");
  for (const takeBack of [() => page.keyboard.press("z"), () => button(page, "Undo").click()]) {
    await expect(button(page, "Undo")).toBeVisible();
    // A failed attempt can be repeated.
    await page.route("**/operations/undo*", (route) => route.fulfill(failure("No answer.")), { times: 1 });
    await takeBack();
    await expect(notice(page)).toContainText("No answer.");
    await takeBack();
    await expect(notice(page)).toContainText("Undone: 1 message.");
    await expect(title(page)).toHaveText("Third");
    await expect(page.getByText("2 of 3")).toBeVisible();
    await title(page).focus();
    await page.keyboard.press("e");
    await expect(title(page)).toHaveText("Fourth");
  }
  await page.keyboard.press("k");
  await expect(title(page)).toHaveText("First");
  await button(page, "Answered, next").dblclick();
  await expect(title(page)).toHaveText("Fourth");
  await expect(page.getByText("1 of 1")).toBeVisible();
  await button(page, "Answered, next").dispatchEvent("click", { detail: 2 });
  expect(await inbox.store.messages.countTabs({})).toMatchObject({ answered: 3 });

  // Keys do nothing while the operator types or has a dialog open.
  await page.getByLabel("Note").fill("");
  await page.keyboard.type("jeku");
  await expect(title(page)).toHaveText("Fourth");
  await title(page).focus();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toContainText("Undo the last mark or reply");
  await press(page, "e", "Escape");
  expect(await inbox.store.messages.countTabs({})).toMatchObject({ answered: 3 });

  // An operator who starts to type before the neighbours have loaded stays on the message.
  await page.goto(`/messages/${second}?tab=all`);
  const tellPlace = await hold(page, "**/operations/place?*");
  await page.reload();
  await expect(title(page)).toHaveText("Second");
  await page.keyboard.press("j");
  await page.getByLabel("Note").fill("Called back");
  tellPlace();
  await expect(page.getByText("2 of 4")).toBeVisible();
  await expect(title(page)).toHaveText("Second");
  await expect(page.getByLabel("Note")).toHaveValue("Called back");
});

test("the most likely action for the state comes first", async ({ page, inbox }) => {
  const { waiting, held } = await putSamples(inbox.store);
  const at = (reference: string) => inbox.open(`/messages/${reference}`);
  await at(waiting);
  const primary = page.locator("article > .controls").getByRole("button").first();
  await expect(primary).toHaveText("Reply");
  await at(held);
  await expect(primary).toHaveText("Release");
  await expect(page.getByRole("region", { name: "Reply" })).toContainText("you cannot reply to a quarantined message");
  await inbox.store.people.restrict("ada@example.com", true, new Date());
  await at(waiting);
  await expect(page.getByRole("region", { name: "Reply" })).toContainText(
    "its sender asked you to keep it but not use it",
  );
  await expect(primary).toHaveText("Lift restriction");
  await primary.click();
  await expect(notice(page)).toContainText("1 message from this address no longer restricted.");
  await expect(primary).toHaveText("Reply");
});

test("every screen shows whether the website runs, and the list shows what expires soon", async ({ page, inbox }) => {
  const status = page.getByRole("region", { name: "Status" });
  const old = minutesAgo(26 * 24 * 60);
  const expiring = await put(inbox.store, "delivered", { name: "Forgotten" }, old);
  const estimated = await putEstimate(inbox.store, "eve@example.com");
  await put(inbox.store, "waiting", {}, minutesAgo(0));
  await inbox.store.status.reportNode(null, minutesAgo(60));
  await inbox.open();
  await expect(status).toContainText("Website: not running since");
  const erasedSoon = page.getByText(/1 message will be erased soon, .+ \(1 unanswered\)/);
  await expect(erasedSoon).toHaveCount(1);
  await expect(row(page, expiring)).toContainText("Erasure on");
  await page.locator(`#message-${estimated}`).click();
  await expect(status).toContainText("Website: not running since");
  await page.goto(`/messages/${expiring}`);
  await expect(page.getByRole("region", { name: "Sender" })).toContainText("Kept until");

  // The full text of the most urgent trouble, and the number of the others.
  const pause = { channel: "mail", reason: `535 ${"no longer valid ".repeat(20)}`, since: minutesAgo(1) } as const;
  await inbox.store.status.reportNode([pause], new Date());
  await page.setViewportSize({ width: 375, height: 740 });
  await page.reload();
  await expect(status.getByRole("link")).toHaveText("No message can be emailed, and 1 more");
  // So that the buttons of a message fit in one row.
  await expect(button(page, "More")).toHaveCSS("padding-left", "6px");
  const cut = await status.evaluate((line) =>
    [line, ...line.querySelectorAll("*")].filter(
      (part) => part.scrollWidth > part.clientWidth + 1 || part.getBoundingClientRect().right > innerWidth,
    ),
  );
  expect(cut).toHaveLength(0);
  await page.setViewportSize({ width: 1280, height: 720 });

  await inbox.store.status.reportNode([], new Date());
  await page.reload();
  await expect(status).toContainText("Website: running");
});

test("messages are answered one after another by keyboard, and a reply can be taken back", async ({ page, inbox }) => {
  const names = ["First", "Second"];
  const beforeAnyIsDue = new Date(Date.now() + REPLY_UNDO_MS - 1);
  for (const [index, name] of names.entries()) await put(inbox.store, "delivered", { name }, minutesAgo(index + 1));
  await inbox.open("/?tab=unanswered");
  await expect(rows(page)).toHaveCount(2);
  await press(page, "j", "o");
  for (const name of names) {
    await expect(title(page)).toHaveText(name);
    await page.keyboard.press("r");
    await expect(page.getByLabel("Text")).toBeFocused();
    await page.keyboard.type(`Dear ${name}`);
    for (const key of ["Control+Enter", "Control+Shift+Enter"]) {
      await page.keyboard.press(key);
      await expect(page.locator("textarea:focus"), "sent, so that z is no text").toHaveCount(0);
      await expect(notice(page)).toContainText("Reply sent.");
      expect(await inbox.store.queue.claim("reply", 9, MINUTE_MS, beforeAnyIsDue)).toEqual([]);
      await page.keyboard.press("z");
      await expect(notice(page)).toContainText("The reply was not sent. It is a draft again.");
      await expect(title(page)).toHaveText(name);
      await expect(page.getByLabel("Text")).toHaveValue(`Dear ${name}`);
      expect(await inbox.store.messages.list({})).toMatchObject(
        names.map((other) => ({ answeredAt: other === name || name === "First" ? null : expect.any(Date) })),
      );
      await page.getByLabel("Text").focus();
    }
    await page.keyboard.press("Control+Shift+Enter");
    await expect(notice(page)).toContainText("Reply sent.");
  }
  await expect(page.getByText("Everything is answered")).toBeVisible();
  for (const { name, reference } of await inbox.store.messages.list({})) {
    expect((await inbox.store.messages.notes([reference])).get(reference)).toMatchObject([
      { text: `Re: Your message (${reference})\n\nDear ${name}`, author: "operator" },
    ]);
  }
});

test("a reply that waits for an earlier one does not change", async ({ page, inbox }) => {
  const references = [await put(inbox.store, "delivered"), await put(inbox.store, "delivered")];
  const answer = await hold(page, "**/operations/reply*");
  await inbox.open();
  for (const reference of references) {
    await page.locator(`#message-${reference}`).click();
    await page.getByLabel("Text").fill("Hello");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByLabel("Text")).not.toBeEditable();
    await page.getByLabel("Insert a saved reply").selectOption("thanks");
    await expect(page.getByLabel("Text")).toHaveValue("Hello");
    await expect
      .poll(async () => (await inbox.store.messages.readDrafts(reference)).others)
      .toMatchObject([{ text: "Hello" }]);
    await messagesLink(page).click();
  }
  answer();
  for (const reference of references) await expect(row(page, reference)).toContainText("Reply waiting");
});

test("a draft survives a restart, becomes one reply, and can be sent again or rewritten", async ({ page, inbox }) => {
  inbox.expectTrouble(/ERR_|401|503/);
  const reference = await put(inbox.store, "delivered", { message: "Two\nlines" });
  await inbox.open(`/messages/${reference}?tab=all`);
  const box = page.getByRole("region", { name: "Reply" });
  await expect(box).toContainText("ada@example.com");
  await expect(box).toContainText(/On \d{4}-\d\d-\d\d, Ada Lovelace wrote:\s+> Two\s+> lines/);
  // The other saved reply needs an estimate.
  await expect(page.getByLabel("Insert a saved reply").getByRole("option")).toHaveText(["", "thanks"]);
  await page.getByLabel("Insert a saved reply").selectOption("thanks");
  await expect(page.getByLabel("Text")).toHaveValue(`Dear Ada Lovelace, about ${reference}`);
  await page.getByLabel("Subject").fill("Our offer");
  await expect(box).toContainText("Your draft is saved.");
  const stored = await page.getByLabel("Text").inputValue();
  let isFailing = true;
  await page.route("**/operations/saveDraft*", async (route) => {
    const response = await route.fetch();
    await route.fulfill(isFailing ? failure("The database does not answer.") : { response });
  });
  await page.getByLabel("Text").fill("Dear");
  const notSaved = "Your draft is not saved. The database does not answer.";
  await expect(box).toContainText(notSaved);
  await messagesLink(page).click();
  await page.locator(`#message-${reference}`).click();
  await expect(box).toContainText(notSaved);
  // The server may have stored what was written in between.
  await page.getByLabel("Text").fill(stored);
  isFailing = false;
  await expect(box).toContainText("Your draft is saved.");
  expect((await inbox.store.messages.readDrafts(reference)).others).toMatchObject([{ text: stored }]);
  // A page that closes does not wait for a running call.
  await page.route("**/operations/saveDraft*", () => {}, { times: 1 });
  const running = page.waitForRequest("**/operations/saveDraft*");
  await page.getByLabel("Text").fill("Dear A");
  await running;
  await page.getByLabel("Text").fill("Dear Ada");
  await page.getByLabel("Subject").fill("");
  await page.reload();
  await expect(page.getByLabel("Text")).toHaveValue("Dear Ada");
  await expect(page.getByLabel("Subject")).toHaveValue("");
  await page.getByLabel("Subject").fill("Our offer");
  await expect(box).toContainText("Your draft is saved.");

  // The same operator writes in another window.
  const other = await page.context().newPage();
  await other.goto(page.url());
  const writeThere = async (text: string) => {
    const saved = other.waitForResponse("**/operations/saveDraft*");
    await other.getByLabel("Text").fill(text);
    await saved;
  };
  await writeThere("Dear Eve");
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await expect(page.getByLabel("Text")).toHaveValue("Dear Eve");
  await writeThere("Dear Ada");
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await expect(page.getByLabel("Text")).toHaveValue("Dear Ada");
  await other.close();

  // A colleague writes and sends a reply at the same time.
  const { messages } = inbox.store;
  await messages.saveDraft(reference, { subject: "Re", text: "Hello", note: "" }, new Date());
  await expect(box).toContainText("anna is replying");
  await box.getByText(/^Draft of anna, /).click();
  await expect(box.getByText("Hello", { exact: true })).toBeVisible();
  await messages.reply(reference, { key: "1", subject: "Re", text: "Hello" }, new Date());
  await expect(box).toContainText("Reply: waiting");
  await expect(box).toContainText(/anna replied at \d\d:\d\d/);
  await expect(box).not.toContainText("is replying");
  await inbox.store.queue.settle(await claimOne(inbox.store, new Date(), "reply"), { kind: "delivered" }, new Date());
  await expect(box).toContainText("Reply: delivered");
  await expect(box).toContainText("Answers go to team@example.com.");
  await expect(page.getByLabel("Text")).toHaveValue("Dear Ada");
  await inbox.restart();
  await page.goto("about:blank");
  await inbox.open(`/messages/${reference}?tab=all`);
  await expect(page.getByLabel("Subject")).toHaveValue("Our offer");
  await expect(page.getByLabel("Text")).toHaveValue("Dear Ada");

  // The call arrives, but its answer is lost, and the operator does not wait for it.
  const { promise: isLeft, resolve: leave } = Promise.withResolvers<void>();
  await page.route("**/operations/reply*", async (route) => {
    await route.fetch();
    await isLeft;
    await route.fulfill(failure("The database does not answer."));
  });
  await button(box, "Send reply").click();
  await messagesLink(page).click();
  await expect(row(page, reference)).toBeVisible();
  leave();
  await expect(notice(page)).toContainText(`Sending the reply to ${reference} failed.`);
  await page.unroute("**/operations/reply*");
  await page.locator(`#message-${reference}`).click();
  await expect(page.getByText("Reply: waiting")).toBeVisible();
  expect((await messages.notes([reference])).get(reference)).toMatchObject([
    { author: "anna" },
    { author: "operator" },
  ]);

  const settle = async (outcome: Outcome) => {
    const claim = await claimOne(inbox.store, new Date(Date.now() + REPLY_UNDO_MS), "reply");
    await inbox.store.queue.settle(claim, outcome, new Date());
    return claim.reply;
  };
  const failed = { kind: "failed", error: "550 no such mailbox" } as const;
  expect(await settle(failed)).toMatchObject({ subject: "Our offer", text: "Dear Ada" });
  await expect(box).toContainText("550 no such mailbox.");
  await expect(page.getByRole("region", { name: "Status" })).toContainText("1 reply could not be sent");
  await button(box, "Send the reply again").click();
  await expect(box).toContainText("Reply: waiting");
  await settle(failed);
  await page.getByLabel("Text").fill("I forgot:");
  await button(box, "Rewrite the reply").click();
  await expect(page.getByLabel("Text")).toBeFocused();
  await expect(page.getByLabel("Text")).toHaveValue("I forgot:\n\nDear Ada");
  await page.keyboard.type(" Lovelace");
  await page.keyboard.press("Meta+Enter");
  await expect(box).toContainText("Reply: waiting");
  await messagesLink(page).click();
  await expect(row(page, reference)).toContainText("Reply waiting");
  await page.locator(`#message-${reference}`).click();
  expect(await settle({ kind: "delivered" })).toMatchObject({
    subject: "Our offer",
    text: "I forgot:\n\nDear Ada Lovelace",
  });
  await expect(box).toContainText("Reply: delivered");
  await expect(page.locator("main header .marks")).toContainText("Answered");
  await expect(page.getByLabel("Text")).toHaveValue("");
});

test("keys mark messages as spam, undo that, and release suspected spam", async ({ page, inbox }) => {
  const { store } = inbox;
  const spam = (index: number) => ({
    message: `Cheap pills at https://pills.example/${index}`,
    email: `${index}@x.org`,
  });
  const taught = await Promise.all(
    Array.from({ length: 40 }, (_, index) => put(store, "waiting", index % 2 ? spam(index) : {})),
  );
  await store.messages.act("spam", { references: taught.filter((_, index) => index % 2) }, new Date());
  await store.messages.act("answer", { references: taught.filter((_, index) => index % 2 === 0) }, new Date());
  const held = await put(store, "waiting", { name: "Held", ...spam(99) }, minutesAgo(0));
  await put(store, "waiting", { name: "Third" }, minutesAgo(-1));
  await put(store, "waiting", { name: "Second" }, minutesAgo(-2));
  const first = await put(store, "waiting", { name: "First" }, minutesAgo(-3));
  await inbox.open();
  await expect(row(page, held)).toContainText("Looks like spam");
  // On a message: marks it and goes to the next one, then undoes that.
  await press(page, "j", "o");
  await expect(title(page)).toHaveText("First");
  await expect(button(page, "Spam")).toBeVisible();
  await page.keyboard.press("!");
  await expect(title(page)).toHaveText("Second");
  await expect(notice(page)).toContainText("1 message marked as spam.");
  await page.keyboard.press("z");
  await expect(title(page)).toHaveText("First");
  await expect(notice(page)).toContainText("Undone: 1 message.");
  // In the list: marks the selection.
  await page.keyboard.press("u");
  await page.locator(`#message-${first}`).focus();
  await press(page, "j", "x", "j", "x");
  await expect(page.getByText("2 messages selected")).toBeAttached();
  await page.keyboard.press("!");
  await expect(notice(page)).toContainText("2 messages marked as spam.");

  await page.locator(`#message-${held}`).focus();
  await page.keyboard.press("o");
  const alert = page.getByRole("note", { name: "Looks like spam" });
  await expect(alert.getByRole("listitem")).toHaveCount(5);
  await expectNoViolations(page);
  await button(alert, "Release").focus();
  await page.keyboard.press("Enter");
  await expect(alert).toBeHidden();
  await put(store, "held");
  await page.goto("/?tab=quarantined");
  await expect(page.getByRole("list", { name: /^Held back/ }).locator(".row")).toHaveCount(1);
  await expect(page.getByRole("list", { name: /^Marked as spam/ }).locator(".row")).toHaveCount(22);
});

test("shows hostile names and messages as text", { tag: "@full" }, async ({ page, inbox }) => {
  const accepted = HOSTILE_CASES.flatMap(([, hostile]) => {
    const parsed = parseContactMessage({ ...HARMLESS, ...hostile });
    return parsed.ok ? [parsed.message] : [];
  });
  expect(accepted.length).toBeGreaterThan(30);
  const sent = accepted.map(
    async (message, index) => [await send(inbox.store, submissionOf(message), minutesAgo(index)), message] as const,
  );
  const references = new Map(await Promise.all(sent));
  await page.setViewportSize({ width: 375, height: 800 });
  await inbox.open();
  await expect(rows(page)).toHaveCount(Math.min(50, references.size));
  await expectNoSidewaysScroll(page);
  await expectNoViolations(page);
  await expect(page.locator("main img, main iframe, main script, main b")).toHaveCount(0);

  // Every message has the same page, so a third of the messages is enough.
  for (const [reference, message] of [...references].filter((_, index) => index % 3 === 0)) {
    await page.evaluate((path) => {
      history.pushState(null, "", path);
      dispatchEvent(new PopStateEvent("popstate", { state: null }));
    }, `/messages/${reference}`);
    await expect(page.locator(".reference")).toHaveText(reference);
    await expect(page.locator(".written").first()).toBeVisible();
    const shown = await page.evaluate(() => ({
      name: document.querySelector("h1")?.textContent,
      words: document.querySelector(".written")?.textContent,
      markup: document.querySelectorAll(".written a, .written img, main script, main iframe").length,
      // One to the sender's messages, and one more if there are others.
      links: [
        ...new Set(
          [...document.querySelectorAll<HTMLAnchorElement>("main a:not(.back, nav a)")].map(({ pathname }) => pathname),
        ),
      ],
    }));
    const { name, message: words } = message;
    expect(shown).toEqual({ name: visible(name), words: visibleLines(words), markup: 0, links: ["/people"] });
    await expectNoSidewaysScroll(page, JSON.stringify(message));
  }
});

async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("The Tab key does not get there.");
}

test.describe("axe finds no problem, and nothing scrolls sideways: light and narrow, dark and wide", {
  tag: "@full",
}, () => {
  const look = async (page: Page, shown: string) => {
    await expect(page.getByText(shown).filter({ visible: true }).first()).toBeVisible();
    await expectAccessible(page);
  };

  test("on every screen", async ({ page, inbox }) => {
    inbox.expectTrouble(/404|503/);
    const { failed, held, waiting } = await putSamples(inbox.store);
    const estimated = await putEstimate(inbox.store, "grace@example.com");
    await inbox.store.messages.act("answer", { references: [failed] }, new Date());
    await inbox.store.people.restrict("ada@example.com", true, new Date());
    await inbox.open();
    await expect(row(page, waiting)).toContainText("Restricted");
    for (const [path, shown] of [
      ["/?search=nothing", "No message matches"],
      [`/messages/${failed}`, "History"],
      [`/messages/${held}`, "History"],
      [`/messages/${waiting}`, "History"],
      [`/messages/${estimated}`, "Footprint estimate"],
      ["/messages/BC-0000-00", "There is no such message"],
      ["/people?email=grace@example.com", "Grace Hopper"],
    ] as const) {
      await page.goto(path);
      await look(page, shown);
    }
    await page.route("**/operations/person*", (route) => route.fulfill(failure("The database does not answer.")));
    await page.reload();
    await look(page, "This could not be loaded");
    await page.route("**/operations/changes*", (route) => route.fulfill(failure("The database does not answer.")));
    await page.reload();
    await look(page, "The database does not answer.");
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await look(page, "Open the address from the terminal");
  });

  test("on selections, dialogs and notices", async ({ page, inbox }) => {
    const { failed } = await putSamples(inbox.store);
    await putEstimate(inbox.store, "grace@example.com");
    await inbox.open();
    await look(page, "Grace Hopper");
    await select(page, failed);
    await look(page, "1 message selected");
    await button(page, "Delete").click();
    await look(page, "This cannot be undone.");
    await page.keyboard.press("Escape");
    await button(page, "Mark answered").click();
    await look(page, "1 message marked as answered.");
    await page.goto("/people?email=grace@example.com");
    await button(page, "Correct").click();
    await look(page, "Remove all footprint estimates");
    await page.keyboard.press("Escape");
    await button(page, "Erase").click();
    await look(page, "Type the address to confirm");
  });
});
