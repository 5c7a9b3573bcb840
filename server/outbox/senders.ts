import type { Config } from "../config.ts";
import type { MailIdentity } from "../mail/compose.ts";
import { createEmlMailer } from "../mail/eml.ts";
import { createSmtpMailer } from "../mail/smtp.ts";
import { type Channel, channelsOf } from "../store/model.ts";
import type { Store } from "../store/store.ts";
import { acknowledgementSender } from "./acknowledgement.ts";
import { hookSender } from "./hook.ts";
import { mailSender, replySender } from "./mail.ts";
import type { Sender } from "./outbox.ts";

export function createSenders(config: Config, { queue }: Pick<Store, "queue">, identity: MailIdentity): Sender[] {
  const { smtpUrl, dataDir, hook } = config;
  const mailer = () => (smtpUrl === null ? createEmlMailer(dataDir) : createSmtpMailer(smtpUrl));
  const senders: Readonly<Record<Channel, () => Sender | null>> = {
    mail: () => mailSender({ mailer: mailer(), identity }),
    acknowledgement: () => acknowledgementSender({ mailer: mailer(), queue, identity }),
    hook: () => hook && hookSender(hook),
    reply: () => replySender({ mailer: mailer(), copyMailer: mailer(), identity }),
  };
  return channelsOf(config).flatMap((channel) => senders[channel]() ?? []);
}
