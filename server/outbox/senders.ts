import type { Config } from "../config.ts";
import type { MailIdentity } from "../mail/compose.ts";
import { createEmlMailer } from "../mail/eml.ts";
import type { Mailer } from "../mail/mailer.ts";
import { createSmtpMailer } from "../mail/smtp.ts";
import type { Store } from "../store/open-store.ts";
import { type Channel, channelsOf } from "../store/store.ts";
import { acknowledgementSender } from "./acknowledgement.ts";
import { hookSender } from "./hook.ts";
import { mailSender, replySender } from "./mail.ts";
import type { Sender } from "./outbox.ts";

interface SenderOptions {
  config: Config;
  store: Pick<Store, "queue">;
  identity: MailIdentity;
}

function createMailer({ smtpUrl, dataDir }: Pick<Config, "smtpUrl" | "dataDir">): Mailer {
  return smtpUrl === null ? createEmlMailer(dataDir) : createSmtpMailer(smtpUrl);
}

const SENDERS: Readonly<Record<Channel, (options: SenderOptions) => Sender | null>> = {
  mail: ({ config, identity }) => mailSender({ mailer: createMailer(config), identity }),
  acknowledgement: ({ config, store, identity }) =>
    acknowledgementSender({ mailer: createMailer(config), queue: store.queue, identity }),
  hook: ({ config }) => config.hook && hookSender(config.hook),
  reply: ({ config, identity }) =>
    replySender({ mailer: createMailer(config), copyMailer: createMailer(config), identity }),
};

export function createSenders(options: SenderOptions): Sender[] {
  return channelsOf(options.config).flatMap((channel) => SENDERS[channel](options) ?? []);
}
