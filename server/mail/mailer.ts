import type { ComposedMail } from "./compose.ts";

/** Delivers emails: `smtp.ts` to a mail server, `eml.ts` to files. */
export interface Mailer {
  /** For the log: where emails go, without credentials. */
  readonly destination: string;
  /** Resolves once the email is accepted or on disk; rejects only with a MailError, in bounded time. */
  send(mail: ComposedMail): Promise<void>;
  /** Whether the receiver answers, without sending anything; not given where that cannot be known. Never rejects. */
  probe?(): Promise<boolean>;
  /** Removes all emails of a message, finished or not; not given where that cannot be done. */
  undo?(message: { reference: string }): Promise<void>;
  /** Aborts all sending. */
  close(): Promise<void>;
}

/**
 * `temporary`: the same may be accepted later. `permanent`: this one was refused for good. `blocked`: nothing can be sent
 * until the settings or the server are fixed, so trying the next one is pointless.
 */
export type FailureKind = "temporary" | "permanent" | "blocked";

/**
 * Why an email was not sent. Its message is safe to log and to store: no address, no content, no credentials. The
 * server's own answer is not safe.
 */
export class MailError extends Error {
  override readonly name = "MailError";
  readonly kind: FailureKind;
  /** The mail server was not reached or did not read the mail, so it cannot have it. */
  readonly isUnreachable: boolean;

  /** What the mail server answered, code and all; empty where it did not. */
  readonly response: string;

  constructor(kind: FailureKind, message: string, isUnreachable = false, response = "") {
    super(message);
    this.kind = kind;
    this.isUnreachable = isUnreachable;
    this.response = response;
  }
}
