import { canonicalEmail } from "../../contract/email-address.ts";
import { composeAcknowledgement } from "../mail/compose.ts";
import type { Queue } from "../store/queue.ts";
import { DAY_MS, HOUR_MS } from "../time.ts";
import { type MailOptions, sendingBy } from "./mail.ts";
import type { Sender } from "./outbox.ts";

type AcknowledgementOptions = MailOptions & { queue: Pick<Queue, "admit"> };

/** More messages than a small company gets in an hour; it stops a flood to many addresses. */
const ACKNOWLEDGEMENTS_PER_HOUR = 100;
const EVERYBODY = "acknowledgements";

export function acknowledgementSender({ mailer, queue, identity }: AcknowledgementOptions): Sender {
  const ownMailboxes = [identity.mailTo, identity.mailFrom, identity.contactEmail].map(mailboxOf);
  return {
    channel: "acknowledgement",
    concurrency: 2,
    async admit(claim, given) {
      const { email } = claim.message;
      const mailbox = mailboxOf(email);
      if (ownMailboxes.includes(mailbox)) return "own-address";
      if (!isReadByPerson(email)) return "not-a-person";
      const limits = [
        { name: `acknowledgement to ${mailbox}`, count: 1, windowMs: DAY_MS },
        { name: EVERYBODY, count: ACKNOWLEDGEMENTS_PER_HOUR, windowMs: HOUR_MS },
      ];
      const reached = await queue.admit(claim, limits, given);
      if (reached === null) return null;
      return reached === EVERYBODY ? "hourly-limit" : "address-limit";
    },
    ...sendingBy(mailer, ({ message }, now) => composeAcknowledgement(message, identity, now)),
  };
}

/**
 * The same for all spellings that usually lead to one mailbox, so that one person cannot get many mails. If a provider
 * distinguishes them, two people share a limit.
 */
export function mailboxOf(email: string): string {
  const address = canonicalEmail(email).toLowerCase();
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at).split("+", 1).join("").replaceAll(".", "");
  const domain = address.slice(at + 1);
  return `${local}@${domain === "googlemail.com" ? "gmail.com" : domain}`;
}

/**
 * The characters that people use in addresses. RFC 5321 allows more, but other forms are routes through other servers
 * (`victim%v.example@relay`, `host!victim@`), commands (`|sh@`) or options (`-f@`), which some mail server may obey.
 */
const PERSONAL_ADDRESS =
  /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_+'&-]*(\.[\p{L}\p{M}\p{N}_+'&-]+)*@([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z]([a-z\d-]*[a-z\d])?$/iu;
/** Programs and roles that must get no automatic mail (RFC 3834, section 2), without their separators. */
const PROGRAM = /^(mailerdaemon|postmaster|abuse|root|bounces?|noreply|donotreply)$/;
/** The same for lists, with each separator as a hyphen. */
const LIST = /^(owner-.*|.*-(request|owner|bounces?))$/;

export function isReadByPerson(email: string): boolean {
  const local = email.toLowerCase().split(/[@+]/, 1).join("");
  const isProgram = PROGRAM.test(local.replaceAll(/[._-]/g, "")) || LIST.test(local.replaceAll(/[._]/g, "-"));
  return PERSONAL_ADDRESS.test(email) && !isProgram;
}
