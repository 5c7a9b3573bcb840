import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { site } from "../app/site.ts";
import type { PostgresConnection } from "../scripts/run-postgres.ts";
import { createEmlMailer } from "../server/mail/eml.ts";
import { MailError, type Mailer } from "../server/mail/mailer.ts";
import { SMTP_LIMITS, type SmtpLimits } from "../server/mail/smtp.ts";
import type { OutboxOptions } from "../server/outbox/outbox.ts";
import { StoreUnavailable } from "../server/store/store.ts";
import type { ReceivedMail } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import { createManualMailer, openPostOffice, withStore } from "./support/post-office.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ACKNOWLEDGEMENT = { text: site.acknowledgement, replyTo: "hello@example.test" };

let postgres: PostgresConnection;
beforeAll(async () => {
  postgres = await sharePostgres();
}, 120_000);
afterAll(() => postgres?.stop());

/**
 * A team's mail server, and another one that only gets the mails to senders: so that it alone can be in trouble. In use
 * both are the same server, by different connections.
 */
async function openTwoServers(databaseUrl: string | null = null, startsAt?: string) {
  const office = await openPostOffice(startsAt, databaseUrl);
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

describe.each(["SQLite", "PostgreSQL"])("on %s", (kind) => {
  const open = async () => openTwoServers(kind === "SQLite" ? null : await postgres.createDatabase());

  it("goes out once the message was delivered: one short mail without an envelope sender", async () => {
    const { accept, message, log, team, strangers, start, kindsOf } = await open();
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

  it("many messages in the name of many: no more an hour than the limit, and the rest is told why", async () => {
    const { accept, store, log, strangers, start } = await open();
    const count = 30;
    for (let number = 0; number < count; number += 1) await accept({ email: `victim${number}@example.org` });
    const mailer = createManualMailer();
    start({ acknowledgement: { ...ACKNOWLEDGEMENT, mailer, perHour: 10 } });
    await log.seen("delivered", count);
    for (let given = 1; given <= 10; given += 1) {
      await mailer.received(given);
      mailer.mails[given - 1]?.accept();
    }
    expect(await log.seen("acknowledgement-skipped", 20)).toMatchObject({ reason: "hourly-limit" });
    expect(strangers.mails).toEqual([]);
    await log.seen("acknowledged", 10);
    expect(await store.countDeliveries("acknowledgement", new Date(0))).toMatchObject({ sent: 10, skipped: 20 });
  });

  it("is tried again when it is greylisted, under the same Message-ID", async () => {
    const { accept, message, clock, log, strangers, start, acknowledgementOf, kindsOf } = await open();
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

  it("comes twice under one Message-ID when the connection is dropped after the content", async () => {
    const { accept, clock, log, strangers, start } = await open();
    strangers.behave({ kind: "drop-after-data", times: 1 });
    await accept();
    start();
    const { dueAt } = await log.seen("acknowledgement-deferred");
    await clock.advanceTo(dueAt ?? new Date(0));
    await log.seen("acknowledged");
    const [first, second, ...others] = strangers.mails.map(idOf);
    expect([second, others]).toEqual([first, []]);
  });

  it.each(["sender", "recipient", "data"] as const)(
    "fails for good when the %s is refused, and the message stays as it is",
    async (at) => {
      const { accept, message, store, clock, log, strangers, start, acknowledgementOf } = await open();
      strangers.behave({ kind: "refuse", at, code: 550 });
      const reference = await accept();
      const outbox = start();
      const { error, level } = await log.seen("acknowledgement-failed");
      expect(error).toMatch(/^550 \w+ refused by the mail server \((MAIL FROM|RCPT TO|DATA)\)$/);
      expect(level).toBe("warn");
      expect(await acknowledgementOf(reference)).toMatchObject({ state: "failed", reason: error });
      expect(await message(reference)).toMatchObject({ state: "delivered", attempts: 1, lastError: null });
      expect(await store.queueDepth()).toMatchObject({ queued: 0, failed: 0, lastFailedAt: null });
      await clock.advance(10 * MINUTE_MS);
      expect(log.count("acknowledgement-failed")).toBe(1);
      expect(log.count("failed")).toBe(0);
      expect(outbox.state).toBe("running");
    },
  );
});

it("200 messages in the name of one victim, in many spellings: one mail", async () => {
  const { accept, store, clock, log, team, strangers, start } = await openTwoServers();
  const spellings = ["victim@gmail.com", "VICTIM@Gmail.com", "v.i.c.t.i.m@gmail.com", "Victim@googlemail.com"];
  await Promise.all(
    Array.from({ length: 200 }, (_, count) => {
      const spelling = spellings[count % spellings.length] ?? "";
      return accept({ email: count % 5 === 4 ? spelling.replace("@", `+${count}@`) : spelling });
    }),
  );
  start();
  await log.seen("delivered", 200);
  while (log.count("acknowledgement-skipped") < 199) await clock.advance(1000);
  await log.seen("acknowledged");
  expect(team.mails).toHaveLength(200);
  expect(strangers.mails).toHaveLength(1);
  expect(await store.countDeliveries("acknowledgement", new Date(0))).toEqual({
    queued: 0,
    sending: 0,
    sent: 1,
    skipped: 199,
    failed: 0,
  });
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

  it("is away for an hour, which delays no message", async () => {
    const { accept, clock, log, mailServer, team, strangers, start } = await openTwoServers();
    await strangers.close();
    const reference = await accept();
    const startMs = clock.now().getTime();
    const outbox = start();
    let failures = 0;
    for (; clock.now().getTime() - startMs < HOUR_MS; failures += 1) {
      const { dueAt, error } = await log.seen("acknowledgement-deferred", failures + 1);
      expect(error).toMatch(/ECONNREFUSED/);
      if ((dueAt?.getTime() ?? 0) - startMs > HOUR_MS) await mailServer({ port: strangers.port });
      await clock.advanceTo(dueAt ?? new Date(0));
    }
    expect(await log.seen("acknowledged")).toMatchObject({ reference, attempts: failures + 1 });
    expect([team.mails.length, outbox.state, log.count("deferred")]).toEqual([1, "running", 0]);
  });

  it.each(["hang-after-data", "hang-before-greeting"] as const)(
    "goes silent: cut off, and meanwhile messages are delivered (%s)",
    async (kind) => {
      const { accept, clock, log, team, strangers, start, smtpMailer } = await openTwoServers();
      strangers.behave({ kind });
      const limits: SmtpLimits = { ...SMTP_LIMITS, attemptMs: 700 };
      for (const name of ["a", "b", "c"]) await accept({ email: `${name}@example.org` });
      const outbox = start({}, smtpMailer(strangers, { limits }));
      await log.seen("delivered", 3);
      for (let count = 0; count < 4; count += 1) await accept({ email: `late${count}@example.org` });
      outbox.wake();
      await log.seen("delivered", 7);
      expect(team.mails).toHaveLength(7);
      expect((await log.seen("acknowledgement-deferred", 2)).error).toContain("took more than 0.7 s");
      limits.attemptMs = 60_000;
      strangers.behave({ kind: "accept" });
      await clock.advance(10 * MINUTE_MS);
      await log.seen("acknowledged", 7);
    },
  );

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

  it("has a certificate that nobody can trust: nothing is sent to it, and messages are delivered", async () => {
    const { accept, log, mailServer, smtpMailer, start, message } = await openTwoServers();
    const server = await mailServer({ hasTls: true });
    const reference = await accept();
    start({}, smtpMailer(server));
    expect((await log.seen("acknowledgements-paused")).error).toMatch(/^no encrypted connection .*CERT/);
    expect(server.mails).toEqual([]);
    expect(await message(reference)).toMatchObject({ state: "delivered" });
  });
});

describe("no kind waits for another", () => {
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

describe("a crash", () => {
  it("between the delivery and the acknowledgement loses nothing", async () => {
    const { accept, log, strangers, start, ...office } = await openTwoServers();
    const reference = await accept();
    const [claim] = await office.store.claim(1, MINUTE_MS, office.clock.now());
    if (!claim) throw new Error("Nothing was claimed");
    await office.store.markDelivered(claim, office.clock.now(), true);
    start();
    expect(await log.seen("acknowledged")).toMatchObject({ reference });
    expect(strangers.mails).toHaveLength(1);
  });

  it("between sending and saving repeats it once under the same Message-ID, and the history says so", async () => {
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
});

describe("a store that is away", () => {
  it("while an acknowledgement is marked does not make it be sent again, and stops no message", async () => {
    const { accept, store, clock, log, team, strangers, start } = await openTwoServers();
    const isAway = () => clock.now().getTime() < Date.parse("2026-01-05T11:00:00Z");
    const flaky = withStore(store, {
      async markDelivered(claim, ...rest) {
        if (claim.kind === "acknowledgement" && isAway()) throw new StoreUnavailable("the disk is gone");
        return store.markDelivered(claim, ...rest);
      },
    });
    await accept();
    const outbox = start({ store: flaky });
    await log.seen("mark-failed");
    await accept({ email: "bob@example.org" });
    outbox.wake();
    await log.seen("delivered", 2);
    expect(team.mails).toHaveLength(2);
    const advanceTo = async (time: string) => {
      while (clock.now().getTime() < Date.parse(time)) {
        await clock.advance(10_000);
        // The worker that retries to save has timers too, so the clock does not wait for the other one.
        await store.dueInMs(clock.now());
      }
    };
    // Its lease ends meanwhile, and the other sender waits.
    await advanceTo("2026-01-05T10:59:00Z");
    expect(strangers.mails).toHaveLength(1);
    await advanceTo("2026-01-05T11:01:00Z");
    await log.seen("acknowledged", 2);
    expect(strangers.mails).toHaveLength(2);
  });

  it("when acknowledgements are claimed stops no message", async () => {
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

  it("a sender whose message is restricted, in quarantine, failed or erased", async () => {
    const { accept, store, clock, log, team, strangers, start } = await openTwoServers();
    const restricted = await accept();
    const [claim] = await store.claim(1, MINUTE_MS, clock.now());
    if (!claim) throw new Error("Nothing was claimed");
    await store.markDelivered(claim, clock.now(), true);
    await store.restrict("ada@example.org", true, clock.now());
    const message = { name: "Eve", email: "eve@example.org", phone: "1", country: "", message: "held" };
    const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null };
    await store.accept({ message, idempotencyKey: null, networks: [], isTrapped: true }, rules, clock.now());
    team.behave({ kind: "refuse", at: "recipient", code: 550, times: 1 });
    await accept({ email: "refused@example.org" });
    start();
    await log.seen("failed");
    expect(await log.seen("acknowledgement-skipped")).toMatchObject({ reference: restricted, reason: "restricted" });
    await clock.advance(MINUTE_MS);
    expect(strangers.mails).toEqual([]);
    expect(await store.countDeliveries("acknowledgement", new Date(0))).toEqual({
      queued: 0,
      sending: 0,
      sent: 0,
      skipped: 1,
      failed: 0,
    });
  });

  it("nobody, unless it is switched on: the same mails, and no trace", async () => {
    const { accept, message, store, clock, log, team, kindsOf, startWith, smtpMailer } = await openTwoServers();
    const reference = await accept();
    startWith(smtpMailer(team));
    await log.seen("delivered");
    await clock.advance(HOUR_MS);
    expect(team.mails).toHaveLength(1);
    expect((await message(reference)).acknowledgement).toBeNull();
    expect(await kindsOf(reference)).toEqual(["delivered"]);
    expect(await store.dueInMs(clock.now(), "acknowledgement")).toBeNull();

    const other = await openTwoServers();
    const otherReference = await other.accept();
    other.start();
    await other.log.seen("acknowledged");
    const bytes = (mail: ReceivedMail | undefined, own: string) => [
      mail?.sender,
      mail?.recipients,
      mail?.raw
        .toString("latin1")
        .replaceAll(own, "REFERENCE")
        .replaceAll(/--_NmP-[\w-]+/g, "BOUNDARY"),
    ];
    expect(bytes(other.team.mails[0], otherReference)).toEqual(bytes(team.mails[0], reference));
  });
});

it("two outboxes on one store acknowledge each message once", async () => {
  const { accept, log, strangers, start } = await openTwoServers();
  for (let count = 0; count < 40; count += 1) await accept({ email: `visitor${count}@example.org` });
  start();
  start();
  await log.seen("acknowledged", 40);
  expect(new Set(strangers.mails.flatMap(({ recipients }) => recipients)).size).toBe(40);
  expect(strangers.mails).toHaveLength(40);
});

describe("stopping", () => {
  it("waits for the acknowledgement that is on its way, and starts no other", async () => {
    const { accept, log, start, acknowledgementOf } = await openTwoServers();
    const references = [await accept({ email: "a@example.org" }), await accept({ email: "b@example.org" })];
    references.push(await accept({ email: "c@example.org" }));
    const mailer = createManualMailer();
    const outbox = start({}, mailer);
    await mailer.received(2);
    const stopping = outbox.stop();
    for (const mail of mailer.mails) mail.accept();
    await stopping;
    expect(log.count("acknowledged")).toBe(2);
    expect(mailer.mails).toHaveLength(2);
    const states = await Promise.all(references.map(acknowledgementOf));
    expect(states.map((acknowledgement) => acknowledgement?.state)).toEqual(["sent", "sent", "queued"]);
  });

  it("gives back what it had claimed but not started", async () => {
    const { accept, store, start, acknowledgementOf } = await openTwoServers();
    const reference = await accept();
    const claimed = Promise.withResolvers<void>();
    const mayGoOn = Promise.withResolvers<void>();
    const slow = withStore(store, {
      async claim(...args) {
        const claims = await store.claim(...args);
        if (claims[0]?.kind === "acknowledgement") {
          claimed.resolve();
          await mayGoOn.promise;
        }
        return claims;
      },
    });
    const mailer = createManualMailer();
    const outbox = start({ store: slow }, mailer);
    await claimed.promise;
    const stopping = outbox.stop();
    mayGoOn.resolve();
    await stopping;
    expect(mailer.mails).toHaveLength(0);
    expect(await acknowledgementOf(reference)).toMatchObject({ state: "sending", reason: null });
    start({}, mailer);
    await mailer.received(1);
  });

  it("does not wait longer than its deadline", async () => {
    const { accept, clock, log, start } = await openTwoServers();
    await accept();
    const mailer = createManualMailer();
    const outbox = start({}, mailer);
    await mailer.received(1);
    const stopping = outbox.stop(5000);
    clock.setTimer(() => {}, HOUR_MS);
    await clock.advance(5000);
    await stopping;
    expect(await log.seen("stopped-early")).toMatchObject({ count: 1 });
  });
});

describe("without a mail server", () => {
  it("is a file beside the message's, and neither is left when the message is erased meanwhile", async () => {
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
});
