import { describe, expect, it } from "vitest";
import { MailError } from "../server/mail/mailer.ts";
import { createHeldMailer, openPostOffice } from "./support/post-office.ts";
import { openReceiver, watch } from "./support/watch-alerts.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe("the oldest undelivered message", () => {
  it("leads to one line and one post when it passes an hour, and to another each hour while it waits", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    await office.accept();
    await office.accept();
    const { clock } = watch(office, receiver);
    await clock.advance(HOUR_MS - 1);
    expect([office.log.count("alert"), receiver.alerts.length]).toEqual([0, 0]);
    await clock.advance(MINUTE_MS);
    expect(office.log.lines.filter(({ level }) => level === "error")).toEqual([
      {
        level: "error",
        event: "alert",
        troubles: ["overdue"],
        text: "Brighter: Messages from the website do not get through. 2 waiting to be delivered, the oldest for 60 minutes; see: npm run messages -- list",
      },
    ]);
    expect(receiver.alerts).toMatchObject([
      {
        path: "/hook",
        contentType: "application/json",
        body: { text: office.log.lines[0]?.text, troubles: ["overdue"], queued: 2, oldestAgeSeconds: 3600, failed: 0 },
      },
    ]);
    await clock.advance(58 * MINUTE_MS);
    expect([office.log.count("alert"), receiver.alerts.length]).toEqual([1, 1]);
    await clock.advance(2 * MINUTE_MS);
    expect([office.log.count("alert"), receiver.alerts.length]).toEqual([2, 2]);
  });

  it("is one line in the log where ALERT_URL is not set", async () => {
    const office = await openPostOffice();
    await office.accept();
    const { clock } = watch(office, null);
    await clock.advance(HOUR_MS + 30 * MINUTE_MS);
    expect(office.log.lines.map(({ event }) => event)).toEqual(["alert"]);
  });

  it("is told as delivered again in one line, and nothing more is posted", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    await office.accept();
    const { clock } = watch(office, receiver);
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(receiver.alerts).toHaveLength(1);
    const [claim] = await office.store.claim(1, MINUTE_MS, clock.now());
    if (claim) await office.store.markDelivered(claim, clock.now());
    await clock.advance(3 * HOUR_MS);
    expect(office.log.count("alert-over")).toBe(1);
    expect(receiver.alerts).toHaveLength(1);
  });

  it("is no reason for an alert when it is held in quarantine", async () => {
    const office = await openPostOffice();
    const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null };
    const message = { name: "Ada", email: "ada@example.org", phone: "1", country: "", message: "credits" };
    const trapped = { message, idempotencyKey: null, clientHash: null, isTrapped: true };
    await office.store.accept(trapped, rules, office.clock.now());
    const { clock } = watch(office, null);
    await clock.advance(3 * HOUR_MS);
    expect(office.log.lines).toEqual([]);
  });
});

describe("a paused queue", () => {
  it("leads at once to one alert that says what to mend", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    const server = await office.mailServer({ hasTls: true });
    server.expectPassword("the new one");
    await office.accept();
    const query = "?tls.rejectUnauthorized=false";
    const onPaused = () => alerts.checkNow();
    const outbox = office.start(office.smtpMailer(server, { user: "website:the%20old%20one", query }), { onPaused });
    const { clock, alerts } = watch(office, receiver, { outbox });
    // The clock stands still: no check can have come by itself.
    await office.log.seen("alert-sent");
    await clock.advance(50 * MINUTE_MS);
    expect(office.log.count("alert")).toBe(1);
    const errors = office.log.lines.filter(({ level }) => level === "error");
    expect(errors.map(({ event }) => event)).toEqual(["queue-paused"]);
    expect(receiver.alerts.map(({ body }) => body)).toEqual([
      {
        text: "Brighter: Messages from the website do not get through. No mail is sent until this is mended: 535 the mail server refused the sign-in: check the user name and password in SMTP_URL",
        troubles: ["paused"],
        ...{ queued: 1, oldestAgeSeconds: 0, failed: 0 },
      },
    ]);
  });
});

describe("a message set aside as undeliverable", () => {
  it("is told once, though it is kept", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    await office.accept();
    const mailer = createHeldMailer();
    const outbox = office.start(mailer);
    await mailer.given(1);
    mailer.held[0]?.fail(new MailError("permanent", "550 mailbox refused"));
    await office.log.seen("set-aside");
    const { clock } = watch(office, receiver, { outbox });
    await clock.advance(5 * HOUR_MS);
    expect(receiver.alerts).toHaveLength(1);
    expect(receiver.alerts[0]?.body).toMatchObject({ troubles: ["failed"], failed: 1, queued: 0 });
    expect(office.log.count("alert-over")).toBe(0);
    const errors = office.log.lines.filter(({ level }) => level === "error");
    expect(errors.map(({ event }) => event)).toEqual(["set-aside"]);
  });
});

describe("at most one alert an hour", () => {
  it("comes from all nodes together", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    await office.accept();
    const nodes = [watch(office, receiver), watch(office, receiver), watch(office, receiver)];
    await Promise.all(nodes.map(({ clock }) => clock.advance(HOUR_MS + 30 * MINUTE_MS)));
    expect([office.log.count("alert"), receiver.alerts.length]).toEqual([1, 1]);
  });

  it("comes also across restarts", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    await office.accept();
    const first = watch(office, receiver);
    await first.clock.advance(HOUR_MS + MINUTE_MS);
    await first.alerts.stop();
    const second = watch(office, receiver);
    await second.clock.advance(HOUR_MS + 50 * MINUTE_MS);
    expect([office.log.count("alert"), receiver.alerts.length]).toEqual([1, 1]);
  });

  it("is not held back by an alert that a clock set back has left in the future", async () => {
    const office = await openPostOffice();
    await office.accept();
    await office.store.moveLastAlert(new Date(0), new Date("2026-06-01"));
    const { clock } = watch(office, null);
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(office.log.count("alert")).toBe(1);
  });
});
