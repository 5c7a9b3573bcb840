import { expect, onTestFinished } from "vitest";
import type { ContactMessage } from "../../contract/contact-message.ts";
import type { MailIdentity } from "../../server/mail/compose.ts";
import type { Mailer } from "../../server/mail/mailer.ts";
import { createSmtpMailer, SMTP_LIMITS, type SmtpLimits } from "../../server/mail/smtp.ts";
import { type Outbox, type OutboxOptions, startOutbox } from "../../server/outbox/outbox.ts";
import type { Store, StoredMessage } from "../../server/store/store.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";
import { createRecordingLog, type RecordingLog } from "./recording-log.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

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

/** A real store and a clock for one test, cleaned up after it. */
export interface PostOffice {
  dataDir: string;
  store: Store;
  clock: FakeClock;
  log: RecordingLog;
  /** Stores one message with a text of its own, in quarantine if it is trapped, and returns its reference. */
  accept(fields?: Partial<ContactMessage>, isTrapped?: boolean): Promise<string>;
  message(reference: string): Promise<StoredMessage>;
  mailServer(options?: { port?: number; hasTls?: boolean }): Promise<MailServer>;
  smtpMailer(server: { port: number }, options?: { user?: string; query?: string; limits?: SmtpLimits }): Mailer;
  start(mailer: Mailer, options?: Partial<OutboxOptions>): Outbox;
}

export async function openPostOffice(
  startsAt?: string,
  databaseUrl: string | null = null,
  { postsHook = false } = {},
): Promise<PostOffice> {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl });
  onTestFinished(() => store.close());
  const clock = createFakeClock(startsAt);
  const log = createRecordingLog();
  onTestFinished(() => {
    // A reference may spell a word by chance.
    const logged = JSON.stringify(log.lines).replaceAll(/"reference":"BC-\w{4}-\w\w"/g, "");
    expect(logged).not.toMatch(/@|Ada|Lovelace|credits|7946|the old one|secret/i);
  });
  let accepted = 0;
  const started: { outbox: Outbox; workers: number }[] = [];
  clock.countWorkers = () =>
    started.reduce((sum, { outbox, workers }) => (outbox.state === "stopped" ? sum : sum + workers), 0);

  return {
    dataDir,
    store,
    clock,
    log,
    async accept(fields, isTrapped = false) {
      accepted += 1;
      const submission = { idempotencyKey: null, networks: [], isTrapped };
      const message = { ...VISITOR, message: `${VISITOR.message} (${accepted})`, ...fields };
      const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null, postsHook };
      const acceptance = await store.accept({ ...submission, message }, rules, clock.now());
      if (acceptance.kind !== "stored") throw new Error(`not stored but ${acceptance.kind}`);
      return acceptance.reference;
    },
    async message(reference) {
      const message = await store.find(reference);
      if (!message) throw new Error(`${reference} is not there`);
      return message;
    },
    async mailServer(options) {
      const server = await startMailServer(options);
      onTestFinished(() => server.close());
      return server;
    },
    smtpMailer(server, { user = "", query = "", limits = SMTP_LIMITS } = {}) {
      const url = `smtp://${user && `${user}@`}127.0.0.1:${server.port}${query}`;
      return createSmtpMailer(url, limits);
    },
    start(mailer, options = {}) {
      const outbox = startOutbox({ store, mailer, identity: IDENTITY, dataDir, log, clock, ...options });
      started.push({ outbox, workers: [mailer, options.acknowledgement, options.hook].filter(Boolean).length });
      onTestFinished(async () => {
        await mailer.close();
        await options.acknowledgement?.mailer.close();
        await outbox.stop();
      });
      return outbox;
    },
  };
}

/** A mailer that leaves it to the test whether and when each mail is accepted. */
export interface ManualMailer extends Mailer {
  /** Every mail so far, in order. */
  readonly mails: { reference: string; accept(): void; fail(error: Error): void }[];
  /** Resolves once it has received `count` mails altogether. */
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
