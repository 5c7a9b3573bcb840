import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { CHANNELS, type Channel, type Store, StoreLost, StoreUnavailable } from "../server/store/store.ts";
import { type AlertOptions, startAlerts } from "../server/watch/alerts.ts";
import { createWatch } from "../server/watch/troubles.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { RETENTION } from "./support/in-process-store.ts";
import { openPostOffice, withStore } from "./support/post-office.ts";
import { startReceiver, status } from "./support/receiver.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PROGRAM = "npm run messages --";
const away = () => Promise.reject(new StoreUnavailable("away"));

/** `changed`: methods of the store that do something else. */
type WatchOptions = Partial<AlertOptions> & { changed?: Partial<Store> };

async function openWatched({ messages = 1, channels = ["mail"] as readonly Channel[] } = {}) {
  const office = await openPostOffice({ channels });
  const { store, dataDir, log } = office;
  const receiver = await startReceiver<{ text: string; troubles: string[] }>();
  for (let count = 0; count < messages; count += 1) await office.accept();
  return {
    ...office,
    receiver,
    /** Starts alerts with a clock of their own, so that time can pass for them and not for the messages. */
    watch({ changed = {}, ...options }: WatchOptions = {}) {
      const clock = createFakeClock();
      const watched = withStore(store, changed);
      const watch = createWatch({ store: watched, program: PROGRAM, dataDir, channels: CHANNELS, askedBy: "server" });
      const given = { store: watched, watch, retention: RETENTION, brand: "Brighter", log, clock };
      const alerts = startAlerts({ ...given, alertUrl: receiver.url, ...options });
      onTestFinished(() => alerts.stop());
      /** Only the last minute is lived through. */
      const pass = async (ms: number) => {
        clock.set(ms - MINUTE_MS);
        await clock.advance(MINUTE_MS);
      };
      return { clock, alerts, pass };
    },
    /** How one delivery ends, of those that wait. */
    async end(kind: "delivered" | "failed", channel: Channel = "mail") {
      const now = office.clock.now();
      const [claim] = await store.claim(channel, 1, MINUTE_MS, now);
      if (!claim) throw new Error("nothing to claim");
      await store.settle(claim, kind === "failed" ? { kind, error: "550 refused" } : { kind }, now);
    },
    /** The troubles of each post. */
    posts: () => receiver.posts.map(({ body }) => body.troubles.join()),
    lastText: () => receiver.posts.at(-1)?.body.text,
  };
}

describe("the oldest undelivered message", () => {
  it("leads to one line and one post when it passes an hour, and to another each hour while it waits", async () => {
    const { receiver, watch, log, posts } = await openWatched({ messages: 2 });
    const { clock } = watch();
    await clock.advance(HOUR_MS - 1);
    expect([log.lines, posts()]).toEqual([[], []]);
    await clock.advance(MINUTE_MS);
    const text = `Brighter: 2 messages waiting to be emailed, the oldest for 60 minutes. See why: ${PROGRAM} list`;
    expect(log.lines[0]).toEqual({ level: "error", event: "alert", troubles: ["overdue"], text });
    const counts = { queued: 2, failed: 0, quarantined: 0, oldestAgeSeconds: 3600 };
    expect(receiver.posts).toMatchObject([
      { headers: { "content-type": "application/json" }, body: { text, troubles: ["overdue"], ...counts } },
    ]);
    await clock.advance(58 * MINUTE_MS);
    expect(posts()).toHaveLength(1);
    await clock.advance(2 * MINUTE_MS);
    expect([posts().length, log.count("alert")]).toEqual([2, 2]);
  });

  it("is one line in the log where ALERT_URL is not set, posted as soon as it is, and another line when it is over", async () => {
    const { watch, log, end, posts } = await openWatched();
    const silent = watch({ alertUrl: null });
    await silent.clock.advance(HOUR_MS + 30 * MINUTE_MS);
    expect([log.count("alert"), posts()]).toEqual([1, []]);
    await silent.alerts.stop();
    const { clock, pass } = watch();
    await pass(HOUR_MS + MINUTE_MS);
    expect(posts()).toEqual(["overdue"]);
    await end("delivered");
    await clock.advance(2 * HOUR_MS);
    expect(await log.seen("alert-over")).toMatchObject({ troubles: ["overdue"] });
    expect([log.count("alert-over"), posts().length]).toEqual([1, 1]);
  });

  it("is told of with its channel, unless it is an acknowledgement or in quarantine", async () => {
    const { watch, accept, end, posts, lastText } = await openWatched({
      channels: ["mail", "acknowledgement", "hook"],
    });
    await end("delivered");
    await accept({}, true);
    const { pass } = watch();
    await pass(HOUR_MS + MINUTE_MS);
    expect(posts()).toEqual(["hook-overdue,quarantined"]);
    expect(lastText()).toContain("1 message waiting to be posted to HOOK_URL, the oldest for 60 minutes.");
  });
});

