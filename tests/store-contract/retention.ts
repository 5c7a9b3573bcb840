import { expect } from "vitest";
import type { Retention } from "../../contract/build-settings.ts";
import { announcementIntervalMs, type Expiring } from "../../server/store/retention.ts";
import type { Store } from "../../server/store/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { RETENTION } from "../support/in-process-store.ts";
import type { ContractTest } from "./place.ts";
import {
  act,
  claimOne,
  client,
  LIMITED,
  later,
  messageWith,
  NOON,
  store,
  storeAs,
  submissionOf,
  trapped,
  withChannels,
} from "./samples.ts";

const KEEP: Retention = { deliveredMs: null, failedMs: null, quarantinedMs: null };
const WEEK_MS = 7 * DAY_MS;
const afterDays = (days: number, ms = 0) => later(days * DAY_MS + ms);

/** Marks messages as announced, like a sent alert. */
async function announce(node: Store, now: Date): Promise<Expiring> {
  const expiring = await node.retention.findExpiring(now);
  await node.retention.markAnnounced(expiring);
  return expiring;
}

const expiryOf = async (node: Store, reference: string) => (await node.messages.find(reference))?.expiresAt;

/** Expects that the message is erased at this time, and not before. */
async function expectErasure(node: Store, reference: string, at: Date): Promise<void> {
  expect([await expiryOf(node, reference), await node.retention.purge(later(-1, at))]).toEqual([at, []]);
  expect(await node.retention.purge(at)).toEqual([reference]);
}

