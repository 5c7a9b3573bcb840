import { type ComposedMail, composeMail, type MailIdentity } from "../mail/compose.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Claim } from "../store/store.ts";
import type { Sender } from "./outbox.ts";

interface MailOptions {
  mailer: Mailer;
  identity: MailIdentity;
  concurrency?: number;
}

/** The message itself, to the team, under the same Message-ID each time. */
export function mailSender({ mailer, identity, concurrency = 5 }: MailOptions): Sender {
  return {
    channel: "mail",
    concurrency,
    failureLevel: "error",
    ...sendingBy(mailer, ({ message }) => composeMail(message, identity)),
  };
}

/** What all channels that send mails have in common. */
export function sendingBy(mailer: Mailer, compose: (claim: Claim, now: Date) => ComposedMail) {
  return {
    async send(claim: Claim, now: Date): Promise<null> {
      await mailer.send(compose(claim, now));
      return null;
    },
    probe: mailer.probe,
    undo: mailer.undo,
    close: mailer.close,
  };
}
