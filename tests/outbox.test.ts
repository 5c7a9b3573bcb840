import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createEmlMailer } from "../server/mail/eml.ts";
import { MailError, type Mailer } from "../server/mail/mailer.ts";
import { SMTP_LIMITS } from "../server/mail/smtp.ts";
import { mailSender } from "../server/outbox/senders.ts";
import { StoreUnavailable } from "../server/store/errors.ts";
import type { Channel } from "../server/store/model.ts";
import { HOUR_MS, MINUTE_MS } from "../server/time.ts";
import { later } from "./store-contract/samples.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { messageIdsOf } from "./support/invariant.ts";
import type { Behaviour } from "./support/mail-server.ts";
import { startNetwork, type Weather } from "./support/network.ts";
import { createManualMailer, IDENTITY, openPostOffice, withStore } from "./support/post-office.ts";
import { sharePostgres } from "./support/shared-postgres.ts";
import { untilEnd } from "./support/until-end.ts";

const postgres = await sharePostgres();
afterAll(() => postgres.stop());

/** A worker for mails. The test decides how each delivery ends. */
async function openWorker(databaseUrl: string | null = null) {
  const office = await openPostOffice({ databaseUrl });
  const mailer = createManualMailer();
  return {
    ...office,
    mailer,
    start: (options: Parameters<typeof office.start>[1] = {}, by: Mailer = mailer) => office.start(by, options),
    /** Ends the nth attempt after it has started. */
    async end(nth: number, error?: MailError) {
      await mailer.received(nth);
      if (error) mailer.mails[nth - 1]?.fail(error);
      else mailer.mails[nth - 1]?.accept();
    },
  };
}

const TEMPORARY = new MailError("temporary", "451");
const PERMANENT = new MailError("permanent", "550");
const BLOCKED = new MailError("blocked", "535");

describe("a mail", () => {
  it("is tried on after known failures and four missing answers, and ends after the fifth", async () => {
    const { accept, clock, delivery, end, log, start } = await openWorker();
    const unanswered = Object.assign(new MailError("temporary", "no answer"), { isUnanswered: true });
    const reference = await accept();
    start();
    const errors = [...Array(4).fill(TEMPORARY), ...Array(4).fill(unanswered), TEMPORARY];
    for (const [index, error] of errors.entries()) {
      await end(index + 1, error);
      await clock.advanceTo((await log.seen("deferred", index + 1)).dueAt ?? clock.now());
    }
    await end(errors.length + 1, unanswered);
    expect(await log.seen("failed")).toMatchObject({ error: expect.stringMatching(/^given up: .+ may have arrived$/) });
    expect(await delivery(reference)).toMatchObject({ state: "failed", attempts: 10, unknownOutcomes: 5 });
  });

  it("is found by the next poll, or sent at once after a wake", async () => {
    const { accept, clock, end, log, mailer, start, store } = await openWorker();
    // Otherwise it would follow the changes of the store.
    const outbox = start({ store: withStore(store, { messages: { changeToken: () => new Promise(() => {}) } }) });
    await clock.advance(0);
    await accept();
    await clock.advance(29_999);
    expect(mailer.mails).toEqual([]);
    await clock.advance(1);
    await mailer.received(1);
    const reference = await accept();
    outbox.wake();
    // The fake clock does not advance, so no poll can run.
    await end(2);
    expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 1, level: "info" });
  });

  it("is retried on schedule after a temporary failure, fails after a refusal, and starts again when an operator retries it", async () => {
    const { accept, clock, delivery, end, events, log, mailer, start, store } = await openWorker();
    const reference = await accept();
    const outbox = start({ concurrency: 1 });
    await end(1, TEMPORARY);
    const { dueAt = clock.now() } = await log.seen("deferred");
    expect(await delivery(reference)).toMatchObject({ state: "queued", attempts: 1, error: "451", dueAt });
    const delayMs = dueAt.getTime() - clock.now().getTime();
    expect([delayMs >= 54_000, delayMs <= 66_000]).toEqual([true, true]);
    await clock.advance(delayMs - 1);
    expect(mailer.mails).toHaveLength(1);
    await clock.advance(1);
    await end(2, PERMANENT);
    expect(await log.seen("failed")).toMatchObject({ reference, attempts: 2, level: "error", error: "550" });
    expect(await delivery(reference)).toMatchObject({ state: "failed", attempts: 2, error: "550", dueAt: null });
    await accept();
    outbox.wake();
    await end(3);
    await log.seen("delivered");
    await clock.advance(10 * MINUTE_MS);
    expect(mailer.mails).toHaveLength(3);
    expect(await store.actions.act("retry", { references: [reference] }, clock.now())).toEqual([reference]);
    outbox.wake();
    await end(4);
    expect(await log.seen("delivered", 2)).toMatchObject({ reference, attempts: 1 });
    expect(await events(reference)).toEqual(["mail deferred", "mail failed", "null retried", "mail delivered"]);
  });

  it("does not count attempts while nothing can be sent: the queue pauses, probes with one delivery, and resumes", async () => {
    const { accept, clock, delivery, end, log, mailer, start } = await openWorker();
    const references = [await accept(), await accept(), await accept()];
    let changes = 0;
    const outbox = start({ onPauseChange: () => (changes += 1) });
    await mailer.received(3);
    const since = clock.now();
    for (const nth of [1, 2, 3]) await end(nth, BLOCKED);
    expect(await log.seen("queue-paused")).toMatchObject({ channel: "mail", level: "error", error: "535" });
    await log.seen("paused", 3);
    for (const reference of references) {
      expect(await delivery(reference)).toMatchObject({ state: "queued", attempts: 0, error: "535" });
    }
    await accept();
    outbox.wake();
    await clock.advance(MINUTE_MS - 1);
    const pause = { channel: "mail", reason: "535", since, nextAt: later(MINUTE_MS, since) };
    expect([outbox.pauses, changes, mailer.mails.length]).toEqual([[pause], 1, 3]);
    await clock.advance(1);
    await end(4, BLOCKED);
    expect(await log.seen("queue-paused", 2)).toMatchObject({ level: "warn" });
    expect([outbox.pauses, changes]).toEqual([[{ ...pause, nextAt: later(2 * MINUTE_MS, clock.now()) }], 2]);
    await clock.advance(2 * MINUTE_MS - 1);
    expect(mailer.mails).toHaveLength(4);
    await clock.advance(1);
    await mailer.received(5);
    // A temporary failure does not end the pause.
    await end(5, TEMPORARY);
    await mailer.received(6);
    expect([outbox.pauses.length, mailer.mails.length]).toEqual([1, 6]);
    await end(6);
    await log.seen("queue-resumed");
    await mailer.received(8);
    expect([outbox.pauses, changes]).toEqual([[], 3]);
  });

  it("makes one attempt during a pause if an operator asks for a retry", async () => {
    const { accept, clock, end, log, mailer, start, store } = await openWorker();
    const references = [await accept(), await accept()];
    const outbox = start();
    await mailer.received(2);
    for (const nth of [1, 2]) await end(nth, BLOCKED);
    await log.seen("queue-paused");
    const retry = async () => {
      await clock.advance(1000);
      await store.actions.act("retry", { references }, clock.now());
      outbox.wake();
    };
    await retry();
    await end(3, BLOCKED);
    await log.seen("queue-paused", 2);
    expect(mailer.mails).toHaveLength(3);
    await retry();
    await end(4);
    await log.seen("queue-resumed");
    await mailer.received(5);
  });
});