export function retentionSuite(test: ContractTest): void {
  test("erases messages in each state at the end of its period", async ({ node }) => {
    for (const [state, days] of [
      ["delivered", 30],
      ["failed", 90],
      ["quarantined", 14],
    ] as const) {
      const reference = await storeAs(node, state);
      await announce(node, afterDays(days - 7));
      await expectErasure(node, reference, afterDays(days));
    }
  });

  test("announces messages that expire within a week, or too soon for the next announcement", async ({ node }) => {
    const first = await storeAs(node, "delivered");
    await act(node, "answer", [await storeAs(node, "delivered", { now: later(HOUR_MS) })]);
    await storeAs(node, "quarantined", { now: afterDays(16, HOUR_MS) });
    const at = (ms: number) => node.retention.findExpiring(afterDays(22, ms));
    const firstAt = afterDays(30);
    expect(await at(-1)).toMatchObject({ count: 0, unanswered: 0, firstAt: null, unannounced: 0 });
    expect(await at(HOUR_MS - 1)).toMatchObject({ count: 1, unanswered: 1, firstAt, unannounced: 1 });
    const announced = await announce(node, afterDays(22, HOUR_MS));
    expect(announced).toMatchObject({ count: 3, unanswered: 2, firstAt, unannounced: 3 });
    expect(await at(DAY_MS)).toMatchObject({ count: 3, unannounced: 0 });
    expect(await expiryOf(node, first)).toEqual(firstAt);
  });

  test("erases no message that was not announced, even with a clock that is ahead", async ({ node }) => {
    const references = [];
    for (const state of ["delivered", "failed", "quarantined"] as const) references.push(await storeAs(node, state));
    // This alert could not be sent.
    await node.retention.findExpiring(afterDays(29));
    const ahead = afterDays(100);
    expect(await node.retention.purge(ahead)).toEqual([]);
    expect(await announce(node, ahead)).toMatchObject({ count: 3, unannounced: 3 });
    expect(await node.retention.purge(later(WEEK_MS - 1, ahead))).toEqual([]);
    expect(await expiryOf(node, String(references[0]))).toEqual(later(WEEK_MS, ahead));
    // The clock is correct again.
    expect(await node.retention.purge(later(HOUR_MS))).toEqual([]);
    expect((await node.retention.purge(later(WEEK_MS, ahead))).sort()).toEqual(references.sort());
  });

  test("announces a message again after its state changed", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    await announce(node, afterDays(23));
    await act(node, "spam", [reference], afterDays(25));
    expect(await node.retention.purge(afterDays(99))).toEqual([]);
    expect(await announce(node, afterDays(32))).toMatchObject({ count: 1, unannounced: 1 });
    await expectErasure(node, reference, afterDays(39));
  });

  test("erases on the announced date if RETENTION was shortened, and announces again if it was lengthened", async ({
    node,
    place,
  }) => {
    const [first, second] = [await storeAs(node, "delivered"), await storeAs(node, "delivered", { now: afterDays(9) })];
    await announce(node, afterDays(23));
    const strict = await place.open({ retention: { ...RETENTION, deliveredMs: 2 * DAY_MS } });
    expect([await expiryOf(strict, first), await expiryOf(strict, second)]).toEqual([afterDays(30), afterDays(11)]);
    expect(await announce(strict, afterDays(24))).toMatchObject({ count: 2, unannounced: 1 });
    await expectErasure(strict, second, afterDays(25));
    expect(await strict.retention.purge(afterDays(30, -1))).toEqual([]);
    const lenient = await place.open({ retention: { ...RETENTION, deliveredMs: 60 * DAY_MS } });
    expect(await lenient.retention.purge(afterDays(99))).toEqual([]);
    expect(await announce(lenient, afterDays(53))).toMatchObject({ count: 1, unannounced: 1 });
    await expectErasure(lenient, first, afterDays(60));
  });

  test("does not count messages as announced that arrived or changed after the alert", async ({ place }) => {
    const node = await place.open({ retention: { ...KEEP, failedMs: HOUR_MS } });
    await store(node);
    await storeAs(node, "failed");
    const expiring = await node.retention.findExpiring(later(1));
    await node.queue.settle(await claimOne(node, later(MINUTE_MS)), { kind: "failed", error: "550" }, later(2));
    await storeAs(node, "failed", { now: later(2) });
    await node.retention.markAnnounced(expiring);
    expect(await node.retention.findExpiring(later(2))).toMatchObject({ unannounced: 2 });
  });

  test("neither announces nor erases queued or restricted messages", async ({ node }) => {
    await store(node);
    const restricted = await storeAs(node, "quarantined");
    const restrict = (isRestricted: boolean) => node.people.restrict("ada@example.com", isRestricted, NOON);
    await restrict(true);
    expect((await node.messages.list({})).map(({ expiresAt }) => expiresAt)).toEqual([null, null]);
    expect(await announce(node, afterDays(900))).toMatchObject({ count: 0, unannounced: 0 });
    expect(await node.retention.purge(afterDays(999))).toEqual([]);
    await restrict(false);
    await announce(node, afterDays(900));
    // Also if the restriction follows the announcement.
    await restrict(true);
    expect(await node.retention.purge(afterDays(999))).toEqual([]);
    await restrict(false);
    // It is announced once more, because an operator who lifts a restriction wants to use the message.
    expect(await node.retention.purge(afterDays(999))).toEqual([]);
    await announce(node, afterDays(999));
    expect(await node.retention.purge(afterDays(1010))).toEqual([restricted]);
  });

  test("erases no message with a queued delivery of its mail or a reply; a post that waits ends with its message", async ({
    node,
    place,
  }) => {
    const posting = await storeAs(await place.open({ rules: withChannels("mail", "hook") }), "delivered");
    const replying = await storeAs(node, "delivered");
    await node.replies.add(replying, { key: "1", subject: "Re", text: "Yes" }, NOON);
    await announce(node, afterDays(23));
    expect([await expiryOf(node, posting), await expiryOf(node, replying)]).toEqual([expect.any(Date), null]);
    expect(await node.retention.purge(afterDays(99))).toEqual([posting]);
    await node.queue.settle(await claimOne(node, NOON, "reply"), { kind: "delivered" }, NOON);
    // The reply is a mail of the conversation, so the erasure is announced again.
    expect(await node.retention.purge(afterDays(99))).toEqual([]);
    await announce(node, afterDays(99));
    expect(await node.retention.purge(afterDays(106))).toEqual([replying]);
  });

  test("keeps messages without a limit if RETENTION says so", async ({ place }) => {
    const node = await place.open({ retention: { ...RETENTION, deliveredMs: null } });
    const [kept, failed] = [await storeAs(node, "delivered"), await storeAs(node, "failed")];
    expect(await expiryOf(node, kept)).toBeNull();
    expect(await announce(node, afterDays(900))).toMatchObject({ count: 1, unannounced: 1 });
    expect(await node.retention.purge(afterDays(999))).toEqual([failed]);
    const keeper = await place.open({ retention: KEEP });
    expect(await keeper.retention.findExpiring(afterDays(999))).toMatchObject({ count: 0, firstAt: null });
    expect(await expiryOf(keeper, kept)).toBeNull();
    expect(announcementIntervalMs(KEEP)).toBe(DAY_MS);
  });

  test("purges many messages at once, and keeps client hashes for a day", async ({ node, place }) => {
    await Promise.all(Array.from({ length: 450 }, () => store(node, trapped())));
    const at = afterDays(14);
    const keyed = submissionOf(messageWith(), { networks: client("client"), idempotencyKey: "key" });
    await (await place.open({ rules: LIMITED })).intake.accept(keyed, later(12_345, at));
    const clientRows = () => Promise.all([place.sql("SELECT at FROM hits"), place.sql("SELECT 1 FROM keys")]);
    // A hit has a coarse time, so that it does not lead to its message.
    const [[hit], keys] = await clientRows();
    expect([Number((hit as { at?: unknown })?.at), keys]).toEqual([at.getTime(), [expect.anything()]]);
    await announce(node, later(WEEK_MS));
    expect(await node.retention.purge(at)).toHaveLength(450);
    await node.retention.purge(later(DAY_MS - 1, at));
    expect((await clientRows()).flat()).toHaveLength(2);
    await node.retention.purge(later(DAY_MS + MINUTE_MS, at));
    expect(await clientRows()).toEqual([[], []]);
  });
}
