import { domainToASCII } from "node:url";
import type { SendMailOptions } from "nodemailer";
import { encodeWord } from "nodemailer/lib/mime-funcs";
import type { AcknowledgementText } from "../../contract/build-manifest.ts";
import { countryName } from "../../contract/country-name.ts";
import { describeInputs, estimateNotes, estimateSummary, type FootprintEstimate } from "../../contract/footprint.ts";
import { formatCost, formatMass, formatTotal, type Price } from "../../contract/footprint-fields.ts";
import { ROUNDED } from "../../contract/footprint-report.ts";
import { quote } from "../../contract/quote.ts";
import { QUARANTINE_REASON } from "../message-history.ts";
import type { Reply, StoredMessage } from "../store/store.ts";

/** Sender and recipient of the site's emails. */
export interface MailIdentity {
  brand: string;
  mailFrom: string;
  mailTo: string;
  /** What a tonne costs, where the company says so. */
  pricePerTonne?: Price | null;
}

export interface ComposedMail extends SendMailOptions {
  reference: string;
  /** Which of the message's mails this is, where it is not the one to the team. */
  part?: string;
}

/**
 * A message as an email to the team, the same every time except for its MIME boundary. The only recipient is `mailTo`,
 * because the envelope is not derived from any header.
 */
export function composeMail(message: StoredMessage, identity: MailIdentity): ComposedMail {
  const country = countryName(message.country);
  const subject = `[${message.reference}] Message from ${message.name}${country && `, ${country}`}`;
  const from = { name: identity.brand, address: identity.mailFrom };
  const replyTo = { name: message.name, address: message.email };
  // Empty if nodemailer's own encoding is enough; then it omits the header.
  const literal = {
    subject: hasEncodedWord(subject) ? encodeWord(subject, "Q", 52) : "",
    from: literalMailbox(from),
    replyTo: literalMailbox(replyTo),
  };
  return {
    reference: message.reference,
    envelope: { from: identity.mailFrom, to: [identity.mailTo] },
    from: literal.from ? "" : withoutEncodedWord(from),
    to: { name: "", address: identity.mailTo },
    replyTo: literal.replyTo ? "" : withoutEncodedWord(replyTo),
    subject: literal.subject ? "" : subject,
    messageId: messageId(message, identity.mailFrom),
    date: message.acceptedAt,
    text: textBody(message, identity, country),
    html: htmlBody(message, identity, country),
    // Quoted-printable keeps every line end, dot and trailing space as typed, and needs no 8-bit mail server.
    encoding: "quoted-printable",
    headers: {
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      [`${LITERAL}From`]: literal.from,
      [`${LITERAL}Reply-To`]: literal.replyTo,
      [`${LITERAL}Subject`]: literal.subject,
    },
    normalizeHeaderKey: (key) => key.replace(LITERAL, ""),
  };
}

/** What every acknowledgement says, and who gets the answers to it. */
export interface AcknowledgementSettings {
  text: AcknowledgementText;
  /** Known to the public: MAIL_TO may be an address that is not. */
  replyTo: string;
}

/**
 * The mail that tells a sender that the message has arrived. Nothing that a visitor wrote is in it, so that it cannot be used to
 * send a text to a third person; the address is its only recipient. Its envelope has no sender: where it
 * cannot be delivered, no mail comes back (RFC 5321, section 4.5.5), and no program answers it.
 */