it("a hook that never answers delays no mail", async () => {
  const { accept, log, startSenders } = await openPostOffice({ channels: ["mail", "hook"] });
  for (let count = 0; count < 7; count += 1) await accept();
  const [mailer, hook] = [createManualMailer(), createManualMailer()];
  const sender = (by: Mailer, channel: Channel) => ({ ...mailSender({ mailer: by, identity: IDENTITY }), channel });
  startSenders([sender(hook, "hook"), sender(mailer, "mail")]);
  for (let nth = 1; nth <= 7; nth += 1) {
    await mailer.received(nth);
    mailer.mails[nth - 1]?.accept();
  }
  await log.seen("delivered", 7, "mail");
  // No attempt of the hook has ended, so no sixth one began.
  await hook.received(5);
  expect([hook.mails.length, mailer.mails.length]).toEqual([5, 7]);
});

it.each(["SQLite", "PostgreSQL"])("follows what another process queues, without a poll, on %s", async (database) => {
  const databaseUrl = database === "SQLite" ? null : await postgres.createDatabase();
  const { accept, clock, dataDir, mailer, start } = await openWorker(databaseUrl);
  start();
  await clock.advance(0);
  const command = await untilEnd(openStoreInProcess({ dataDir, databaseUrl }));
  // Before the first one, it knows no state of the store.
  for (const count of [1, 2]) {
    await command.actions.act("retry", { references: [await accept()] }, clock.now());
    await mailer.received(count);
  }
  expect(mailer.mails).toHaveLength(2);
});

