import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ContactMessage, parseContactMessage } from "../contract/contact-message.ts";
import { composeMail } from "../server/mail/compose.ts";
import type { Mailer } from "../server/mail/mailer.ts";
import { createSmtpMailer } from "../server/mail/smtp.ts";
import { storedWith } from "./store-contract/samples.ts";
import { HARMLESS, HOSTILE_CASES } from "./support/hostile-messages.ts";
import { type MailServer, startMailServer } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import { IDENTITY } from "./support/post-office.ts";

const HEADERS = [
  "Auto-Submitted",
  "Content-Type",
  "Date",
  "From",
  "MIME-Version",
  "Message-ID",
  "Reply-To",
  "Subject",
  "To",
  "X-Auto-Response-Suppress",
];

let server: MailServer;
let mailer: Mailer;
beforeAll(async () => {
  server = await startMailServer();
  mailer = createSmtpMailer(`smtp://127.0.0.1:${server.port}`);
});
afterAll(async () => {
  await mailer.close();
  await server.close();
});

describe("a hostile message", () => {
  it.each(HOSTILE_CASES)("with %s is refused at its field or arrives unchanged", async (_title, hostile, outcome) => {
    const parsed = parseContactMessage({ ...HARMLESS, ...hostile });
    if (outcome !== "literal" || !parsed.ok) {
      expect(parsed.ok ? ["accepted"] : Object.keys(parsed.fields)).toEqual([outcome]);
      return;
    }
    await expectToArriveLiterally(parsed.message);
  });

  it.each([
    "a@b.example,c@d.example",
    "a@b.example\r\nBcc: c@d.example",
    "a@b.example>\r\nRCPT TO:<c@d.example",
    "a@b.example, C <c@d.example>",
    "friends: a@b.example, c@d.example;",
  ])("reaches no other recipient, even if the contract accepted the address %j", async (email) => {
    for (const name of [HARMLESS.name, "=?utf-8?q?evil?="]) {
      const { recipients, mail } = await sendThrough({ ...HARMLESS, name, email });
      expect(recipients).toEqual([IDENTITY.mailTo]);
      expect(mail.headers.map(([key]) => key).sort()).toEqual(HEADERS);
      expect(() => mail.mailbox("Reply-To")).not.toThrow();
    }
  });

  it("has no name in Reply-To if the name looks like an encoded word and the address needs quotes", async () => {
    const { mail } = await sendThrough({ ...HARMLESS, name: "=?utf-8?q?evil?=", email: "..ada..@example.org" });
    expect(mail.mailbox("Reply-To")).toEqual({ name: "", address: '"..ada.."@example.org' });
    expect(mail.header("Subject")).toContain("=?utf-8?q?evil?=");
  });

  it("shows a brand that looks like an encoded word unchanged", async () => {
    const brand = "=?utf-8?q?Brand?=";
    const { mail } = await sendThrough(HARMLESS, { ...IDENTITY, brand });
    expect(mail.mailbox("From")).toEqual({ name: brand, address: IDENTITY.mailFrom });
  });

  it("adds no header, even if the contract accepted a name with line ends", async () => {
    const { mail } = await sendThrough({ ...HARMLESS, name: "Ada\r\nBcc: c@d.example\r\n\r\nbody" });
    expect(mail.headers.map(([name]) => name).sort()).toEqual(HEADERS);
  });
});

async function expectToArriveLiterally(message: ContactMessage): Promise<void> {
  const { recipients, sender, mail } = await sendThrough(message);
  expect(sender).toBe(IDENTITY.mailFrom);
  expect(recipients).toEqual([IDENTITY.mailTo]);
  expect(mail.headers.map(([name]) => name).sort()).toEqual(HEADERS);
  expect(mail.header("Subject")).toBe(`[BC-7K3Q-9M] Message from ${message.name}, United Kingdom`);
  expect(mail.mailbox("From")).toEqual({ name: IDENTITY.brand, address: IDENTITY.mailFrom });
  expect(mail.mailbox("To")).toEqual({ name: "", address: IDENTITY.mailTo });
  const replyTo = mail.mailbox("Reply-To");
  expect({ ...replyTo, address: replyTo.address.replaceAll(/^"|"(?=@)/g, "") }).toEqual({
    name: message.name,
    address: message.email,
  });
  expect(mail.text).toBe(
    `${message.name} wrote through the contact form of Brighter Carbon.
Reply to this email to answer ${message.name}.

Reference: BC-7K3Q-9M
Received: 2026-01-05 10:00:00 UTC
Name: ${message.name}
Email: ${message.email}
Phone: ${message.phone}
Country: United Kingdom (GB)

Message:

${message.message}`,
  );
  expectNoMarkupOf(message, mail.html);
}

/** The HTML contains only our own tags, and the unescaped text between them is what the visitor typed. */
function expectNoMarkupOf(message: ContactMessage, html: string): void {
  const tags = [...html.matchAll(/<\/?([a-z!]+)[^>]*>/gi)].map(([, tag]) => tag);
  const known = ["!doctype", "html", "head", "meta", "body", "p", "br", "table", "tr", "th", "td", "div"];
  expect(tags.filter((tag) => !known.includes(tag ?? ""))).toEqual([]);
  const unescaped = (text: string) =>
    text
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");
  const values = [...html.matchAll(/<td dir="auto">([^<]*)<\/td>/g)].map(([, value = ""]) => unescaped(value));
  expect(values.slice(2)).toEqual([message.name, message.email, message.phone, "United Kingdom (GB)"]);
  expect(unescaped(/pre-wrap">([^<]*)<\/div>/.exec(html)?.[1] ?? "")).toBe(message.message);
}

async function sendThrough(message: ContactMessage, identity = IDENTITY) {
  const stored = storedWith({ ...message, acceptedAt: new Date("2026-01-05T10:00:00Z") });
  const before = server.mails.length;
  await mailer.send(composeMail(stored, identity));
  const [received, ...others] = server.mails.slice(before);
  if (!received || others.length > 0) throw new Error(`${others.length + (received ? 1 : 0)} mails arrived`);
  return { ...received, mail: parseMail(received.raw) };
}
