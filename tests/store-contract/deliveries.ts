import { expect } from "vitest";
import type { Delivery } from "../../server/store/model.ts";
import { type Action, CHANNELS, type Channel, GIVEN_UP } from "../../server/store/model.ts";
import { type Claim, LEASE_MS, type NamedLimit, type Outcome } from "../../server/store/queue.ts";
import type { Store } from "../../server/store/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { acrossNodes, type ContractTest } from "./place.ts";
import {
  act,
  claimOne,
  finish,
  later,
  messageWith,
  NOON,
  store,
  submissionOf,
  trapped,
  withChannels,
} from "./samples.ts";

const DELIVERED = { kind: "delivered" } as const;
const FAILED = { kind: "failed", error: "550 no" } as const;
/** Outcomes that only the current holder of the lease may report. */
const OTHER_OUTCOMES: readonly Outcome[] = [
  { kind: "deferred", delayMs: 1, error: "451 later" },
  { kind: "paused", error: "wrong password" },
  FAILED,
  { kind: "skipped", error: "too-late" },
];

/** The message's deliveries by channel. */
async function look(node: Store, reference: string): Promise<Partial<Record<Channel, Delivery>>> {
  return { ...(await node.messages.find(reference))?.deliveries };
}

export function deliveriesSuite(test: ContractTest): void {
  test.for(CHANNELS)("claims, retries and counts deliveries by %s, and no others", async (channel, { place }) => {
    const node = await place.open({ rules: withChannels(...CHANNELS) });
    const reference = await store(node);
    const { [channel]: _, ...others } = await look(node, reference);
    const expectOwn = async (own: Partial<Delivery>) =>
      expect(await look(node, reference)).toMatchObject({ ...others, [channel]: own });
    const waiting = { state: "queued", changedAt: NOON, dueAt: later(1), attempts: 1 } as const;
    for (const [index, own] of [
      { ...waiting, error: "451 later" },
      { ...waiting, error: "wrong password" },
      { state: "failed", changedAt: later(20), dueAt: null, attempts: 2, error: "550 no" } as const,
    ].entries()) {
      const [now, outcome] = [later(10 * index), OTHER_OUTCOMES[index] ?? DELIVERED];
      const claim = await claimOne(node, now, channel);
      const attempts = index === 0 ? 1 : 2;
      expect(claim).toMatchObject({ channel, attempts, queuedAt: NOON, message: { reference } });
      expect(await node.queue.claim(channel, 1, MINUTE_MS, now)).toEqual([]);
      for (const isFirst of [true, false]) expect(await node.queue.settle(claim, outcome, now)).toBe(isFirst);
      await expectOwn(own);
    }
    expect(await node.queue.dueInMs(channel, later(20))).toBeNull();
    const failed = { state: "failed", count: 1, firstAt: later(20), lastAt: later(20), reference, error: "550 no" };
    expect(await node.queue.countDeliveries()).toContainEqual(expect.objectContaining({ channel, ...failed }));

    expect(await act(node, "retry", [reference], later(40))).toEqual([reference]);
    for (const other of Object.values<Delivery>(others)) other.dueAt = later(40);
    await expectOwn({ state: "queued", changedAt: later(40), dueAt: later(40), attempts: 0, error: null });
    await node.queue.settle(await claimOne(node, later(50), channel), DELIVERED, later(50));
    await expectOwn({ state: "delivered", changedAt: later(50), dueAt: null, attempts: 1, error: null });
    expect(await node.queue.countChannel(channel)).toMatchObject({ queued: 0, delivered: 1, failed: 0 });
    const history = (await node.messages.history(reference)).filter((one) => (one.channel ?? channel) === channel);
    expect(history.map(({ at, kind, detail }) => [Number(at) - NOON.getTime(), kind, detail])).toEqual([
      [0, "deferred", "451 later"],
      [10, "paused", "wrong password"],
      [20, "failed", "550 no"],
      [40, "retried", null],
      [50, "delivered", null],
    ]);
  });

  test("leases due deliveries, at most as many as requested, oldest due first", async ({ node }) => {
    const references = [await store(node), await store(node, submissionOf(), later(1)), await store(node)];
    expect(await node.queue.claim("mail", 9, MINUTE_MS, later(-1))).toEqual([]);
    const claims = await node.queue.claim("mail", 2, MINUTE_MS, later(1));
    expect(claims).toHaveLength(2);
    claims.push(...(await node.queue.claim("mail", 10, MINUTE_MS, later(1))));
    expect(claims.map((claim) => claim.message.reference)).toEqual([references[0], references[2], references[1]]);
  });

  test("gives each message to one worker only: four workers on two nodes, 120 messages", async ({ node, other }) => {
    await Promise.all(Array.from({ length: 120 }, () => store(node)));
    const taken = await acrossNodes([node, other], 4, async (one) => {
      const mine: string[] = [];
      for (;;) {
        const claims = await one.queue.claim("mail", 7, MINUTE_MS, NOON);
        if (claims.length === 0) return mine;
        for (const claim of claims) {
          mine.push(claim.message.reference);
          await one.queue.settle(claim, DELIVERED, NOON);
        }
      }
    });
    expect(taken.flat()).toHaveLength(120);
    expect(new Set(taken.flat()).size).toBe(120);
  });

  test("gives an expired lease to another worker; the first can only report a success", async ({ node, other }) => {
    const reference = await store(node);
    const stale = await claimOne(node);
    expect(await other.queue.claim("mail", 1, MINUTE_MS, later(MINUTE_MS - 1))).toEqual([]);
    const fresh = await claimOne(other, later(MINUTE_MS));
    const before = await look(node, reference);
    for (const outcome of OTHER_OUTCOMES) expect(await node.queue.settle(stale, outcome, later(HOUR_MS))).toBe(false);
    expect(await look(node, reference)).toEqual(before);
    expect(await node.queue.settle(stale, DELIVERED, later(HOUR_MS))).toBe(true);
    for (const outcome of [...OTHER_OUTCOMES, DELIVERED]) {
      expect(await other.queue.settle(fresh, outcome, later(HOUR_MS))).toBe(false);
    }
    expect(await node.messages.find(reference)).toMatchObject({ state: "delivered" });
  });

  test("records a late success even after another worker's failure, unless queued again", async ({ node }) => {
    const reference = await store(node);
    const references = [reference];
    const [stale, fresh] = [await claimOne(node), await claimOne(node, later(MINUTE_MS))];
    expect(await node.queue.settle(fresh, FAILED, later(MINUTE_MS))).toBe(true);
    await act(node, "retry", references, later(HOUR_MS));
    expect(await node.queue.settle(stale, DELIVERED, later(HOUR_MS))).toBe(false);
    expect(await node.queue.settle(await claimOne(node, later(HOUR_MS)), FAILED, later(HOUR_MS))).toBe(true);
    expect(await node.queue.settle(stale, DELIVERED, later(HOUR_MS))).toBe(true);
    expect(await look(node, reference)).toMatchObject({ mail: { state: "delivered", error: null } });
  });

  test.for([
    ["acknowledgement", 1],
    ["reply", 1],
    ["mail", 5],
  ] as const)("fails a delivery by %s if worker number %i died during it", async ([channel, most], { place }) => {
    const node = await place.open({ rules: withChannels(...new Set<Channel>(["mail", channel])) });
    const reference = await store(node);
    // Attempts that failed for certain do not count.
    for (const outcome of [...OTHER_OUTCOMES.slice(0, 2), OTHER_OUTCOMES[0]] as Outcome[])
      await node.queue.settle(await claimOne(node, later(1), channel), outcome, NOON);
    for (let died = 1; died <= most; died += 1) {
      const claim = await claimOne(node, later(died * MINUTE_MS), channel);
      expect(claim).toMatchObject({ attempts: died + 2, unknownOutcomes: died });
    }
    const end = later((most + 1) * MINUTE_MS);
    expect(await node.queue.claim(channel, 1, MINUTE_MS, end)).toEqual([]);
    const failed = { state: "failed", changedAt: end, dueAt: null, error: GIVEN_UP };
    expect(await look(node, reference)).toMatchObject({ [channel]: failed });
    expect((await node.messages.history(reference)).at(-1)).toMatchObject({
      kind: "failed",
      channel,
      detail: GIVEN_UP,
    });
    await act(node, "retry", [reference], end);
    expect(await node.queue.claim(channel, 1, MINUTE_MS, end)).toMatchObject(
      channel === "mail" ? [{ attempts: 1 }] : [],
    );
  });

  test.for(["acknowledgement", "reply"] as const)(
    "sends no %s again that may have been sent, after a retry, a release or an undo",
    async (channel, { place }) => {
      const node = await place.open({ rules: withChannels("mail", channel) });
      const end = later(MINUTE_MS);
      const sendAgain = () => node.queue.claim(channel, 9, MINUTE_MS, end);
      const mark = async (reference: string, action: Action, step?: string) =>
        expect(await act(node, action, [reference], end, step)).toEqual([reference]);
      const begin = async () => {
        const reference = await store(node);
        return { reference, claim: await claimOne(node, NOON, channel) };
      };
      const unanswered = { kind: "failed", error: GIVEN_UP, isUnknown: true } as const;
      const ways: ((started: Awaited<ReturnType<typeof begin>>) => Promise<unknown>)[] = [
        // The worker dies.
        async ({ reference }) => {
          await mark(reference, "spam");
          await mark(reference, "release");
          expect(await sendAgain()).toEqual([]);
        },
        async ({ reference, claim }) => {
          await mark(reference, "spam");
          expect(await node.queue.settle(claim, unanswered, end)).toBe(true);
          await mark(reference, "release");
        },
        async ({ reference, claim }) => {
          await mark(reference, "spam", reference);
          expect(await node.queue.settle(claim, unanswered, end)).toBe(true);
          await node.actions.undo(reference, end);
        },
        async ({ reference, claim }) => {
          expect(await node.queue.settle(claim, unanswered, end)).toBe(true);
          await mark(reference, "retry");
          await mark(reference, "spam");
          await mark(reference, "release");
        },
      ];
      for (const [index, way] of ways.entries()) {
        const started = await begin();
        await way(started);
        expect([index, await sendAgain()]).toEqual([index, []]);
        await mark(started.reference, "retry");
        expect([index, await sendAgain()]).toEqual([index, []]);
        const failed = { state: "failed", unknownOutcomes: 1, error: GIVEN_UP };
        expect([index, await look(node, started.reference)]).toMatchObject([index, { [channel]: failed }]);
      }
      // What failed for certain while it was held is sent after its release.
      const { reference, claim } = await begin();
      await mark(reference, "spam");
      expect(await node.queue.settle(claim, FAILED, end)).toBe(true);
      await mark(reference, "release");
      expect(await sendAgain()).toHaveLength(1);
    },
  );

  test("corrects times that lie ahead after a clock was set back by a day", async ({ node }) => {
    await store(node, submissionOf(), later(DAY_MS));
    await claimOne(node, later(DAY_MS));
    await store(node, submissionOf(), later(DAY_MS));
    await store(node, submissionOf(), later(HOUR_MS));
    expect(await node.queue.claim("mail", 9, MINUTE_MS, NOON)).toEqual([]);
    await node.queue.repairTimes(NOON);
    expect(await node.queue.claim("mail", 9, MINUTE_MS, NOON)).toHaveLength(1);
    // Its worker may still send it.
    expect(await node.queue.claim("mail", 9, MINUTE_MS, later(LEASE_MS - 1))).toHaveLength(1);
    expect(await node.queue.claim("mail", 9, MINUTE_MS, later(LEASE_MS))).toHaveLength(1);
  });

  test("follows the database's own time, which all nodes share", async ({ node }) => {
    await store(node, submissionOf(), null);
    expect(await node.queue.dueInMs("mail", null)).toBeLessThanOrEqual(0);
    const [claim] = await node.queue.claim("mail", 1, MINUTE_MS, null);
    expect(Math.abs((claim?.message.acceptedAt.getTime() ?? 0) - Date.now())).toBeLessThan(MINUTE_MS);
    await node.queue.settle(claim as Claim, { kind: "deferred", delayMs: HOUR_MS, error: "451" }, null);
    const dueInMs = (await node.queue.dueInMs("mail", null)) ?? 0;
    expect([dueInMs > HOUR_MS - MINUTE_MS, dueInMs <= HOUR_MS]).toEqual([true, true]);
  });

  test("returns when the next delivery becomes due or its lease ends", async ({ node }) => {
    expect(await node.queue.dueInMs("mail", NOON)).toBeNull();
    await store(node);
    expect(await node.queue.dueInMs("mail", later(2))).toBe(-2);
    await claimOne(node);
    expect(await node.queue.dueInMs("mail", later(2))).toBe(MINUTE_MS - 2);
    await store(node, submissionOf(), later(HOUR_MS));
    await store(node, trapped());
    expect(await node.queue.dueInMs("mail", NOON)).toBe(MINUTE_MS);
    expect(await node.queue.dueInMs("hook", NOON)).toBeNull();
  });

  test("queues the next channel's delivery together with a success, once per message", async ({ node }) => {
    const reference = await store(node);
    const settle = async (outcome: Outcome, ms: number) =>
      node.queue.settle(await claimOne(node, later(ms)), outcome, later(ms), "acknowledgement");
    await settle(FAILED, 0);
    expect(await look(node, reference)).toEqual({ mail: expect.anything() });
    await act(node, "retry", [reference], later(1));
    await settle(DELIVERED, 1);
    const acknowledgement = { state: "queued", changedAt: later(1), dueAt: later(1), attempts: 0, error: null };
    expect(await look(node, reference)).toMatchObject({ acknowledgement });
    const claim = await claimOne(node, later(1), "acknowledgement");
    expect(await node.queue.settle(claim, { kind: "skipped", error: "own-address" }, later(2))).toBe(true);
    expect((await node.messages.history(reference)).at(-1)).toMatchObject({ kind: "skipped", detail: "own-address" });
    const skipped = { state: "skipped", changedAt: later(2), dueAt: null, attempts: 1, error: "own-address" };
    expect(await look(node, reference)).toMatchObject({ acknowledgement: skipped });
    expect(await node.queue.claim("acknowledgement", 1, MINUTE_MS, later(DAY_MS))).toEqual([]);
    expect(await node.queue.countDeliveries()).toEqual([]);
  });

  test("neither sends nor counts a restricted message until the restriction is lifted", async ({ place }) => {
    const node = await place.open({ rules: withChannels("mail", "hook") });
    await store(node);
    expect(await node.people.restrict("ADA@example.com", true, NOON)).toBe(1);
    for (const channel of ["mail", "hook"] as const) {
      expect(await node.queue.claim(channel, 5, MINUTE_MS, later(HOUR_MS))).toEqual([]);
      expect(await node.queue.dueInMs(channel, NOON)).toBeNull();
      await node.queue.flushBacklog(channel, later(-DAY_MS));
    }
    const [{ deliveries } = {}] = await node.messages.list({});
    expect(deliveries).toMatchObject({ mail: { dueAt: NOON }, hook: { dueAt: NOON } });
    expect(await node.queue.countDeliveries()).toEqual([]);
    await node.people.restrict("ada@example.com", false, later(HOUR_MS));
    // Its waiting time starts when the restriction is lifted.
    expect(await node.queue.countDeliveries()).toMatchObject([
      { firstAt: later(HOUR_MS) },
      { firstAt: later(HOUR_MS) },
    ]);
    expect(await node.queue.claim("mail", 5, MINUTE_MS, later(HOUR_MS))).toHaveLength(1);
  });

  test("makes a channel's waiting deliveries due in a minute, each once", async ({ place }) => {
    const rules = withChannels("mail", "hook");
    const [node, other] = [await place.open({ rules }), await place.open({ rules })];
    const ids: number[] = [];
    const hookOf = async (id: number) => (await node.messages.list({})).find((one) => one.id === id)?.deliveries.hook;
    for (const [dueInMs, changedInMs] of [[MINUTE_MS], [4 * HOUR_MS], [2 * MINUTE_MS], [4 * HOUR_MS, -5 * DAY_MS]]) {
      const reference = await store(node);
      const { id = 0 } = (await node.messages.find(reference)) ?? {};
      await place.sql(`UPDATE deliveries SET due_at = ${later(dueInMs ?? 0).getTime()}, attempts = 7,
        changed_at = ${later(changedInMs ?? 0).getTime()} WHERE message_id = ${id}`);
      ids.push(id);
    }
    const [soon = 0, ...waiting] = ids;
    const flush = (one: Store, now: Date) => one.queue.flushBacklog("hook", now);
    await Promise.all([flush(node, NOON), flush(other, NOON)]);
    expect(await hookOf(soon)).toMatchObject({ attempts: 7, dueAt: later(MINUTE_MS) });
    const hooks = await Promise.all(waiting.map(hookOf));
    // Such an attempt does not count, unless the message has waited for days.
    expect(hooks.map((hook) => hook?.attempts)).toEqual([6, 6, 7]);
    const dueInMs = hooks.map((hook) => Number(hook?.dueAt) - NOON.getTime());
    expect(dueInMs.filter((ms) => ms >= 0 && ms < MINUTE_MS)).toEqual([...new Set(dueInMs)]);
    await flush(other, later(MINUTE_MS));
    expect(await Promise.all(waiting.map(hookOf))).toEqual(hooks);
  });

  test("counts waiting, failed and quarantined deliveries, with their times", async ({ node }) => {
    const rows = async (state: string) => (await node.queue.countDeliveries()).filter((row) => row.state === state);
    for (const hours of [1, 2, 3]) {
      await store(node, submissionOf(messageWith({ email: hours === 3 ? "eve@example.com" : "ada@example.com" })));
      await finish(node, "failed", later(hours * HOUR_MS));
    }
    await node.people.restrict("eve@example.com", true, NOON);
    const failed = { channel: "mail", count: 2, firstAt: later(HOUR_MS), lastAt: later(2 * HOUR_MS) };
    expect(await rows("failed")).toMatchObject([failed]);

    const [seen, released] = [await store(node, trapped()), await store(node, trapped(), later(HOUR_MS))];
    for (const reference of [seen.toLowerCase(), await store(node), "BC-NONE-00"])
      await node.actions.markSeen(reference, NOON);
    expect(await rows("quarantined")).toMatchObject([{ count: 2, firstAt: NOON, lastAt: later(HOUR_MS) }]);
    const at = later(HOUR_MS);
    expect(await node.messages.countUnseen()).toEqual({ count: 1, firstAt: at, lastAt: at });
    // The waiting time of a released message starts at its release.
    await act(node, "release", [released], later(9 * HOUR_MS));
    expect(await rows("queued")).toMatchObject([{ count: 2, firstAt: NOON, lastAt: later(9 * HOUR_MS) }]);
    expect(await rows("quarantined")).toMatchObject([{ count: 1 }]);
    expect(await node.messages.countUnseen()).toEqual({ count: 0, firstAt: null, lastAt: null });
  });

  test("counts a delivery once towards its limits, or not at all if one is reached, and stores only hashes", async ({
    node,
    place,
  }) => {
    const limit = (name: string, count: number, windowMs = HOUR_MS) => ({ name, count, windowMs });
    const [all, ada] = [limit("all", 2), limit("ada@example.com", 1, DAY_MS)];
    for (let count = 0; count < 4; count += 1) await store(node);
    const claims = await node.queue.claim("mail", 4, MINUTE_MS, NOON);
    const admit = (index: number, limits: readonly NamedLimit[], ms = 1, claim = claims[index]) =>
      claim && node.queue.admit(claim, limits, later(ms));
    expect(await admit(0, [ada, all], 0)).toBeNull();
    // Another attempt at the same delivery does not count again.
    await node.queue.settle(claims[0] as Claim, { kind: "deferred", delayMs: 1, error: "451" }, NOON);
    const again = await claimOne(node, later(1));
    expect(again.message.reference).toBe(claims[0]?.message.reference);
    expect(await admit(0, [ada, all], 1, again)).toBeNull();
    expect(await admit(1, [all, ada])).toBe("ada@example.com");
    expect(await admit(1, [limit("eve", 1), all])).toBeNull();
    expect(await admit(2, [limit("bob", 1), all], 2)).toBe("all");
    expect(await admit(3, [limit("bob", 1)], 2)).toBeNull();
    expect([await admit(2, [all], HOUR_MS - 1), await admit(2, [all], HOUR_MS)]).toEqual(["all", null]);
    // With a sign that no hash contains.
    const hits = JSON.stringify(await place.sql("SELECT * FROM hits"));
    expect([hits.includes("hash"), /ada@|example\./.test(hits)]).toEqual([true, false]);
  });
}
