import { composeCopy, composeReply } from "../mail/compose.ts";
import type { Reply } from "../store/actions.ts";
import { PAYLOAD_END } from "../store/queue.ts";
import { type MailOptions, sendingBy } from "./mail.ts";
import type { Sender } from "./outbox.ts";

/** Sends an operator's reply to the sender of a message. Every attempt has the same Message-ID. */
export function replySender({ mailer, identity }: MailOptions): Sender {
  return {
    channel: "reply",
    concurrency: 2,
    // A server that repeatedly crashes between sending and saving must not repeatedly write to a visitor.
    maxInterruptions: 3,
    ...sendingBy(mailer, ({ message, payload }, now) => composeReply(message, identity, replyOf(payload), now)),
  };
}

/** Sends a copy of each reply to the team. A delivery of its own, so that no problem with it repeats the reply. */
export function copySender({ mailer, identity }: MailOptions): Sender {
  const sending = sendingBy(mailer, ({ message, payload }, now) =>
    composeCopy(message, identity, replyOf(payload), now),
  );
  return {
    channel: "copy",
    concurrency: 2,
    ...sending,
    async send(claim, now) {
      const payloads = claim.payload?.split(PAYLOAD_END) ?? [];
      for (const [index, payload] of payloads.entries()) {
        claim.payload = payloads.slice(index).join(PAYLOAD_END);
        const failure = await sending.send({ ...claim, payload }, now);
        if (failure !== null) return failure;
      }
      return null;
    },
  };
}

function replyOf(payload: string | null): Reply {
  return JSON.parse(payload ?? "null");
}
