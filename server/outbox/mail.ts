import { type ComposedMail, composeMail, type MailIdentity } from "../mail/compose.ts";
import { MailError, type Mailer } from "../mail/mailer.ts";
import type { Claim } from "../store/queue.ts";
import type { Failure, Sender } from "./outbox.ts";

export interface MailOptions {
  /** Each channel has its own: if the server limits mail to strangers, the team's mail must not wait. */
  mailer: Mailer;
  identity: MailIdentity;
}

/** Sends the message to the team. Every attempt has the same Message-ID. */
export function mailSender({ mailer, identity, concurrency = 5 }: MailOptions & { concurrency?: number }): Sender {
  return {
    channel: "mail",
    destination: mailer.destination,
    concurrency,
    // Each of these may have arrived; more would only fill the mailbox.
    maxInterruptions: 5,
    ...sendingBy(mailer, ({ message }) => composeMail(message, identity)),
  };
}

/** The part that all mail channels share. */
export function sendingBy(mailer: Mailer, compose: (claim: Claim, now: Date) => ComposedMail) {
  return {
    async send(claim: Claim, now: Date): Promise<Failure | null> {
      try {
        await mailer.send(compose(claim, now));
        return null;
      } catch (error) {
        if (!(error instanceof MailError)) throw error;
        const { kind, message, isUnreachable, isUnanswered, words } = error;
        // After the code, as in `554 5.7.1 content refused; mail refused by the mail server (DATA)`.
        const shown = words === "" ? message : message.replace(/^(\d{3}) /, (code) => `${code}${words}; `);
        return { kind, message, isUnreachable, isUnanswered, shown };
      }
    },
    probe: mailer.probe,
    undo: mailer.undo,
    close: mailer.close,
  };
}