export function composeAcknowledgement(
  { id, reference, email }: Pick<StoredMessage, "id" | "reference" | "email">,
  { brand, mailFrom }: Pick<MailIdentity, "brand" | "mailFrom">,
  { text, replyTo }: AcknowledgementSettings,
  now: Date,
): ComposedMail {
  const fill = (template: string) =>
    template.replaceAll(/\{(brand|reference)\}/g, (_, name) => (name === "brand" ? brand : reference));
  return {
    reference,
    part: "acknowledgement",
    envelope: { from: "", to: [email] },
    from: withoutEncodedWord({ name: brand, address: mailFrom }),
    to: { name: "", address: email },
    replyTo: { name: "", address: replyTo },
    subject: fill(text.subject),
    messageId: messageId({ reference, id }, mailFrom, ".ack"),
    date: now,
    text: fill(text.body),
    encoding: "quoted-printable",
    // No `Precedence`, which RFC 3834 does not know and some filters take for advertising.
    headers: { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All" },
  };
}

/**
 * An operator's reply, with the sender's own words below it. The answer to it goes to the team, whose mail program shows it
 * with the message's mail: that is the one it replies to.
 */
export function composeReply(message: StoredMessage, identity: MailIdentity, reply: Reply, now: Date): ComposedMail {
  const { brand, mailFrom, mailTo } = identity;
  const part = `reply-${reply.key.slice(0, 8)}`;
  const original = messageId(message, mailFrom);
  return {
    reference: message.reference,
    part,
    envelope: { from: mailFrom, to: [message.email] },
    from: withoutEncodedWord({ name: brand, address: mailFrom }),
    to: { name: "", address: message.email },
    replyTo: { name: "", address: mailTo },
    subject: reply.subject,
    messageId: messageId(message, mailFrom, `.${part}`),
    inReplyTo: original,
    references: original,
    date: now,
    text: `${reply.text}\n\n${quote(message)}\n`,
    encoding: "quoted-printable",
  };
}

/** Nodemailer writes a header that it does not know as it is; the prefix is removed after that. */
const LITERAL = "X-Literal-";
/** An address that needs no quotes. */
const PLAIN_ADDRESS = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@[\w-]+(\.[\w-]+)*$/;

interface Mailbox {
  name: string;
  address: string;
}

/**
 * Mail programs decode text that looks like an encoded word, such as `=?utf-8?q?evil?=`, even in the quotes that
 * nodemailer puts around a name. Encoded once more, it is shown as it was typed.
 */
function hasEncodedWord(text: string): boolean {
  return text.includes("=?");
}

function literalMailbox({ name, address }: Mailbox): string {
  return hasEncodedWord(name) && PLAIN_ADDRESS.test(address) ? `${encodeWord(name, "Q", 52)} <${address}>` : "";
}

/** An odd name with an odd address: nodemailer makes the address safe, and the name is in the subject and the text. */
function withoutEncodedWord({ name, address }: Mailbox): Mailbox {
  return { name: hasEncodedWord(name) ? "" : name, address };
}

/** The same for every attempt, so that an email sent twice can be recognised as one. */
function messageId({ reference, id }: Pick<StoredMessage, "reference" | "id">, mailFrom: string, suffix = ""): string {
  const local = `${reference}.${id}${suffix}`.replaceAll(/[^A-Za-z0-9.-]/g, "-");
  const domain = domainToASCII(mailFrom.slice(mailFrom.lastIndexOf("@") + 1));
  return `<${local}@${domain || "localhost"}>`;
}

/** The visitor's words come last and run to the end, so that nothing in them can look like one of our lines. */
function textBody(message: StoredMessage, { brand, pricePerTonne }: MailIdentity, country: string): string {
  const facts = factsOf(message, country).map(([label, value]) => `${label}: ${value}`);
  const estimate = message.footprint ? textEstimate(message.footprint, pricePerTonne) : [];
  const words = ["Message:", "", message.message];
  return [...firstLines(message, brand), "", ...facts, "", ...estimate, ...words].join("\n");
}

function textEstimate(footprint: FootprintEstimate, price: MailIdentity["pricePerTonne"]): string[] {
  const lines = describeInputs(footprint).map(({ label, value, kg }) => `${label}: ${value} (${formatMass(kg)})`);
  return [`Footprint estimate: ${formatTotal(footprint.totalKg)}`, ...lines, ...notesOf(footprint, price), ""];
}

function notesOf(footprint: FootprintEstimate, price: MailIdentity["pricePerTonne"]): string[] {
  const cost = price && footprint.totalKg > 0 ? [formatCost(footprint.totalKg, price)] : [];
  return [...cost, ...(footprint.lines.length > 1 ? [ROUNDED] : []), ...estimateNotes(footprint)];
}

/** The same as HTML without a link or an image; `dir="auto"` keeps a right-to-left value from reversing its row. */
function htmlBody(message: StoredMessage, { brand, pricePerTonne }: MailIdentity, country: string): string {
  const rows = factsOf(message, country).map(
    ([label, value]) => `<tr><th align="left">${escapeHtml(label)}</th><td dir="auto">${escapeHtml(value)}</td></tr>`,
  );
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body>',
    `<p dir="auto">${firstLines(message, brand).map(escapeHtml).join("<br>")}</p>`,
    `<table cellpadding="4">${rows.join("")}</table>`,
    ...(message.footprint ? [htmlEstimate(message.footprint, pricePerTonne)] : []),
    `<p>Message:</p><div dir="auto" style="white-space: pre-wrap">${escapeHtml(message.message)}</div>`,
    "</body></html>",
  ].join("\n");
}

function htmlEstimate(footprint: FootprintEstimate, price: MailIdentity["pricePerTonne"]): string {
  const rows = describeInputs(footprint).map(({ label, value, kg }) => [label, value, formatMass(kg)]);
  const cells = rows.map(
    ([label = "", ...values]) =>
      `<tr><th align="left">${escapeHtml(label)}</th>${values.map((value) => `<td>${escapeHtml(value)}</td>`).join("")}</tr>`,
  );
  const total = `<b>Footprint estimate: ${escapeHtml(formatTotal(footprint.totalKg))}</b>`;
  const notes = notesOf(footprint, price).map(escapeHtml);
  return `<p>${[total, ...notes].join("<br>")}</p>\n<table cellpadding="4">${cells.join("")}</table>`;
}

/** The preview text in a mail list. */
function firstLines({ name, footprint }: StoredMessage, brand: string): string[] {
  return [
    `${name} wrote through the contact form of ${brand}.`,
    `Reply to this email to answer ${name}.`,
    ...(footprint ? [`With an estimate: ${estimateSummary(footprint)}.`] : []),
  ];
}

function factsOf(message: StoredMessage, country: string): (readonly [label: string, value: string])[] {
  return [
    ["Reference", message.reference],
    ["Received", `${message.acceptedAt.toISOString().slice(0, 19).replace("T", " ")} UTC`],
    ["Name", message.name],
    ["Email", message.email],
    ["Phone", message.phone],
    ["Country", country ? `${country} (${message.country})` : "not given"],
    ...(message.quarantineReason ? [["Held back", QUARANTINE_REASON[message.quarantineReason]] as const] : []),
  ];
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
