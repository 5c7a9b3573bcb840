import { EventEmitter, once } from "node:events";
import { hostname } from "node:os";
import { expect, onTestFinished } from "vitest";
import type { ContactMessage } from "../../contract/contact-message.ts";
import { readTexts } from "../../prerender/texts.ts";
import type { ComposedMail, MailIdentity } from "../../server/mail/compose.ts";
import type { Mailer } from "../../server/mail/mailer.ts";
import { createSmtpMailer } from "../../server/mail/smtp.ts";
import { type Outbox, type OutboxOptions, type Sender, startOutbox } from "../../server/outbox/outbox.ts";
import { mailSender } from "../../server/outbox/senders.ts";
import type { Channel, StoredMessage } from "../../server/store/model.ts";
import type { Store } from "../../server/store/store.ts";
import { systemClock } from "../../server/time.ts";
import { messageWith, NO_LIMITS, store as send, submissionOf } from "../store-contract/samples.ts";
import { createFakeClock } from "./fake-clock.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { startMailServer } from "./mail-server.ts";
import { createRecordingLog } from "./recording-log.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { untilEnd } from "./until-end.ts";

/** With the acknowledgement that comes with the software. */
export const IDENTITY: MailIdentity = {
  brand: "Brighter Carbon",
  contactEmail: "hello@example.test",
  mailFrom: "website@example.test",
  mailTo: "team@example.test",
  mails: { acknowledgement: (await readTexts("app/")).mails.acknowledgement, replies: [] },
  facts: { brand: "Brighter Carbon" },
  mailSignature: null,
  pricePerTonne: null,
};

/** A real store and a clock for one test, cleaned up after it. `channels`: those that every message gets at once. */
export async function openPostOffice({
  databaseUrl = null,
  channels = ["mail"],
}: {
  databaseUrl?: string | null;
  channels?: readonly Channel[];
} = {}) {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl, rules: { ...NO_LIMITS, channels } }));
  const clock = createFakeClock();
  const log = createRecordingLog();
  onTestFinished(() => {
    // A random reference and the name of the machine may contain one of these words.
    const logged = JSON.stringify(log.lines)
      .replaceAll(/"reference":"BC-\w{4}-\w\w"/g, "")
      .replaceAll(hostname(), "");
    expect(logged).not.toMatch(/@|Ada|Lovelace|credits|7946|the old one|secret/i);
  });
  let accepted = 0;
  let workers = 0;
  clock.countWorkers = () => workers;

  /** Stores a message with a unique text, in quarantine if it is trapped, and returns its reference. */
  function accept(fields?: Partial<ContactMessage>, isTrapped = false): Promise<string> {
    accepted += 1;
    const message = messageWith({ email: "ada@example.org", message: `How many credits? (${accepted})`, ...fields });
    return send(store, submissionOf(message, { isTrapped }), clock.now());
  }
  async function message(reference: string): Promise<StoredMessage> {
    const found = await store.messages.find(reference);
    if (!found) throw new Error(`${reference} is not there`);
    return found;
  }
  /** Starts a worker for mails. */
  function start(mailer: Mailer, { concurrency = 5, ...rest }: Partial<OutboxOptions> & { concurrency?: number } = {}) {
    return startSenders([mailSender({ mailer, identity: IDENTITY, concurrency })], rest);
  }
  function startSenders(senders: readonly Sender[], options: Partial<OutboxOptions> = {}): Outbox {
    const outbox = startOutbox({ store, senders, log, clock, ...options });
    workers += senders.length;
    const { stop } = outbox;
    outbox.stop = (deadlineMs) => {
      workers -= senders.length;
      outbox.stop = stop;
      return stop(deadlineMs);
    };
    onTestFinished(async () => {
      // Ends all unfinished sending of the test.
      for (const sender of senders) await sender.close?.();
      await outbox.stop();
    });
    return outbox;
  }

  return {
    dataDir,
    store,
    clock,
    log,
    accept,
    message,
    start,
    startSenders,
    delivery: async (reference: string, channel: Channel = "mail") => (await message(reference)).deliveries[channel],
    /** The message's history, such as `mail delivered`. */
    events: async (reference: string) =>
      (await store.messages.history(reference)).map(({ kind, channel }) => `${channel} ${kind}`),
    mailServer: (options?: Parameters<typeof startMailServer>[0]) => untilEnd(startMailServer(options)),
    smtpMailer: (server: { port: number }, { user = "", query = "", clock = systemClock } = {}) =>
      createSmtpMailer(`smtp://${user && `${user}@`}127.0.0.1:${server.port}${query}`, clock),
  };
}

/** A mailer with which the test decides whether and when each mail is accepted. */
export function createManualMailer() {
  const mails: { reference: string; accept(): void; fail(error: Error): void }[] = [];
  const arrivals = new EventEmitter();
  return {
    destination: "the test",
    /** Every mail so far, in order. */
    mails,
    send: (mail: ComposedMail) =>
      new Promise<void>((resolve, reject) => {
        mails.push({ reference: mail.reference, accept: resolve, fail: reject });
        arrivals.emit("mail");
      }),
    async close() {
      for (const mail of mails) mail.accept();
    },
    /** Resolves once it has received `count` mails in total. */
    async received(count: number) {
      while (mails.length < count) await once(arrivals, "mail");
    },
  };
}

/** Other methods for some parts of a store. */
export type ChangedStore = { [Part in Exclude<keyof Store, "close" | "secret">]?: Partial<Store[Part]> };

/** The same store except for some methods. */
export function withStore(store: Store, changed: ChangedStore): Store {
  const parts = Object.entries(changed) as [keyof ChangedStore, object][];
  return { ...store, ...Object.fromEntries(parts.map(([part, methods]) => [part, { ...store[part], ...methods }])) };
}
