import { renameSync } from "node:fs";
import { expect, type Page } from "@playwright/test";
import { openArchive } from "../../server/store/store.ts";
import { MINUTE_MS } from "../../server/time.ts";
import { finish, messageWith, store as send, submissionOf } from "../store-contract/samples.ts";
import { test } from "../support/inbox-page.ts";

// What an operator typed is still there, whatever happens, or the operator has confirmed that it goes.

const box = (page: Page) => page.getByRole("region", { name: "Reply" });
const text = (page: Page) => page.getByLabel("Text");
const banner = (page: Page) => page.getByRole("alert").first();
const TYPED = { subject: "About your question", text: "Dear Ada, here is a long answer", note: "Wants an offer" };

async function put(store: Parameters<typeof send>[0]) {
  const acceptedAt = new Date(Date.now() - MINUTE_MS);
  const reference = await send(store, submissionOf(messageWith()), acceptedAt);
  await finish(store, "delivered", acceptedAt);
  return reference;
}

async function type(page: Page) {
  await page.getByLabel("Subject").fill(TYPED.subject);
  await text(page).fill(TYPED.text);
  await page.getByLabel("Note", { exact: true }).fill(TYPED.note);
}

async function expectTyped(page: Page) {
  await expect(page.getByLabel("Subject")).toHaveValue(TYPED.subject);
  await expect(text(page)).toHaveValue(TYPED.text);
  await expect(page.getByLabel("Note", { exact: true })).toHaveValue(TYPED.note);
}

/** Closing the tab asks first. */
async function expectQuestion(page: Page) {
  const asked = page.waitForEvent("dialog");
  const closing = page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  await closing;
}

for (const how of ["in another tab", "in this tab"]) {
  test(`an inbox that was started again keeps what is typed, and goes on once its address is opened ${how}`, async ({
    page,
    inbox,
  }) => {
    inbox.expectTrouble(/401|ERR_/);
    const reference = await put(inbox.store);
    await inbox.open(`/messages/${reference}`);
    await text(page).fill("Dear");
    await expect(box(page)).toContainText("Your draft is saved.");
    await inbox.restart();
    await expect(banner(page)).toContainText("The inbox was started again");
    await type(page);
    await expect(box(page)).toContainText("Your draft is not saved.");
    await expectTyped(page);
    if (how === "in another tab") {
      const other = await page.context().newPage();
      await other.goto(`/#${inbox.token()}`);
      await expect(other.getByRole("link", { name: /^Unanswered/ })).toBeVisible();
    } else {
      page.on("dialog", (dialog) => dialog.accept());
      await page.goto(`/#${inbox.token()}`);
      await page.goto(`/messages/${reference}`);
    }
    await expect(box(page)).toContainText("Your draft is saved.");
    await expect(banner(page)).not.toContainText("The inbox was started again");
    await expectTyped(page);
    const { others } = await inbox.store.replies.readDrafts(reference);
    expect(others).toMatchObject([TYPED]);
  });
}

test("what is typed stays while the inbox is stopped or the network is gone, and a closed tab asks first", async ({
  page,
  inbox,
}) => {
  inbox.expectTrouble(/401|ERR_/);
  const reference = await put(inbox.store);
  await inbox.open(`/messages/${reference}`);
  await expect(text(page)).toBeVisible();
  await page.context().setOffline(true);
  await type(page);
  await expect(box(page)).toContainText("Your draft is not saved.");
  await page.context().setOffline(false);
  await expect(box(page)).toContainText("Your draft is saved.");
  await inbox.stop();
  await expect(banner(page)).toContainText("The inbox does not answer.");
  await text(page).fill("More");
  await expect(box(page)).toContainText("Your draft is not saved.");
  await expectQuestion(page);
  await expect(text(page)).toHaveValue("More");
});

test("a tab that is closed and opened again has what was typed", async ({ page, inbox }) => {
  const reference = await put(inbox.store);
  await inbox.open(`/messages/${reference}`);
  const closed = await page.context().newPage();
  await closed.goto(`/messages/${reference}`);
  await type(closed);
  await closed.close({ runBeforeUnload: true });
  await expect.poll(async () => (await inbox.store.replies.readDrafts(reference)).others).toMatchObject([TYPED]);
  const opened = await page.context().newPage();
  await opened.goto(`/messages/${reference}`);
  await expectTyped(opened);
});

