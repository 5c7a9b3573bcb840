import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { fillForm, sent, submit, VISITOR } from "../../support/contact.ts";
import { openInboxCommand } from "../../support/inbox-command.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { parseMail } from "../../support/parse-mail.ts";
import { rawMail } from "../../support/raw-mails.ts";
import { requirePrograms } from "../../support/require-program.ts";
import { runWithInput } from "../../support/run-cli.ts";
import { startDovecot } from "../../support/run-dovecot.ts";
import { startServer } from "../../support/run-server.ts";
import { SCRATCH_PARENT } from "../../support/scratch-parent.ts";

test("an enquiry is a conversation, from the form to the reply to its answer", async ({ page }) => {
  requirePrograms((reason) => test.skip(true, reason) as never, "dovecot");
  const folder = await mkdtemp(join(SCRATCH_PARENT, "conversation-"));
  const [dovecot, mailServer] = [await startDovecot(join(folder, "dovecot")), await startMailServer()];
  const env = {
    DATA_DIR: folder,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    IMAP_URL: dovecot.url(),
    MAIL_TO: "team@post.example",
    MAIL_FROM: "website@brighter.example",
  };
  const server = await startServer(env);
  const inbox = await openInboxCommand(env, { account: "anna" });
  const mailTo = async (address: string, count: number) => {
    const theirs = () => mailServer.mails.filter(({ recipients }) => recipients.includes(address));
    await expect.poll(() => theirs().length, { timeout: 30_000 }).toBe(count);
    return parseMail(theirs().at(-1)?.raw ?? Buffer.alloc(0));
  };
  try {
    await page.goto(`${server.url}/contact`);
    await fillForm(page);
    await submit(page).click();
    await expect(sent(page)).toBeVisible();
    const teamMail = await mailTo(env.MAIL_TO, 1);
    const [, reference = ""] = /^\[([\w-]+)\]/.exec(teamMail.header("Subject")) ?? [];

    expect(await runWithInput(env, "Would Tuesday suit you?", "reply", reference)).toMatchObject({ code: 0 });
    const reply = await mailTo(VISITOR.email, 1);
    await page.goto(inbox.url);
    await page.goto(new URL(`/messages/${reference}`, inbox.url).href);
    const entries = page.getByRole("region", { name: "Conversation" }).getByRole("listitem");
    await expect(entries.filter({ hasText: "Would Tuesday" })).toContainText(/^Reply, /);
    await expect(page.getByText("Answered", { exact: true })).toBeVisible();

    const answer = {
      From: `${VISITOR.name} <${VISITOR.email}>`,
      To: env.MAIL_TO,
      Subject: `AW: ${reply.header("Subject")}`,
      "Message-ID": "<answer@mail.example>",
      "In-Reply-To": reply.header("Message-ID"),
      References: [teamMail.header("Message-ID"), reply.header("Message-ID")],
      "Content-Type": "text/plain; charset=utf-8",
    };
    dovecot.deliver(
      rawMail(answer, "Yes, Tuesday.\n\nOn 19 November 2026, Brighter wrote:\n> Would Tuesday suit you?\n"),
    );
    // A server with IDLE is looked at only once in a minute, so this came by IDLE.
    await expect(entries.last()).toContainText(/^Answer from Ada.*Yes, Tuesday\./s, { timeout: 30_000 });
    await expect(page).toHaveTitle(/^\(1\) New answer – /);
    await expect(page.getByText("> Would Tuesday suit you?").last()).toBeHidden();
    await expect(page.getByLabel("Subject")).toHaveValue(reply.header("Subject"));
    await page.emulateMedia({ media: "print" });
    await expect(page.getByText("> Would Tuesday suit you?").last()).toBeVisible();
    await expect(page.getByRole("button", { name: "Send reply" })).toBeHidden();
    await page.emulateMedia({ media: "screen" });

    await page.getByRole("textbox", { name: "Text" }).fill("See you then.");
    await page.getByRole("button", { name: "Send reply" }).click();
    const second = await mailTo(VISITOR.email, 2);
    expect(second.header("In-Reply-To")).toBe("<answer@mail.example>");
    expect(second.header("References").split(/\s+/)).toEqual([...answer.References, "<answer@mail.example>"]);
    await expect(page.getByText("Answered", { exact: true })).toBeVisible();
    await expect(page).not.toHaveTitle(/New answer/);
    await expect(page.getByLabel("Subject")).toHaveValue(reply.header("Subject"));
    expect(dovecot.flags()).toEqual([""]);
  } finally {
    await inbox.stop();
    await server.stop();
    await dovecot.stop();
    await mailServer.close();
    await rm(folder, { recursive: true });
  }
});
