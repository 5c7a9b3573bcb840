import { expect, onTestFinished } from "vitest";
import { site } from "../../app/site.ts";
import type { ContactMessage } from "../../contract/contact-message.ts";
import type { MailIdentity } from "../../server/mail/compose.ts";
import type { Mailer } from "../../server/mail/mailer.ts";
import { createSmtpMailer, SMTP_LIMITS, type SmtpLimits } from "../../server/mail/smtp.ts";
import { acknowledgementSender } from "../../server/outbox/acknowledgement.ts";
import { type HookSettings, hookSender } from "../../server/outbox/hook.ts";
import { mailSender } from "../../server/outbox/mail.ts";
import { type Outbox, type OutboxOptions, type Sender, startOutbox } from "../../server/outbox/outbox.ts";
import type { Channel, Delivery, Store, StoredMessage } from "../../server/store/store.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";
import { createRecordingLog, type RecordingLog } from "./recording-log.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { untilEnd } from "./until-end.ts";

export const IDENTITY: MailIdentity = {
  brand: "Brighter Carbon",
  mailFrom: "website@example.test",
  mailTo: "team@example.test",
};

const VISITOR: ContactMessage = {
  name: "Ada Lovelace",
  email: "ada@example.org",
  phone: "+44 20 7946 0000",
  country: "GB",
  message: "How many credits for one flight?",
};

type StartOptions = Partial<OutboxOptions> & {
  concurrency?: number;
  acknowledgement?: { mailer: Mailer; perHour?: number };
  hook?: HookSettings;
};

/** A real store and a clock for one test, cleaned up after it. */
export interface PostOffice {
  dataDir: string;
  store: Store;
  clock: FakeClock;
  log: RecordingLog;
  /** Stores a message with a unique text, in quarantine if it is trapped, and returns its reference. */
  accept(fields?: Partial<ContactMessage>, isTrapped?: boolean): Promise<string>;
  message(reference: string): Promise<StoredMessage>;
  delivery(reference: string, channel?: Channel): Promise<Delivery | undefined>;
  /** The message's history, such as `mail delivered`. */
  events(reference: string): Promise<string[]>;
  mailServer(options?: { port?: number; hasTls?: boolean }): Promise<MailServer>;
  smtpMailer(server: { port: number }, options?: { user?: string; query?: string; limits?: SmtpLimits }): Mailer;
  /** Starts a worker for mails, and for the other channels with options. */
  start(mailer: Mailer, options?: StartOptions): Outbox;
  startSenders(senders: readonly Sender[], options?: Partial<OutboxOptions>): Outbox;
}

interface PostOfficeOptions {
  startsAt?: string;
  /** `null`: SQLite. */
  databaseUrl?: string | null;
  /** The channels that every message gets at once. */
  channels?: readonly Channel[];
}

export async function openPostOffice(options: PostOfficeOptions = {}): Promise<PostOffice> {
  const { databaseUrl = null, channels = ["mail"] } = options;
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl }));
  const clock = createFakeClock(options.startsAt);
  const log = createRecordingLog();
  onTestFinished(() => {
    // A random reference may contain one of these words.
    const logged = JSON.stringify(log.lines).replaceAll(/"reference":"BC-\w{4}-\w\w"/g, "");
    expect(logged).not.toMatch(/@|Ada|Lovelace|credits|7946|the old one|secret/i);
  });
  let accepted = 0;
  let workers = 0;
  clock.countWorkers = () => workers;

  const office: PostOffice = {
    dataDir,
    store,
    clock,
    log,
    async accept(fields, isTrapped = false) {
      accepted += 1;
      const submission = { idempotencyKey: null, networks: [], isTrapped };
      const message = { ...VISITOR, message: `${VISITOR.message} (${accepted})`, ...fields };
      const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null, spamFilter: true, channels };
      const acceptance = await store.accept({ ...submission, message }, rules, clock.now());
      if (acceptance.kind !== "stored") throw new Error(`not stored but ${acceptance.kind}`);
      return acceptance.reference;
    },
    async message(reference) {
      const message = await store.find(reference);
      if (!message) throw new Error(`${reference} is not there`);
      return message;
    },
    delivery: async (reference, channel = "mail") => (await office.message(reference)).deliveries[channel],
    events: async (reference) => (await store.history(reference)).map(({ kind, channel }) => `${channel} ${kind}`),
    async mailServer(options) {
      const server = await untilEnd(startMailServer(options));
      return server;
    },
    smtpMailer(server, { user = "", query = "", limits = SMTP_LIMITS } = {}) {
      const url = `smtp://${user && `${user}@`}127.0.0.1:${server.port}${query}`;
      return createSmtpMailer(url, limits);
    },
    start(mailer, { concurrency = 5, acknowledgement, hook, ...rest } = {}) {
      const senders = [mailSender({ mailer, identity: IDENTITY, concurrency })];
      if (acknowledgement) {
        const texts = { text: site.acknowledgement, replyTo: "hello@example.test" };
        senders.push(acknowledgementSender({ store, identity: IDENTITY, ...texts, ...rest, ...acknowledgement }));
      }
      if (hook) senders.push(hookSender(hook));
      return office.startSenders(senders, rest);
    },
    startSenders(senders, options = {}) {
      const outbox = startOutbox({ store, senders, log, clock, ...options });
      workers += senders.length;
      let isCounted = true;
      const counted: Outbox = {
        get pauses() {
          return outbox.pauses;
        },
        wake: outbox.wake,
        stop(deadlineMs) {
          if (isCounted) workers -= senders.length;
          isCounted = false;
          return outbox.stop(deadlineMs);
        },
      };
      onTestFinished(async () => {
        // Ends all unfinished sending of the test.
        for (const sender of senders) await sender.close?.();
        await counted.stop();
      });
      return counted;
    },
  };
  return office;
}

/** A mailer with which the test decides whether and when each mail is accepted. */
export interface ManualMailer extends Mailer {
  /** Every mail so far, in order. */
  readonly mails: { reference: string; accept(): void; fail(error: Error): void }[];
  /** Resolves once it has received `count` mails in total. */
  received(count: number): Promise<void>;
}

export function createManualMailer(): ManualMailer {
  const mails: ManualMailer["mails"] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    destination: "the test",
    mails,
    send: (mail) =>
      new Promise((resolve, reject) => {
        mails.push({ reference: mail.reference, accept: resolve, fail: reject });
        for (const waiter of waiting) if (mails.length >= waiter.count) waiter.resolve();
      }),
    async close() {
      for (const mail of mails) mail.accept();
    },
    received: (count) =>
      new Promise((resolve) => {
        if (mails.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

/** The same store except for some methods. */
export function withStore(store: Store, changed: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, key) => Reflect.get(Object.hasOwn(changed, key) ? changed : target, key),
  });
}
