import { describe, expect, it, onTestFinished } from "vitest";
import { MailError } from "../server/mail/mailer.ts";
import { StoreUnavailable } from "../server/store/store.ts";
import { type AlertOptions, startAlerts } from "../server/watch/alerts.ts";
import { type AlertReceiver, startAlertReceiver } from "./support/alert-receiver.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { createManualMailer, openPostOffice, type PostOffice, withStore } from "./support/post-office.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function openReceiver(): Promise<AlertReceiver> {
  const receiver = await startAlertReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Alerts with a clock of their own, so that time can pass for them and not for the outbox. */
function watch(office: PostOffice, receiver: AlertReceiver | null, options: Partial<AlertOptions> = {}) {
  const clock = createFakeClock();
  const alertUrl = receiver && `http://127.0.0.1:${receiver.port}/hook`;
  const { store, log } = office;
  const outbox = { pauseReason: null };
  const alerts = startAlerts({ store, outbox, brand: "Brighter", alertUrl, log, clock, ...options });
  onTestFinished(() => alerts.stop());
  return { clock, alerts };
}

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
        text: "Brighter: Messages from the website are not being delivered. 2 messages in the queue, the oldest for 60 minutes; see: npm run messages -- list",
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

  it("is reported as delivered again in one line, and nothing more is posted", async () => {
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

  it("is not one in quarantine, which has an alert of its own", async () => {
    const office = await openPostOffice();
    const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null };
    const message = { name: "Ada", email: "ada@example.org", phone: "1", country: "", message: "credits" };
    const trapped = { message, idempotencyKey: null, networks: [], isTrapped: true };
    await office.store.accept(trapped, rules, office.clock.now());
    const { clock } = watch(office, null);
    await clock.advance(3 * HOUR_MS);
    expect(office.log.lines.map(({ troubles }) => troubles)).toEqual([["quarantined"]]);
  });
});

describe("messages in quarantine", () => {
  const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: 0 };

  it("are not posted again and again to a web hook that fails", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    receiver.answerWith(429);
    const { clock, alerts } = watch(office, receiver);
    for (let count = 0; count < 20; count += 1) {
      const message = { name: "Ada", email: "ada@example.org", phone: "1", country: "", message: `No. ${count}` };
      await office.store.accept({ message, idempotencyKey: null, networks: [], isTrapped: false }, rules, clock.now());
      alerts.checkNow();
      await clock.advance(1500);
    }
    expect(receiver.alerts.length).toBeLessThanOrEqual(2);
  });

  it("lead to an alert at once, then to one an hour with the number of new ones, whatever else is wrong", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    const { clock, alerts } = watch(office, receiver, { outbox: { pauseReason: "535 refused" } });
    alerts.checkNow();
    await office.log.seen("alert-sent");
    const hold = async (words: string) => {
      const message = { name: "Ada", email: "ada@example.org", phone: "1", country: "", message: words };
      await office.store.accept({ message, idempotencyKey: null, networks: [], isTrapped: false }, rules, clock.now());
      alerts.checkNow();
    };
    await hold("first");
    await clock.advance(2 * MINUTE_MS);
    const quarantine = () => receiver.alerts.filter(({ body }) => body.troubles.includes("quarantined"));
    expect(quarantine().map(({ body }) => body)).toMatchObject([
      {
        text: "Brighter: 1 message was held back as suspected abuse, and real ones may be among them. See: npm run messages -- list --state quarantined. To deliver them: npm run messages -- release --all",
        quarantined: 1,
      },
    ]);
    await hold("second");
    await hold("third");
    await clock.advance(30 * MINUTE_MS);
    expect(quarantine()).toHaveLength(1);
    await clock.advance(35 * MINUTE_MS);
    expect(quarantine()[1]?.body.text).toContain("2 messages were held back");
    await clock.advance(5 * HOUR_MS);
    expect(quarantine()).toHaveLength(2);
  });
});

describe("a paused queue", () => {
  it("leads at once to one alert that says what to fix", async () => {
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
        text: "Brighter: Messages from the website are not being delivered. No e-mail can be sent until this is fixed: 535 the mail server refused the sign-in: check the user name and password in SMTP_URL",
        troubles: ["paused"],
        queued: 1,
        oldestAgeSeconds: 0,
        failed: 0,
        quarantined: 0,
      },
    ]);
  });
});

describe("a message that failed for good", () => {
  it("is reported once, though it is kept", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    await office.accept();
    const mailer = createManualMailer();
    const outbox = office.start(mailer);
    await mailer.received(1);
    mailer.mails[0]?.fail(new MailError("permanent", "550 mailbox refused"));
    await office.log.seen("failed");
    const { clock } = watch(office, receiver, { outbox });
    await clock.advance(5 * HOUR_MS);
    expect(receiver.alerts).toHaveLength(1);
    expect(receiver.alerts[0]?.body).toMatchObject({
      text: "Brighter: Messages from the website are not being delivered. 1 message failed for good; after fixing the cause run: npm run messages -- retry --failed",
      troubles: ["failed"],
      failed: 1,
      queued: 0,
    });
    expect(office.log.count("alert-over")).toBe(0);
    const errors = office.log.lines.filter(({ level }) => level === "error");
    expect(errors.map(({ event }) => event)).toEqual(["failed"]);
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
    await office.store.moveLastAlert("delivery", new Date(0), new Date("2026-06-01"));
    const { clock } = watch(office, null);
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(office.log.count("alert")).toBe(1);
  });
});

