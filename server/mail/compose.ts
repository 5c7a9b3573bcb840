import type { SendMailOptions } from "nodemailer";
import type { BuildManifest } from "../../contract/build-manifest.ts";
import { CONTACT_FIELDS, countryName, FIELD_NAMES } from "../../contract/contact-message.ts";
import { comparableEmail, needsSmtpUtf8 } from "../../contract/email-address.ts";
import { fillFacts } from "../../contract/facts.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { formatMass, formatTotal } from "../../contract/footprint/fields.ts";
import { describeInputs, estimateNotes, estimateSummary, type Price } from "../../contract/footprint/words.ts";
import { quote } from "../../contract/quoted-text.ts";
import { mailPart, messageIdOf, type OwnMail } from "../message-id.ts";
import { QUARANTINE_REASON } from "../message-words.ts";
import type { StoredMessage } from "../store/model.ts";
import type { ThreadedReply } from "../store/replies.ts";

export type MailIdentity = Omit<BuildManifest["site"], "answerWithin" | "referencePrefix"> & {
  mailFrom: string;
  mailTo: string;
};

export interface ComposedMail extends SendMailOptions {
  envelope: { from: string; to: string[] };
  reference: string;
  /** Names the mail if it is not the one to the team. */
  part?: string;
}

export function composeMail(message: StoredMessage, identity: MailIdentity): ComposedMail {
  return {
    ...teamMail(message, identity, message.acceptedAt),
    subject: teamSubject(message),
    text: textBody(message, identity),
  };
}

function teamSubject({ reference, name, country }: StoredMessage): string {
  return headerText(`[${reference}] Message from ${name}${country && `, ${countryName(country)}`}`);
}

/** `to` is the only recipient, because the envelope is not derived from any header. */
function plainMail(to: string, ids: OwnMail, { brand, mailFrom }: MailIdentity, date: Date, part?: string) {
  return {
    reference: ids.reference,
    envelope: { from: mailFrom, to: [to] },
    from: { name: headerText(brand), address: mailFrom },
    to: { name: "", address: to },
    messageId: messageIdOf({ ...ids, part }, mailFrom),
    date,
    // Quoted-printable keeps every line end, dot and trailing space as typed, and needs no 8-bit mail server.
    encoding: "quoted-printable",
  } satisfies ComposedMail;
}

function teamMail(message: StoredMessage, identity: MailIdentity, date: Date, part?: string) {
  return {
    ...plainMail(identity.mailTo, message, identity, date, part),
    // Some mail servers refuse a mail with such an address in its header, and the team must get every message.
    replyTo: needsSmtpUtf8(message.email) ? "" : { name: headerText(message.name), address: message.email },
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
  } satisfies ComposedMail;
}

/**
 * Contains nothing that the visitor wrote, so that it cannot be used to send a text to a third person. Its envelope has
 * no sender: if it cannot be delivered, no mail comes back (RFC 5321, section 4.5.5), and no program answers it.
 */
