import { domainToASCII } from "node:url";
import type { SendMailOptions } from "nodemailer";
import type { MailTexts } from "../../contract/build-manifest.ts";
import { CONTACT_FIELDS, countryName, FIELD_NAMES } from "../../contract/contact-message.ts";
import { quote } from "../../contract/desk.ts";
import { needsSmtpUtf8 } from "../../contract/email-address.ts";
import { fillFacts } from "../../contract/facts.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { formatMass, formatTotal } from "../../contract/footprint/fields.ts";
import { describeInputs, estimateNotes, estimateSummary, type Price } from "../../contract/footprint/words.ts";
import { QUARANTINE_REASON } from "../message-words.ts";
import type { Reply, ThreadedReply } from "../store/replies.ts";
import type { StoredMessage } from "../store/store.ts";

export interface MailIdentity {
  brand: string;
  mailFrom: string;
  mailTo: string;
  pricePerTonne?: Price | null;
  mailSignature?: string | null;
}

export interface ComposedMail extends SendMailOptions {
  envelope: { from: string; to: string[] };
  reference: string;
  /** Names the mail if it is not the one to the team. */
  part?: string;
}

export function composeMail(message: StoredMessage, identity: MailIdentity): ComposedMail {
  return {
    ...toTeam(message, identity, teamSubject(message)),
    messageId: messageId(message, identity.mailFrom),
    date: message.acceptedAt,
    text: textBody(message, identity),
  };
}

function teamSubject({ reference, name, country }: StoredMessage): string {
  return `[${reference}] Message from ${name}${country && `, ${countryName(country)}`}`;
}

/** `mailTo` is the only recipient, because the envelope is not derived from any header. */
function toTeam(message: StoredMessage, identity: MailIdentity, subject: string) {
  return {
    reference: message.reference,
    envelope: { from: identity.mailFrom, to: [identity.mailTo] },
    from: { name: headerText(identity.brand), address: identity.mailFrom },
    to: { name: "", address: identity.mailTo },
    // Some mail servers refuse a mail with such an address in its header, and the team must get every message.
    replyTo: needsSmtpUtf8(message.email) ? "" : { name: headerText(message.name), address: message.email },
    subject: headerText(subject),
    // Quoted-printable keeps every line end, dot and trailing space as typed, and needs no 8-bit mail server.
    encoding: "quoted-printable",
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
  } satisfies ComposedMail;
}

export interface AcknowledgementSettings {
  text: MailTexts["acknowledgement"];
  facts: Readonly<Record<string, string>>;
  /** A public address. MAIL_TO may be private. */
  replyTo: string;
}

/**
 * Contains nothing that the visitor wrote, so that it cannot be used to send a text to a third person. Its envelope has
 * no sender: if it cannot be delivered, no mail comes back (RFC 5321, section 4.5.5), and no program answers it.
 */