it("a store that is away for an hour gets the result later, nothing is sent meanwhile, and nothing twice", async () => {
  const { accept, clock, end, log, mailer, start, store } = await openWorker();
  const reference = await accept();
  const backAtMs = clock.now().getTime() + HOUR_MS;
  let calls = 0;
  const settle: typeof store.queue.settle = (...args) => {
    calls += 1;
    const isAway = clock.now().getTime() < backAtMs;
    return isAway ? Promise.reject(new StoreUnavailable({ problem: "the disk is gone" })) : store.queue.settle(...args);
  };
  const outbox = start({ store: withStore(store, { queue: { settle } }) });
  await end(1);
  expect(await log.seen("store-unavailable")).toMatchObject({ channel: "mail", level: "warn" });
  const other = await accept();
  outbox.wake();
  await clock.advance(HOUR_MS - 1);
  expect([mailer.mails.length, calls < 130]).toEqual([1, true]);
  await clock.advance(MINUTE_MS);
  await end(2);
  await log.seen("delivered", 2);
  expect(mailer.mails.map((mail) => mail.reference)).toEqual([reference, other]);
});

it("a result that waits for the store is saved before the outbox ends, so that its mail is not sent again", async () => {
  const { accept, delivery, end, log, start, store } = await openWorker();
  const reference = await accept();
  let isAway = true;
  const settle: typeof store.queue.settle = (...args) =>
    isAway ? Promise.reject(new StoreUnavailable({ problem: "it is locked" })) : store.queue.settle(...args);
  const outbox = start({ store: withStore(store, { queue: { settle } }) });
  await end(1);
  await log.seen("store-unavailable");
  isAway = false;
  await outbox.stop();
  expect(await delivery(reference)).toMatchObject({ state: "delivered" });
});

it("a store does not stop the queue forever if another error prevents saving a result", async () => {
  const { accept, clock, end, log, start, store } = await openWorker();
  const reference = await accept();
  const broken = withStore(store, {
    queue: {
      settle: (claim, ...rest) =>
        claim.attempts === 1
          ? Promise.reject(new Error("constraint of ada@example.org"))
          : store.queue.settle(claim, ...rest),
    },
  });
  start({ store: broken });
  await end(1);
  await log.seen("failure");
  await clock.advance(6 * MINUTE_MS);
  expect(await log.seen("result-lost")).toMatchObject({ level: "error", reference });
  await end(2);
  expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 2 });
});

it("deliveries that wait become due after a start, and once a paused channel can send again", async () => {
  const { accept, clock, delivery, end, log, mailer, start } = await openWorker();
  const waiting = await accept();
  const outbox = start();
  for (const attempts of [1, 2, 3]) {
    await end(attempts, TEMPORARY);
    const { dueAt = clock.now() } = await log.seen("deferred", attempts);
    if (attempts < 3) await clock.advanceTo(dueAt);
  }
  await accept();
  outbox.wake();
  await end(4, BLOCKED);
  await log.seen("paused");
  await clock.advance(MINUTE_MS);
  await end(5);
  await log.seen("queue-resumed");
  await clock.advance(MINUTE_MS);
  await end(6, TEMPORARY);
  expect(mailer.mails[5]?.reference).toBe(waiting);
  await log.seen("deferred", 4);
  // Attempts that the wait did not ask for do not count.
  expect(await delivery(waiting)).toMatchObject({ state: "queued", attempts: 3 });
  await outbox.stop();
  start();
  await clock.advance(MINUTE_MS);
  await mailer.received(7);
  expect(mailer.mails[6]?.reference).toBe(waiting);
});

