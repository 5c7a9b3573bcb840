import { expect, test } from "vitest";
import type { AcknowledgementRules, Claim, Store } from "../../server/store/store.ts";
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
  NOON,
  type Place,
  store,
  submissionOf,
} from "./samples.ts";

const RULES: AcknowledgementRules = { ownAddresses: ["team@example.test", "website@example.test"], perHour: 1000 };

/** Stores a message from this address and delivers it, with an acknowledgement queued. */
async function deliver(node: Store, email = "ada@example.com", now = NOON): Promise<string> {
  const reference = await store(node, submissionOf(messageWith({ email })), now);
  const [claim] = await node.claim(1, MINUTE_MS, now);
  if (claim?.message.reference !== reference) throw new Error("Another message was claimed");
  expect(await node.markDelivered(claim, now, true)).toBe(true);
  return reference;
}

async function claim(node: Store, now = NOON, rules = RULES): Promise<Claim[]> {
  return (await claimAcknowledgements(node, 10, MINUTE_MS, rules, now)).claims;
}

async function claimOne(node: Store, now = NOON): Promise<Claim> {
  const [first, ...others] = await claim(node, now);
  if (!first || others.length > 0) throw new Error(`${others.length + (first ? 1 : 0)} were claimed`);
  return first;
}

/** More than a node decides on at once, so that two nodes really meet. */
async function deliverMany(
  place: Place,
  node: Store,
  count: number,
  emailOf: (index: number) => string,
): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index);
  await Promise.all(indexes.map((index) => store(node, submissionOf(messageWith({ email: emailOf(index) })))));
  await place.sql(`UPDATE messages SET state = 'delivered', due_at = NULL, ack_state = 'queued',
    ack_changed_at = ${NOON.getTime()}, ack_due_at = ${NOON.getTime()}`);
}

/** Four workers of two nodes, until nothing is left. */
async function claimAtOnce(nodes: readonly [Store, Store], rules: AcknowledgementRules): Promise<Claim[]> {
  const work = async (worker: number) => {
    const all: Claim[] = [];
    for (;;) {
      const node = nodes[worker % 2 === 0 ? 0 : 1];
      const { claims, skipped } = await claimAcknowledgements(node, 10, MINUTE_MS, rules, NOON);
      all.push(...claims);
      if (claims.length + skipped.length === 0) return all;
    }
  };
  return (await Promise.all([0, 1, 2, 3].map(work))).flat();
}

const kinds = async (node: Store, reference: string) => (await node.history(reference)).map(({ kind }) => kind);