describe("messages in quarantine", () => {
  it("lead to an alert at once, then to one an hour, but not once somebody has opened them", async () => {
    const { watch, accept, store, posts, lastText } = await openWatched({ messages: 0 });
    const { clock, alerts, pass } = watch();
    const hold = async () => {
      const reference = await accept({}, true);
      alerts.checkNow();
      await clock.advance(2000);
      return reference;
    };
    const held = [await hold()];
    expect(posts()).toEqual(["quarantined"]);
    expect(lastText()).toBe(
      `Brighter: 1 message held back as suspected abuse, not opened yet. Real ones may be among them: ${PROGRAM} list --state quarantined. To deliver all: ${PROGRAM} release --all`,
    );
    await store.markSeen(held[0] ?? "", clock.now());
    held.push(await hold(), await hold());
    await clock.advance(30 * MINUTE_MS);
    expect(posts()).toHaveLength(1);
    await pass(35 * MINUTE_MS);
    expect(lastText()).toContain("2 messages held back");
    for (const reference of [...held, await hold()]) await store.markSeen(reference, clock.now());
    await pass(5 * HOUR_MS);
    expect(posts()).toHaveLength(2);
  });

  it("that flood in cause a check a second, and no flood of posts to a service that fails", async () => {
    const { receiver, watch, accept, store } = await openWatched({ messages: 0 });
    receiver.answer = status(429);
    let checks = 0;
    const ping = () => {
      checks += 1;
      return store.ping();
    };
    const { clock, alerts } = watch({ changed: { ping } });
    for (let count = 0; count < 50; count += 1) {
      await accept({}, true);
      alerts.checkNow();
      await clock.advance(100);
    }
    expect([checks, receiver.posts.length]).toEqual([5, 1]);
  });
});

it("a channel that pauses leads at once to one alert that says what to fix, the web hook's after an hour", async () => {
  const { store, watch, log, posts, lastText } = await openWatched({ messages: 0 });
  const { clock, alerts } = watch();
  const since = clock.now();
  const pause = (channel: Channel, reason: string) => ({ channel, reason, since });
  // Its receiver may ask for a break.
  const hook = pause("hook", "status 429");
  await store.reportNode([pause("mail", "535 refused: check SMTP_URL"), hook], since);
  alerts.checkNow();
  await clock.advance(2000);
  expect(posts()).toEqual(["paused"]);
  expect(lastText()).toBe(
    "Brighter: No message can be emailed. Fix this: 535 refused: check SMTP_URL. What waits is kept, and sent afterwards",
  );
  // The outbox has logged it as an error.
  expect(await log.seen("alert")).toMatchObject({ level: "info" });
  await store.reportNode([hook], new Date(since.getTime() + HOUR_MS));
  await clock.advance(HOUR_MS - MINUTE_MS);
  expect(posts()).toHaveLength(1);
  await clock.advance(2 * MINUTE_MS);
  expect(posts()).toEqual(["paused", "hook-paused"]);
});

