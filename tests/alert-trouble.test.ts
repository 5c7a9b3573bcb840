import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../server/store/store.ts";
import { openPostOffice, withStore } from "./support/post-office.ts";
import { openReceiver, watch } from "./support/watch-alerts.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

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
  it("for five minutes leads to one alert an hour, and the last one is over when messages get through again", async () => {
    const office = await openPostOffice();
    const receiver = await openReceiver();
    let isAway = true;
    const away = () => Promise.reject(new StoreUnavailable("away"));
    const store = withStore(office.store, {
      queueDepth: () => (isAway ? away() : office.store.queueDepth()),
      lastAlertAt: () => (isAway ? away() : office.store.lastAlertAt()),
      moveLastAlert: (...args) => (isAway ? away() : office.store.moveLastAlert(...args)),
    });
    const { clock } = watch(office, receiver, { store });
    await clock.advance(5 * MINUTE_MS);
    expect(office.log.lines).toEqual([]);
    await clock.advance(MINUTE_MS);
    expect(await office.log.seen("alert")).toMatchObject({ level: "error", troubles: ["store-away"] });
    expect(receiver.alerts.map(({ body }) => body)).toEqual([
      {
        text: expect.stringContaining("The message database has not answered for 5 minutes"),
        troubles: ["store-away"],
        ...{ queued: null, oldestAgeSeconds: null, failed: null },
      },
    ]);
    await clock.advance(2 * HOUR_MS - MINUTE_MS);
    expect(receiver.alerts).toHaveLength(2);
    isAway = false;
    await clock.advance(HOUR_MS);
    expect(office.log.count("alert-over")).toBe(1);
    expect(receiver.alerts).toHaveLength(2);
  });

  it("when it is to be written, as with a full disk, keeps nobody from being told of the messages in it", async () => {
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