export function acknowledgingSuite(newPlace: NewPlace): void {
  test("queues one with the delivery only when asked to, and leases it with what the mail needs", async () => {
    const node = await (await newPlace()).open();
    const silent = await store(node);
    await finish(node, "delivered");
    expect(await node.find(silent)).toMatchObject({ state: "delivered", acknowledgement: null });
    expect(await node.dueInMs(NOON, "acknowledgement")).toBeNull();

    const reference = await deliver(node, "Ada+1@example.com", later(1));
    expect(await node.dueInMs(NOON, "acknowledgement")).toBe(1);
    const queued = { state: "queued", changedAt: later(1), reason: null };
    expect((await node.find(reference))?.acknowledgement).toEqual(queued);
    expect(await claim(node, NOON)).toEqual([]);
    const mine = await claimOne(node, later(1));
    expect(mine).toMatchObject({ kind: "acknowledgement", message: { reference, attempts: 1 }, attempts: 1 });
    expect(await claim(node, later(2))).toEqual([]);
    expect(await node.markDelivered(mine, later(3))).toBe(true);
    expect(await node.markDelivered(mine, later(3))).toBe(false);
    expect(await node.find(reference)).toMatchObject({
      state: "delivered",
      stateChangedAt: later(1),
      attempts: 1,
      lastError: null,
      acknowledgement: { state: "sent", changedAt: later(3), reason: null },
    });
    expect(await kinds(node, reference)).toEqual(["delivered", "acknowledged"]);
    expect(await node.dueInMs(NOON, "acknowledgement")).toBeNull();
  });

  test("never queues a second one for a message that is sent once more", async () => {
    const node = await (await newPlace()).open();
    const reference = await deliver(node);
    await node.markDelivered(await claimOne(node), NOON);
    await node.act("resend", { references: [reference] }, later(HOUR_MS));
    const [again] = await node.claim(1, MINUTE_MS, later(HOUR_MS));
    if (!again) throw new Error("Nothing was claimed");
    await node.markDelivered(again, later(HOUR_MS), true);
    expect(await claim(node, later(2 * DAY_MS))).toEqual([]);
    expect((await node.find(reference))?.acknowledgement).toMatchObject({ state: "sent", changedAt: NOON });
    expect(await kinds(node, reference)).toEqual(["delivered", "acknowledged", "resent", "delivered"]);
  });

  test("lets an address have one a day, in every spelling, and tells why the others had none", async () => {
    const node = await (await newPlace()).open();
    const first = await deliver(node, "ada@gmail.com");
    await node.markDelivered(await claimOne(node), NOON);
    const others = [];
    for (const email of ["ADA@gmail.com", "ada+1@gmail.com", "a.d.a@googlemail.com"]) {
      others.push(await deliver(node, email, later(1)));
    }
    const bob = await deliver(node, "bob@gmail.com", later(1));
    const { claims, skipped } = await claimAcknowledgements(node, 10, MINUTE_MS, RULES, later(DAY_MS - 1));
    expect(claims.map(({ message }) => message.reference)).toEqual([bob]);
    expect(skipped).toEqual(others.map((reference) => ({ reference, reason: "address-limit" })));
    for (const reference of others) {
      expect((await node.find(reference))?.acknowledgement).toMatchObject({
        state: "skipped",
        reason: "address-limit",
      });
      expect((await node.history(reference)).at(-1)).toMatchObject({
        at: later(DAY_MS - 1),
        kind: "acknowledgement-skipped",
        detail: "address-limit",
      });
    }
    const next = await deliver(node, "ada@gmail.com", later(DAY_MS));
    expect((await claimOne(node, later(DAY_MS))).message.reference).toBe(next);
    expect(await node.countDeliveries("acknowledgement", NOON)).toEqual({
      queued: 0,
      sending: 2,
      sent: 1,
      skipped: 3,
      failed: 0,
    });
    expect(first).not.toBe(next);
  });

  test("sends no more an hour than the limit of all, and takes a retry for no new one", async () => {
    const node = await (await newPlace()).open();
    const rules = { ...RULES, perHour: 2 };
    const references = [];
    for (const name of ["a", "b", "c"]) references.push(await deliver(node, `${name}@example.com`));
    const { claims, skipped } = await claimAcknowledgements(node, 10, MINUTE_MS, rules, NOON);
    expect(claims.map(({ message }) => message.reference)).toEqual(references.slice(0, 2));
    expect(skipped).toEqual([{ reference: references[2], reason: "hourly-limit" }]);
    const [mine] = claims;
    if (!mine) throw new Error("Nothing was claimed");
    expect(await node.reschedule(mine, later(1), "451 later", NOON)).toBe(true);
    expect((await claim(node, later(1), rules)).map(({ attempts }) => attempts)).toEqual([2]);
    await deliver(node, "d@example.com", later(HOUR_MS));
    const next = await claimAcknowledgements(node, 10, 2 * HOUR_MS, rules, later(HOUR_MS));
    expect(next.claims.map(({ message }) => message.email)).toContain("d@example.com");
  });

  test.each([
    ["no-reply@example.com", "not-a-person"],
    ["ada@localhost", "not-a-person"],
    ["TEAM+x@example.test", "own-address"],
  ] as const)("skips %s as %s", async (email, reason) => {
    const node = await (await newPlace()).open();
    const reference = await deliver(node, email);
    expect(await claimAcknowledgements(node, 10, MINUTE_MS, RULES, NOON)).toEqual({
      claims: [],
      skipped: [{ reference, reason }],
      failed: [],
    });
    expect(await node.find(reference)).toMatchObject({ state: "delivered", lastError: null });
  });

  test("sends none more than a day after the message, such as one that was released late", async () => {
    const node = await (await newPlace()).open();
    const reference = await store(node, submissionOf(messageWith(), { isTrapped: true }));
    await node.act("release", { references: [reference] }, later(DAY_MS));
    const [released] = await node.claim(1, MINUTE_MS, later(DAY_MS));
    if (!released) throw new Error("Nothing was claimed");
    await node.markDelivered(released, later(DAY_MS), true);
    const { skipped } = await claimAcknowledgements(node, 10, MINUTE_MS, RULES, later(DAY_MS + 1));
    expect(skipped).toEqual([{ reference, reason: "too-late" }]);
  });

  test("sends none for a message that was restricted after its delivery, also between two attempts", async () => {
    const node = await (await newPlace()).open();
    const reference = await deliver(node);
    const mine = await claimOne(node);
    await node.reschedule(mine, later(1), "451 later", NOON);
    await node.restrict("ada@example.com", true, NOON);
    expect((await claimAcknowledgements(node, 10, MINUTE_MS, RULES, later(1))).skipped).toEqual([
      { reference, reason: "restricted" },
    ]);
    await node.restrict("ada@example.com", false, NOON);
    expect(await claim(node, later(2))).toEqual([]);
  });

  test("goes to the corrected address, and is gone with its message", async () => {
    const node = await (await newPlace()).open();
    await deliver(node);
    await node.rectify("ada@example.com", { email: "countess@example.com" }, NOON);
    const mine = await claimOne(node);
    expect(mine.message.email).toBe("countess@example.com");
    await node.erase("countess@example.com");
    expect(await node.markDelivered(mine, NOON)).toBe(false);
    expect(await node.reschedule(mine, NOON, "451", NOON)).toBe(false);
    expect(await node.markFailed(mine, "550", NOON)).toBe(false);
    expect(await node.dueInMs(NOON, "acknowledgement")).toBeNull();
  });

  test("keeps no address beyond the message, and what counts towards limits for a day", async () => {
    const place = await newPlace();
    const node = await place.open();
    await deliver(node);
    await claimOne(node);
    await node.erase("ada@example.com");
    const hits = JSON.stringify(await place.sql("SELECT * FROM client_hits"));
    expect(hits).toContain("acknowledgements");
    expect(hits).not.toMatch(/ada|example/);
    await deliver(node, "ADA@example.com", later(1));
    expect(await claim(node, later(1))).toEqual([]);
    await node.purge({ deliveredMs: null, failedMs: null, quarantinedMs: null }, later(DAY_MS));
    expect(await place.sql("SELECT * FROM client_hits")).toEqual([]);
  });

  test("tells of an attempt whose end nobody knows, and gives up after three of them", async () => {
    const place = await newPlace();
    const node = await place.open();
    const reference = await deliver(node, "ada@example.com", later(-3));
    for (const ms of [-3, -2, -1]) {
      await node.reschedule(await claimOne(node, later(ms)), later(ms + 1), "451 later", later(ms));
    }
    const claimAfterDeath = async () => {
      await endLeases(place);
      return claimAcknowledgements(node, 10, MINUTE_MS, RULES, NOON);
    };
    const dead = await claimOne(node);
    // Should its lease end just before a claim: not without the note.
    await endLeases(place);
    expect(await node.claim(10, MINUTE_MS, NOON, "acknowledgement")).toEqual([]);
    expect((await claimAfterDeath()).claims).toMatchObject([{ attempts: 5 }]);
    expect(await node.markFailed(dead, "550", NOON)).toBe(false);
    expect((await node.history(reference)).at(-1)).toMatchObject({
      kind: "acknowledgement-deferred",
      detail: expect.stringContaining("may come twice"),
    });
    expect((await claimAfterDeath()).claims).toMatchObject([{ attempts: 6 }]);
    expect(await claimAfterDeath()).toEqual({ claims: [], skipped: [], failed: [reference] });
    expect((await node.find(reference))?.acknowledgement).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("given up"),
    });
  });

  test("two nodes at once: 240 messages from 3 mailboxes get 3", async () => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open()] as const;
    await deliverMany(place, nodes[0], 240, (count) => `v.${count % 3}+${count}@example.com`);
    const claimed = (await claimAtOnce(nodes, RULES)).map(({ message }) => message.email.slice(0, 3));
    expect(claimed.sort()).toEqual(["v.0", "v.1", "v.2"]);
    expect(await nodes[1].countDeliveries("acknowledgement", NOON)).toMatchObject({
      queued: 0,
      sending: 3,
      skipped: 237,
    });
  });

  test("two nodes at once send no more than the limit of all", async () => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open()] as const;
    await deliverMany(place, nodes[0], 240, (count) => `visitor${count}@example.com`);
    expect(await claimAtOnce(nodes, { ...RULES, perHour: 5 })).toHaveLength(5);
  });
}
