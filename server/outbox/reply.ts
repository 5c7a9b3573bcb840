import { composeReply, type MailIdentity } from "../mail/compose.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Reply } from "../store/actions.ts";
import type { Claim } from "../store/queue.ts";
import { sendingBy } from "./mail.ts";
import type { Sender } from "./outbox.ts";

/**
 * Sends an operator's reply to the sender of a message, then a blind copy to the team. Every attempt has the same
 * Message-ID.
 */
export function replySender({ mailer, identity }: { mailer: Mailer; identity: MailIdentity }): Sender {
  const compose = ({ message, payload }: Claim, now: Date) => {
    const reply: Reply = JSON.parse(payload ?? "null");
    return composeReply(message, identity, reply, now);
  };
  const sending = sendingBy(mailer, compose);
  return {
    channel: "reply",
    concurrency: 2,
    // A server that repeatedly crashes between sending and saving must not repeatedly write to a visitor.
    maxInterruptions: 3,
    ...sending,
    async send(claim, now) {
      const failure = await sending.send(claim, now);
      if (failure !== null) return failure;
      // Separate from the reply: a refused copy must not send the reply again, nor a refused reply another copy.
      const mail = compose(claim, now);
      await mailer.send({ ...mail, envelope: { ...mail.envelope, to: [identity.mailTo] } }).catch(() => {});
      return null;
    },
  };
}
