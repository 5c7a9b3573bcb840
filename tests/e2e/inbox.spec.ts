import { readFile } from "node:fs/promises";
import { expect, type Locator, type Page } from "@playwright/test";
import { type ContactMessage, parseContactMessage } from "../../contract/contact-message.ts";
import { visible, visibleLines } from "../../contract/text.ts";
import type { Outcome } from "../../server/store/queue.ts";
import type { Store } from "../../server/store/store.ts";
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

function putEstimate(store: Store, email: string): Promise<string> {
  const footprint = estimateOf({ electricityKwh: 3000, longFlights: 2, longFlightClass: "business" }, "GB");
  return send(store, submissionOf(messageWith({ email, country: "" }), { footprint }), minutesAgo(1));
}

const rows = (page: Page) => page.locator(".row");
const row = (page: Page, reference: string) => rows(page).filter({ has: page.locator(`#message-${reference}`) });
const select = (page: Page, reference: string) => row(page, reference).getByRole("checkbox").check();
const tab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Messages by state" }).getByRole("link", { name: new RegExp(`^${name} `) });
const title = (page: Page) => page.getByRole("heading", { level: 1 });
const dialogOf = (page: Page) => page.getByRole("dialog");
const region = (page: Page, name: string) => page.getByRole("region", { name });
const notice = (page: Page) => page.locator(".notices[data-position=bottom-center]");
const button = (page: Page | Locator, name: string) => page.getByRole("button", { name, exact: true });
const press = async (page: Page, ...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** The server's answer to a call that failed. */
const failure = (message: string) => ({
  status: 503,
  json: { error: { json: { message, code: -32603, data: { code: "SERVICE_UNAVAILABLE", httpStatus: 503 } } } },
});
/** What a person does who comes back to a window. */
const focus = (page: Page) => page.evaluate(() => dispatchEvent(new Event("focus")));
const settleReply = async (store: Store, outcome: Outcome) =>
  store.queue.settle(await claimOne(store, minutesAgo(-1), "reply"), outcome, new Date());

test("the list has every delivery that waits or failed, notes, what is wrong, and a search", async ({
  page,
  inbox: { store, open },
}) => {
  const { delivered, failed } = await putSamples(store);
  await store.actions.addNote(failed, "Wants an offer", new Date());
  await store.status.reportNode([], new Date());
  await open("/?tab=waiting");
  await expect(rows(page)).toHaveCount(1);
  await expect(tab(page, "Waiting")).toContainText("1");
  const reply = { key: "1", subject: "Re", text: "Hello" };
  await store.replies.add(delivered, reply, new Date(), { undoMs: 90 * MINUTE_MS });
  await expect(tab(page, "Waiting")).toContainText("2");
  await expect(row(page, delivered)).toContainText(/Reply waiting until (\d+ \w+, )?\d\d:\d\d/);
  await tab(page, "Failed").click();
  await expect(row(page, failed)).toContainText(/Note.*Failed/);

  await page.getByText("1 message could not be emailed, and 1 more").click();
  await expect(page.locator(".attention")).toContainText(/1 message could not be emailed\..+ Fix the cause/);
  await expect(page.locator(".attention")).not.toContainText("list --state");
  await expect(page.locator(".attention").getByRole("link", { name: "Failed" })).toHaveAttribute(
    "href",
    "/?tab=failed",
  );
  await expect(region(page, "Status")).toContainText("No backup yet");

  await tab(page, "Answered").click();
  await press(page, "/");
  await page.keyboard.type("émile");
  await press(page, "Enter");
  await expect(page.getByText("Nothing in Answered")).toBeVisible();
  await expect(page.getByText("No message matches")).toBeHidden();
  await page.getByRole("link", { name: "1 in Unanswered" }).click();
  await expect(row(page, failed)).toBeVisible();
  await tab(page, "All").click();
  await expect(page).toHaveURL(/\?(?=.*\btab=all\b).*\bsearch=%C3%A9mile\b/);
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  const download = page.waitForEvent("download");
  await button(page, "Export CSV").click();
  expect(await readFile(await (await download).path(), "utf8")).toMatch(/^.*Reference.*\r\n.*Émile Zola/i);
});

test("a list of several pages follows changes, and keeps the focus", async ({ page, inbox: { store, open } }) => {
  const sent = Array.from({ length: 52 }, (_, index) => put(store, "waiting", {}, minutesAgo(index + 5)));
  const references = await Promise.all(sent);
  const link = (index: number) => page.locator(`#message-${references[index]}`);
  await open("/");
  await expect(rows(page)).toHaveCount(50);
  await expect(page).toHaveTitle(/^\(52\) Unanswered/);
  const arrived = await put(store, "waiting", { name: "Just Now" });
  await expect(row(page, arrived)).toBeVisible();
  await page.getByRole("link", { name: "Older" }).first().click();
  await expect(page.getByText("51–53 of 53").first()).toBeVisible();
  await page.getByRole("link", { name: "Newer" }).first().click();
  await link(45).click();
  await expect(region(page, "Conversation")).toBeVisible();
  await page.goBack();
  await expect(link(45)).toBeFocused();
  await expect(link(45)).toBeInViewport();
  // A row that leaves the list gives its focus to the next one.
  await link(1).focus();
  await page.keyboard.press("e");
  await expect(link(2)).toBeFocused();
});

test("a new message does not move the list while it is used, and a draft's list has no other", async ({
  page,
  inbox: { store, open },
}) => {
  await page.clock.install();
  await page.setViewportSize({ width: 390, height: 800 });
  const first = await put(store, "delivered", {}, minutesAgo(9));
  await open();
  const top = async () => (await row(page, first).boundingBox())?.y;
  await expect(row(page, first)).toBeVisible();
  await press(page, "j");
  const before = await top();
  const second = await put(store, "delivered", {}, minutesAgo(8));
  const asked = page.getByRole("button", { name: "1 new message" });
  await expect(asked).toBeVisible();
  await expect(row(page, second)).toHaveCount(0);
  expect(await top()).toBe(before);
  await asked.press("Enter");
  await expect(row(page, second)).toBeVisible();
  const third = await put(store, "delivered", {}, minutesAgo(7));
  await expect(asked).toBeVisible();
  await page.clock.fastForward(10_000);
  await expect(row(page, third)).toBeVisible();
  await store.replies.saveDraft(second, { subject: "Re", text: "Dear", note: "" }, new Date());
  await page.getByLabel("Drafts only").check();
  await expect(rows(page)).toHaveCount(1);
  await expect(row(page, second)).toContainText("anna is replying");
});

test("a field stays where it is while an answer comes in above it, and a refused address is corrected beside it", async ({
  page,
  inbox: { store, open },
}) => {
  const long = Array.from({ length: 60 }, (_, line) => `Line ${line}`).join("\n");
  const reference = await put(store, "delivered", { email: "ada@exmaple.com", message: long });
  await store.replies.add(reference, { key: "1", subject: "Re", text: "Hello" }, minutesAgo(0));
  await settleReply(store, { kind: "failed", error: "550 no such domain" });
  await open(`/messages/${reference}`);
  const text = page.getByLabel("Text");
  await text.fill("Dear Ada");
  const before = await text.boundingBox();
  await store.replies.saveDraft(reference, { subject: "Re", text: "Mine", note: "" }, new Date());
  await expect(region(page, "Reply")).toContainText("anna is replying");
  expect((await text.boundingBox())?.y).toBeCloseTo(before?.y ?? 0, 0);
  await button(page, "Correct the address").click();
  await dialogOf(page).getByLabel("Email").fill("ada@example.com");
  await button(dialogOf(page), "Save").click();
  await expect(notice(page)).toContainText("1 message corrected.");
  await expect(region(page, "Sender")).toContainText("ada@example.com");
  await expect(text).toHaveValue("Dear Ada");
});

test("acts on the selection, also on a phone, but on no message that changed", async ({
  page,
  inbox: { store, open },
}) => {
  const { delivered, failed, held, waiting } = await putSamples(store);
  await page.setViewportSize({ width: 390, height: 740 });
  await open();
  const first = await rows(page).first().boundingBox();
  expect(first?.y).toBeLessThan(740 / 2);
  const { width = 0, height = 0 } = (await row(page, delivered).locator("label").boundingBox()) ?? {};
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
  for (const reference of [delivered, failed, held]) await select(page, reference);
  await expect(page.getByText("3 messages selected")).toBeAttached();
  for (const name of ["Mark answered", "Spam", "Delete"]) await expect(button(page, name)).toBeInViewport({ ratio: 1 });
  await button(page, "Mark answered").click();
  await expect(notice(page)).toContainText("3 messages marked as answered.");
  await select(page, waiting);
  await select(page, held);
  await button(page, "Delete").click();
  await store.actions.act("release", { references: [held] }, new Date());
  await button(dialogOf(page), "Delete 2 messages").click();
  await expect(notice(page)).toContainText("1 message deleted.");
  await expect(notice(page)).toContainText(`Skipped: ${held} has changed (now waiting).`);
  await expect(rows(page)).toHaveCount(3);
});

test("a message's page shows everything, and works by keyboard without losing the focus", async ({
  page,
  inbox: { store, open, expectTrouble },
}) => {
  expectTrouble(/404|503/);
  const { failed, held } = await putSamples(store);
  const estimated = await putEstimate(store, "grace@example.com");
  const tabTo = async (target: Locator, key = "Enter") => {
    for (let presses = 0; presses < 60; presses += 1) {
      if (await target.evaluate((element) => element === document.activeElement)) return page.keyboard.press(key);
      await page.keyboard.press("Tab");
    }
    throw new Error("The Tab key does not get there.");
  };
  await open();
  await expect(rows(page)).toHaveCount(5);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await tabTo(page.locator(`#message-${failed}`));
  await expect(title(page)).toHaveText("Émile Zola");
  await expect(title(page)).toBeFocused();
  await expect(region(page, "Sender")).toContainText(/emile@example\.fr.*\+44 20 7946 0000.*France/);
  const history = region(page, "Conversation").getByRole("listitem");
  await expect(history).toContainText([/^Received/, /^Failed for good.*550 no such user/]);
  await tabTo(button(page, "Delete"));
  await tabTo(button(dialogOf(page), "Delete 1 message"));
  // Goes on to the next unanswered message.
  await expect(title(page)).toHaveText("Grace Hopper");
  await press(page, "u");
  await expect(page).toHaveURL("/?tab=all");
  await expect(rows(page)).toHaveCount(4);

  await page.locator(`#message-${held}`).focus();
  await page.keyboard.press("o");
  await expect(page.getByText("A hidden field was filled in").first()).toBeVisible();
  await expect(region(page, "Reply")).toContainText("release it before you reply");
  await tabTo(button(page, "Release"));
  await expect(notice(page)).toContainText("1 message released");
  await expect(title(page)).toBeFocused();
  await expect(history.last()).toContainText("Released by operator");

  // A note that is not added yet survives leaving the page, and a new start of the command.
  const note = page.getByLabel("Note");
  await tabTo(note, "W");
  await page.keyboard.type("ants an offer\nuntil Friday");
  await press(page, "Tab", "Escape");
  await title(page).focus();
  await page.keyboard.press("u");
  await expect.poll(async () => (await store.replies.readDrafts(held)).others).toMatchObject([{ text: "" }]);
  await page.reload();
  await page.locator(`#message-${held}`).click();
  await expect(note).toHaveValue("Wants an offer\nuntil Friday");
  // The call arrives, but its answer is lost: a second press adds nothing.
  await page.route(
    "**/operations/note*",
    async (route) => {
      await route.fetch();
      await route.fulfill(failure("The database does not answer."));
    },
    { times: 1 },
  );
  await tabTo(button(page, "Add note"));
  await expect(page.getByRole("alert").filter({ hasText: "The database does not answer." })).toBeVisible();
  await button(page, "Add note").press("Enter");
  await expect(note).toHaveValue("");
  const notes = (await store.messages.history(held)).filter(({ kind }) => kind === "noted");
  expect(notes).toHaveLength(1);
  await expect(history.last()).toContainText(/^Note by operator.*Wants an offer\s+until Friday/);
  await expect(note).toHaveValue("");

  await page.goto(`/messages/${estimated}`);
  const card = region(page, "Footprint estimate");
  await expect(card).toContainText(/About 11 t CO₂e a year.*Electricity.*3,000 kWh.*500 kg/s);
  await store.actions.act("delete", { references: [estimated] }, new Date());
  await expect(page.getByText("There is no such message")).toBeVisible();
});

test("keys lead from message to message, mark, and undo", async ({ page, inbox: { store, open, expectTrouble } }) => {
  expectTrouble(/50[03]/);
  const names = ["Fourth", "Third", "Second", "First"];
  await Promise.all(names.map((name, index) => put(store, "waiting", { name }, minutesAgo(9 - index))));
  await open("/");
  await expect(rows(page)).toHaveCount(4);
  await page.route("**/operations/act*", (route) => route.fulfill(failure("It went wrong.")), { times: 1 });
  await press(page, "j", "e");
  await expect(notice(page)).toContainText("The action failed. It went wrong. Some messages may have changed: check");
  await press(page, "o");
  await expect(title(page)).toHaveText("First");
  await press(page, "j");
  await expect(title(page)).toHaveText("Second");
  await press(page, "j");
  await expect(title(page)).toHaveText("Third");
  await press(page, "e");
  await expect(title(page)).toHaveText("Fourth");
  await press(page, "z");
  await expect(notice(page)).toContainText("Undone: 1 message.");
  await expect(title(page)).toHaveText("Third");
  await press(page, "!");
  await expect(notice(page)).toContainText("1 message marked as spam.");
  await expect(title(page)).toHaveText("Fourth");
  await press(page, "k");
  await expect(title(page)).toHaveText("Second");
  await button(page, "Mark answered and next").dblclick();
  await expect(title(page)).toHaveText("Fourth");
  await expect.poll(() => store.messages.countTabs({})).toMatchObject({ answered: 1, quarantined: 1 });

  // A reply may be typed before its message has loaded: its letters are no keys.
  const fifth = await put(store, "waiting");
  await press(page, "u");
  await page.locator(`#message-${fifth}`).focus();
  const tellMessage = await hold(page, "**/operations/message?*");
  await press(page, "o");
  await expect(title(page)).toHaveText("Message");
  await press(page, "r");
  await page.keyboard.type("Dear Jake, you");
  tellMessage();
  const text = page.getByRole("textbox", { name: "Text" });
  await expect(region(page, "Conversation")).toBeVisible();
  await expect(text).toBeFocused();
  await page.keyboard.type("r");
  await expect(text).toHaveValue("Dear Jake, your");
  await press(page, "Escape");

  // Keys do nothing while the operator types or has a dialog open.
  await page.getByLabel("Note").fill("");
  await page.keyboard.type("jeku");
  await title(page).focus();
  await press(page, "?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toContainText("Undo the last mark, or take back");
  await press(page, "e", "Escape");
  await expect(title(page)).toHaveText("Ada Lovelace");
  expect(await store.messages.countTabs({})).toMatchObject({ answered: 1 });
});

test("a reply is stored, sent or waits, and can be taken back", async ({ page, inbox }) => {
  const { store } = inbox;
  const reference = await put(store, "delivered", { message: "Two\nlines" });
  await store.status.reportNode([], new Date());
  await inbox.open(`/messages/${reference}?tab=all`);
  const box = region(page, "Reply");
  const text = page.getByLabel("Text");
  await expect(box).toContainText(/Below your text:\s*The team\s*On \d{4}-\d\d-\d\d, Ada Lovelace wrote:\s+> Two/);
  // By keyboard: the list opens, arrows choose, Enter inserts at the cursor, and the browser's undo removes it.
  await text.fill("Before. After.");
  for (let presses = 0; presses < 7; presses += 1) await text.press("ArrowLeft");
  const saved = button(box, "Insert a saved reply");
  await saved.press("Enter");
  await expect(page.getByRole("menuitem", { name: "offer (needs an estimate)" })).toBeDisabled();
  await press(page, "ArrowDown");
  await expect(text).toHaveValue("Before. After.");
  await press(page, "Escape");
  await expect(saved).toBeFocused();
  await press(page, "Enter");
  await page.getByRole("menuitem", { name: "thanks" }).press("Enter");
  await expect(text).toHaveValue(`Before.Dear Ada Lovelace, about ${reference} After.`);
  await expect(text).toBeFocused();
  await press(page, "ControlOrMeta+z");
  await expect(text).toHaveValue("Before. After.");
  await text.fill("Dear {nmae}");
  await expect(box).toContainText("{nmae} is sent as it stands");
  await expect(box).toContainText("Your draft is saved.");

  // A page that closes does not wait for a running call, and a new run of the command has the draft.
  await page.route("**/operations/saveDraft*", () => {}, { times: 1 });
  const running = page.waitForRequest("**/operations/saveDraft*");
  await text.fill("Dear A");
  await running;
  await text.fill("Dear Ada");
  await page.goto("about:blank");
  const drafts = async () => (await store.replies.readDrafts(reference)).others;
  await expect.poll(drafts).toMatchObject([{ text: "Dear Ada" }]);
  inbox.expectTrouble(/ERR_|401|422|503/);
  await inbox.restart();
  await inbox.open(`/messages/${reference}?tab=all`);
  await expect(text).toHaveValue("Dear Ada");

  await text.focus();
  await page.keyboard.press("Control+Shift+Enter");
  await expect(notice(page)).toContainText(/Stored\. Goes out at \d\d:\d\d:\d\d\./);
  // Also on a slow machine, where the screen appears after the answer.
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Emulation.setCPUThrottlingRate", { rate: 12 });
  await page.keyboard.press("z");
  await expect(notice(page)).toContainText("The reply was not sent. It is a draft again.");
  await expect(title(page)).toHaveText("Ada Lovelace");
  await expect(text).toHaveValue("Dear Ada");
  await expect(text).toBeFocused();
  await devTools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  // The call arrives, but its answer is lost, and the operator does not wait for it.
  const left = Promise.withResolvers<void>();
  await page.route("**/operations/reply*", async (route) => {
    await route.fetch();
    await left.promise;
    await route.fulfill(failure("The database does not answer."));
  });
  await button(box, "Send reply").click();
  await page.locator(".back").click();
  await expect(row(page, reference)).toBeVisible();
  left.resolve();
  await expect(notice(page)).toContainText(`Sending the reply to ${reference} failed.`);
  await expect(notice(page)).toContainText("your reply is sent once.");
  await expect(row(page, reference)).toContainText("Reply waiting");
  await page.locator(`#message-${reference}`).click();
  await expect(box).toContainText("A reply in your name was sent at");
  await button(box, "Remove this draft").click();

  // Also one that waits long after its ten seconds can be taken back, by hand.
  await expect(button(box, "Take back")).toBeVisible();
  await title(page).focus();
  await press(page, "z");
  await expect(notice(page)).toContainText("It is a draft again.");
  await expect(text).toBeFocused();
  await expect(text).toHaveValue("Dear Ada");
  await page.unroute("**/operations/reply*");
  await button(box, "Send reply").click();
  await expect(notice(page)).toContainText("Stored.");
  await settleReply(store, { kind: "failed", error: "550 no such mailbox" });
  await expect(box).toContainText("550 no such mailbox.");
  await expect(region(page, "Status")).toContainText("1 reply waits for your Send again");
  await button(page, "Retry").click();
  await expect(box).not.toContainText("550 no such mailbox.");
  await settleReply(store, { kind: "failed", error: "no answer, so it may have arrived", isUnknown: true });
  await expect(box).toContainText("Reply may have been sent");
  await expect(box).toContainText("No answer, so it may have arrived.");
  await expect(button(page, "Retry")).toHaveCount(0);
  await button(box, "Send again").click();
  await expect(page.getByRole("dialog")).toContainText("Dear Ada");
  await button(page.getByRole("dialog"), "Send again").click();
  await expect(box).not.toContainText("Reply may have been sent");
  // The form that appears again takes the cursor from no other field.
  const note = page.getByLabel("Note");
  await note.focus();
  await settleReply(store, { kind: "delivered" });
  await expect(box).toContainText(/Sent on .* Answers go to team@example\.com\./);
  await expect(text).toBeVisible();
  await expect(note).toBeFocused();
  await title(page).focus();
  await press(page, "z");
  await expect(notice(page)).toContainText("The reply was not taken back: it was sent.");
  await expect(page.locator("main header .marks")).toContainText("Answered");
});

test("two windows of one person, and two people, lose nothing and answer once", async ({ page, inbox }) => {
  const { messages, replies } = inbox.store;
  const reference = await put(inbox.store, "delivered");
  await inbox.open(`/messages/${reference}`);
  const box = region(page, "Reply");
  await page.getByLabel("Text").fill("Dear Ada, mine");
  await expect(box).toContainText("Your draft is saved.");
  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect(other.getByLabel("Text")).toHaveValue("Dear Ada, mine");
  await other.getByLabel("Text").fill("Dear Ada, newer");
  await expect(region(other, "Reply")).toContainText("Your draft is saved.");
  await focus(page);
  await expect(box).toContainText("Another window of yours saved a newer draft at");
  await expect(box).not.toContainText("Your draft is saved.");
  await expect(page.getByLabel("Text")).toHaveValue("Dear Ada, mine");
  await button(box, "Show it").click();
  await expect(page.getByLabel("Text")).toHaveValue("Dear Ada, newer");
  await other.close();

  // A colleague answers meanwhile. The history has one entry for both.
  await replies.saveDraft(reference, { subject: "Re", text: "Hello", note: "" }, new Date());
  await box.getByText("anna is replying").click();
  await expect(box.getByText("Hello", { exact: true })).toBeVisible();
  await replies.add(reference, { key: "1", subject: "Re", text: "Hello from Anna" }, new Date());
  await expect(box).not.toContainText("is replying");
  await expect(box).toContainText("The reply of anna is waiting: the website is not running.");
  await page.getByLabel("Text").press("Control+Enter");
  await expect(box).toContainText(/Nothing was sent\. .+ its reply waits: take that back in the inbox/);
  await settleReply(inbox.store, { kind: "delivered" });
  await expect(box).toContainText("Sent on");
  await expect(box).not.toContainText("Nothing was sent.");
  await button(box, "Send reply").click();
  const question = page.getByRole("dialog", { name: /^anna answered at .+\. Send yours too\?$/ });
  await expect(question).toContainText("Hello from Anna");
  await page.keyboard.press("Escape");
  expect((await messages.notes([reference])).get(reference)).toHaveLength(1);
  // It asks once.
  await button(box, "Send reply").click();
  await expect(notice(page)).toContainText("Stored");
  expect((await messages.notes([reference])).get(reference)).toMatchObject([
    { author: "anna" },
    { author: "operator", detail: expect.stringContaining("Dear Ada, newer") },
  ]);
});

test("a person: exports, corrects, restricts and erases their messages", async ({ page, inbox }) => {
  // The page may request a deleted message once more before it leaves it.
  inbox.expectTrouble(/404/);
  const { waiting } = await putSamples(inbox.store);
  // The newest message, which the correction form shows. Its address differs from the page's address in case.
  await put(inbox.store, "waiting", { email: "ADA@example.com" }, minutesAgo(-1));
  await inbox.open("/?search=ada@example.com");
  await page.getByRole("link", { name: /everything from ada@example\.com/ }).click();
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
  await field("Email").fill("ada@example.com");
  await field("Country").selectOption("Ireland");
  await save();
  await expect(notice(page)).toContainText("2 messages corrected.");
  const corrected = { email: "ada@example.com", country: "IE" };
  expect(await inbox.store.messages.list({ email: "ada@example.com" })).toMatchObject([corrected, corrected]);

  await button(page, "Restrict").click();
  await expect(notice(page)).toContainText("2 messages from this address restricted");
  await expect(title(page)).toBeFocused();
  await button(page, "Lift restriction").click();
  await expect(notice(page)).toContainText("2 messages from this address no longer restricted.");
  await button(page, "Erase").click();
  await expect(button(dialogOf(page), "Erase 2 messages")).toBeDisabled();
  await field("Type the address to confirm").fill("Ada@Example.com");
  await button(dialogOf(page), "Erase 2 messages").click();
  await expect(notice(page)).toContainText("2 messages and 0 .eml files erased.");
  await expect(page.getByText("There are no messages from this address")).toBeVisible();
});

test("the token is in no request URL, survives a reload, and reaches new tabs", async ({ page, inbox, context }) => {
  const { waiting } = await putSamples(inbox.store);
  const token = inbox.token();
  const requests: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  await inbox.open();
  await expect(page).toHaveURL(/\?tab=all$/);
  await page.reload();
  await expect(rows(page)).toHaveCount(4);
  const opened = context.waitForEvent("page");
  await page.locator(`#message-${waiting}`).click({ modifiers: ["ControlOrMeta"] });
  await expect(title(await opened)).toHaveText("Ada Lovelace");
  expect(requests.length).toBeGreaterThan(5);
  expect(requests.filter((url) => url.replace(/#.*/, "").includes(token))).toEqual([]);
  expect(await page.evaluate(() => document.cookie)).not.toContain(token);
});

test("says when it has no access or no answer, keeps the data, and a defect stays on its screen", async ({
  page,
  inbox,
}) => {
  inbox.expectTrouble(/401|ERR_|undefined/);
  const { failed } = await putSamples(inbox.store);
  const noAccess = page.getByRole("heading", { name: "Open the address from the terminal" });
  await page.goto("/");
  await expect(noAccess).toBeVisible();
  await inbox.open();
  await expect(rows(page)).toHaveCount(4);
  await page.route(`**/operations/message?*${failed}*`, async (route) => {
    const answer = await (await route.fetch()).json();
    delete answer.result.data.json.allowed;
    await route.fulfill({ json: answer });
  });
  await page.locator(`#message-${failed}`).click();
  await expect(title(page)).toHaveText("This page failed");
  await page.goBack();
  await expect(rows(page)).toHaveCount(4);

  const state = `data: {"json":{"problem":"unavailable"}}`;
  const body = `event: connected\ndata: {}\n\n${state}\n\nevent: return\ndata:\n\n`;
  await page.route("**/operations/changes*", (route) => route.fulfill({ contentType: "text/event-stream", body }));
  await page.reload();
  await expect(page.getByText("The database does not answer.")).toBeVisible();
  await page.unroute("**/operations/changes*");
  await expect(page.getByRole("alert").getByText("The database")).toHaveCount(0);

  // A hidden tab ends its connection, because a browser opens only six.
  const setHidden = (isHidden: boolean) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/operations/changes"));
  await setHidden(true);
  await ended;
  await put(inbox.store, "waiting");
  await setHidden(false);
  await expect(rows(page)).toHaveCount(5);
  await inbox.stop();
  await expect(page.getByText("The inbox does not answer.")).toBeVisible();
  await expect(rows(page)).toHaveCount(5);
  await inbox.restart();
  await expect(page.getByText("The inbox was started again")).toBeVisible();
  await page.reload();
  await expect(noAccess).toBeVisible();
});

test("shows hostile names, messages and answers as text", { tag: "@full" }, async ({ page, inbox }) => {
  const accepted = HOSTILE_CASES.flatMap(([, hostile]) => {
    const parsed = parseContactMessage({ ...HARMLESS, ...hostile });
    return parsed.ok ? [parsed.message] : [];
  });
  expect(accepted.length).toBeGreaterThan(30);
  const sent = accepted.map(
    async (message, index) => [await send(inbox.store, submissionOf(message), minutesAgo(index)), message] as const,
  );
  const references = new Map(await Promise.all(sent));
  await inbox.store.mailbox.lease(["INBOX"], "node", MINUTE_MS);
  for (const [reference, { name, email, message }] of references) {
    const { id = 0 } = (await inbox.store.messages.find(reference)) ?? {};
    const mail = { kind: "received", sender: email, senderName: name, subject: name, text: message } as const;
    const facts = { id, reference, mailId: reference, sentAt: new Date(), isOfSender: true };
    await inbox.store.mailbox.record("INBOX", "node", id, { ...mail, ...facts, attachments: [{ name, bytes: 1 }] });
  }
  await page.setViewportSize({ width: 375, height: 800 });
  await inbox.open();
  await expect(rows(page)).toHaveCount(Math.min(50, references.size));
  await expectNoSidewaysScroll(page);
  await expectNoViolations(page);
  await expect(page.locator("main img, main iframe, main script, main b")).toHaveCount(0);

  // Every message has the same page, so a third of the messages is enough.
  for (const [reference, { name, ...message }] of [...references].filter((_, index) => index % 3 === 0)) {
    await page.goto(`/messages/${reference}`);
    await expect(page.locator(".written").first()).toBeVisible();
    await expect(title(page)).toHaveText(visible(name), { useInnerText: false });
    const shown = await page.evaluate(() => ({
      words: document.querySelector(".written")?.textContent,
      answer: [...document.querySelectorAll("[data-kind=received] .written")]
        .map((part) => part.textContent)
        .join("\n"),
      markup: document.querySelectorAll(".written a, .written img, main script, main iframe").length,
    }));
    const words = visibleLines(message.message);
    expect(shown).toEqual({ words, answer: `${visibleLines(name)}\n\n${words}`, markup: 0 });
    await expect(page.locator("[data-kind=received]")).toContainText(`Answer from ${visible(name)}`, {
      useInnerText: false,
    });
    await expect(page.getByText("In the mailbox:")).toContainText(visible(name), { useInnerText: false });
    await expectNoSidewaysScroll(page, JSON.stringify(message));
  }
});

test("axe finds no problem on any screen, and nothing scrolls sideways", { tag: "@full" }, async ({ page, inbox }) => {
  inbox.expectTrouble(/404|503/);
  const { failed, held, waiting } = await putSamples(inbox.store);
  const estimated = await putEstimate(inbox.store, "grace@example.com");
  const look = async (shown: string) => {
    await expect(page.getByText(shown).filter({ visible: true }).first()).toBeVisible();
    await expectAccessible(page);
  };
  await inbox.store.people.restrict("ada@example.com", true, new Date());
  await inbox.open();
  await select(page, failed);
  await look("1 message selected");
  await button(page, "Delete").click();
  await look("This cannot be undone.");
  await page.keyboard.press("Escape");
  await button(page, "Mark answered").click();
  await look("1 message marked as answered.");
  for (const [path, shown] of [
    ["/?search=nothing", "No message matches"],
    [`/messages/${failed}`, "Conversation"],
    [`/messages/${held}`, "Why it is quarantined"],
    [`/messages/${waiting}`, "Lift the restriction"],
    [`/messages/${estimated}`, "Footprint estimate"],
    ["/messages/BC-0000-00", "There is no such message"],
    ["/people?email=grace@example.com", "Grace Hopper"],
  ] as const) {
    await page.goto(path);
    await look(shown);
  }
  await button(page, "Correct").click();
  await look("Remove all footprint estimates");
  await page.keyboard.press("Escape");
  await button(page, "Erase").click();
  await look("Type the address to confirm");
  await page.route("**/operations/person*", (route) => route.fulfill(failure("The database does not answer.")));
  await page.reload();
  await look("This could not be loaded");
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await look("Open the address from the terminal");
});
