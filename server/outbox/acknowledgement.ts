import { comparableEmail } from "../../contract/email-address.ts";

// To which addresses an acknowledgement is sent, which nobody has asked for.

/**
 * The same for all spellings that usually lead to one mailbox, so that one person cannot get many mails. If a provider
 * distinguishes them, two people share a limit.
 */
export function mailboxOf(email: string): string {
  const address = comparableEmail(email);
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
