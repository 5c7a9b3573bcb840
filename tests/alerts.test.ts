import { describe, expect, it, onTestFinished, vi } from "vitest";
import { StoreUnavailable } from "../server/store/errors.ts";
import { CHANNELS, type Channel } from "../server/store/model.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../server/time.ts";
import { type AlertOptions, startAlerts } from "../server/watch/alerts.ts";
import { createWatch, STORE_AWAY_MS } from "../server/watch/troubles.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { RETENTION } from "./support/in-process-store.ts";
import { type ChangedStore, openPostOffice, withStore } from "./support/post-office.ts";
import { startReceiver, status } from "./support/receiver.ts";

const PROGRAM = "npm run messages --";
/** Where each clock starts. */
const NOW = createFakeClock().now();

/** `changed`: methods that replace those of the store. */
type WatchOptions = Partial<AlertOptions> & { changed?: ChangedStore; node?: string };

async function openWatched({ messages = 1, channels = ["mail"] as readonly Channel[] } = {}) {
  const office = await openPostOffice({ channels });
  const { store, dataDir, log } = office;
  const receiver = await startReceiver<{ text: string; troubles: string[]; resolved?: string[] }>();
  for (let count = 0; count < messages; count += 1) await office.accept();
  return {
    ...office,
    receiver,
    /** Starts alerts with their own clock, so that time passes only for them, not for the messages. */
    watch({ changed = {}, node, ...options }: WatchOptions = {}) {
      const clock = createFakeClock();
      const watched = withStore(store, changed);
      const openedStore = async () => watched;
      const watch = createWatch({ openedStore, dataDir, channels: CHANNELS, askedBy: "server", node });
      const given = { openedStore, watch, program: PROGRAM, retention: RETENTION, brand: "Brighter", log, clock };
      const alerts = startAlerts({ ...given, alertUrl: receiver.url, ...options });
      onTestFinished(() => alerts.stop());
      /** Sets the clock, and fires timers only for the last minute. */
      const pass = async (ms: number) => {
        clock.set(ms - MINUTE_MS);
        await clock.advance(MINUTE_MS);
      };
      return { clock, alerts, pass };
    },
    /** Settles the next waiting delivery. */
    async end(kind: "delivered" | "failed", channel: Channel = "mail") {
      const now = office.clock.now();
      const [claim] = await store.queue.claim(channel, 1, MINUTE_MS, now);
      if (!claim) throw new Error("nothing to claim");
      await store.queue.settle(claim, kind === "failed" ? { kind, error: "550 refused" } : { kind }, now);
    },
    /** The troubles of each post, or `resolved` with those that ended. */
    posts: () =>
      receiver.posts.map(({ body: { troubles, resolved } }) => (resolved ? `resolved ${resolved}` : `${troubles}`)),
    lastText: () => receiver.posts.at(-1)?.body.text,
  };
}

describe("the oldest undelivered message", () => {
  it("causes one log line and one post after an hour, and again after each further hour", async () => {
    const { receiver, watch, log, posts } = await openWatched({ messages: 2 });
    const { clock } = watch();
    await clock.advance(HOUR_MS - 1);
    expect([log.lines, posts()]).toEqual([[], []]);
    await clock.advance(MINUTE_MS);
    const text = `Brighter: 2 messages waiting to be emailed, the oldest for 60 minutes. To see all: ${PROGRAM} list --state waiting`;
    expect(log.lines[0]).toEqual({ level: "error", event: "alert", troubles: ["overdue"], text });
    expect(receiver.posts).toMatchObject([
      { headers: { "content-type": "application/json" }, body: { text, troubles: ["overdue"] } },
    ]);
    await clock.advance(58 * MINUTE_MS);
    expect(posts()).toHaveLength(1);
    await clock.advance(2 * MINUTE_MS);
    expect([posts().length, log.count("alert")]).toEqual([2, 2]);
  });

  it("is logged without ALERT_URL, posted at once when that is set, and its end is told once, even if a post fails", async () => {
    const { watch, log, end, posts, receiver } = await openWatched();
    const silent = watch({ alertUrl: null });
    await silent.clock.advance(HOUR_MS + 30 * MINUTE_MS);
    expect([log.count("alert"), posts()]).toEqual([1, []]);
    await silent.alerts.stop();
    const { clock, pass } = watch();
    await pass(HOUR_MS + 32 * MINUTE_MS);
    expect([log.count("alert"), posts()]).toEqual([1, ["overdue"]]);
    await end("delivered");
    receiver.answer = status(500);
    await clock.advance(MINUTE_MS / 2);
    receiver.answer = status(200);
    await clock.advance(2 * HOUR_MS);
    expect(await log.seen("alert-over")).toMatchObject({ troubles: ["overdue"] });
    expect([log.count("alert-over"), posts()]).toEqual([1, ["overdue", ...Array(2).fill("resolved overdue")]]);
  });
});

