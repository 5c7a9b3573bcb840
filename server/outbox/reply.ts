import { composeReply, type MailIdentity } from "../mail/compose.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Reply } from "../store/store.ts";
import { sendingBy } from "./mail.ts";
import type { Sender } from "./outbox.ts";

/** What an operator has written to the sender of a message, under the same Message-ID each time. */
export function replySender({ mailer, identity }: { mailer: Mailer; identity: MailIdentity }): Sender {
  return {
    channel: "reply",
    concurrency: 2,
    failureLevel: "error",
    // A server that dies again and again between sending and saving must not write to a visitor again and again.
    maxInterruptions: 3,
    ...sendingBy(mailer, ({ message, payload }, now) => {
      const reply: Reply = JSON.parse(payload ?? "null");
      return composeReply(message, identity, reply, now);
    }),
  };
}
