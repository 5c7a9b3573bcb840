import { expect } from "vitest";
import type { Retention } from "../../server/config.ts";
import type { Store } from "../../server/store/open-store.ts";
import type { Expiring } from "../../server/store/retention.ts";
import { announcementIntervalMs } from "../../server/store/retention.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { RETENTION } from "../support/in-process-store.ts";
import type { ContractTest, Place } from "./place.ts";
import {
  claimOne,
  client,
  finish,
  LIMITED,
  later,
  messageWith,
  NOON,
  store,
  submissionOf,
  trapped,
} from "./samples.ts";

const KEEP: Retention = { deliveredMs: null, failedMs: null, quarantinedMs: null };
const WEEK_MS = 7 * DAY_MS;

/** Marks messages as announced, like a sent alert. */
async function announce(node: Store, now: Date): Promise<Expiring> {
  const expiring = await node.archive.findExpiring(now);
  await node.archive.markAnnounced(expiring);
  return expiring;
}

/** Stores a message that reaches the state at this time. */
async function storeAs(node: Store, state: "delivered" | "failed" | "quarantined", now = NOON): Promise<string> {
  if (state === "quarantined") return store(node, trapped(), now);
  const reference = await store(node, submissionOf(), now);
  await finish(node, state, now);
  return reference;
}

const expiryOf = async (node: Store, reference: string) => (await node.messages.find(reference))?.expiresAt;

