import type { Config } from "../config.ts";
import {
  type ComposedMail,
  composeAcknowledgement,
  composeCopy,
  composeMail,
  composeReply,
  type MailIdentity,
} from "../mail/compose.ts";
import { createEmlMailer } from "../mail/eml.ts";
import { MailError, type Mailer } from "../mail/mailer.ts";
import { createSmtpMailer } from "../mail/smtp.ts";
import type { Claim, Queue } from "../store/queue.ts";
import { DAY_MS, HOUR_MS } from "../time.ts";
import { isReadByPerson, mailboxOf } from "./acknowledgement.ts";
import { hookSender } from "./hook.ts";
import type { Failure, Sender } from "./outbox.ts";

export function createSenders(
  { smtpUrl, dataDir, hook }: Config,
  channels: readonly Sender["channel"][],
  queue: Queue,
  identity: MailIdentity,
): Sender[] {
  const mailer = () => (smtpUrl === null ? createEmlMailer(dataDir) : createSmtpMailer(smtpUrl));
  const senders: Readonly<Record<Sender["channel"], () => Sender | null>> = {
    mail: () => mailSender({ mailer: mailer(), identity }),
    acknowledgement: () => acknowledgementSender({ mailer: mailer(), queue, identity }),
    hook: () => hook && hookSender(hook),
    reply: () => replySender({ mailer: mailer(), copyMailer: mailer(), identity }),
  };
  return channels.flatMap((channel) => senders[channel]() ?? []);
}

interface MailOptions {
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

/** More messages than a small company gets in an hour; it stops a flood to many addresses. */
const ACKNOWLEDGEMENTS_PER_HOUR = 100;
const EVERYBODY = "acknowledgements";

export function acknowledgementSender({
  mailer,
  queue,
  identity,
}: MailOptions & { queue: Pick<Queue, "admit"> }): Sender {
  const ownMailboxes = [identity.mailTo, identity.mailFrom, identity.contactEmail].map(mailboxOf);
  return {
    channel: "acknowledgement",
    concurrency: 2,
    async admit(claim, testTime) {
      const { email } = claim.message;
      const mailbox = mailboxOf(email);
      if (ownMailboxes.includes(mailbox)) return "own-address";
      if (!isReadByPerson(email)) return "not-a-person";
      const limits = [
        { name: `acknowledgement to ${mailbox}`, count: 1, windowMs: DAY_MS },
        { name: EVERYBODY, count: ACKNOWLEDGEMENTS_PER_HOUR, windowMs: HOUR_MS },
      ];
      const reached = await queue.admit(claim, limits, testTime);
      if (reached === null) return null;
      return reached === EVERYBODY ? "hourly-limit" : "address-limit";
    },
    ...sendingBy(mailer, ({ message, claimedAt }) => composeAcknowledgement(message, identity, claimedAt)),
  };
}

export function replySender({ mailer, copyMailer, identity }: MailOptions & { copyMailer: Mailer }): Sender {
  const composedBy =
    (compose: typeof composeReply) =>
    ({ message, reply, claimedAt }: Claim): ComposedMail => {
      if (!reply) throw new Error("A reply without its text");
      return compose(message, identity, reply, claimedAt);
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

function sendingBy(mailer: Mailer, compose: (claim: Claim) => ComposedMail) {
  return {
    async send(claim: Claim): Promise<Failure | null> {
      try {
        await mailer.send(compose(claim));
        return null;
      } catch (error) {
        if (!(error instanceof MailError)) throw error;
        const { kind, message, isUnanswered, words } = error;
        // After the code, as in `554 5.7.1 content refused; mail refused by the mail server (DATA)`.
        const shown = words === "" ? message : message.replace(/^(\d{3}) /, (code) => `${code}${words}; `);
        return { kind, message, isUnanswered, shown };
      }
    },
    removeFiles: mailer.removeFiles,
    close: mailer.close,
  };
}
