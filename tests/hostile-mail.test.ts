import { afterAll, beforeAll, expect, it } from "vitest";
import { type ContactMessage, parseContactMessage } from "../contract/contact-message.ts";
import { composeMail } from "../server/mail/compose.ts";
import type { Mailer } from "../server/mail/mailer.ts";
import { createSmtpMailer } from "../server/mail/smtp.ts";
import { storedWith } from "./store-contract/samples.ts";
import { HARMLESS, HOSTILE_CASES } from "./support/hostile-messages.ts";
import { type MailServer, startMailServer } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import { IDENTITY } from "./support/post-office.ts";

let server: MailServer;
let mailer: Mailer;
let sent = 0;
beforeAll(async () => {
  server = await startMailServer();
  mailer = createSmtpMailer(`smtp://127.0.0.1:${server.port}`);
});
afterAll(async () => {
  await mailer.close();
  await server.close();
  expect(server.mails).toHaveLength(sent);
});

/** Sends the mail of a message. It must reach only the team and have only the usual headers. */
async function sendThrough(message: ContactMessage, identity = IDENTITY) {
  sent += 1;
  const composed = composeMail({ ...storedWith(message), id: sent }, identity);
  await mailer.send(composed);
  const received = server.mails.find(({ raw }) => raw.includes(`Message-ID: ${composed.messageId}`));
  if (!received) throw new Error("no mail arrived");
  expect(received).toMatchObject({ sender: IDENTITY.mailFrom, recipients: [IDENTITY.mailTo] });
  const mail = parseMail(received.raw);
  const names =
    "Auto-Submitted Content-Transfer-Encoding Content-Type Date From MIME-Version Message-ID Reply-To Subject To X-Auto-Response-Suppress";
  expect(mail.headers.map(([name]) => name).sort()).toEqual(names.split(" "));
  return { composed, mail };
}

// Together, because the mail server waits a moment before each greeting.
it.concurrent.each(HOSTILE_CASES)("a message with %s arrives unchanged", async (_title, hostile) => {
  const parsed = parseContactMessage({ ...HARMLESS, ...hostile });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.fields));
  const { message } = parsed;
  const { composed, mail } = await sendThrough(message);
  const shownName = message.name.replaceAll("=?", "= ?");
  expect(mail.header("Subject")).toBe(`[BC-7K3Q-9M] Message from ${shownName}, United Kingdom`);
  expect(mail.mailbox("From")).toEqual({ name: IDENTITY.brand, address: IDENTITY.mailFrom });
  expect(mail.mailbox("To")).toEqual({ name: "", address: IDENTITY.mailTo });
  const replyTo = mail.mailbox("Reply-To");
  expect([replyTo.name, replyTo.address.replaceAll(/^"|"(?=@)/g, "")]).toEqual([shownName, message.email]);
  expect(mail.text).toBe(composed.text);
  const lines = [`Name: ${message.name}`, `Email: ${message.email}`, `Phone: ${message.phone}`];
  expect(mail.text).toContain(`\n${lines.join("\n")}\n`);
  expect(mail.text.endsWith(`\n\nMessage:\n\n${message.message}`)).toBe(true);
});

it.concurrent.each([
  { name: "Ada\r\nBcc: c@d.example\r\n\r\nbody" },
  ...[
    "a@b.example,c@d.example",
    "a@b.example\r\nBcc: c@d.example",
    "a@b.example>\r\nRCPT TO:<c@d.example",
    "a@b.example, C <c@d.example>",
    "friends: a@b.example, c@d.example;",
  ].flatMap((email) => [{ email }, { email, name: "=?utf-8?q?evil?=" }]),
])("%j reaches no other recipient and adds no header, even if the contract accepted it", async (fields) => {
  const { mail } = await sendThrough({ ...HARMLESS, ...fields });
  expect(() => mail.mailbox("Reply-To")).not.toThrow();
});

it("shows a brand that looks like an encoded word", async () => {
  const brand = "=?utf-8?q?Brand?=";
  const { mail } = await sendThrough(HARMLESS, { ...IDENTITY, brand });
  expect(mail.mailbox("From")).toEqual({ name: "= ?utf-8?q?Brand?=", address: IDENTITY.mailFrom });
});
