import { composeReply, type MailIdentity } from "../mail/compose.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Reply } from "../store/actions.ts";
import { sendingBy } from "./mail.ts";
import type { Sender } from "./outbox.ts";

/** Sends an operator's reply to the sender of a message. Every attempt has the same Message-ID. */
export function replySender({ mailer, identity }: { mailer: Mailer; identity: MailIdentity }): Sender {
  return {
    channel: "reply",
    concurrency: 2,
    // A server that repeatedly crashes between sending and saving must not repeatedly write to a visitor.
    maxInterruptions: 3,
    ...sendingBy(mailer, ({ message, payload }, now) => {
      const reply: Reply = JSON.parse(payload ?? "null");
      return composeReply(message, identity, reply, now);
    }),
  };
}