export function retentionSuite(test: ContractTest): void {
  test.for([1, 14])(
    "a site that always runs erases after %i days, never earlier, and at most an hour later",
    async (days, { place }) => {
      const retention = { ...KEEP, deliveredMs: days * DAY_MS };
      const node = await place.open({ retention });
      const intervalMs = announcementIntervalMs(retention);
      expect(intervalMs).toBe(days === 1 ? DAY_MS / 2 : DAY_MS);
      const delivered = new Map<string, Date>();
      const keptMs: number[] = [];
      for (let hour = 0; hour <= (days + 2) * 24; hour += 1) {
        const now = later(hour * HOUR_MS);
        if ((hour * HOUR_MS) % intervalMs === 0) await announce(node, now);
        for (const reference of await node.archive.purge(now))
          keptMs.push(Number(now) - Number(delivered.get(reference)));
        // One message in each hour of the first day, at different minutes.
        const at = later(((hour * 37) % 60) * MINUTE_MS, now);
        if (hour <= 24) delivered.set(await storeAs(node, "delivered", at), at);
      }
      expect(keptMs).toHaveLength(25);
      expect(Math.min(...keptMs)).toBeGreaterThanOrEqual(days * DAY_MS);
      expect(Math.max(...keptMs)).toBeLessThanOrEqual(days * DAY_MS + HOUR_MS);
    },
  );

  test("returns when messages in each state expire, and erases them then", async ({ node }) => {
    const periods = { delivered: 30, failed: 90, quarantined: 14 } as const;
    for (const [state, days] of Object.entries(periods) as [keyof typeof periods, number][]) {
      const reference = await storeAs(node, state, later(HOUR_MS));
      const end = later(days * DAY_MS + HOUR_MS);
      expect(await expiryOf(node, reference)).toEqual(end);
      await announce(node, later(-WEEK_MS, end));
      expect(await expiryOf(node, reference)).toEqual(end);
      expect(await node.archive.purge(later(-1, end))).toEqual([]);
      expect(await node.archive.purge(end)).toEqual([reference]);
    }
  });

  test("announces messages that expire within a week, or too soon for the next announcement", async ({ node }) => {
    const [first, second] = [await storeAs(node, "delivered"), await storeAs(node, "delivered", later(HOUR_MS))];
    await node.messages.act("answer", { references: [second] }, NOON);
    await storeAs(node, "quarantined", later(16 * DAY_MS + HOUR_MS));
    const { id } = (await node.messages.find(second)) ?? {};
    const at = (ms: number) => node.archive.findExpiring(later(22 * DAY_MS + ms));
    expect(await at(-1)).toMatchObject({ count: 0, unanswered: 0, firstAt: null, unannounced: 0, lastId: 0 });
    expect(await at(HOUR_MS - 1)).toMatchObject({
      count: 1,
      unanswered: 1,
      firstAt: later(30 * DAY_MS),
      unannounced: 1,
    });
    expect(await announce(node, later(22 * DAY_MS + HOUR_MS))).toEqual({
      foundAt: later(22 * DAY_MS + HOUR_MS),
      count: 3,
      unanswered: 2,
      firstAt: later(30 * DAY_MS),
      unannounced: 3,
      lastId: (id ?? 0) + 1,
    });
    expect(await at(DAY_MS)).toMatchObject({ count: 3, unannounced: 0 });
    expect(await expiryOf(node, first)).toEqual(later(30 * DAY_MS));
  });

  test.for<[string, (node: Store, place: Place) => Promise<unknown>]>([
    ["the alert could not be sent", (node) => node.archive.findExpiring(later(29 * DAY_MS))],
    [
      "an old backup was restored",
      async (node, place) => {
        const keys = "SELECT message_id, expires_at, announce_at FROM deliveries";
        const before = await place.sql(keys);
        await announce(node, later(89 * DAY_MS));
        for (const { message_id, expires_at, announce_at } of before as Record<string, number>[]) {
          const times = `expires_at = ${expires_at}, announce_at = ${announce_at}`;
          await place.sql(`UPDATE deliveries SET ${times} WHERE message_id = ${message_id}`);
        }
      },
    ],
  ])(
    "erases no message that was not announced, even with a clock that is ahead: %s",
    async ([, happen], { node, place }) => {
      const references = [];
      for (const state of ["delivered", "failed", "quarantined"] as const) references.push(await storeAs(node, state));
      await happen(node, place);
      const ahead = later(100 * DAY_MS);
      expect(await node.archive.purge(ahead)).toEqual([]);
      expect(await announce(node, ahead)).toMatchObject({ count: 3, unannounced: 3 });
      expect(await node.archive.purge(later(WEEK_MS - 1, ahead))).toEqual([]);
      expect(await expiryOf(node, String(references[0]))).toEqual(later(WEEK_MS, ahead));
      // The clock is correct again.
      expect(await node.archive.purge(later(HOUR_MS))).toEqual([]);
      expect((await node.archive.purge(later(WEEK_MS, ahead))).sort()).toEqual(references.sort());
    },
  );

  test("announces a message again after its state changed", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    await announce(node, later(23 * DAY_MS));
    await node.messages.act("spam", { references: [reference] }, later(25 * DAY_MS));
    expect(await expiryOf(node, reference)).toEqual(later(39 * DAY_MS));
    expect(await node.archive.purge(later(99 * DAY_MS))).toEqual([]);
    expect(await announce(node, later(32 * DAY_MS))).toMatchObject({ count: 1, unannounced: 1 });
    expect(await node.archive.purge(later(39 * DAY_MS - 1))).toEqual([]);
    expect(await node.archive.purge(later(39 * DAY_MS))).toEqual([reference]);
  });

  test("erases on the announced date if RETENTION was shortened, and announces again if it was lengthened", async ({
    node,
    place,
  }) => {
    const [first, second] = [await storeAs(node, "delivered"), await storeAs(node, "delivered", later(9 * DAY_MS))];
    await announce(node, later(23 * DAY_MS));
    const strict = await place.open({ retention: { ...RETENTION, deliveredMs: 2 * DAY_MS } });
    expect(await expiryOf(strict, first)).toEqual(later(30 * DAY_MS));
    expect(await expiryOf(strict, second)).toEqual(later(11 * DAY_MS));
    expect(await announce(strict, later(24 * DAY_MS))).toMatchObject({ count: 2, unannounced: 1 });
    expect(await expiryOf(strict, second)).toEqual(later(25 * DAY_MS));
    expect(await strict.archive.purge(later(25 * DAY_MS - 1))).toEqual([]);
    expect(await strict.archive.purge(later(25 * DAY_MS))).toEqual([second]);
    expect(await strict.archive.purge(later(30 * DAY_MS - 1))).toEqual([]);
    const lenient = await place.open({ retention: { ...RETENTION, deliveredMs: 60 * DAY_MS } });
    expect(await lenient.archive.purge(later(99 * DAY_MS))).toEqual([]);
    expect(await announce(lenient, later(53 * DAY_MS))).toMatchObject({ count: 1, unannounced: 1 });
    expect(await lenient.archive.purge(later(60 * DAY_MS - 1))).toEqual([]);
    expect(await lenient.archive.purge(later(60 * DAY_MS))).toEqual([first]);
  });

  test("does not count messages as announced that arrived or changed after the alert", async ({ place }) => {
    const node = await place.open({ retention: { ...KEEP, failedMs: HOUR_MS } });
    await store(node);
    await storeAs(node, "failed");
    const expiring = await node.archive.findExpiring(later(1));
    await node.queue.settle(await claimOne(node, later(MINUTE_MS)), { kind: "failed", error: "550" }, later(2));
    await storeAs(node, "failed", later(1));
    await node.archive.markAnnounced(expiring);
    expect(await node.archive.findExpiring(later(2))).toMatchObject({ unannounced: 2 });
  });

  test("neither announces nor erases queued or restricted messages", async ({ node }) => {
    await store(node);
    const restricted = await storeAs(node, "quarantined");
    await node.people.restrict("ada@example.com", true, NOON);
    for (const { expiresAt } of await node.messages.list({})) expect(expiresAt).toBeNull();
    expect(await announce(node, later(900 * DAY_MS))).toMatchObject({ count: 0, unannounced: 0 });
    expect(await node.archive.purge(later(999 * DAY_MS))).toEqual([]);
    await node.people.restrict("ada@example.com", false, NOON);
    await announce(node, later(900 * DAY_MS));
    // Also if the restriction follows the announcement.
    await node.people.restrict("ada@example.com", true, NOON);
    expect(await node.archive.purge(later(999 * DAY_MS))).toEqual([]);
    await node.people.restrict("ada@example.com", false, NOON);
    // It is announced once more, because an operator who lifts a restriction wants to use the message.
    expect(await node.archive.purge(later(999 * DAY_MS))).toEqual([]);
    await announce(node, later(999 * DAY_MS));
    expect(await node.archive.purge(later(1010 * DAY_MS))).toEqual([restricted]);
  });

  test("erases no message with a queued delivery of its mail or a reply; a post that waits ends with its message", async ({
    node,
  }) => {
    const [posting, replying] = [await store(node, submissionOf(), NOON, ["mail", "hook"]), await store(node)];
    for (let count = 0; count < 2; count += 1) await finish(node, "delivered");
    await node.messages.reply(replying, { key: "1", subject: "Re", text: "Yes" }, NOON);
    await announce(node, later(23 * DAY_MS));
    expect([await expiryOf(node, posting), await expiryOf(node, replying)]).toEqual([expect.any(Date), null]);
    expect(await node.archive.purge(later(99 * DAY_MS))).toEqual([posting]);
    await node.queue.settle(await claimOne(node, NOON, "reply"), { kind: "delivered" }, NOON);
    expect(await node.archive.purge(later(99 * DAY_MS))).toEqual([replying]);
  });

  test("keeps messages without a limit if RETENTION says so", async ({ place }) => {
    const node = await place.open({ retention: { ...RETENTION, deliveredMs: null } });
    const kept = await storeAs(node, "delivered");
    const failed = await storeAs(node, "failed");
    expect(await expiryOf(node, kept)).toBeNull();
    expect(await announce(node, later(900 * DAY_MS))).toMatchObject({ count: 1, unannounced: 1 });
    expect(await node.archive.purge(later(999 * DAY_MS))).toEqual([failed]);
    const keeper = await place.open({ retention: KEEP });
    expect(await keeper.archive.findExpiring(later(999 * DAY_MS))).toMatchObject({
      count: 0,
      unannounced: 0,
      firstAt: null,
    });
    expect(await keeper.messages.list({})).toMatchObject([{ reference: kept, expiresAt: null }]);
    expect(announcementIntervalMs(KEEP)).toBe(DAY_MS);
  });

  test("purges many messages at once, and keeps client hashes for a day", async ({ node, place }) => {
    await Promise.all(Array.from({ length: 450 }, () => store(node, trapped())));
    const at = later(14 * DAY_MS);
    const keyed = submissionOf(messageWith(), { networks: client("client"), idempotencyKey: "key" });
    await node.intake.accept(keyed, LIMITED, later(12_345, at));
    const clientRows = () => Promise.all([place.sql("SELECT at FROM hits"), place.sql("SELECT 1 FROM keys")]);
    // A hit has a coarse time, so that it does not lead to its message.
    const [[hit], keys] = await clientRows();
    expect([Number((hit as { at?: unknown })?.at), keys]).toEqual([at.getTime(), [expect.anything()]]);
    await announce(node, later(WEEK_MS));
    expect(await node.archive.purge(at)).toHaveLength(450);
    await node.archive.purge(later(DAY_MS - 1, at));
    expect((await clientRows()).flat()).toHaveLength(2);
    await node.archive.purge(later(DAY_MS + MINUTE_MS, at));
    expect(await clientRows()).toEqual([[], []]);
  });
}
