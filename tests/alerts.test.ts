import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MailError } from "../server/mail/mailer.ts";
import { type ClockDoubt, type Ending, StoreLost, StoreUnavailable } from "../server/store/store.ts";
import { type AlertOptions, startAlerts } from "../server/watch/alerts.ts";
import { startAlertReceiver } from "./support/alert-receiver.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { createManualMailer, openPostOffice, withStore } from "./support/post-office.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

async function openWatched({ messages = 1 } = {}) {
  const office = await openPostOffice();
  const receiver = await startAlertReceiver();
  onTestFinished(() => receiver.close());
  for (let count = 0; count < messages; count += 1) await office.accept();
  return {
    ...office,
    receiver,
    /** Starts alerts with a clock of their own, so that time can pass for them and not for the outbox. */
    watch(options: Partial<AlertOptions> = {}) {
      const clock = createFakeClock();
      const alertUrl = `http://127.0.0.1:${receiver.port}/hook`;
      const { store, log } = office;
      const outbox = { pauseReason: null };
      const alerts = startAlerts({ store, outbox, brand: "Brighter", alertUrl, log, clock, ...options });
      onTestFinished(() => alerts.stop());
      return { clock, alerts };
    },
    /** Alerts in the log, and posts. */
    counts: () => [office.log.count("alert"), receiver.alerts.length],
  };
}

describe("the oldest undelivered message", () => {
  it("leads to one line and one post when it passes an hour, and to another each hour while it waits", async () => {
    const { receiver, watch, counts, ...office } = await openWatched({ messages: 2 });
    const { clock } = watch();
    await clock.advance(HOUR_MS - 1);
    expect(counts()).toEqual([0, 0]);
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
    expect(counts()).toEqual([1, 1]);
    await clock.advance(2 * MINUTE_MS);
    expect(counts()).toEqual([2, 2]);
  });

  it("is one line in the log where ALERT_URL is not set", async () => {
    const { watch, ...office } = await openWatched();
    const { clock } = watch({ alertUrl: null });
    await clock.advance(HOUR_MS + 30 * MINUTE_MS);
    expect(office.log.lines.map(({ event }) => event)).toEqual(["alert"]);
  });

  it("is reported as delivered again in one line, and nothing more is posted", async () => {
    const { receiver, watch, ...office } = await openWatched();
    const { clock } = watch();
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(receiver.alerts).toHaveLength(1);
    const [claim] = await office.store.claim(1, MINUTE_MS, clock.now());
    if (claim) await office.store.markDelivered(claim, clock.now());
    await clock.advance(3 * HOUR_MS);
    expect(office.log.count("alert-over")).toBe(1);
    expect(receiver.alerts).toHaveLength(1);
  });

  it("is not one in quarantine, which has an alert of its own", async () => {
    const { watch, ...office } = await openWatched({ messages: 0 });
    await office.accept({}, true);
    const { clock } = watch({ alertUrl: null });
    await clock.advance(3 * HOUR_MS);
    expect(office.log.lines.map(({ troubles }) => troubles)).toEqual([["quarantined"]]);
  });
});

describe("messages in quarantine", () => {
  it("are not posted again and again to a web hook that fails", async () => {
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    receiver.answerWith(429);
    const { clock, alerts } = watch();
    for (let count = 0; count < 20; count += 1) {
      await office.accept({}, true);
      alerts.checkNow();
      await clock.advance(1500);
    }
    expect(receiver.alerts.length).toBeLessThanOrEqual(2);
  });

  it("lead to an alert at once, then to one an hour with the number of new ones, whatever else is wrong", async () => {
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    const { clock, alerts } = watch({ outbox: { pauseReason: "535 refused" } });
    alerts.checkNow();
    await office.log.seen("alert-sent");
    const hold = async () => {
      await office.accept({}, true);
      alerts.checkNow();
    };
    await hold();
    await clock.advance(2 * MINUTE_MS);
    const quarantine = () => receiver.alerts.filter(({ body }) => body.troubles.includes("quarantined"));
    expect(quarantine().map(({ body }) => body)).toMatchObject([
      {
        text: "Brighter: 1 message was held back as suspected abuse, and real ones may be among them. See: npm run messages -- list --state quarantined. To deliver them: npm run messages -- release --all",
        quarantined: 1,
      },
    ]);
    await hold();
    await hold();
    await clock.advance(30 * MINUTE_MS);
    expect(quarantine()).toHaveLength(1);
    await clock.advance(35 * MINUTE_MS);
    expect(quarantine()[1]?.body.text).toContain("2 messages were held back");
    await clock.advance(5 * HOUR_MS);
    expect(quarantine()).toHaveLength(2);
  });
});

