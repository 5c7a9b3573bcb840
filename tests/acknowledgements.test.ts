import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { site } from "../app/site.ts";
import { createEmlMailer } from "../server/mail/eml.ts";
import { MailError, type Mailer } from "../server/mail/mailer.ts";
import type { OutboxOptions } from "../server/outbox/outbox.ts";
import type { ReceivedMail } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import { createManualMailer, openPostOffice, withStore } from "./support/post-office.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ACKNOWLEDGEMENT = { text: site.acknowledgement, replyTo: "hello@example.test" };

/**
 * A team's mail server, and another one that only gets the mails to senders: so that it alone can be in trouble. In use
 * both are the same server, by different connections.
 */
async function openTwoServers() {
  const office = await openPostOffice();
  const team = await office.mailServer();
  const strangers = await office.mailServer();
  return {
    ...office,
    team,
    strangers,
    /** With any mailer for the messages, and as far as acknowledgements go, as it is told. */
    startWith: office.start,
    start(options: Partial<OutboxOptions> = {}, mailer: Mailer = office.smtpMailer(strangers)) {
      const acknowledgement = { ...ACKNOWLEDGEMENT, mailer };
      return office.start(office.smtpMailer(team), { acknowledgement, ...options });
    },
    acknowledgementOf: async (reference: string) => (await office.message(reference)).acknowledgement,
    kindsOf: async (reference: string) => (await office.store.history(reference)).map(({ kind }) => kind),
  };
}

const idOf = ({ raw }: ReceivedMail) => parseMail(raw).header("Message-ID");

it("goes out once the message was delivered: one short mail without an envelope sender", async () => {
  const { accept, message, log, team, strangers, start, kindsOf } = await openTwoServers();
  const reference = await accept({ name: "Buy now", email: "victim@example.org", message: "Visit spam.example" });
  start();
  expect(await log.seen("acknowledged")).toMatchObject({ reference, attempts: 1, level: "info" });
  expect(team.mails).toHaveLength(1);
  const [mail] = strangers.mails;
  if (!mail || strangers.mails.length > 1) throw new Error("not one mail");
  expect(mail.sender).toBe("");
  expect(mail.recipients).toEqual(["victim@example.org"]);
  const { id } = await message(reference);
  expect(idOf(mail)).toBe(`<${reference}.${id}.ack@example.test>`);
  expect(parseMail(mail.raw).header("Auto-Submitted")).toBe("auto-replied");
  expect(parseMail(mail.raw).text).toContain(reference);
  expect(mail.raw.toString()).not.toMatch(/Buy|now|spam|7946/);
  expect(await kindsOf(reference)).toEqual(["delivered", "acknowledged"]);
  expect(await message(reference)).toMatchObject({ state: "delivered", acknowledgement: { state: "sent" } });
});

it("is tried again when it is greylisted, under the same Message-ID", async () => {
  const { accept, message, clock, log, strangers, start, acknowledgementOf, kindsOf } = await openTwoServers();
  strangers.behave({ kind: "refuse", at: "recipient", code: 450, times: 1 });
  const reference = await accept();
  start();
  const { dueAt, error } = await log.seen("acknowledgement-deferred");
  expect(error).toBe("450 deferred by the mail server (RCPT TO)");
  expect(await acknowledgementOf(reference)).toMatchObject({ state: "sending", reason: error });
  expect(await message(reference)).toMatchObject({ state: "delivered", attempts: 1, lastError: null });
  expect((dueAt?.getTime() ?? 0) - clock.now().getTime()).toBeGreaterThanOrEqual(54_000);
  await clock.advanceTo(dueAt ?? new Date(0));
  expect(await log.seen("acknowledged")).toMatchObject({ reference, attempts: 2 });
  expect(await kindsOf(reference)).toEqual(["delivered", "acknowledgement-deferred", "acknowledged"]);
  expect(strangers.mails).toHaveLength(1);
});

it("fails for good when the sender's mail server refuses it, and the message stays as it is", async () => {
  const { accept, message, store, clock, log, strangers, start, acknowledgementOf } = await openTwoServers();
  strangers.behave({ kind: "refuse", at: "recipient", code: 550 });
  const reference = await accept();
  const outbox = start();
  const { error, level } = await log.seen("acknowledgement-failed");
  expect([error, level]).toEqual(["550 mailbox refused by the mail server (RCPT TO)", "warn"]);
  expect(await acknowledgementOf(reference)).toMatchObject({ state: "failed", reason: error });
  expect(await message(reference)).toMatchObject({ state: "delivered", attempts: 1, lastError: null });
  expect(await store.queueDepth()).toMatchObject({ queued: 0, failed: 0, lastFailedAt: null });
  expect(await store.queueTrouble(clock.now())).toEqual({ pause: null, dueSince: null });
  await clock.advance(10 * MINUTE_MS);
  expect([log.count("acknowledgement-failed"), log.count("failed"), outbox.state]).toEqual([1, 0, "running"]);
});

