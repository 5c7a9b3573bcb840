import { createRequire } from "node:module";
import type MailComposer from "nodemailer/lib/mail-composer";
import { withoutAddresses } from "../../contract/email-address.ts";
import { visible } from "../../contract/text.ts";
import type { ComposedMail } from "./compose.ts";

// Takes less time and memory than an import: see http/limits.ts.
const Composer: typeof MailComposer = createRequire(import.meta.url)("nodemailer/lib/mail-composer");

const MAX_WORDS_LENGTH = 200;

export interface Mailer {
  /** Where emails go, without credentials. For the log. */
  readonly destination: string;
  /** Resolves once the email is accepted or on disk; rejects only with a MailError, in bounded time. */
  send(mail: ComposedMail): Promise<void>;
  /** Removes all emails of a message, finished or not. Absent if that is impossible. */
  removeFiles?(message: { reference: string }): Promise<void>;
  close(): Promise<void>;
}

export function compile(mail: ComposedMail) {
  return new Composer({ ...mail, newline: "windows", disableFileAccess: true, disableUrlAccess: true }).compile();
}

/** `permanent`: this mail was refused. `blocked`: nothing can be sent until the settings or the server are fixed. */
export type FailureKind = "temporary" | "permanent" | "blocked";

/** The message is safe to log: it has no address, content or credentials. */
export class MailError extends Error {
  override readonly name = "MailError";
  readonly kind: FailureKind;
  /** The mail server's answer, not safe to log. */
  response = "";
  /** The mail server got the whole mail and neither took nor refused it, so it may have delivered the mail. */
  isUnanswered = false;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }

  /** The answer without its code and addresses, on one line. It may quote the sender: only the database and operators get it. */
  get words(): string {
    const plain = withoutAddresses(this.response.slice(0, 5 * MAX_WORDS_LENGTH)).replaceAll(/^\d{3}[ -]?/gm, "");
    const words = visible(plain.trim().replaceAll(/\s+/g, " "));
    return words.length > MAX_WORDS_LENGTH ? `${words.slice(0, MAX_WORDS_LENGTH)}…` : words;
  }
}