describe("an alert that is not taken", () => {
  it.each([500, 404, 302])(
    "because the service answers %i is posted again at the next check, not logged again",
    async (status) => {
      const office = await openPostOffice();
      const receiver = await openReceiver();
      receiver.answerWith(status);
      await office.accept();
      const { clock } = watch(office, receiver);
      await clock.advance(HOUR_MS + MINUTE_MS - 1);
      expect(receiver.alerts).toHaveLength(2);
      receiver.answerWith(204);
      await clock.advance(30 * MINUTE_MS);
      expect(receiver.alerts).toHaveLength(3);
      expect(receiver.alerts.every(({ path }) => path === "/hook")).toBe(true);
      expect([office.log.count("alert"), office.log.count("alert-not-sent")]).toEqual([1, 2]);
      expect(await office.log.seen("alert-not-sent")).toMatchObject({ level: "warn", error: `status ${status}` });
    },
  );

  it("because the service never answers, or is not there, is given up in time", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    receiver.answerWith(null);
    await office.accept();
    const { clock } = watch(office, receiver, { postTimeoutMs: 200 });
    await clock.advance(HOUR_MS);
    expect((await office.log.seen("alert-not-sent")).error).toBe("TimeoutError");
    await receiver.close();
    await clock.advance(MINUTE_MS / 2);
    expect((await office.log.seen("alert-not-sent", 2)).error).toBe("ECONNREFUSED");
  });

  it("is given up at once when the program stops", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    receiver.answerWith(null);
    await office.accept();
    const { clock, alerts } = watch(office, receiver);
    void clock.advance(HOUR_MS);
    await expect.poll(() => receiver.alerts.length).toBe(1);
    await alerts.stop();
    expect(await office.log.seen("alert-not-sent")).toMatchObject({ error: "AbortError" });
  });
});

it("sends the credentials of ALERT_URL as such and logs nothing of its address", async () => {
  const office = await openPostOffice();
  const receiver = await openReceiver();
  await office.accept();
  const alertUrl = `http://operator:top%20secret@127.0.0.1:${receiver.port}/a-secret-path`;
  const { clock } = watch(office, null, { alertUrl });
  await clock.advance(HOUR_MS);
  const [alert] = receiver.alerts;
  expect(alert?.path).toBe("/a-secret-path");
  expect(alert?.authorization).toBe(`Basic ${Buffer.from("operator:top secret").toString("base64")}`);
  receiver.answerWith(500);
  await clock.advance(HOUR_MS);
  await receiver.close();
  await clock.advance(MINUTE_MS);
  expect(office.log.count("alert-not-sent")).toBeGreaterThan(1);
  expect(JSON.stringify(office.log.lines)).not.toMatch(/operator|secret|127\.0\.0\.1/);
});

describe("a store that is away", () => {
  it("for a minute leads to one alert an hour, and the last one is over when messages get through again", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    let isAway = true;
    const away = () => Promise.reject(new StoreUnavailable("away"));
    const store = withStore(office.store, {
      ping: () => (isAway ? away() : office.store.ping()),
      queueDepth: () => (isAway ? away() : office.store.queueDepth()),
      lastAlertAt: (topic) => (isAway ? away() : office.store.lastAlertAt(topic)),
      moveLastAlert: (...args) => (isAway ? away() : office.store.moveLastAlert(...args)),
    });
    const { clock } = watch(office, receiver, { store });
    await clock.advance(MINUTE_MS);
    expect(office.log.lines).toEqual([]);
    await clock.advance(MINUTE_MS);
    expect(await office.log.seen("alert")).toMatchObject({ level: "error", troubles: ["store-away"] });
    expect(receiver.alerts.map(({ body }) => body)).toEqual([
      {
        text: expect.stringContaining("No message could be stored for 1 minute"),
        troubles: ["store-away"],
        queued: null,
        oldestAgeSeconds: null,
        failed: null,
        quarantined: null,
      },
    ]);
    await clock.advance(2 * HOUR_MS - MINUTE_MS);
    expect(receiver.alerts).toHaveLength(2);
    isAway = false;
    await clock.advance(HOUR_MS);
    expect(office.log.count("alert-over")).toBe(1);
    expect(receiver.alerts).toHaveLength(2);
  });

  it("for writing only, as with a full disk, is reported too", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    const full = () => Promise.reject(new StoreUnavailable("full"));
    const store = withStore(office.store, { ping: full, moveLastAlert: full });
    const { clock } = watch(office, receiver, { store });
    await clock.advance(3 * MINUTE_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["store-away"]]);
  });

  it("when it is to be written, as with a full disk, does not prevent the alert about the messages in it", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    await office.accept();
    const store = withStore(office.store, { moveLastAlert: () => Promise.reject(new StoreUnavailable("full")) });
    const { clock } = watch(office, receiver, { store });
    await clock.advance(HOUR_MS + 50 * MINUTE_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["overdue"]]);
    await clock.advance(20 * MINUTE_MS);
    expect(receiver.alerts).toHaveLength(2);
  });

  it("is not the reason when something else fails, which the log says", async () => {
    const office = await openPostOffice();
    await office.accept();
    let isBroken = true;
    const store = withStore(office.store, {
      queueDepth: () => (isBroken ? Promise.reject(new Error("ada@example.org")) : office.store.queueDepth()),
    });
    const { clock } = watch(office, null, { store });
    await clock.advance(2 * HOUR_MS);
    expect(office.log.count("alert")).toBe(0);
    expect(office.log.count("alert-check-failed")).toBeGreaterThan(0);
    isBroken = false;
    await clock.advance(MINUTE_MS);
    expect(office.log.count("alert")).toBe(1);
  });
});