describe("a backup", () => {
  const backUp = async ({ store }: Awaited<ReturnType<typeof openWatched>>, now: Date) =>
    store.backup(join(await makeScratchFolder(), "copy.db"), now);

  it("that has not succeeded for two days leads to one alert a day, once one was ever made", async () => {
    const office = await openWatched({ messages: 0 });
    const { clock } = office.watch({ program: "sudo brighter-carbon messages" });
    await clock.advance(5 * DAY_MS);
    expect(office.counts()).toEqual([0, 0]);
    await backUp(office, clock.now());
    await clock.advance(2 * DAY_MS - MINUTE_MS);
    expect(office.counts()).toEqual([0, 0]);
    await clock.advance(2 * MINUTE_MS);
    expect(office.receiver.alerts.map(({ body }) => body)).toMatchObject([
      {
        text: "Brighter: No backup has succeeded for 2 days. Make one and see what it says: sudo brighter-carbon messages backup FILE",
        troubles: ["backup-overdue"],
      },
    ]);
    await clock.advance(DAY_MS - HOUR_MS);
    expect(office.counts()).toEqual([1, 1]);
    await clock.advance(2 * HOUR_MS);
    expect(office.counts()).toEqual([2, 2]);
    await backUp(office, clock.now());
    await clock.advance(DAY_MS);
    expect(office.counts()).toEqual([2, 2]);
  });
});