it.each(["mail", "hook"] as const)(
  "what failed for good by %s is reported once, though it is kept",
  async (channel) => {
    const { receiver, watch, end, log } = await openWatched({ channels: ["mail", "hook"] });
    await end("failed", channel);
    await end("delivered", channel === "mail" ? "hook" : "mail");
    const { pass } = watch();
    for (let hour = 0; hour < 5; hour += 1) await pass(HOUR_MS + MINUTE_MS);
    const verb = channel === "mail" ? "emailed" : "posted to HOOK_URL";
    const text = `Brighter: 1 message could not be ${verb}. Fix the cause, then run: ${PROGRAM} retry --failed`;
    const troubles = [channel === "mail" ? "failed" : "hook-failed"];
    expect(receiver.posts.map(({ body }) => body)).toMatchObject([
      { text, troubles, queued: 0, failed: channel === "mail" ? 1 : 0 },
    ]);
    // The outbox has logged it as an error.
    expect(log.lines[0]).toMatchObject({ level: "info", event: "alert" });
    expect(log.count("alert-over")).toBe(0);
  },
);

it("a backup that has not succeeded for two days, once one was ever made, leads to one alert a day", async () => {
  const { store, watch, posts, lastText } = await openWatched({ messages: 0 });
  const { clock, pass } = watch();
  const backUp = async () => store.backup(join(await makeScratchFolder(), "copy.db"), clock.now());
  await pass(5 * DAY_MS);
  await backUp();
  await pass(2 * DAY_MS - MINUTE_MS);
  expect(posts()).toEqual([]);
  await clock.advance(2 * MINUTE_MS);
  expect(posts()).toEqual(["backup-overdue"]);
  expect(lastText()).toBe(
    `Brighter: No backup has succeeded for 2 days. Make one and read its output: ${PROGRAM} backup FILE`,
  );
  await pass(23 * HOUR_MS);
  expect(posts()).toHaveLength(1);
  await pass(2 * HOUR_MS);
  expect(posts()).toHaveLength(2);
  await backUp();
  await pass(DAY_MS);
  expect(posts()).toHaveLength(2);
});