it("messages in quarantine cause an alert at once, then one per hour, until an operator has opened them", async () => {
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
    `Brighter: 1 message quarantined as suspected abuse, not opened yet. Some may be real messages; to read them: ${PROGRAM} list --state quarantined`,
  );
  await store.actions.markSeen(held[0] ?? "", clock.now());
  held.push(await hold(), await hold());
  await clock.advance(30 * MINUTE_MS);
  expect(posts()).toHaveLength(1);
  await pass(35 * MINUTE_MS);
  expect(lastText()).toContain("2 messages quarantined");
  for (const reference of [...held, await hold()]) await store.actions.markSeen(reference, clock.now());
  await pass(5 * HOUR_MS);
  expect(posts()).toHaveLength(2);
});

it("a flood of messages in quarantine causes no flood of checks, or of posts to a failing service", async () => {
  const { receiver, watch, accept } = await openWatched({ messages: 0 });
  receiver.answer = status(429);
  const ping = vi.fn(async () => {});
  const { clock, alerts } = watch({ changed: { status: { ping } } });
  for (let count = 0; count < 50; count += 1) {
    await accept({}, true);
    alerts.checkNow();
    await clock.advance(100);
  }
  expect([ping.mock.calls.length, receiver.posts.length]).toEqual([5, 1]);
});

it("a paused channel causes an alert with the remedy at once, and one when it ends, also after a restart", async () => {
  const { store, watch, posts, lastText } = await openWatched({ messages: 0 });
  const { clock, alerts } = watch();
  const since = clock.now();
  const report = (reason: string | null, now: Date) =>
    store.status.reportNode(reason === null ? [] : [{ channel: "mail", reason, since, nextAt: now }], now);
  await report("535 refused: check SMTP_URL", since);
  alerts.checkNow();
  await clock.advance(2000);
  expect(posts()).toEqual(["paused"]);
  expect(lastText()).toBe(
    "Brighter: No message can be emailed. 535 refused: check SMTP_URL. The queue is kept and sent afterwards. " +
      "Correct the setting, then restart: npm run serve",
  );
  await report(null, clock.now());
  await clock.advance(MINUTE_MS / 2);
  expect(lastText()).toBe("Brighter: Resolved after 1 minute: No message can be emailed");
  // Another outage within the hour is another alert.
  await report("certificate expired", clock.now());
  await clock.advance(MINUTE_MS / 2);
  expect(lastText()).toContain("Certificate expired");
  await alerts.stop();
  const restarted = watch();
  await report(null, new Date(restarted.clock.now().getTime() + HOUR_MS));
  await restarted.pass(HOUR_MS);
  expect(posts()).toEqual(["paused", "resolved paused", "paused", "resolved paused"]);
});

it("deliveries that failed for good are reported once", async () => {
  const { watch, end, accept, posts, lastText, store } = await openWatched({ channels: ["hook", "mail"] });
  const [{ reference } = { reference: "" }] = await store.messages.list({});
  const fail = async () => {
    await end("failed", "hook");
    await end("delivered");
  };
  await fail();
  const { pass } = watch();
  for (let hour = 0; hour < 5; hour += 1) await pass(HOUR_MS + MINUTE_MS);
  expect(posts()).toEqual(["hook-failed"]);
  expect(lastText()).toContain(`${reference}: 550 refused. Fix the cause, then use retry. To see all: ${PROGRAM} list`);
  await accept();
  await fail();
  await pass(MINUTE_MS);
  expect(posts()).toEqual(["hook-failed", "hook-failed"]);
});

