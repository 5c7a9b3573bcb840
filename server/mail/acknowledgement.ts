import type { AcknowledgementText } from "../../contract/build-manifest.ts";
import type { StoredMessage } from "../store/store.ts";
import { type ComposedMail, type MailIdentity, messageId, withoutEncodedWord } from "./compose.ts";

/** What every acknowledgement says, and who gets the answers to it. */
export interface AcknowledgementSettings {
  text: AcknowledgementText;
  /** Known to the public: MAIL_TO may be an address that is not. */
  replyTo: string;
}

/**
 * The mail that tells a sender that the message has arrived. Nothing that a visitor wrote is in it, so that nobody can
 * have a text of their own sent to somebody else; the address is its only recipient. Its envelope has no sender: where it
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
    isAcknowledgement: true,
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