test("the list marks drafts, and the question before a deletion names those that go with it", async ({
  page,
  inbox,
}) => {
  inbox.expectTrouble(/404/);
  const reference = await put(inbox.store);
  await inbox.open();
  await inbox.store.replies.saveDraft(reference, TYPED, new Date());
  const row = page.locator(".row");
  await expect(row).toContainText("anna is replying");
  await page.locator(`#message-${reference}`).click();
  await text(page).fill("Dear Ada");
  await expect(box(page)).toContainText("Your draft is saved.");
  await expect(page.locator("main header .marks")).toContainText("Your draft");
  await page.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("dialog")).toContainText(
    /This also deletes a draft of .+, \d\d:\d\d; a draft of .+, \d\d:\d\d\./,
  );
  await expect(page.getByRole("dialog")).toContainText("a draft of anna");
  // What the operator gave up does not come back.
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("status").filter({ hasText: "1 message deleted." })).toBeVisible();
  await page.goBack();
  await expect(page.locator("main")).toContainText("There is no such message");
  await expect(page.getByText("Dear Ada")).toHaveCount(0);
});

for (const how of ["deleted", "erased"]) {
  test(`what is typed stays readable when the message is ${how} by a colleague`, async ({ page, inbox }) => {
    inbox.expectTrouble(/404/);
    const reference = await put(inbox.store);
    await inbox.open(`/messages/${reference}`);
    await type(page);
    await expect(box(page)).toContainText("Your draft is saved.");
    // Then only the database had it.
    if (how === "erased") await page.reload();
    await expectTyped(page);
    if (how === "deleted") await inbox.store.actions.act("delete", { references: [reference] }, new Date());
    else await inbox.store.people.erase("ada@example.com");
    await expect(page.getByText("There is no such message")).toBeVisible();
    await expect(page.getByLabel("Subject")).toHaveValue(TYPED.subject);
    await expect(page.getByLabel("Reply")).toHaveValue(TYPED.text);
    await page.getByLabel("Reply").click();
    await expect(page.getByLabel("Note")).toHaveValue(TYPED.note);
    await expectQuestion(page);
    await page.getByRole("button", { name: "Discard" }).click();
    await expect(page.getByLabel("Reply")).toHaveCount(0);
  });
}

test("a correction stays on the screen when its messages are erased or the inbox is started again", async ({
  page,
  inbox,
}) => {
  inbox.expectTrouble(/401|422|ERR_/);
  await put(inbox.store);
  await inbox.open("/people?email=ada@example.com");
  await page.getByRole("button", { name: "Correct" }).click();
  const name = page.getByRole("dialog").getByLabel("Name");
  await name.fill("Augusta Ada King");
  await inbox.store.people.erase("ada@example.com");
  await expect(page.getByText("There are no messages from this address")).toBeAttached();
  await expect(name).toHaveValue("Augusta Ada King");
  await inbox.restart();
  await expect(banner(page)).toContainText("The inbox was started again");
  await expect(name).toHaveValue("Augusta Ada King");
});

for (const how of ["restored over", "moved away"]) {
  test(`an inbox whose database was ${how} says so, takes nothing more, and keeps what is typed`, async ({
    page,
    inbox,
  }) => {
    inbox.expectTrouble(/50\d|ERR_/);
    const reference = await put(inbox.store);
    await inbox.open(`/messages/${reference}`);
    await type(page);
    await expect(box(page)).toContainText("Your draft is saved.");
    const file = `${inbox.dataDir}/backup.db`;
    await inbox.store.archive.backup(file, new Date());
    if (how === "restored over") {
      const archive = await openArchive({ dataDir: inbox.dataDir, databaseUrl: null });
      await expect(archive.restore(file, true)).rejects.toThrow(/An inbox \(operator\) uses the database/);
      await inbox.forget();
      await archive.restore(file, true);
      await archive.close();
    } else renameSync(`${inbox.dataDir}/messages.db`, `${inbox.dataDir}/messages.moved.db`);
    await expect(banner(page)).toContainText(/was (moved, replaced or restored|removed or replaced)/, {
      timeout: 2000,
    });
    await text(page).fill("Typed afterwards");
    await expect(box(page)).toContainText("Your draft is not saved.");
    await expect(text(page)).toHaveValue("Typed afterwards");
  });
}
