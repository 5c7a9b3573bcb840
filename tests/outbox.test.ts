import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findFreePort } from "../scripts/run-server.ts";
import { createEmlMailer } from "../server/mail/eml.ts";
import { MailError } from "../server/mail/mailer.ts";
import { parseMail } from "./support/parse-mail.ts";
import { createManualMailer, openPostOffice, withStore } from "./support/post-office.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe("a queued message", () => {
  it("is delivered at once after a wake, not at the next poll", async () => {
    const { accept, message, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    const outbox = office.start(office.smtpMailer(server));
    const reference = await accept();
    outbox.wake();
    // The clock stands still: no poll can have come.
    expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 1 });
    expect(await message(reference)).toMatchObject({ state: "delivered", attempts: 1, lastError: null });
    const [mail] = server.mails;
    expect(mail?.recipients).toEqual(["team@example.test"]);
    const { id } = await message(reference);
    expect(parseMail(mail?.raw ?? Buffer.alloc(0)).header("Message-ID")).toBe(`<${reference}.${id}@example.test>`);
  });

  it("is found by the poll when nobody wakes the outbox", async () => {
    const { accept, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    office.start(office.smtpMailer(server));
    await clock.advance(0);
    const reference = await accept();
    await clock.advance(30_000);
    expect(await log.seen("delivered")).toMatchObject({ reference });
  });

  it("is one of at most five on their way at once", async () => {
    const { accept, log, ...office } = await openPostOffice();
    for (let count = 0; count < 12; count += 1) await accept();
    const mailer = createManualMailer();
    office.start(mailer);
    for (let given = 5; given <= 12; given += 1) {
      await mailer.received(given);
      expect(mailer.mails.length).toBe(given);
      mailer.mails[given - 5]?.accept();
      await log.seen("delivered", given - 4);
    }
  });

  it("stays queued when the server answers 451, and is delivered later", async () => {
    const { accept, message, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    server.behave({ kind: "refuse", at: "recipient", code: 451, times: 1 });
    const reference = await accept();
    office.start(office.smtpMailer(server));
    const { dueAt } = await log.seen("deferred");
    const deferred = await message(reference);
    expect(deferred).toMatchObject({ state: "queued", attempts: 1, dueAt });
    expect(deferred.lastError).toBe("451 deferred by the mail server (RCPT TO)");
    const delayMs = (dueAt?.getTime() ?? 0) - clock.now().getTime();
    expect(delayMs).toBeGreaterThanOrEqual(54_000);
    expect(delayMs).toBeLessThanOrEqual(66_000);
    await clock.advance(delayMs - 1);
    expect(server.mails).toHaveLength(0);
    await clock.advance(1);
    expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 2 });
    expect(server.mails).toHaveLength(1);
  });

  it.each(["sender", "recipient", "data"] as const)(
    "fails at once when the %s is refused, unlike others",
    async (at) => {
      const { accept, message, log, ...office } = await openPostOffice();
      const server = await office.mailServer();
      server.behave({ kind: "refuse", at, code: 550, times: 1 });
      const reference = await accept();
      await accept();
      await accept();
      office.start(office.smtpMailer(server), { concurrency: 1 });
      await log.seen("delivered", 2);
      expect(await log.seen("failed")).toMatchObject({ reference, attempts: 1, level: "error" });
      const failed = await message(reference);
      expect(failed).toMatchObject({ state: "failed", attempts: 1, dueAt: null });
      expect(failed.lastError).toMatch(/^550 \w+ refused by the mail server \((MAIL FROM|RCPT TO|DATA)\)$/);
    },
  );

  it("is delivered when the mail server is back after an hour", async () => {
    const { accept, clock, log, ...office } = await openPostOffice();
    const away = await office.mailServer();
    const mailer = office.smtpMailer(away);
    await away.close();
    const reference = await accept();
    const startMs = clock.now().getTime();
    office.start(mailer);
    let failures = 0;
    for (; clock.now().getTime() - startMs < HOUR_MS; failures += 1) {
      const { dueAt, error } = await log.seen("deferred", failures + 1);
      expect(error).toMatch(/ECONNREFUSED/);
      if ((dueAt?.getTime() ?? 0) - startMs > HOUR_MS) await office.mailServer({ port: away.port });
      await clock.advanceTo(dueAt ?? new Date(0));
    }
    expect(await log.seen("delivered")).toMatchObject({ reference, attempts: failures + 1 });
    expect(failures).toBe(5);
  });

  it("is tried for five days, then failed but kept, and gets five new days when retried", async () => {
    const { accept, message, store, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    server.behave({ kind: "refuse", at: "recipient", code: 450 });
    const reference = await accept();
    const outbox = office.start(office.smtpMailer(server), { pollIntervalMs: 24 * HOUR_MS, random: () => 0.5 });
    const startMs = clock.now().getTime();
    for (let failures = 1; failures <= 35; failures += 1) {
      const { dueAt } = await log.seen("deferred", failures);
      await clock.advanceTo(dueAt ?? new Date(0));
    }
    expect(await log.seen("failed")).toMatchObject({ reference, attempts: 36 });
    expect((clock.now().getTime() - startMs) / HOUR_MS).toBeCloseTo(119.85, 1);
    expect(await message(reference)).toMatchObject({ state: "failed", message: expect.stringContaining("credits") });

    expect(await store.act("retry", { references: [reference] }, clock.now())).toHaveLength(1);
    outbox.wake();
    expect(await log.seen("deferred", 36)).toMatchObject({ reference, attempts: 1 });
  });
});