it("a machine's clock that is not that of the database leads to one alert a day", async () => {
  const { watch, posts, lastText } = await openWatched({ messages: 0 });
  const { pass } = watch({ changed: { time: async () => new Date(Date.now() + 6 * MINUTE_MS) } });
  await pass(HOUR_MS);
  await pass(22 * HOUR_MS);
  expect(posts()).toEqual(["clock"]);
  expect(lastText()).toMatch(/^Brighter: The clock of \S+ is 6 minutes behind the database's. Set it, /);
});

describe("messages that expire soon", () => {
  /** Delivered messages, each with the given number of days left of the 30 that it is kept. */
  async function openExpiring(...daysLeft: number[]) {
    const office = await openWatched({ messages: 0 });
    const references: string[] = [];
    for (const days of daysLeft) {
      office.clock.set((days - 30) * DAY_MS);
      references.push(await office.accept());
      await office.end("delivered");
      office.clock.set((30 - days) * DAY_MS);
    }
    /** In days after the start. */
    const endsIn = async (reference: string) => {
      const { expiresAt } = await office.message(reference);
      return ((expiresAt?.getTime() ?? 0) - office.clock.now().getTime()) / DAY_MS;
    };
    return { ...office, references, endsIn };
  }

  it("are announced once a post was taken, with a count, at most once a day, early enough to end when they should", async () => {
    const { receiver, store, watch, references, log, posts, lastText, endsIn } = await openExpiring(6, 7.9, 8.9);
    const ends = async () => (await Promise.all(references.map(endsIn))).map((days) => Math.round(days * 100) / 100);
    await store.act("answer", { references: references.slice(0, 1) }, new Date());
    receiver.answer = status(500);
    const { clock, pass } = watch();
    await clock.advance(MINUTE_MS / 2);
    expect([posts().length, await ends()]).toEqual([1, [6, 7.9, 8.9]]);
    receiver.answer = status(204);
    await clock.advance(MINUTE_MS / 2);
    expect(posts()).toEqual(["expiring", "expiring"]);
    expect(lastText()).toMatch(/^Brighter: 2 messages will be erased soon, the first within 6 days \(\d+ unanswered\)/);
    await pass(23 * HOUR_MS);
    expect(posts()).toHaveLength(2);
    await pass(HOUR_MS);
    await pass(2 * DAY_MS);
    expect(posts()).toHaveLength(3);
    // The first was announced a day too late.
    expect(await ends()).toEqual([7, 7.9, 8.9]);
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("are announced by a line of the log where ALERT_URL is not set, which is no warning when all are answered", async () => {
    const { store, watch, references, log } = await openExpiring(3);
    await store.act("answer", { references }, new Date());
    const { clock } = watch({ alertUrl: null });
    await clock.advance(MINUTE_MS);
    expect(log.lines).toMatchObject([{ level: "info", text: expect.stringContaining("all answered") }]);
    expect((await store.findExpiring(clock.now())).unannounced).toBe(0);
  });
});

describe("at most one alert an hour", () => {
  it("comes from all nodes together, and across restarts", async () => {
    const { watch, log, posts } = await openWatched();
    const nodes = [watch(), watch(), watch()];
    await Promise.all(nodes.map(({ pass }) => pass(HOUR_MS + MINUTE_MS)));
    for (const { alerts } of nodes) await alerts.stop();
    await watch().pass(HOUR_MS + 50 * MINUTE_MS);
    expect([log.count("alert"), posts()]).toEqual([1, ["overdue"]]);
  });

  it("is not prevented by one that a clock set back has left in the future", async () => {
    const { watch, store, posts } = await openWatched();
    await store.moveLastAlert("overdue", new Date(0), new Date("2026-06-01"));
    await watch().pass(HOUR_MS + MINUTE_MS);
    expect(posts()).toEqual(["overdue"]);
  });
});

describe("an alert that is not taken", () => {
  it.each([500, 404, 302])("because of status %i is posted again at the next check, not logged again", async (code) => {
    const { receiver, watch, log } = await openWatched();
    receiver.answer = status(code, { location: "/elsewhere" });
    const alertUrl = `http://operator:top%20secret@127.0.0.1:${receiver.port}/a-secret-path`;
    const { clock, pass } = watch({ alertUrl });
    await pass(HOUR_MS + MINUTE_MS - 1);
    expect(receiver.posts).toHaveLength(2);
    receiver.answer = status(204);
    await clock.advance(30 * MINUTE_MS);
    const authorization = `Basic ${Buffer.from("operator:top secret").toString("base64")}`;
    expect(receiver.posts).toMatchObject(Array(3).fill({ path: "/a-secret-path", headers: { authorization } }));
    expect([log.count("alert"), log.count("alert-not-sent")]).toEqual([1, 2]);
    expect(await log.seen("alert-not-sent")).toMatchObject({ level: "warn", error: `status ${code}` });
    expect(JSON.stringify(log.lines)).not.toMatch(/operator|secret|127\.0\.0\.1/);
  });

  it("because the service never answers, is not there, or the program stops is given up in time", async () => {
    const { receiver, watch, log } = await openWatched();
    receiver.answer = () => {};
    const patient = watch();
    void patient.clock.advance(HOUR_MS);
    await expect.poll(() => receiver.posts.length).toBe(1);
    await patient.alerts.stop();
    const { clock } = watch({ postTimeoutMs: 200 });
    await clock.advance(HOUR_MS);
    await log.seen("alert-not-sent", 2);
    receiver.close();
    await clock.advance(MINUTE_MS / 2);
    await log.seen("alert-not-sent", 3);
    const errors = log.lines.filter(({ event }) => event === "alert-not-sent").map(({ error }) => error);
    expect(errors).toEqual(["AbortError", "TimeoutError", "ECONNREFUSED"]);
  });
});

describe("a store", () => {
  /** A store that fails in all that watching and alerting asks of it, while there is an error. */
  function failing(store: Store, error: () => Error | null): Partial<Store> {
    const ifThere = <Args extends unknown[], T>(method: (...args: Args) => Promise<T>) => {
      return (...args: Args) => (error() ? Promise.reject(error()) : method(...args));
    };
    const { ping, countDeliveries, lastAlertAt, moveLastAlert } = store;
    return {
      ping: ifThere(ping),
      countDeliveries: ifThere(countDeliveries),
      lastAlertAt: ifThere(lastAlertAt),
      moveLastAlert: ifThere(moveLastAlert),
    };
  }

  it("that is away for a minute leads to one alert an hour, and is over when messages get through again", async () => {
    const { receiver, store, watch, log } = await openWatched({ messages: 0 });
    let isAway = true;
    const { clock, pass } = watch({ changed: failing(store, () => (isAway ? new StoreUnavailable("away") : null)) });
    await clock.advance(MINUTE_MS - 1);
    expect(log.lines).toEqual([]);
    await clock.advance(1);
    expect(await log.seen("alert")).toMatchObject({ level: "error", troubles: ["store-away"] });
    const counts = { queued: null, failed: null, quarantined: null, oldestAgeSeconds: null };
    const text = expect.stringContaining("No message can be stored, and visitors are asked to try again. Check ");
    expect(receiver.posts.map(({ body }) => body)).toEqual([{ text, troubles: ["store-away"], ...counts }]);
    await pass(2 * HOUR_MS - MINUTE_MS);
    expect(receiver.posts).toHaveLength(2);
    isAway = false;
    await pass(HOUR_MS);
    expect(log.count("alert-over")).toBe(1);
    expect(receiver.posts).toHaveLength(2);
  });

  it("that is gone leads to an alert at once, even after another, and to one when its messages are saved", async () => {
    const { store, watch, log, posts, lastText } = await openWatched();
    let loss: StoreLost | null = null;
    const { clock, alerts, pass } = watch({ changed: failing(store, () => loss) });
    await pass(HOUR_MS + MINUTE_MS);
    for (const [count, text] of [
      [2, "are being saved to x.db"],
      [3, "were saved to x.db"],
    ] as const) {
      loss = new StoreLost(`messages.db is gone; its messages ${text}`);
      alerts.checkNow();
      await clock.advance(2000);
      expect(posts()).toHaveLength(count);
      expect(lastText()).toContain(text);
    }
    await pass(HOUR_MS - 2 * MINUTE_MS);
    expect(posts()).toEqual(["overdue", "store-lost", "store-lost"]);
    // Nobody knows what became of the message.
    expect(log.count("alert-over")).toBe(0);
    await pass(3 * MINUTE_MS);
    expect(posts()).toHaveLength(4);
  });

  it("that can only be read, as with a full disk, is reported, with the messages in it, also after the clock was set back", async () => {
    const { watch, posts } = await openWatched();
    const { clock, pass } = watch({ changed: { ping: away, moveLastAlert: away } });
    await clock.advance(MINUTE_MS / 2);
    clock.set(-DAY_MS);
    await clock.advance(3 * MINUTE_MS);
    expect(posts()).toEqual(["store-away"]);
    clock.set(DAY_MS);
    await pass(HOUR_MS);
    expect(posts()).toEqual(["store-away", "store-away,overdue"]);
    await pass(50 * MINUTE_MS);
    expect(posts()).toHaveLength(2);
  });

  it("that never answers is reported all the same", async () => {
    const { dataDir, store, clock } = await openWatched({ messages: 0 });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const never = () => new Promise<never>(() => {});
    const silent = withStore(store, { ping: never, countDeliveries: never });
    const watch = createWatch({ store: silent, program: PROGRAM, dataDir, channels: CHANNELS, askedBy: "operator" });
    const found = watch.find(clock.now());
    await vi.advanceTimersByTimeAsync(5000);
    expect(await found).toMatchObject({ troubles: [{ kind: "store-away" }], facts: null });
  });

  it("that fails as nobody expected is reported too, without the words of the error", async () => {
    const { store, watch, log, posts } = await openWatched();
    const { pass } = watch({ changed: failing(store, () => new Error("ada@example.org")) });
    await pass(2 * MINUTE_MS);
    expect(posts()).toEqual(["store-away"]);
    expect(JSON.stringify(log.lines)).not.toContain("ada@");
  });
});
