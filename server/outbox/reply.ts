import { type ComposedMail, composeCopy, composeReply } from "../mail/compose.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Claim } from "../store/queue.ts";
import { type MailOptions, sendingBy } from "./mail.ts";
import type { Sender } from "./outbox.ts";

/**
 * Sends an operator's reply to the sender of a message, and then a copy to the team by `copyMailer`. Every attempt has
 * the same Message-ID.
 */
export function replySender({ mailer, copyMailer, identity }: MailOptions & { copyMailer: Mailer }): Sender {
  const composedBy =
    (compose: typeof composeReply) =>
    ({ message, reply }: Claim, now: Date): ComposedMail => {
      if (!reply) throw new Error("A reply without its text");
      return compose(message, identity, reply, now);
    };
  const sending = sendingBy(mailer, composedBy(composeReply));
  return {
    channel: "reply",
    concurrency: 2,
    // It may have arrived, so an operator decides whether it is sent again.
    maxInterruptions: 1,
    ...sending,
    sendCopy: sendingBy(copyMailer, composedBy(composeCopy)).send,
    async close() {
      await Promise.all([mailer.close(), copyMailer.close()]);
    },
  };
}