describe("a mail server", () => {
  const ANY_CERTIFICATE = "?tls.rejectUnauthorized=false";
  const OPEN: Weather = { kind: "open" };

  it("that defers is tried for five days, then the message fails but is kept", async () => {
    const { accept, clock, log, message, start } = await openWorker();
    const reference = await accept();
    const deferring = { ...createManualMailer(), send: () => Promise.reject(TEMPORARY) };
    start({ pollIntervalMs: 24 * HOUR_MS, random: () => 0.5 }, deferring);
    const startMs = clock.now().getTime();
    for (let failures = 1; failures <= 123; failures += 1) {
      const { dueAt = clock.now() } = await log.seen("deferred", failures);
      await clock.advanceTo(dueAt);
    }
    expect(await log.seen("failed")).toMatchObject({ reference, attempts: 124 });
    expect((clock.now().getTime() - startMs) / HOUR_MS).toBeCloseTo(119.85, 1);
    expect(await message(reference)).toMatchObject({ state: "failed", message: expect.stringContaining("credits") });
  });

  it("that refuses the password pauses the queue until the password is right", async () => {
    const { accept, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer({ hasTls: true });
    server.expectPassword("the new one");
    await accept();
    office.start(office.smtpMailer(server, { user: "website:the%20old%20one", query: ANY_CERTIFICATE }));
    const { text } = await log.seen("queue-paused");
    expect(text).toMatch(/535 .* check the user name .* SMTP_URL/);
    await log.seen("paused");
    expect(server.passwords).toEqual(["the old one"]);
    server.expectPassword("the old one");
    await clock.advance(MINUTE_MS);
    await log.seen("delivered");
  });

  it("that answers nonsense after the text of five attempts may have the mail: it fails, and says so", async () => {
    const { accept, clock, log, message, ...office } = await openPostOffice();
    const server = await office.mailServer();
    server.behave({ kind: "garble-after-data" });
    const reference = await accept();
    office.start(office.smtpMailer(server));
    for (let times = 1; times <= 4; times += 1) {
      const { dueAt = clock.now() } = await log.seen("deferred", times);
      await clock.advanceTo(dueAt);
    }
    await log.seen("failed");
    expect((await message(reference)).deliveries.mail).toMatchObject({
      attempts: 5,
      error: expect.stringContaining("may have arrived"),
    });
    expect(server.mails).toHaveLength(5);
  });

  it.each([
    ["whose certificate cannot be trusted", true, "", /^no encrypted connection to the mail server \([A-Z_]*CERT/],
    ["without encryption", false, "website:secret", /^no encrypted connection/],
  ])("%s pauses the queue, and gets neither a mail nor the password", async (_, hasTls, user, reason) => {
    const { accept, log, ...office } = await openPostOffice();
    const server = await office.mailServer({ hasTls });
    await accept();
    const query = hasTls ? "" : "?requireTLS=false&ignoreTLS=true";
    office.start(office.smtpMailer(server, { user, query }));
    expect((await log.seen("queue-paused")).error).toMatch(reason);
    expect([server.passwords, server.mails]).toEqual([[], []]);
  });

  const TOO_SLOW = /^the mail server took more than 120 s for one email$/;
  it.each<[string, Behaviour, Weather, RegExp]>([
    ["breaks off after the text", { kind: "drop-after-data" }, OPEN, /ECONN/],
    ["is silent after the text", { kind: "hang-after-data" }, OPEN, TOO_SLOW],
    ["says nothing", { kind: "accept" }, { kind: "silent" }, TOO_SLOW],
  ])("that %s gets the mail again with the same Message-ID", async (_what, behaviour, weather, reason) => {
    const { accept, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    const network = await startNetwork(server.port);
    server.behave(behaviour);
    network.become(weather);
    await accept();
    office.start(office.smtpMailer(network, { clock }));
    const received = behaviour.kind.endsWith("after-data") ? 1 : 0;
    await expect.poll(() => server.mails.length).toBe(received);
    if (reason === TOO_SLOW) {
      await expect.poll(clock.waiting).toContain(SMTP_LIMITS.attemptMs);
      await clock.advance(SMTP_LIMITS.attemptMs);
    }
    const { dueAt = clock.now(), error } = await log.seen("deferred");
    expect(error).toMatch(reason);
    server.behave({ kind: "accept" });
    network.become(OPEN);
    await clock.advanceTo(dueAt);
    await log.seen("delivered");
    expect(server.mails.length).toBe(received + 1);
    expect(new Set(messageIdsOf(server.mails)).size).toBe(1);
  });
});

it("a defect is no database that does not answer: it is logged once, with its stack, and the next round goes on", async () => {
  const { accept, clock, dataDir, log, start, store } = await openPostOffice();
  let failures = 0;
  const defect = new TypeError("ada@example.org is not a function");
  const claim: typeof store.queue.claim = (...args) => {
    failures += 1;
    if (failures > 2) return store.queue.claim(...args);
    throw defect;
  };
  await accept();
  start(createEmlMailer(dataDir), { store: withStore(store, { queue: { claim } }) });
  await log.seen("failure");
  for (const seconds of [30, 30]) await clock.advance(seconds * 1000);
  await log.seen("delivered");
  expect(log.lines.map(({ event }) => event)).toEqual(["failure", "delivered"]);
  expect(log.lines[0]).toMatchObject({ level: "error", error: "TypeError", err: expect.any(TypeError) });
});

it("a message erased while its mail is written leaves no file, finished or not, and other files stay", async () => {
  const { accept, dataDir, log, start, store } = await openPostOffice();
  const files = createEmlMailer(dataDir);
  const folder = join(dataDir, "outbox");
  const [kept, finished, unfinished] = [
    await accept(),
    await accept({ email: "a@example.com" }),
    await accept({ email: "b@example.com" }),
  ];
  const send: typeof files.send = async (mail) => {
    if (mail.reference !== unfinished) await files.send(mail);
    if (mail.reference === finished) await store.people.erase("a@example.com");
    if (mail.reference !== unfinished) return;
    writeFileSync(join(folder, `${unfinished}.eml.unfinished`), "From: half a ma");
    await store.people.erase("b@example.com");
    throw new MailError("temporary", "ENOSPC");
  };
  const outbox = start({ ...files, send }, { concurrency: 1 });
  await log.seen("lease-lost", 2);
  await outbox.stop();
  expect(readdirSync(folder)).toEqual([`${kept}.eml`]);
});