describe("messages that expire soon", () => {
  /** Delivered messages, each with its number of days left of the retention period of 30 days. */
  async function openExpiring(...daysLeft: number[]) {
    const office = await openWatched({ messages: 0 });
    const references: string[] = [];
    for (const days of daysLeft) {
      office.clock.set((days - 30) * DAY_MS);
      references.push(await office.accept());
      await office.end("delivered");
      office.clock.set((30 - days) * DAY_MS);
    }
    /** The number of days from the start until the message expires. */
    const endsIn = async (reference: string) => {
      const { expiresAt } = await office.message(reference);
      return ((expiresAt?.getTime() ?? 0) - office.clock.now().getTime()) / DAY_MS;
    };
    return { ...office, references, endsIn };
  }

  it("are announced with their number by a successful post, at most once a day, early enough to be erased on time", async () => {
    const { receiver, store, watch, references, log, posts, lastText, endsIn } = await openExpiring(6, 7.9, 8.9);
    const ends = async () => (await Promise.all(references.map(endsIn))).map((days) => Math.round(days * 100) / 100);
    await store.actions.act("answer", { references: references.slice(0, 1) }, NOW);
    receiver.answer = status(500);
    const { clock, pass } = watch();
    await clock.advance(MINUTE_MS / 2);
    expect([posts().length, await ends()]).toEqual([1, [6, 7.9, 8.9]]);
    receiver.answer = status(204);
    await clock.advance(MINUTE_MS / 2);
    expect(posts()).toEqual(["expiring", "expiring"]);
    expect(lastText()).toMatch(
      /^Brighter: 2 messages will be erased soon, the first on \d{4}-\d\d-\d\d \(\d+ unanswered\)/,
    );
    await pass(23 * HOUR_MS);
    expect(posts()).toHaveLength(2);
    await pass(HOUR_MS);
    await pass(2 * DAY_MS);
    expect(posts()).toHaveLength(3);
    // The first message was announced a day late.
    expect(await ends()).toEqual([7, 7.9, 8.9]);
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("are announced in the log without ALERT_URL", async () => {
    const { store, watch, log } = await openExpiring(3);
    const { clock } = watch({ alertUrl: null });
    await clock.advance(MINUTE_MS);
    expect(log.lines).toMatchObject([{ troubles: ["expiring"] }]);
    expect((await store.retention.findExpiring(clock.now())).unannounced).toBe(0);
  });
});

it("an alert that another node has sent is neither logged nor posted", async () => {
  const { watch, log, posts } = await openWatched();
  await watch({ changed: { status: { moveAlert: async () => false } } }).pass(HOUR_MS + MINUTE_MS);
  expect([log.count("alert"), posts()]).toEqual([0, []]);
});

it("a post that fails is retried at the next check, and not logged again", async () => {
  const { receiver, watch, log } = await openWatched();
  receiver.answer = status(302, { location: "/elsewhere" });
  const alertUrl = `http://operator:top%20secret@127.0.0.1:${receiver.port}/a-secret-path`;
  const { clock, pass } = watch({ alertUrl });
  await pass(HOUR_MS + MINUTE_MS - 1);
  receiver.answer = status(204);
  await clock.advance(30 * MINUTE_MS);
  const authorization = `Basic ${Buffer.from("operator:top secret").toString("base64")}`;
  expect(receiver.posts).toMatchObject(Array(3).fill({ path: "/a-secret-path", headers: { authorization } }));
  expect([log.count("alert"), log.count("alert-not-sent")]).toEqual([1, 2]);
  expect(await log.seen("alert-not-sent")).toMatchObject({ level: "warn", error: "status 302" });
});

it("a post to a service that does not answer ends with the program, or after ten seconds", async () => {
  const { receiver, watch, log } = await openWatched();
  receiver.answer = () => {};
  const timeout = vi.spyOn(AbortSignal, "timeout");
  const { clock, alerts } = watch();
  void clock.advance(HOUR_MS);
  await expect.poll(() => receiver.posts.length).toBe(1);
  expect(timeout).toHaveBeenCalledWith(10_000);
  await alerts.stop();
  expect(await log.seen("alert-not-sent")).toMatchObject({ error: "AbortError" });
});

it("each node tells once that the store is away, names itself, and tells the end when messages can be stored again", async () => {
  const { receiver, store, watch, log, posts, lastText } = await openWatched({ messages: 0 });
  let isAway = true;
  const failOr =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    (...args: Args) =>
      isAway
        ? Promise.reject(new StoreUnavailable({ problem: "The disk is full", remedy: "free some" }))
        : method(...args);
  const { ping, alerts, moveAlert } = store.status;
  const away = {
    status: { ping: failOr(ping), alerts: failOr(alerts), moveAlert: failOr(moveAlert) },
    queue: { countDeliveries: failOr(store.queue.countDeliveries) },
  };
  const { clock, pass } = watch({ node: "web-1:3001", changed: away });
  const other = watch({ node: "web-2:3002", changed: away });
  // The first check finds it, the second that it lasts.
  await clock.advance(MINUTE_MS / 2 + STORE_AWAY_MS - 1);
  expect(log.lines).toEqual([]);
  receiver.answer = status(500);
  await clock.advance(1);
  receiver.answer = status(200);
  const text =
    "Brighter: No message can be stored on web-1:3001, and visitors are asked to try again. The disk is full. Free some";
  expect(receiver.posts.map(({ body }) => body)).toEqual([{ text, troubles: ["store-away"] }]);
  await clock.advance(MINUTE_MS / 2);
  expect([posts().length, log.count("alert")]).toEqual([2, 1]);
  await pass(3 * HOUR_MS);
  expect(posts()).toHaveLength(2);
  await other.pass(2 * HOUR_MS);
  expect(posts()).toHaveLength(3);
  expect(lastText()).toContain("on web-2:3002");
  isAway = false;
  await clock.advance(MINUTE_MS / 2);
  expect(lastText()).toMatch(/^Brighter: Resolved after 4 hours: No message can be stored on web-1:3001/);
  expect(await store.status.alerts()).toEqual(new Map());
  await other.clock.advance(MINUTE_MS / 2);
  expect(lastText()).toContain("web-2:3002");
});

it("a store that never answers is away too, and delays no alert for ever", async () => {
  const { watch, posts } = await openWatched({ messages: 0 });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const never = () => new Promise<never>(() => {});
  const status = { ping: never, alerts: never, moveAlert: never };
  void watch({ changed: { status, queue: { countDeliveries: never } } }).clock.advance(MINUTE_MS);
  const laterPosts = () => vi.advanceTimersByTimeAsync(8000).then(posts);
  await expect.poll(laterPosts).toEqual(["store-away"]);
});