export function composeAcknowledgement(
  { id, reference, email }: OwnMail & Pick<StoredMessage, "email">,
  identity: MailIdentity,
  now: Date,
): ComposedMail {
  const { contactEmail, facts, mails } = identity;
  const fill = (template: string) => fillFacts(template, { ...facts, reference });
  return {
    ...plainMail(email, { id, reference }, identity, now, "ack"),
    part: "acknowledgement",
    envelope: { from: "", to: [email] },
    // A public address. MAIL_TO may be private.
    replyTo: { name: "", address: contactEmail },
    subject: fill(mails.acknowledgement.subject),
    text: fill(mails.acknowledgement.body),
    // No `Precedence`: RFC 3834 does not define it, and some filters treat it as advertising.
    headers: { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All" },
  };
}

const MAX_REFERENCES = 20;

/**
 * A reply to the sender's last answer, else to the last mail that the sender has: the acknowledgement or an earlier
 * reply. It also refers to the message's
 * mail, which only the team has, so that the answer belongs to the team's thread.
 */
export function composeReply(
  message: StoredMessage,
  identity: MailIdentity,
  { key, earlier, subject, text, recipient }: ThreadedReply,
  now: Date,
): ComposedMail {
  const part = mailPart("reply", key);
  const isAcknowledged = message.deliveries.acknowledgement?.state === "delivered";
  const idOf = (part?: string) => messageIdOf({ ...message, part }, identity.mailFrom);
  const to = recipient ?? message.email;
  // A mail without a Message-ID is known by something else.
  const mails = earlier.filter((one) => "key" in one || one.mailId.startsWith("<"));
  const before = [
    ...(isAcknowledged ? [idOf("ack")] : []),
    ...mails.map((one) => ("key" in one ? idOf(mailPart("reply", one.key)) : one.mailId)),
  ];
  const answer = mails.findLast((one) => "sender" in one && one.sender === comparableEmail(to));
  const inReplyTo = answer && "mailId" in answer ? answer.mailId : before.at(-1);
  const references = [idOf(), ...before.slice(1 - MAX_REFERENCES)];
  return {
    ...plainMail(to, message, identity, now, part),
    part,
    replyTo: { name: "", address: identity.mailTo },
    subject,
    ...(inReplyTo && { inReplyTo }),
    references,
    text: replyBody(message, identity, text),
  };
}

/** Has the subject of the message's mail, because some mail programs show only mails with one subject as a thread. */
export function composeCopy(
  message: StoredMessage,
  identity: MailIdentity,
  { key, earlier, text }: ThreadedReply,
  now: Date,
): ComposedMail {
  const part = mailPart("copy", key);
  const copies = earlier.flatMap((one) => ("key" in one ? mailPart("copy", one.key) : []));
  const parts = [undefined, ...copies];
  const references = parts.map((one) => messageIdOf({ ...message, part: one }, identity.mailFrom));
  return {
    ...teamMail(message, identity, now, part),
    part,
    subject: `Re: ${teamSubject(message)}`,
    inReplyTo: references.at(-1) ?? "",
    references,
    text: replyBody(message, identity, text),
  };
}

function replyBody(message: StoredMessage, { mailSignature }: MailIdentity, text: string): string {
  return [text, ...(mailSignature ? [mailSignature] : []), `${quote(message)}\n`].join("\n\n");
}

/** Mail programs decode text that looks like an encoded word, such as `=?utf-8?q?evil?=`, unless it has a space. */
function headerText(text: string): string {
  return text.replaceAll("=?", "= ?");
}

/** The visitor's text comes last, so that nothing in it can look like one of our lines. */
function textBody(message: StoredMessage, { brand, pricePerTonne }: MailIdentity): string {
  const { reference, acceptedAt, name, email, footprint, quarantineReason } = message;
  const country = countryName(message.country);
  const fields = FIELD_NAMES.filter((field) => field !== "message").map((field) => {
    const value = field === "country" && country ? `${country} (${message.country})` : message[field];
    return `${CONTACT_FIELDS[field].label}: ${value || "not given"}`;
  });
  return [
    `${name} wrote through the contact form of ${brand}.`,
    needsSmtpUtf8(email)
      ? `To answer ${name}, write a new email to the address below: a reply to this email does not go there.`
      : `Reply to this email to answer ${name}.`,
    ...(footprint ? [`With an estimate: ${estimateSummary(footprint)}.`] : []),
    "",
    `Reference: ${reference}`,
    `Received: ${acceptedAt.toISOString().slice(0, 19).replace("T", " ")} UTC`,
    ...fields,
    ...(quarantineReason ? [`Quarantined: ${QUARANTINE_REASON[quarantineReason]}`] : []),
    "",
    ...(footprint ? estimateLines(footprint, pricePerTonne) : []),
    "Message:",
    "",
    message.message,
  ].join("\n");
}

function estimateLines(footprint: FootprintEstimate, price: Price | null): string[] {
  const lines = describeInputs(footprint).map(({ label, value, kg }) => `${label}: ${value} (${formatMass(kg)})`);
  return [`Footprint estimate: ${formatTotal(footprint.totalKg)}`, ...lines, ...estimateNotes(footprint, price), ""];
}