describe("a paused queue", () => {
  it("leads at once to one alert that says what to fix", async () => {
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    const server = await office.mailServer({ hasTls: true });
    server.expectPassword("the new one");
    await office.accept();
    const query = "?tls.rejectUnauthorized=false";
    const onPaused = () => alerts.checkNow();
    const outbox = office.start(office.smtpMailer(server, { user: "website:the%20old%20one", query }), { onPaused });
    const { clock, alerts } = watch({ outbox });
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
    const { receiver, watch, ...office } = await openWatched();
    const mailer = createManualMailer();
    const outbox = office.start(mailer);
    await mailer.received(1);
    mailer.mails[0]?.fail(new MailError("permanent", "550 mailbox refused"));
    await office.log.seen("failed");
    const { clock } = watch({ outbox });
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

describe("after the clock was set back", () => {
  it.each([30 * MINUTE_MS, 24 * HOUR_MS])("by %i ms, a message that fails is reported", async (backMs) => {
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    const fail = async () => {
      await office.accept();
      const [claim] = await office.store.claim(1, MINUTE_MS, office.clock.now());
      if (claim) await office.store.markFailed(claim, "550 mailbox refused", office.clock.now());
    };
    const { clock } = watch();
    await fail();
    await clock.advance(MINUTE_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["failed"]]);
    clock.set(-backMs);
    office.clock.set(-backMs);
    await fail();
    await clock.advance(2 * HOUR_MS);
    expect(receiver.alerts.map(({ body }) => body.failed)).toEqual([1, 2]);
    await clock.advance(5 * HOUR_MS);
    expect(receiver.alerts).toHaveLength(2);
  });

  it("a database that is away is reported a minute later", async () => {
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    const away = () => Promise.reject(new StoreUnavailable("away"));
    const { clock } = watch({ store: withStore(office.store, { ping: away, moveLastAlert: away }) });
    await clock.advance(MINUTE_MS / 2);
    clock.set(-24 * HOUR_MS);
    await clock.advance(3 * MINUTE_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["store-away"]]);
  });
});

describe("messages that end soon", () => {
  const ENDING: Ending = { foundAt: new Date(0), count: 5, undelivered: 0, held: 0, lastId: 9 };

  function purgeWith(ending: Ending | null, clockDoubt: ClockDoubt | null = null) {
    return {
      ending,
      clockDoubt,
      reports: 0,
      async noteEndingReported() {
        this.reports += 1;
        this.ending = null;
      },
    };
  }

  it("are reported once, and others not before the next day", async () => {
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    const purge = purgeWith(ENDING);
    const { clock } = watch({ purge });
    await clock.advance(MINUTE_MS);
    expect(office.log.lines.filter(({ level }) => level === "warn")).toMatchObject([{ event: "alert" }]);
    expect(receiver.alerts.map(({ body }) => [body.troubles, body.text])).toEqual([
      [
        ["ending"],
        "Brighter: 5 messages that nobody has answered will be erased within 8 days. See: npm run messages -- list --unanswered, and list --state quarantined",
      ],
    ]);
    expect(purge).toMatchObject({ ending: null, reports: 1 });
    purge.ending = { ...ENDING, count: 1 };
    await clock.advance(23 * HOUR_MS);
    expect(receiver.alerts).toHaveLength(1);
    await clock.advance(HOUR_MS);
    expect(receiver.alerts[1]?.body.text).toContain("1 message that nobody has answered");
  });

  it("are reported within the hour when they reached nobody or are held, and are not noted before the post was taken", async () => {
    const { receiver, watch } = await openWatched({ messages: 0 });
    const purge = purgeWith({ ...ENDING, undelivered: 2 });
    const { clock } = watch({ purge });
    receiver.answerWith(500);
    await clock.advance(MINUTE_MS);
    expect([receiver.alerts.length > 0, purge.reports]).toEqual([true, 0]);
    receiver.answerWith(204);
    await clock.advance(MINUTE_MS);
    expect(receiver.alerts.at(-1)?.body.text).toContain("within 8 days, 2 of which were never delivered.");
    expect(purge.reports).toBe(1);
    purge.ending = { ...ENDING, count: 700, held: 700 };
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(receiver.alerts.at(-1)?.body.text).toMatch(
      /^Brighter: 700 messages past their RETENTION will be erased tomorrow/,
    );
    expect(purge.reports).toBe(2);
  });

  it("are not erased, which is reported once a day, while the clock does not fit the database", async () => {
    const { receiver, watch } = await openWatched({ messages: 0 });
    const doubt = { newestChangeAt: new Date("2025-10-01"), trustedFrom: new Date("2026-01-12") };
    const { clock } = watch({ purge: purgeWith(null, doubt) });
    await clock.advance(25 * HOUR_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["clock"], ["clock"]]);
    expect(receiver.alerts[0]?.body.text).toContain("newest change in the database is of 2025-10-01T00:00:00.000Z");
  });
});

it("says that this machine's clock is not that of the database, once a day", async () => {
  const { receiver, watch } = await openWatched({ messages: 0 });
  const { clock } = watch({ sharedClock: { machineAheadMs: -6 * MINUTE_MS } });
  await clock.advance(23 * HOUR_MS);
  expect(receiver.alerts.map(({ body }) => body.text)).toEqual([
    expect.stringMatching(/^Brighter: The clock of \S+ is 6 minutes behind the database's; set it, /),
  ]);
});

describe("at most one alert an hour", () => {
  it("comes from all nodes together, and across restarts", async () => {
    const { watch, counts } = await openWatched();
    const nodes = [watch(), watch(), watch()];
    await Promise.all(nodes.map(({ clock }) => clock.advance(HOUR_MS + MINUTE_MS)));
    for (const { alerts } of nodes) await alerts.stop();
    await watch().clock.advance(HOUR_MS + 50 * MINUTE_MS);
    expect(counts()).toEqual([1, 1]);
  });

  it("is not held back by an alert that a clock set back has left in the future", async () => {
    const { watch, ...office } = await openWatched();
    await office.store.moveLastAlert("delivery", new Date(0), new Date("2026-06-01"));
    const { clock } = watch({ alertUrl: null });
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(office.log.count("alert")).toBe(1);
  });
});

describe("an alert that is not taken", () => {
  it.each([500, 404, 302])(
    "because the service answers %i is posted again at the next check, not logged again",
    async (status) => {
      const { receiver, watch, ...office } = await openWatched();
      receiver.answerWith(status);
      const { clock } = watch();
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
    const { receiver, watch, ...office } = await openWatched();
    receiver.answerWith(null);
    const { clock } = watch({ postTimeoutMs: 200 });
    await clock.advance(HOUR_MS);
    expect((await office.log.seen("alert-not-sent")).error).toBe("TimeoutError");
    await receiver.close();
    await clock.advance(MINUTE_MS / 2);
    expect((await office.log.seen("alert-not-sent", 2)).error).toBe("ECONNREFUSED");
  });

  it("is given up at once when the program stops", async () => {
    const { receiver, watch, ...office } = await openWatched();
    receiver.answerWith(null);
    const { clock, alerts } = watch();
    void clock.advance(HOUR_MS);
    await expect.poll(() => receiver.alerts.length).toBe(1);
    await alerts.stop();
    expect(await office.log.seen("alert-not-sent")).toMatchObject({ error: "AbortError" });
  });
});

it("sends the credentials of ALERT_URL as such and logs nothing of its address", async () => {
  const { receiver, watch, ...office } = await openWatched();
  const alertUrl = `http://operator:top%20secret@127.0.0.1:${receiver.port}/a-secret-path`;
  const { clock } = watch({ alertUrl });
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
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    let isAway = true;
    const away = () => Promise.reject(new StoreUnavailable("away"));
    const store = withStore(office.store, {
      ping: () => (isAway ? away() : office.store.ping()),
      queueDepth: () => (isAway ? away() : office.store.queueDepth()),
      lastAlertAt: (topic) => (isAway ? away() : office.store.lastAlertAt(topic)),
      moveLastAlert: (...args) => (isAway ? away() : office.store.moveLastAlert(...args)),
    });
    const { clock } = watch({ store });
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

  it("because its files are gone leads to an alert at once, even within the hour of another", async () => {
    const { receiver, watch, ...office } = await openWatched();
    let loss: StoreLost | null = null;
    const ifThere = <T>(ask: () => Promise<T>) => (loss ? Promise.reject(loss) : ask());
    const store = withStore(office.store, {
      ping: () => ifThere(() => office.store.ping()),
      queueDepth: () => ifThere(() => office.store.queueDepth()),
      lastAlertAt: (topic) => ifThere(() => office.store.lastAlertAt(topic)),
      moveLastAlert: (...args) => ifThere(() => office.store.moveLastAlert(...args)),
    });
    const { clock, alerts } = watch({ store });
    await clock.advance(HOUR_MS + MINUTE_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["overdue"]]);
    loss = new StoreLost("messages.db is gone; its messages were saved to x.db");
    alerts.checkNow();
    await clock.advance(1000);
    expect(receiver.alerts).toHaveLength(2);
    expect(receiver.alerts[1]?.body).toMatchObject({
      text: expect.stringContaining("saved to x.db"),
      troubles: ["store-lost"],
    });
    await clock.advance(HOUR_MS - MINUTE_MS);
    expect(receiver.alerts).toHaveLength(2);
    await clock.advance(2 * MINUTE_MS);
    expect(receiver.alerts).toHaveLength(3);
  });

  it("for writing only, as with a full disk, is reported too", async () => {
    const { receiver, watch, ...office } = await openWatched({ messages: 0 });
    const full = () => Promise.reject(new StoreUnavailable("full"));
    const store = withStore(office.store, { ping: full, moveLastAlert: full });
    const { clock } = watch({ store });
    await clock.advance(3 * MINUTE_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["store-away"]]);
  });

  it("when it is to be written, as with a full disk, does not prevent the alert about the messages in it", async () => {
    const { receiver, watch, ...office } = await openWatched();
    const store = withStore(office.store, { moveLastAlert: () => Promise.reject(new StoreUnavailable("full")) });
    const { clock } = watch({ store });
    await clock.advance(HOUR_MS + 50 * MINUTE_MS);
    expect(receiver.alerts.map(({ body }) => body.troubles)).toEqual([["overdue"]]);
    await clock.advance(20 * MINUTE_MS);
    expect(receiver.alerts).toHaveLength(2);
  });

  it("is not the reason when something else fails, which the log says", async () => {
    const { watch, ...office } = await openWatched();
    let isBroken = true;
    const store = withStore(office.store, {
      queueDepth: () => (isBroken ? Promise.reject(new Error("ada@example.org")) : office.store.queueDepth()),
    });
    const { clock } = watch({ alertUrl: null, store });
    await clock.advance(2 * HOUR_MS);
    expect(office.log.count("alert")).toBe(0);
    expect(office.log.count("alert-check-failed")).toBeGreaterThan(0);
    isBroken = false;
    await clock.advance(MINUTE_MS);
    expect(office.log.count("alert")).toBe(1);
  });
});
