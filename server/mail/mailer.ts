import type { ComposedMail } from "./compose.ts";

/**
 * `temporary`: the same mail may get through later. `permanent`: this mail was refused for good. `blocked`: no mail gets
 * through until somebody mends the settings or the server, so trying one after the other is pointless.
 */
export type MailFailure = "temporary" | "permanent" | "blocked";

/** Why a mail was not taken. Its message is safe to log and to store: no address, no content, no credentials. */
export class MailError extends Error {
  override readonly name = "MailError";
  readonly kind: MailFailure;

  constructor(kind: MailFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface Mailer {
  /** For the log: where mails go, without credentials. */
  readonly describe: string;
  /** Resolves once the other side has taken the mail; rejects with nothing but a MailError, in bounded time. */
  send(mail: ComposedMail): Promise<void>;
  /** Removes this side's own copy of a mail, if it keeps one: its message was erased while it was under way. */
  forget(reference: string): Promise<void>;
  /** Ends what is under way at once. */
  close(): Promise<void>;
}
