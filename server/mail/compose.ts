import { domainToASCII } from "node:url";
import type { SendMailOptions } from "nodemailer";
import { encodeWord } from "nodemailer/lib/mime-funcs";
import type { StoredMessage } from "../store/store.ts";
import { htmlBody, textBody } from "./mail-body.ts";

/** Who the site's mails come from and go to. */
export interface MailIdentity {
  brand: string;
  mailFrom: string;
  mailTo: string;
}

export interface ComposedMail extends SendMailOptions {
  reference: string;
}

/**
 * A message as a mail to the team, the same every time but for its MIME boundary. The one recipient is `mailTo`,
 * whatever the visitor typed: the envelope is not derived from any header.
 */
export function composeMail(message: StoredMessage, identity: MailIdentity): ComposedMail {
  const country = countryName(message.country);
  const subject = `[${message.reference}] Message from ${message.name}${country && `, ${country}`}`;
  return {
    reference: message.reference,
    envelope: { from: identity.mailFrom, to: [identity.mailTo] },
    from: { name: identity.brand, address: identity.mailFrom },
    to: { name: "", address: identity.mailTo },
    replyTo: { name: message.name, address: message.email },
    messageId: messageId(message, identity.mailFrom),
    date: message.acceptedAt,
    text: textBody(message, identity.brand, country),
    html: htmlBody(message, identity.brand, country),
    // Quoted-printable keeps every line end, dot and trailing space as typed, and needs no 8-bit mail server.
    encoding: "quoted-printable",
    ...(subject.includes("=?") ? {} : { subject }),
    headers: {
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      // A name that looks like an encoded word would be decoded by the reader's program; encoded once more it is literal.
      ...(subject.includes("=?")
        ? { Subject: { prepared: true, foldLines: true, value: encodeWord(subject, "Q", 52) } }
        : {}),
    },
  };
}

/** The same for every attempt, so that a mail sent twice can be recognised as one. */
function messageId(message: StoredMessage, mailFrom: string): string {
  const local = `${message.reference}.${message.id}`.replaceAll(/[^A-Za-z0-9.-]/g, "-");
  const domain = domainToASCII(mailFrom.slice(mailFrom.lastIndexOf("@") + 1));
  return `<${local}@${domain || "localhost"}>`;
}

const COUNTRY_NAMES = new Intl.DisplayNames("en-GB", { type: "region", fallback: "code" });

function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (COUNTRY_NAMES.of(code) ?? code) : code;
}