describe("two outboxes on one store", () => {
  it("deliver each message once", async () => {
    const { accept, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    const references: string[] = [];
    for (let count = 0; count < 60; count += 1) references.push(await accept());
    office.start(office.smtpMailer(server));
    office.start(office.smtpMailer(server));
    await log.seen("delivered", 60);
    const subjects = server.mails.map((mail) => parseMail(mail.raw).header("Subject").slice(1, 11));
    expect(subjects.sort()).toEqual(references.sort());
  });

  it("cannot both mark a message: past its lease a worker's result is not stored", async () => {
    const { accept, message, clock, log, ...office } = await openPostOffice();
    const reference = await accept();
    const slow = createManualMailer();
    office.start(slow, { leaseMs: 5 * MINUTE_MS, concurrency: 1 });
    await slow.received(1);
    await clock.advance(6 * MINUTE_MS);
    const server = await office.mailServer();
    office.start(office.smtpMailer(server));
    await log.seen("delivered");
    slow.mails[0]?.fail(new Error("refused in the end"));
    expect(await log.seen("lease-lost")).toMatchObject({ reference });
    expect(await message(reference)).toMatchObject({ state: "delivered", attempts: 2, lastError: null });
  });
});

describe("stopping", () => {
  it("waits for the mail that is on its way and marks it", async () => {
    const { accept, message, log, ...office } = await openPostOffice();
    const reference = await accept();
    const mailer = createManualMailer();
    const outbox = office.start(mailer);
    await mailer.received(1);
    let isStopped = false;
    const stopping = outbox.stop().then(() => {
      isStopped = true;
    });
    await message(reference);
    expect([outbox.state, isStopped]).toEqual(["stopped", false]);
    mailer.mails[0]?.accept();
    await stopping;
    expect(log.count("delivered")).toBe(1);
    expect(await message(reference)).toMatchObject({ state: "delivered" });
  });

  it("does not wait longer than its deadline, and leaves the message queued", async () => {
    const { accept, message, clock, log, ...office } = await openPostOffice();
    const reference = await accept();
    const mailer = createManualMailer();
    const outbox = office.start(mailer);
    await mailer.received(1);
    const stopping = outbox.stop(5000);
    clock.setTimer(() => {}, HOUR_MS);
    await clock.advance(5000);
    await stopping;
    expect(await log.seen("stopped-early")).toMatchObject({ count: 1 });
    expect(await message(reference)).toMatchObject({ state: "queued" });
  });

  it("gives back what it had claimed but not started", async () => {
    const { accept, message, store, ...office } = await openPostOffice();
    const reference = await accept();
    const claimed = Promise.withResolvers<void>();
    const mayGoOn = Promise.withResolvers<void>();
    const slow = withStore(store, {
      async claim(...args) {
        const claims = await store.claim(...args);
        claimed.resolve();
        await mayGoOn.promise;
        return claims;
      },
    });
    const mailer = createManualMailer();
    const outbox = office.start(mailer, { store: slow });
    await claimed.promise;
    const stopping = outbox.stop();
    mayGoOn.resolve();
    await stopping;
    expect(mailer.mails).toHaveLength(0);
    expect(await message(reference)).toMatchObject({ state: "queued", attempts: 0 });
    office.start(mailer);
    await mailer.received(1);
  });
});

describe("a message erased while its mail is written", () => {
  it("leaves no unfinished file behind when the attempt failed, and other messages keep theirs", async () => {
    const office = await openPostOffice();
    const other = await office.accept();
    const folder = join(office.dataDir, "outbox");
    const first = office.start(createEmlMailer(office.dataDir));
    await office.log.seen("delivered");
    await first.stop();
    await office.store.rectify("ada@example.org", { email: "other@example.org" }, office.clock.now());
    await office.accept();
    const second = office.start({
      ...createEmlMailer(office.dataDir),
      async send(mail) {
        writeFileSync(join(folder, `${mail.reference}.eml.unfinished`), "From: half a ma");
        await office.store.erase("ada@example.org");
        throw new MailError("temporary", "ENOSPC");
      },
    });
    await office.log.seen("lease-lost");
    await second.stop();
    expect(readdirSync(folder)).toEqual([`${other}.eml`]);
  });
});

describe("messages that wait for a later attempt", () => {
  /** Some that have failed seven times, and wait for four hours. */
  async function openWaiting(count: number) {
    const office = await openPostOffice();
    const { accept, store, clock } = office;
    for (let index = 0; index < count; index += 1) await accept();
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      const dueAt = attempt < 7 ? clock.now() : new Date(clock.now().getTime() + 4 * HOUR_MS);
      for (const claim of await store.claim(count, MINUTE_MS, clock.now())) {
        await store.reschedule(claim, dueAt, "451", clock.now());
      }
    }
    return { ...office, waiting: () => store.list({ state: "queued" }) };
  }

  it("are due after a start, spread over a minute, and the attempt does not count", async () => {
    const { clock, waiting, ...office } = await openWaiting(20);
    expect((await waiting()).map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 7));
    office.start(createManualMailer());
    await clock.advance(0);
    const messages = await waiting();
    const dueInMs = messages.map(({ dueAt }) => (dueAt?.getTime() ?? 0) - clock.now().getTime());
    expect([Math.min(...dueInMs) >= 0, Math.max(...dueInMs) < MINUTE_MS]).toEqual([true, true]);
    for (const third of [0, 1, 2]) {
      const inThird = dueInMs.filter((ms) => Math.floor((3 * ms) / MINUTE_MS) === third);
      expect(inThird.length).toBeGreaterThan(3);
    }
    expect(messages.map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 6));
  });

  it("are due once the mail server takes one after a time of failures", async () => {
    const { accept, clock, log, message, ...office } = await openPostOffice();
    const mailer = createManualMailer();
    const outbox = office.start(mailer);
    const waiting = await accept();
    outbox.wake();
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await mailer.received(attempt);
      mailer.mails[attempt - 1]?.fail(new MailError("temporary", "451"));
      const { dueAt = clock.now() } = await log.seen("deferred", attempt);
      if (attempt < 4) await clock.advanceTo(dueAt);
    }
    await accept();
    outbox.wake();
    await mailer.received(5);
    mailer.mails[4]?.accept();
    await log.seen("delivered");
    await clock.advance(MINUTE_MS);
    await mailer.received(6);
    expect(mailer.mails[5]?.reference).toBe(waiting);
    expect(await message(waiting)).toMatchObject({ state: "queued", attempts: 4 });
  });

  it("are due once a mail server that could not be reached answers, though nothing is sent meanwhile", async () => {
    const { clock, log, store, waiting, ...office } = await openWaiting(3);
    const port = await findFreePort();
    office.start(office.smtpMailer({ port }));
    await clock.advance(MINUTE_MS);
    await log.seen("deferred", 3);
    expect((await waiting()).map(({ attempts }) => attempts)).toEqual([7, 7, 7]);
    await office.mailServer({ port });
    const startMs = clock.now().getTime();
    const queued = async () => {
      await clock.advance(5000);
      return (await waiting()).length;
    };
    await expect.poll(queued, { timeout: 10_000, interval: 10 }).toBe(0);
    expect(clock.now().getTime() - startMs).toBeLessThan(3 * HOUR_MS);
    expect((await store.list({})).map(({ attempts }) => attempts)).toEqual([7, 7, 7]);
  });
});