it("goes to no more an hour than the limit, and the log says why the others get none", async () => {
  const { accept, log, strangers, start, smtpMailer } = await openTwoServers();
  for (let number = 0; number < 5; number += 1) await accept({ email: `victim${number}@example.org` });
  start({ acknowledgement: { ...ACKNOWLEDGEMENT, mailer: smtpMailer(strangers), perHour: 2 } });
  expect(await log.seen("acknowledgement-skipped", 3)).toMatchObject({ reason: "hourly-limit" });
  await log.seen("acknowledged", 2);
  expect(strangers.mails).toHaveLength(2);
});

it("a flood to one address keeps nobody else waiting", async () => {
  const { accept, store, clock, log, start } = await openTwoServers();
  await Promise.all(Array.from({ length: 350 }, () => accept({ email: "victim@example.org" })));
  await accept({ email: "bob@example.org" });
  for (const claim of await store.claim(400, MINUTE_MS, clock.now())) {
    await store.markDelivered(claim, clock.now(), true);
  }
  start();
  // The clock stands still.
  await log.seen("acknowledged", 2);
  expect(log.count("acknowledgement-skipped")).toBe(349);
});

describe("a mail server that is hard on mails to strangers", () => {
  it("is tried for a day and no longer", async () => {
    const { accept, clock, log, strangers, start, acknowledgementOf } = await openTwoServers();
    strangers.behave({ kind: "refuse", at: "recipient", code: 451 });
    const reference = await accept();
    const startMs = clock.now().getTime();
    start({ pollIntervalMs: 24 * HOUR_MS, random: () => 0.5 });
    for (let failures = 1; failures <= 11; failures += 1) {
      const { dueAt } = await log.seen("acknowledgement-deferred", failures);
      await clock.advanceTo(dueAt ?? new Date(0));
    }
    expect(await log.seen("acknowledgement-failed")).toMatchObject({ reference, attempts: 12, level: "warn" });
    expect((clock.now().getTime() - startMs) / HOUR_MS).toBeCloseTo(23.85, 1);
    expect(await acknowledgementOf(reference)).toMatchObject({ state: "failed" });
  });

  it.each([530, 535])("answers %s as to a wrong password: acknowledgements pause, messages do not", async (code) => {
    const { accept, clock, log, team, strangers, start } = await openTwoServers();
    strangers.behave({ kind: "refuse", at: "recipient", code });
    let pauses = 0;
    await accept();
    const outbox = start({ onPaused: () => (pauses += 1) });
    expect(await log.seen("acknowledgements-paused")).toMatchObject({ level: "warn" });
    await log.seen("acknowledgement-deferred");
    expect([outbox.state, outbox.pauseReason, pauses]).toEqual(["running", null, 0]);
    await accept({ email: "bob@example.org" });
    outbox.wake();
    await log.seen("delivered", 2);
    await clock.advance(MINUTE_MS - 1);
    expect(log.count("acknowledgement-deferred")).toBe(1);
    strangers.behave({ kind: "accept" });
    await clock.advance(1);
    await log.seen("acknowledgements-resumed");
    await log.seen("acknowledged", 2);
    expect([team.mails.length, strangers.mails.length, log.count("queue-paused")]).toEqual([2, 2, 0]);
  });
});

describe("no kind waits for another", () => {
  it("with acknowledgements on their way that never end, messages are delivered", async () => {
    const { accept, log, start } = await openTwoServers();
    for (let count = 0; count < 7; count += 1) await accept({ email: `visitor${count}@example.org` });
    const mailer = createManualMailer();
    start({}, mailer);
    await log.seen("delivered", 7);
    await mailer.received(2);
    expect(mailer.mails).toHaveLength(2);
  });

  it("with five mails to the team on their way and more waiting, senders are told meanwhile", async () => {
    const { accept, log, startWith } = await openTwoServers();
    for (let count = 0; count < 8; count += 1) await accept({ email: `visitor${count}@example.org` });
    const [messages, mailer] = [createManualMailer(), createManualMailer()];
    startWith(messages, { acknowledgement: { ...ACKNOWLEDGEMENT, mailer } });
    await messages.received(5);
    messages.mails[0]?.accept();
    await mailer.received(1);
    expect(mailer.mails.map(({ reference }) => reference)).toEqual([messages.mails[0]?.reference]);
    expect(log.count("delivered")).toBe(1);
  });

  it("while the team's queue is paused, who was delivered is told", async () => {
    const { accept, log, startWith } = await openTwoServers();
    const [messages, mailer] = [createManualMailer(), createManualMailer()];
    await accept();
    const outbox = startWith(messages, { acknowledgement: { ...ACKNOWLEDGEMENT, mailer } });
    await messages.received(1);
    await accept({ email: "bob@example.org" });
    outbox.wake();
    await messages.received(2);
    messages.mails[0]?.fail(new MailError("blocked", "535"));
    await log.seen("paused");
    messages.mails[1]?.accept();
    await mailer.received(1);
    expect(outbox.state).toBe("paused");
  });
});

