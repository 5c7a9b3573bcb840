import { describe, expect, it } from "vitest";
import { MailError } from "../server/mail/mailer.ts";
import { SMTP_LIMITS } from "../server/mail/smtp.ts";
import { StoreUnavailable } from "../server/store/store.ts";
import { parseMail } from "./support/parse-mail.ts";
import { createManualMailer, openPostOffice, withStore } from "./support/post-office.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ANY_CERTIFICATE = "?tls.rejectUnauthorized=false";

describe("a mail server that refuses us altogether", () => {
  it("pauses the queue on 535 without counting attempts, and the queue goes on by itself", async () => {
    const { accept, message, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer({ hasTls: true });
    server.expectPassword("the new one");
    const references = [await accept(), await accept(), await accept()];
    const mailer = office.smtpMailer(server, { user: "website:the%20old%20one", query: ANY_CERTIFICATE });
    const outbox = office.start(mailer, { concurrency: 3 });
    const paused = await log.seen("queue-paused");
    expect(paused).toMatchObject({
      level: "error",
      text: expect.stringMatching(/535 .* check the user name .* SMTP_URL/),
    });
    await log.seen("paused", 3);
    await clock.advance(MINUTE_MS - 1);
    expect(outbox.state).toBe("paused");
    expect(log.count("queue-paused")).toBe(1);
    expect(server.passwords).toEqual(["the old one", "the old one", "the old one"]);
    for (const reference of references) {
      expect(await message(reference)).toMatchObject({ state: "queued", attempts: 0, lastError: paused.error });
    }

    references.push(await accept());
    outbox.wake();
    await clock.advance(1);
    expect(await log.seen("queue-still-paused")).toMatchObject({ level: "warn" });
    await log.seen("paused", 4);
    expect(server.passwords).toHaveLength(4);

    server.expectPassword("the old one");
    await clock.advance(2 * MINUTE_MS);
    await log.seen("queue-resumed");
    await log.seen("delivered", 4);
    expect(outbox.state).toBe("running");
    for (const reference of references) {
      expect(await message(reference)).toMatchObject({ state: "delivered", attempts: 1 });
    }
  });

  it("is probed with one mail at a time, and not taken to be fixed because it is away for a change", async () => {
    const { accept, clock, log, ...office } = await openPostOffice();
    for (let count = 0; count < 3; count += 1) await accept();
    const mailer = createManualMailer();
    const outbox = office.start(mailer);
    await mailer.received(3);
    for (const mail of mailer.mails) mail.fail(new MailError("blocked", "535"));
    await log.seen("paused", 3);
    await clock.advance(MINUTE_MS);
    await mailer.received(4);
    expect(mailer.mails).toHaveLength(4);
    mailer.mails[3]?.fail(new MailError("temporary", "away"));
    await mailer.received(5);
    expect(outbox.state).toBe("paused");
    expect(mailer.mails).toHaveLength(5);
    mailer.mails[4]?.accept();
    await log.seen("queue-resumed");
    expect(outbox.state).toBe("running");
  });

  it("pauses the queue when its certificate cannot be trusted, and sends it nothing", async () => {
    const { accept, message, log, ...office } = await openPostOffice();
    const server = await office.mailServer({ hasTls: true });
    const reference = await accept();
    const outbox = office.start(office.smtpMailer(server));
    expect((await log.seen("queue-paused")).error).toMatch(/^no encrypted connection to the mail server \([A-Z_]*CERT/);
    await log.seen("paused");
    expect(outbox.state).toBe("paused");
    expect(await message(reference)).toMatchObject({ state: "queued", attempts: 0 });
    expect(server.mails).toHaveLength(0);
  });

  it("is never told the password over a connection that is not encrypted", async () => {
    const { accept, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    await accept();
    office.start(office.smtpMailer(server, { user: "website:secret", query: "?requireTLS=false&ignoreTLS=true" }));
    await log.seen("queue-paused");
    expect(server.passwords).toEqual([]);
    expect(server.mails).toHaveLength(0);
  });
});

describe("a connection that breaks", () => {
  it("after the content but before the answer leads to one repeat with the same Message-ID", async () => {
    const { accept, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    server.behave({ kind: "drop-after-data", times: 1 });
    const reference = await accept();
    office.start(office.smtpMailer(server));
    const { dueAt } = await log.seen("deferred");
    expect(server.mails).toHaveLength(1);
    await clock.advanceTo(dueAt ?? new Date(0));
    expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 2 });
    const ids = server.mails.map((mail) => parseMail(mail.raw).header("Message-ID"));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it.each(["hang-after-data", "hang-before-greeting"] as const)(
    "is cut off when the server goes silent: %s",
    async (kind) => {
      const { accept, clock, log, ...office } = await openPostOffice();
      const server = await office.mailServer();
      server.behave({ kind });
      const reference = await accept();
      const limits = { ...SMTP_LIMITS, attemptMs: 300 };
      office.start(office.smtpMailer(server, { limits }));
      const { dueAt, error } = await log.seen("deferred");
      expect(error).toBe("the mail server took more than 0.3 s for one mail");
      // Time enough from now on, even on a busy machine.
      limits.attemptMs = 60_000;
      server.behave({ kind: "accept" });
      await clock.advanceTo(dueAt ?? new Date(0));
      expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 2 });
    },
  );
});

describe("a store that is away", () => {
  it("for an hour while a mail is marked does not make it be sent again", async () => {
    const { accept, message, store, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    const reference = await accept();
    let marks = 0;
    const isAway = () => clock.now().getTime() < Date.parse("2026-01-05T11:00:00Z");
    const flaky = withStore(store, {
      async markDelivered(claim, now) {
        marks += 1;
        if (isAway()) throw new StoreUnavailable("the disk is gone");
        return store.markDelivered(claim, now);
      },
    });
    office.start(office.smtpMailer(server), { store: flaky });
    await log.seen("mark-failed");
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 1 });
    expect(await message(reference)).toMatchObject({ state: "delivered" });
    expect(server.mails).toHaveLength(1);
    expect(marks).toBeLessThan(150);
  });

  it("for an hour is asked again ever more seldom, and then the queue goes on", async () => {
    const { accept, store, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    await accept();
    let claims = 0;
    const flaky = withStore(store, {
      async claim(...args) {
        claims += 1;
        if (clock.now().getTime() < Date.parse("2026-01-05T11:00:00Z")) throw new StoreUnavailable("away");
        return store.claim(...args);
      },
    });
    const outbox = office.start(office.smtpMailer(server), { store: flaky });
    await clock.advance(HOUR_MS - 1);
    expect(claims).toBeLessThan(80);
    expect(outbox.state).toBe("running");
    await clock.advance(MINUTE_MS);
    await log.seen("delivered");
  });

  it("does not stop the queue for good when one mark fails with another error", async () => {
    const { accept, store, clock, log, ...office } = await openPostOffice();
    const server = await office.mailServer();
    const reference = await accept();
    const broken = withStore(store, {
      markDelivered: () => Promise.reject(new Error("constraint of ada@example.org")),
    });
    office.start(office.smtpMailer(server), { store: broken });
    await log.seen("mark-failed");
    await clock.advance(6 * MINUTE_MS);
    expect(await log.seen("mark-given-up")).toMatchObject({ level: "error", reference });
    expect(log.count("delivered")).toBe(0);
  });
});
