import { describe, expect, test } from "vitest";
import type { Claim, Store } from "../../server/store/store.ts";
import {
  claimAcknowledgements,
  DAY_MS,
  endLeases,
  finish,
  HOUR_MS,
  later,
  MINUTE_MS,
  messageWith,
  type NewPlace,
  NO_LIMITS,
  NOON,
  referenceOf,
  reportQuarantine,
  store,
  submissionOf,
} from "./samples.ts";

const NO_HOOK = { queued: 0, oldestQueuedAt: null, failed: 0, lastFailedAt: null, newlyFailed: 0 };

/** Every kind of delivery: its states, and how the names of its events begin. */
const KINDS = [
  { kind: "mail", waiting: "queued", sent: "delivered", prefix: "" },
  { kind: "acknowledgement", waiting: "sending", sent: "sent", prefix: "acknowledgement-" },
  { kind: "hook", waiting: "queued", sent: "sent", prefix: "hook-" },
] as const;

export function queueSuite(newPlace: NewPlace): void {
  describe.each(KINDS)("of kind $kind", ({ kind, waiting, sent, prefix }) => {
    /** Stores a message with a delivery of this kind that is due. */
    async function queueOne(node: Store): Promise<string> {
      const reference = referenceOf(await node.accept(submissionOf(), { ...NO_LIMITS, postsHook: true }, NOON));
      if (kind !== "acknowledgement") return reference;
      const [delivered] = await node.claim(1, MINUTE_MS, NOON);
      if (delivered) await node.markDelivered(delivered, NOON, true);
      return reference;
    }

    async function claim(node: Store, now = NOON): Promise<Claim[]> {
      if (kind !== "acknowledgement") return node.claim(1, MINUTE_MS, now, kind);
      return (await claimAcknowledgements(node, 1, MINUTE_MS, { ownAddresses: [], perHour: 9 }, now)).claims;
    }

    async function claimOne(node: Store, now = NOON): Promise<Claim> {
      const [first] = await claim(node, now);
      if (!first) throw new Error("Nothing was claimed");
      return first;
    }

    async function look(node: Store, reference: string) {
      const message = await node.find(reference);
      if (kind !== "mail") return message?.[kind];
      return { state: message?.state, changedAt: message?.stateChangedAt, reason: message?.lastError };
    }

    test("leases what is due, and passes a lease that ran out on, after which the first can only report a success", async () => {
      const place = await newPlace();
      const node = await place.open();
      const reference = await queueOne(node);
      expect(await claim(node, later(-1))).toEqual([]);
      const stale = await claimOne(node);
      expect(await claim(node, later(1))).toEqual([]);
      await endLeases(place);
      const fresh = await claimOne(node);
      expect(fresh).toMatchObject({ kind, attempts: 2, message: { reference } });
      expect(fresh.token).not.toBe(stale.token);
      expect(await node.reschedule(stale, NOON, "late", NOON)).toBe(false);
      expect(await node.markFailed(stale, "late", NOON)).toBe(false);
      expect(await node.unclaim(stale, NOON, "late", NOON)).toBe(false);
      expect(await look(node, reference)).toEqual({ state: waiting, changedAt: NOON, reason: null });
      expect(await node.markDelivered(stale, later(HOUR_MS))).toBe(true);
      expect(await look(node, reference)).toEqual({ state: sent, changedAt: later(HOUR_MS), reason: null });
      expect(await node.reschedule(fresh, NOON, "late", NOON)).toBe(false);
      expect(await node.markDelivered(fresh, later(HOUR_MS))).toBe(false);
      expect(await claim(node, later(2 * HOUR_MS))).toEqual([]);
      expect(await node.dueInMs(NOON, kind)).toBeNull();
    });

    test("reschedules, gives back and fails for good, and touches no other kind", async () => {
      const node = await (await newPlace()).open();
      const reference = await queueOne(node);
      const before = await node.find(reference);
      expect(await node.reschedule(await claimOne(node), later(HOUR_MS), "451 later", NOON)).toBe(true);
      expect(await look(node, reference)).toEqual({ state: waiting, changedAt: NOON, reason: "451 later" });
      expect(await node.dueInMs(NOON, kind)).toBe(HOUR_MS);
      const second = await claimOne(node, later(HOUR_MS));
      expect(await node.unclaim(second, later(2 * HOUR_MS), null, NOON)).toBe(true);
      expect(await look(node, reference)).toMatchObject({ reason: "451 later" });
      const third = await claimOne(node, later(2 * HOUR_MS));
      expect([second.attempts, third.attempts]).toEqual([2, 2]);
      expect(await node.markFailed(third, "550 no", later(2 * HOUR_MS))).toBe(true);
      const failed = { state: "failed", changedAt: later(2 * HOUR_MS), reason: "550 no" };
      expect(await look(node, reference)).toEqual(failed);
      expect(await claim(node, later(9 * HOUR_MS))).toEqual([]);
      expect(await node.dueInMs(NOON, kind)).toBeNull();
      const noted = (await node.history(reference)).slice(-2).map((event) => event.kind);
      expect(noted).toEqual([`${prefix}deferred`, `${prefix}failed`]);
      const { acknowledgement, hook } = before ?? {};
      const others = { mail: { dueAt: null, acknowledgement, hook }, acknowledgement: before, hook: before };
      expect(await node.find(reference)).toMatchObject({ ...others[kind], ...(kind !== "mail" && { [kind]: failed }) });
    });

    test("believes neither a lease nor a due time that a clock set back has left in the far future", async () => {
      const place = await newPlace();
      const node = await place.open();
      await queueOne(node);
      const mine = await claimOne(node);
      const far = later(3 * MINUTE_MS, new Date()).getTime();
      await place.sql(
        `UPDATE messages SET leased_until = ${far}, ack_leased_until = ${far}, hook_leased_until = ${far}`,
      );
      const taken = await claimOne(node, later(1));
      expect(taken.token).not.toBe(mine.token);
      await node.reschedule(taken, later(9 * HOUR_MS), "451", later(1));
      expect(await claim(node, later(2))).toHaveLength(1);
    });

    test("ends a dead server's leases, unless another server may hold them, and knows of an unknown end", async () => {
      const place = await newPlace();
      const [dead, node] = [await place.open(), await place.open()];
      const reference = await queueOne(dead);
      await claimOne(dead);
      expect(await claim(node)).toEqual([]);
      await node.clearLeases();
      expect(await claim(node)).toHaveLength(place.isShared ? 0 : 1);
      const kinds = (await node.history(reference)).map((event) => event.kind);
      const isNoted = kind === "acknowledgement" && !place.isShared;
      expect(kinds.includes("acknowledgement-deferred")).toBe(isNoted);
    });
  });

  test("leases no more than asked for, oldest due first, and counts the attempt", async () => {
    const node = await (await newPlace()).open();
    const references = [await store(node), await store(node, submissionOf(), later(1)), await store(node)];
    const claims = await node.claim(2, MINUTE_MS, later(1));
    expect(claims).toHaveLength(2);
    claims.push(...(await node.claim(10, MINUTE_MS, later(1))));
    expect(claims.map((claim) => claim.message.reference)).toEqual([references[0], references[2], references[1]]);
    expect(claims.map((claim) => claim.message.attempts)).toEqual([1, 1, 1]);
    expect(await node.claim(10, MINUTE_MS, later(2))).toEqual([]);
  });

  test("gives each message to one worker only: four workers on two nodes, 120 messages", async () => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open()] as const;
    await Promise.all(Array.from({ length: 120 }, () => store(nodes[0])));
    const work = async (worker: number) => {
      const node = worker % 2 === 0 ? nodes[0] : nodes[1];
      const mine: string[] = [];
      for (;;) {
        const claims = await node.claim(7, MINUTE_MS, NOON);
        if (claims.length === 0) return mine;
        for (const claim of claims) {
          if (await node.markDelivered(claim, NOON)) mine.push(claim.message.reference);
        }
      }
    };
    const taken = (await Promise.all([0, 1, 2, 3].map(work))).flat();
    expect(taken).toHaveLength(120);
    expect(new Set(taken).size).toBe(120);
    expect(await nodes[1].list({ state: "delivered" })).toHaveLength(120);
  });

  test("records a success also after another worker was refused, but not in the place of an attempt that was asked for", async () => {
    const place = await newPlace();
    const node = await place.open();
    const reference = await store(node);
    const [stale] = await node.claim(1, MINUTE_MS, NOON);
    await endLeases(place);
    const [fresh] = await node.claim(1, MINUTE_MS, NOON);
    if (!stale || !fresh) throw new Error("Nothing was claimed");
    expect(await node.markFailed(fresh, "550 no", NOON)).toBe(true);
    expect(await node.markDelivered(stale, NOON)).toBe(true);
    expect(await node.find(reference)).toMatchObject({ state: "delivered", lastError: null });
    await node.act("resend", { references: [reference] }, later(HOUR_MS));
    expect(await node.markDelivered(stale, later(HOUR_MS))).toBe(false);
    expect(await node.claim(1, MINUTE_MS, later(HOUR_MS))).toHaveLength(1);
  });

  test("takes no other node's lease, however far apart their clocks are", async () => {
    const place = await newPlace();
    if (!place.isShared) return;
    const [node, ahead] = [await place.open(), await place.open()];
    await store(node);
    await node.claim(1, 5 * MINUTE_MS, NOON);
    for (const ms of [6 * MINUTE_MS, 9 * HOUR_MS, -HOUR_MS]) {
      expect(await ahead.claim(1, 5 * MINUTE_MS, later(ms))).toEqual([]);
    }
  });

  test("says when the next message becomes due or its lease ends, and how deep the queue is", async () => {
    const node = await (await newPlace()).open();
    expect(await node.dueInMs(NOON)).toBeNull();
    expect(await node.queueDepth()).toEqual({
      queued: 0,
      oldestQueuedAt: null,
      failed: 0,
      lastFailedAt: null,
      newlyFailed: 0,
      quarantined: 0,
      newlyQuarantined: 0,
      lastQuarantinedId: null,
      hook: NO_HOOK,
    });
    await store(node);
    expect(await node.dueInMs(later(2))).toBe(-2);
    await node.claim(1, MINUTE_MS, NOON);
    const leaseMs = await node.dueInMs(NOON);
    expect(leaseMs).toBeGreaterThan(MINUTE_MS / 2);
    expect(leaseMs).toBeLessThanOrEqual(MINUTE_MS);
    await store(node, submissionOf(), later(HOUR_MS));
    await store(node, submissionOf(messageWith(), { isTrapped: true }));
    expect(await node.dueInMs(NOON)).toBeLessThanOrEqual(MINUTE_MS);
    expect(await node.queueDepth()).toMatchObject({ queued: 2, oldestQueuedAt: NOON });
  });

  test.each(KINDS)("makes $kind that waits due within a minute, once for all nodes", async ({ kind }) => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open()] as const;
    const [node, other] = nodes;
    const prefix = { mail: "", acknowledgement: "ack_", hook: "hook_" }[kind];
    const references: string[] = [];
    for (let count = 0; count < 4; count += 1)
      references.push(referenceOf(await node.accept(submissionOf(), { ...NO_LIMITS, postsHook: true }, NOON)));
    const [soon, later1, later2, old] = references;
    const waitUntil = (reference: string | undefined, dueAt: Date, changedAt: Date) =>
      place.sql(`UPDATE messages SET ${prefix}due_at = ${dueAt.getTime()}, ${prefix}attempts = 7,
        ${kind === "mail" ? "state_changed_at" : `${prefix}changed_at`} = ${changedAt.getTime()}
        ${kind === "acknowledgement" ? ", ack_state = 'sending'" : ""} WHERE reference = '${reference}'`);
    await waitUntil(soon, later(MINUTE_MS), NOON);
    await waitUntil(later1, later(4 * HOUR_MS), NOON);
    await waitUntil(later2, later(2 * MINUTE_MS), NOON);
    await waitUntil(old, later(4 * HOUR_MS), later(-5 * DAY_MS));
    const answers = await Promise.all(nodes.map((one) => one.makeWaitingDue(kind, NOON, "outbox")));
    expect(answers.filter((answer) => answer !== null).map((answer) => answer?.sort())).toEqual([
      [later1, later2, old].sort(),
    ]);
    const rows = (await place.sql(
      `SELECT reference, ${prefix}due_at AS due, ${prefix}attempts AS attempts FROM messages`,
    )) as { reference: string; due: number; attempts: number }[];
    const byReference = new Map(rows.map((row) => [row.reference, row]));
    const dueInMs = [later1, later2, old].map(
      (reference) => Number(byReference.get(String(reference))?.due) - NOON.getTime(),
    );
    expect(dueInMs.every((ms) => ms >= 0 && ms < MINUTE_MS)).toBe(true);
    expect(new Set(dueInMs).size).toBe(3);
    expect(references.map((reference) => Number(byReference.get(reference)?.attempts))).toEqual([7, 6, 6, 7]);
    expect(await other.makeWaitingDue(kind, later(MINUTE_MS - 1), "outbox")).toBeNull();
    expect(await other.makeWaitingDue(kind, later(MINUTE_MS), "outbox")).toEqual([]);
    // A clock that was set back.
    expect(await node.makeWaitingDue(kind, later(-HOUR_MS), "outbox")).toHaveLength(4);
    await waitUntil(soon, later(4 * HOUR_MS), NOON);
    expect(await node.makeWaitingDue(kind, NOON, "operator")).toEqual([soon]);
    expect((await node.history(String(soon))).map((event) => event.kind)).toEqual([
      `${kind === "mail" ? "" : `${kind}-`}retried`,
    ]);
  });

  test("tells how many messages failed and when the last one did, and leaves out what must not be used", async () => {
    const node = await (await newPlace()).open();
    await store(node);
    await finish(node, "failed", later(HOUR_MS));
    await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    await finish(node, "failed", later(2 * HOUR_MS));
    const quarantine = { quarantined: 0, newlyQuarantined: 0, lastQuarantinedId: null };
    const depth = { queued: 0, oldestQueuedAt: null, hook: NO_HOOK, ...quarantine };
    expect(await node.queueDepth()).toEqual({ ...depth, failed: 2, newlyFailed: 2, lastFailedAt: later(2 * HOUR_MS) });
    await node.restrict("eve@example.com", true, NOON);
    expect(await node.queueDepth()).toEqual({ ...depth, failed: 1, newlyFailed: 1, lastFailedAt: later(HOUR_MS) });
  });

  test("knows which failures an alert has reported, whatever the clocks said", async () => {
    const node = await (await newPlace()).open();
    const report = async () => {
      const ids = await node.unreportedFailures("mail");
      await node.markFailuresReported("mail", ids);
      return ids.length;
    };
    const first = await store(node);
    await finish(node, "failed", later(HOUR_MS));
    expect(await report()).toBe(1);
    expect(await report()).toBe(0);
    // The clock was set back by a day.
    await store(node, undefined, later(-DAY_MS));
    await finish(node, "failed", later(-DAY_MS));
    expect(await node.queueDepth()).toMatchObject({ failed: 2, newlyFailed: 1 });
    expect(await report()).toBe(1);
    await node.act("retry", { references: [first] }, later(-HOUR_MS));
    expect(await report()).toBe(0);
    await finish(node, "failed", later(-HOUR_MS + 1));
    const late = await node.unreportedFailures("mail");
    await store(node, undefined, NOON);
    await finish(node, "failed", NOON);
    await node.markFailuresReported("mail", late);
    expect(await report()).toBe(1);
    expect(await node.unreportedFailures("hook")).toEqual([]);
  });

  test("lets one of many nodes move the time of the last alert", async () => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open(), await place.open()];
    const move = (from: Date, to: Date) => Promise.all(nodes.map((node) => node.moveLastAlert("delivery", from, to)));
    const [first] = nodes;
    expect(await first?.lastAlertAt("delivery")).toEqual(new Date(0));
    expect((await move(new Date(0), NOON)).filter(Boolean)).toHaveLength(1);
    expect((await move(NOON, later(HOUR_MS))).filter(Boolean)).toHaveLength(1);
    expect(await move(NOON, later(2 * HOUR_MS))).toEqual([false, false, false]);
    expect(await (await place.open()).lastAlertAt("delivery")).toEqual(later(HOUR_MS));
    expect(await first?.lastAlertAt("quarantine")).toEqual(new Date(0));
  });

  test("queues failed messages again with all attempts before them, one or all", async () => {
    const node = await (await newPlace()).open();
    const references = [await store(node)];
    await finish(node, "failed");
    references.push(await store(node));
    await finish(node, "failed");
    const delivered = await store(node);
    await finish(node, "delivered");
    expect(await node.act("retry", { references: [String(references[0]).toLowerCase()] }, later(HOUR_MS))).toHaveLength(
      1,
    );
    expect(await node.find(String(references[0]))).toMatchObject({
      state: "queued",
      attempts: 0,
      dueAt: later(HOUR_MS),
      lastError: null,
      stateChangedAt: later(HOUR_MS),
    });
    expect(await node.act("retry", { since: new Date(0) }, later(HOUR_MS))).toHaveLength(1);
    expect(await node.act("retry", { since: new Date(0) }, later(HOUR_MS))).toHaveLength(0);
    expect(await node.act("retry", { references: [delivered] }, NOON)).toHaveLength(0);
    expect(await node.claim(5, MINUTE_MS, later(HOUR_MS))).toHaveLength(2);
  });

  test("makes a message that waits for its next attempt due now", async () => {
    const node = await (await newPlace()).open();
    const reference = await store(node);
    const [claim] = await node.claim(1, MINUTE_MS, NOON);
    if (!claim) throw new Error("Nothing was claimed");
    await node.reschedule(claim, later(HOUR_MS), "451 later", NOON);
    expect(await node.act("retry", { references: [reference] }, later(MINUTE_MS))).toHaveLength(1);
    expect(await node.find(reference)).toMatchObject({ state: "queued", attempts: 1, dueAt: later(MINUTE_MS) });
  });

  test("releases all that is in quarantine since a time", async () => {
    const node = await (await newPlace()).open();
    const trapped = () => submissionOf(messageWith(), { isTrapped: true });
    const old = await store(node, trapped());
    await store(node, trapped(), later(HOUR_MS));
    await store(node, trapped(), later(2 * HOUR_MS));
    expect(await node.act("release", { since: later(HOUR_MS) }, later(3 * HOUR_MS))).toHaveLength(2);
    expect((await node.list({ state: "quarantined" })).map(({ reference }) => reference)).toEqual([old]);
    expect(await node.act("release", { since: new Date(0) }, later(3 * HOUR_MS))).toHaveLength(1);
  });

  test("sends what was delivered once more, by reference or since a time, and nothing else", async () => {
    const node = await (await newPlace()).open();
    const first = await store(node);
    await finish(node, "delivered");
    await store(node, submissionOf(), later(HOUR_MS));
    await finish(node, "delivered", later(HOUR_MS));
    const failed = await store(node, submissionOf(), later(2 * HOUR_MS));
    await finish(node, "failed", later(2 * HOUR_MS));
    expect(await node.act("resend", { references: [failed] }, later(3 * HOUR_MS))).toHaveLength(0);
    expect(await node.act("resend", { since: later(1) }, later(3 * HOUR_MS))).toHaveLength(1);
    expect(await node.act("resend", { references: [first.toLowerCase()] }, later(3 * HOUR_MS))).toHaveLength(1);
    expect(await node.claim(5, MINUTE_MS, later(3 * HOUR_MS))).toHaveLength(2);
  });

  test("counts a message that was queued again from then on, not from when it was accepted", async () => {
    const node = await (await newPlace()).open();
    const reference = await store(node, submissionOf(messageWith(), { isTrapped: true }));
    await node.act("release", { references: [reference] }, later(9 * HOUR_MS));
    expect(await node.queueDepth()).toMatchObject({ queued: 1, oldestQueuedAt: later(9 * HOUR_MS) });
    await store(node, submissionOf(), later(8 * HOUR_MS));
    expect(await node.queueDepth()).toMatchObject({ queued: 2, oldestQueuedAt: later(8 * HOUR_MS) });
  });

  test("says how many messages are in quarantine, and of how many nobody was told", async () => {
    const node = await (await newPlace()).open();
    await store(node, submissionOf(messageWith(), { isTrapped: true }));
    await reportQuarantine(node);
    await store(node, submissionOf(messageWith(), { isTrapped: true }), later(HOUR_MS));
    expect(await node.queueDepth()).toMatchObject({ quarantined: 2, newlyQuarantined: 1 });
  });
}