it("a crash between sending and saving repeats it once under the same Message-ID, and the history says so", async () => {
  const { accept, store, clock, log, strangers, start } = await openTwoServers();
  const reference = await accept();
  const saved = Promise.withResolvers<boolean>();
  const dead = withStore(store, {
    markDelivered: (claim, ...rest) =>
      claim.kind === "acknowledgement" ? saved.promise : store.markDelivered(claim, ...rest),
  });
  const sent = start({ store: dead });
  await expect.poll(() => strangers.mails.length).toBe(1);
  const stopped = sent.stop(1);
  clock.setTimer(() => {}, HOUR_MS);
  await clock.advance(6 * MINUTE_MS);
  await stopped;
  start();
  expect(await log.seen("acknowledged")).toMatchObject({ reference, attempts: 2 });
  expect(new Set(strangers.mails.map(idOf)).size).toBe(1);
  expect(strangers.mails).toHaveLength(2);
  expect(await store.history(reference)).toMatchObject([
    { kind: "delivered" },
    { kind: "acknowledgement-deferred", detail: expect.stringContaining("may come twice") },
    { kind: "acknowledged" },
  ]);
  saved.resolve(false);
});

it("a store that is away when acknowledgements are claimed stops no message", async () => {
  const { accept, store, clock, log, team, strangers, start } = await openTwoServers();
  let isBroken = true;
  const broken = withStore(store, {
    async admitAcknowledgements(...args) {
      if (isBroken) throw new Error("constraint of ada@example.org");
      return store.admitAcknowledgements(...args);
    },
  });
  await accept();
  const outbox = start({ store: broken });
  expect(await log.seen("store-unavailable")).toMatchObject({ kind: "acknowledgement" });
  await accept({ email: "bob@example.org" });
  outbox.wake();
  await log.seen("delivered", 2);
  expect(team.mails).toHaveLength(2);
  isBroken = false;
  await clock.advance(30_000);
  await log.seen("acknowledged", 2);
  expect(strangers.mails).toHaveLength(2);
});

describe("who gets none", () => {
  it.each([
    ["no-reply@example.org", "not-a-person"],
    ["Team@example.test", "own-address"],
    ["website@example.test", "own-address"],
    ["hello+x@example.test", "own-address"],
  ])("%s: %s", async (email, reason) => {
    const { accept, log, strangers, start, acknowledgementOf } = await openTwoServers();
    const reference = await accept({ email });
    start();
    expect(await log.seen("acknowledgement-skipped")).toMatchObject({ reference, reason, level: "info" });
    expect(await acknowledgementOf(reference)).toMatchObject({ state: "skipped", reason });
    expect(strangers.mails).toEqual([]);
  });

  it("nobody, unless it is switched on: no trace", async () => {
    const { accept, message, store, clock, log, team, kindsOf, startWith, smtpMailer } = await openTwoServers();
    const reference = await accept();
    startWith(smtpMailer(team));
    await log.seen("delivered");
    await clock.advance(HOUR_MS);
    expect(team.mails).toHaveLength(1);
    expect((await message(reference)).acknowledgement).toBeNull();
    expect(await kindsOf(reference)).toEqual(["delivered"]);
    expect(await store.dueInMs(clock.now(), "acknowledgement")).toBeNull();
  });
});

it("is waited for when the outbox stops, if it is on its way", async () => {
  const { accept, start, acknowledgementOf } = await openTwoServers();
  const reference = await accept();
  const mailer = createManualMailer();
  const outbox = start({}, mailer);
  await mailer.received(1);
  const stopping = outbox.stop();
  mailer.mails[0]?.accept();
  await stopping;
  expect(await acknowledgementOf(reference)).toMatchObject({ state: "sent" });
});

it("without a mail server it is a file beside the message's, and neither is left when the message is erased meanwhile", async () => {
  const { accept, store, log, dataDir, startWith } = await openTwoServers();
  const files = createEmlMailer(dataDir);
  const folder = join(dataDir, "outbox");
  const reference = await accept({ email: "bob@example.org" });
  const first = startWith(files, { acknowledgement: { ...ACKNOWLEDGEMENT, mailer: files } });
  await log.seen("acknowledged");
  await first.stop();
  expect(readdirSync(folder).sort()).toEqual([`${reference}.acknowledgement.eml`, `${reference}.eml`]);
  await accept();
  const mailer: Mailer = {
    ...files,
    async send(mail) {
      await files.send(mail);
      await store.erase("ada@example.org");
    },
  };
  const second = startWith(files, { acknowledgement: { ...ACKNOWLEDGEMENT, mailer } });
  await log.seen("lease-lost");
  await second.stop();
  expect(readdirSync(folder).sort()).toEqual([`${reference}.acknowledgement.eml`, `${reference}.eml`]);
});
