import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ContactField, type ContactMessage, parseContactMessage } from "../contract/contact-message.ts";
import { composeMail, type MailIdentity } from "../server/mail/compose.ts";
import type { Mailer } from "../server/mail/mailer.ts";
import { createSmtpMailer } from "../server/mail/smtp.ts";
import type { StoredMessage } from "../server/store/store.ts";
import { type MailServer, startMailServer } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";

const IDENTITY: MailIdentity = {
  brand: "Brighter Carbon",
  mailFrom: "website@example.test",
  mailTo: "team@example.test",
};
const HARMLESS: ContactMessage = {
  name: "Ada Lovelace",
  email: "ada@example.org",
  phone: "+44 20 7946 0000",
  country: "GB",
  message: "Hello",
};
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

/** What arrives literally, and what is refused at the named field. */
type Case = [title: string, input: Partial<Record<ContactField, unknown>>, outcome: "literal" | ContactField];

const CASES: Case[] = [
  ["a header after CRLF in the name", { name: "Ada\r\nBcc: victim@example.net" }, "name"],
  ["a header after LF in the name", { name: "Ada\nBcc: victim@example.net" }, "name"],
  ["a header after CR in the name", { name: "Ada\rBcc: victim@example.net" }, "name"],
  ["a folded header in the name", { name: "Ada\r\n Bcc: victim@example.net" }, "name"],
  ["a second body in the name", { name: "Ada\r\n\r\n<script>alert(1)</script>" }, "name"],
  ["NUL in the name", { name: "Ada\0Lovelace" }, "name"],
  ["ESC in the name", { name: "Ada\u001b[31m" }, "name"],
  ["NEL in the name", { name: "Ada\u0085Bcc: victim@example.net" }, "name"],
  ["a line separator in the name", { name: "Ada\u2028Bcc: victim@example.net" }, "name"],
  ["half a surrogate pair in the name", { name: "Ada \ud83d" }, "name"],
  ["a name that is too long", { name: "a".repeat(101) }, "name"],
  ["a name that is a list", { name: ["Ada", "Bcc: victim@example.net"] }, "name"],
  ["a name that is an object", { name: { toString: "Ada" } }, "name"],
  ["a name of blanks", { name: " \u00a0\u3000" }, "name"],
  ["a header in words in the name", { name: "Bcc: victim@example.net" }, "literal"],
  ["an escaped line end in the name", { name: "Ada\\r\\nBcc: victim@example.net" }, "literal"],
  ["a percent-encoded line end in the name", { name: "Ada%0d%0aBcc:victim@example.net" }, "literal"],
  ["an encoded word in the name", { name: "=?utf-8?Q?Ada=0D=0ABcc:_victim@example.net?=" }, "literal"],
  ["a base64 encoded word in the name", { name: "=?UTF-8?B?QmNjOiB2aWN0aW0=?= and more" }, "literal"],
  ["an encoded word as the name", { name: "=?utf-8?q?evil?=" }, "literal"],
  ["a long encoded word as the name", { name: `=?utf-8?q?${"evil_".repeat(17)}?=` }, "literal"],
  ["half an encoded word in the name", { name: "=?UTF-8?Q?" }, "literal"],
  ["encoded words and other letters in the name", { name: "Zoë =?UTF-8?Q?=41?= =?UTF-8?Q?=42?=" }, "literal"],
  ["quotes in the name", { name: 'Ada "the Countess" Lovelace' }, "literal"],
  ["a lone quote in the name", { name: '"' }, "literal"],
  ["backslashes in the name", { name: 'Ada\\" <victim@example.net>, \\' }, "literal"],
  ["an address list in the name", { name: "a@example.net, b@example.net; c@example.net" }, "literal"],
  ["an angle address in the name", { name: "Ada <victim@example.net>" }, "literal"],
  ["a group in the name", { name: "friends: a@example.net, b@example.net;" }, "literal"],
  ["a comment in the name", { name: "Ada (victim@example.net)" }, "literal"],
  ["HTML in the name", { name: "<script>alert(document.cookie)</script>" }, "literal"],
  ["an HTML attribute's end in the name", { name: "'\"><img src=x onerror=alert(1)>" }, "literal"],
  ["an HTML entity in the name", { name: "&lt;b&gt; &amp; &#60;" }, "literal"],
  ["look-alike letters in the name", { name: "Аdа Ꮮοvеlаⅽе" }, "literal"],
  ["right-to-left override in the name", { name: "Ada \u202egro.elpmaxe@ada\u202c!" }, "name"],
  ["isolates in the name", { name: "A\u2067d\u2069a" }, "name"],
  ["zero-width characters in the name", { name: "A\u200bd\u200da\ufeffb" }, "name"],
  ["zero-width joiners in the name", { name: "A\u200cd\u200da" }, "literal"],
  ["a name of zero-width characters", { name: "\u200b\u200d\u2060" }, "name"],
  ["stacked accents in the name", { name: `Z${"\u0341\u0489".repeat(49)}` }, "literal"],
  ["one long word in the name", { name: "W".repeat(100) }, "literal"],
  ["one long word of wide letters in the name", { name: "鬱".repeat(100) }, "literal"],
  ["emoji in the name", { name: "👩‍🚀".repeat(20) }, "literal"],
  ["a formula in the name", { name: "=cmd|' /C calc'!A0" }, "literal"],
  ["format characters in the name", { name: "%s%n%x {{name}} #{id} $(id) `id`" }, "literal"],
  ["a command in the name", { name: "RSET QUIT MAIL FROM:<x@example.net>" }, "literal"],

  ["a header after CRLF in the address", { email: "ada@example.org\r\nBcc: victim@example.net" }, "email"],
  ["a command after LF in the address", { email: "ada@example.org\nRCPT TO:<victim@example.net>" }, "email"],
  ["two addresses", { email: "ada@example.org,victim@example.net" }, "email"],
  ["two addresses with a semicolon", { email: "ada@example.org;victim@example.net" }, "email"],
  ["two addresses with a space", { email: "ada@example.org victim@example.net" }, "email"],
  ["two at signs", { email: "ada@example.org@example.net" }, "email"],
  ["an angle address", { email: "Ada <ada@example.org>" }, "email"],
  ["an end of angle address", { email: "ada@example.org>" }, "email"],
  ["a quoted local part", { email: '"ada,victim@example.net"@example.org' }, "email"],
  ["a comment in the address", { email: "ada(comment)@example.org" }, "email"],
  ["a route in the address", { email: "@example.net:ada@example.org" }, "email"],
  ["a domain literal", { email: "ada@[127.0.0.1]" }, "email"],
  ["a mailto link", { email: "mailto:ada@example.org?bcc=victim@example.net" }, "email"],
  ["look-alike letters in the domain", { email: "ada@еxample.org" }, "email"],
  ["NUL in the address", { email: "ada@example.org\0.example.net" }, "email"],
  ["an address that is a list", { email: ["ada@example.org", "victim@example.net"] }, "email"],
  ["an address that is too long", { email: `${"a".repeat(250)}@b.example` }, "email"],
  ["shell characters in the local part", { email: "|`id`$IFS&{a}'*#!=?/^~@example.org" }, "literal"],
  ["an encoded word as local part", { email: "=?utf-8?Q?ada?=@example.org" }, "literal"],
  ["dots where they do not belong", { email: "..ada..@example.org" }, "literal"],
  ["a percent hop in the local part", { email: "victim%example.net@example.org" }, "literal"],
  ["a bang path in the local part", { email: "example.net!victim@example.org" }, "literal"],

  ["a header after CRLF in the phone number", { phone: "123\r\nCc: victim@example.net" }, "phone"],
  ["a formula as phone number", { phone: "=cmd|' /C calc'!A0" }, "literal"],
  ["HTML in the phone number", { phone: "<a href=//evil.test>call</a>" }, "literal"],
  ["an unknown country", { country: "ZZ" }, "country"],
  ["a header in the country", { country: "GB\r\nBcc: victim@example.net" }, "country"],
  ["markup in the country", { country: "<b>" }, "country"],

  ["the end of data in the message", { message: "a\n.\nMAIL FROM:<x@example.net>\n.\n\nend" }, "literal"],
  ["the end of data with CRLF in the message", { message: "a\r\n.\r\nRCPT TO:<victim@example.net>" }, "literal"],
  ["the end of data with bare CR in the message", { message: "a\r.\rMAIL FROM:<x@example.net>" }, "message"],
  ["the end of data with mixed line ends", { message: "a\n.\r\nb" }, "literal"],
  ["leading dots in the message", { message: ".\n..\n...\n.hidden" }, "literal"],
  ["headers in the message", { message: "Subject: other\nBcc: victim@example.net\n\nbody" }, "literal"],
  [
    "a MIME boundary in the message",
    { message: "----_NmP-0000000000000000-Part_1\nContent-Type: text/html" },
    "literal",
  ],
  ["mbox's From in the message", { message: "From ada\n>From ada" }, "literal"],
  ["quoted-printable in the message", { message: "=0D=0A=3Cb=3E=\n= \n=3D" }, "literal"],
  ["trailing blanks in the message", { message: "a  \nb\t\n \nc" }, "literal"],
  ["HTML in the message", { message: "</div></body><script>alert(1)</script><img src=//evil.test>" }, "literal"],
  ["a faked field in the message", { message: "x\n\nE-mail: victim@example.net\nReply to this e-mail" }, "literal"],
  ["NUL in the message", { message: "a\0b" }, "message"],
  ["one word of 5,000 letters", { message: "x".repeat(5000) }, "literal"],
  ["emoji to the limit", { message: "😀".repeat(2500) }, "literal"],
  ["5,000 emoji", { message: "😀".repeat(5000) }, "message"],
  ["5,000 short lines", { message: `${".\n".repeat(2499)}ab` }, "literal"],
  ["right-to-left text in the message", { message: "שלום \u202babc\u202c \u2067abc\u2069\nمرحبا" }, "literal"],
  ["right-to-left override in the message", { message: "שלום \u202eabc\u202c\nمرحبا" }, "message"],
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
  it.each(CASES)("%s is refused at its field or arrives literally", async (_title, hostile, outcome) => {
    const parsed = parseContactMessage({ ...HARMLESS, ...hostile });
    if (outcome !== "literal" || !parsed.ok) {
      expect(parsed.ok ? ["accepted"] : Object.keys(parsed.fields)).toEqual([outcome]);
      return;
    }
    await expectToArriveLiterally(parsed.message);
  });

  it("holds at least 40 inputs for either outcome together", () => {
    expect(CASES.length).toBeGreaterThan(80);
  });

  it.each([
    "a@b.example,c@d.example",
    "a@b.example\r\nBcc: c@d.example",
    "a@b.example>\r\nRCPT TO:<c@d.example",
    "a@b.example, C <c@d.example>",
    "friends: a@b.example, c@d.example;",
  ])("reaches nobody else even if the address %j had got past the contract", async (email) => {
    for (const name of [HARMLESS.name, "=?utf-8?q?evil?="]) {
      const { recipients, mail } = await sendThrough({ ...HARMLESS, name, email });
      expect(recipients).toEqual([IDENTITY.mailTo]);
      expect(mail.headers.map(([key]) => key).sort()).toEqual(HEADERS);
      expect(() => mail.mailbox("Reply-To")).not.toThrow();
    }
  });

  it("leaves a name out of Reply-To that looks like an encoded word, if the address needs quotes", async () => {
    const { mail } = await sendThrough({ ...HARMLESS, name: "=?utf-8?q?evil?=", email: "..ada..@example.org" });
    expect(mail.mailbox("Reply-To")).toEqual({ name: "", address: '"..ada.."@example.org' });
    expect(mail.header("Subject")).toContain("=?utf-8?q?evil?=");
  });

  it("shows a brand that looks like an encoded word as it is", async () => {
    const brand = "=?utf-8?q?Brand?=";
    const { mail } = await sendThrough(HARMLESS, { ...IDENTITY, brand });
    expect(mail.mailbox("From")).toEqual({ name: brand, address: IDENTITY.mailFrom });
  });

  it("adds no header even if a name with line ends had got past the contract", async () => {
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
Reply to this e-mail to answer ${message.name}.

Reference: BC-7K3Q-9M
Received: 2026-01-05 10:00:00 UTC
Name: ${message.name}
E-mail: ${message.email}
Phone: ${message.phone}
Country: United Kingdom (GB)

Message:

${message.message}`,
  );
  expectNoMarkupOf(message, mail.html);
}

/** Only our own tags are there, and the text between them, unescaped, is what the visitor typed. */
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
  const stored: StoredMessage = {
    ...message,
    id: "0197f3a2",
    reference: "BC-7K3Q-9M",
    state: "queued",
    acceptedAt: new Date("2026-01-05T10:00:00Z"),
    stateChangedAt: new Date("2026-01-05T10:00:00Z"),
    dueAt: null,
    attempts: 0,
    lastError: null,
    isRestricted: false,
    answeredAt: null,
    quarantineReason: null,
    version: "1",
  };
  const before = server.mails.length;
  await mailer.send(composeMail(stored, identity));
  const [received, ...others] = server.mails.slice(before);
  if (!received || others.length > 0) throw new Error(`${others.length + (received ? 1 : 0)} mails arrived`);
  return { ...received, mail: parseMail(received.raw) };
}
