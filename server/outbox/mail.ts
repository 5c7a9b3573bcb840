import { type ComposedMail, composeCopy, composeMail, composeReply, type MailIdentity } from "../mail/compose.ts";
import { MailError, type Mailer } from "../mail/mailer.ts";
import type { Claim } from "../store/queue.ts";
import type { Failure, Sender } from "./outbox.ts";

export interface MailOptions {
  /** Each channel has its own: if the server limits mail to strangers, the team's mail must not wait. */
  mailer: Mailer;
  identity: MailIdentity;
}

export function mailSender({ mailer, identity, concurrency = 5 }: MailOptions & { concurrency?: number }): Sender {
  return {
    channel: "mail",
    destination: mailer.destination,
    concurrency,
    ...sendingBy(mailer, ({ message }) => composeMail(message, identity)),
  };
}

export function replySender({ mailer, copyMailer, identity }: MailOptions & { copyMailer: Mailer }): Sender {
  const composedBy =
    (compose: typeof composeReply) =>
    ({ message, reply }: Claim, now: Date): ComposedMail => {
      if (!reply) throw new Error("A reply without its text");
      return compose(message, identity, reply, now);
    };
  return {
    channel: "reply",
    concurrency: 2,
    ...sendingBy(mailer, composedBy(composeReply)),
    sendCopy: sendingBy(copyMailer, composedBy(composeCopy)).send,
    async close() {
      await Promise.all([mailer.close(), copyMailer.close()]);
    },
  };
}

export function sendingBy(mailer: Mailer, compose: (claim: Claim, now: Date) => ComposedMail) {
  return {
    async send(claim: Claim, now: Date): Promise<Failure | null> {
      try {
        await mailer.send(compose(claim, now));
        return null;
      } catch (error) {
        if (!(error instanceof MailError)) throw error;
        const { kind, message, isUnanswered, words } = error;
        // After the code, as in `554 5.7.1 content refused; mail refused by the mail server (DATA)`.
        const shown = words === "" ? message : message.replace(/^(\d{3}) /, (code) => `${code}${words}; `);
        return { kind, message, isUnanswered, shown };
      }
    },
    undo: mailer.undo,
    close: mailer.close,
  };
}