export function composeAcknowledgement(
  { id, reference, email }: Pick<StoredMessage, "id" | "reference" | "email">,
  { brand, mailFrom }: Pick<MailIdentity, "brand" | "mailFrom">,
  { text, facts, replyTo }: AcknowledgementSettings,
  now: Date,
): ComposedMail {
  const fill = (template: string) => fillFacts(template, { ...facts, reference });
  return {
    reference,
    part: "acknowledgement",
    envelope: { from: "", to: [email] },
    from: { name: headerText(brand), address: mailFrom },
    to: { name: "", address: email },
    replyTo: { name: "", address: replyTo },
    subject: fill(text.subject),
    messageId: messageId({ reference, id }, mailFrom, ".ack"),
    date: now,
    text: fill(text.body),
    encoding: "quoted-printable",
    // No `Precedence`: RFC 3834 does not define it, and some filters treat it as advertising.
    headers: { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All" },
  };
}

/**
 * A reply to the last mail that the sender has: the acknowledgement or an earlier reply. It also refers to the message's
 * mail, which only the team has, so that the answer belongs to the team's thread.
 */
export function composeReply(
  message: StoredMessage,
  identity: MailIdentity,
  reply: ThreadedReply,
  now: Date,
): ComposedMail {
  const { brand, mailFrom, mailTo } = identity;
  const part = `reply-${partOf(reply.key)}`;
  const isAcknowledged = message.deliveries.acknowledgement?.state === "delivered";
  const earlier = reply.earlier.map((key) => `.reply-${partOf(key)}`);
  const received = [...(isAcknowledged ? [".ack"] : []), ...earlier];
  const [original = "", ...mails] = ["", ...received].map((suffix) => messageId(message, mailFrom, suffix));
  const inReplyTo = mails.at(-1);
  return {
    reference: message.reference,
    part,
    envelope: { from: mailFrom, to: [message.email] },
    from: { name: headerText(brand), address: mailFrom },
    to: { name: "", address: message.email },
    replyTo: { name: "", address: mailTo },
    subject: reply.subject,
    messageId: messageId(message, mailFrom, `.${part}`),
    ...(inReplyTo && { inReplyTo }),
    references: [original, ...mails],
    date: now,
    text: replyBody(message, identity, reply),
    encoding: "quoted-printable",
  };
}

/** Has the subject of the message's mail, because some mail programs show only mails with one subject as a thread. */
export function composeCopy(
  message: StoredMessage,
  identity: MailIdentity,
  reply: ThreadedReply,
  now: Date,
): ComposedMail {
  const part = `copy-${partOf(reply.key)}`;
  const earlier = reply.earlier.map((key) => `.copy-${partOf(key)}`);
  const references = ["", ...earlier].map((suffix) => messageId(message, identity.mailFrom, suffix));
  return {
    ...toTeam(message, identity, `Re: ${teamSubject(message)}`),
    part,
    messageId: messageId(message, identity.mailFrom, `.${part}`),
    inReplyTo: references.at(-1) ?? "",
    references,
    date: now,
    text: replyBody(message, identity, reply),
  };
}

function partOf(key: string): string {
  return key.slice(0, 8);
}

function replyBody(message: StoredMessage, { mailSignature }: MailIdentity, { text }: Reply): string {
  return [text, ...(mailSignature ? [mailSignature] : []), `${quote(message)}\n`].join("\n\n");
}

/** Mail programs decode text that looks like an encoded word, such as `=?utf-8?q?evil?=`, unless it has a space. */
function headerText(text: string): string {
  return text.replaceAll("=?", "= ?");
}

/** The same for every attempt, so that mail programs can recognise an email that was sent twice. */
function messageId({ reference, id }: Pick<StoredMessage, "reference" | "id">, mailFrom: string, suffix = ""): string {
  const local = `${reference}.${id}${suffix}`.replaceAll(/[^A-Za-z0-9.-]/g, "-");
  const domain = domainToASCII(mailFrom.slice(mailFrom.lastIndexOf("@") + 1));
  return `<${local}@${domain || "localhost"}>`;
}

/** The visitor's text comes last, so that nothing in it can look like one of our lines. */
function textBody(message: StoredMessage, { brand, pricePerTonne = null }: MailIdentity): string {
  const facts = factsOf(message).map(([label, value]) => `${label}: ${value}`);
  const estimate = message.footprint ? estimateLines(message.footprint, pricePerTonne) : [];
  const words = ["Message:", "", message.message];
  return [...firstLines(message, brand), "", ...facts, "", ...estimate, ...words].join("\n");
}

function firstLines({ name, email, footprint }: StoredMessage, brand: string): string[] {
  return [
    `${name} wrote through the contact form of ${brand}.`,
    needsSmtpUtf8(email)
      ? `To answer ${name}, write a new email to the address below: a reply to this email does not go there.`
      : `Reply to this email to answer ${name}.`,
    ...(footprint ? [`With an estimate: ${estimateSummary(footprint)}.`] : []),
  ];
}

function factsOf(message: StoredMessage): (readonly [label: string, value: string])[] {
  const country = countryName(message.country);
  return [
    ["Reference", message.reference],
    ["Received", `${message.acceptedAt.toISOString().slice(0, 19).replace("T", " ")} UTC`],
    ...FIELD_NAMES.filter((field) => field !== "message").map((field) => {
      const value = field === "country" && country ? `${country} (${message.country})` : message[field];
      return [CONTACT_FIELDS[field].label, value || "not given"] as const;
    }),
    ...(message.quarantineReason ? [["Quarantined", QUARANTINE_REASON[message.quarantineReason]] as const] : []),
  ];
}

function estimateLines(footprint: FootprintEstimate, price: Price | null): string[] {
  const lines = describeInputs(footprint).map(({ label, value, kg }) => `${label}: ${value} (${formatMass(kg)})`);
  return [`Footprint estimate: ${formatTotal(footprint.totalKg)}`, ...lines, ...estimateNotes(footprint, price), ""];
}
