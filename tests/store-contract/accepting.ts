import { expect } from "vitest";
import { REFERENCE_PATTERN } from "../../contract/send-email-answer.ts";
import type { Acceptance, Submission } from "../../server/store/intake.ts";
import type { Store } from "../../server/store/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { acrossNodes, type ContractTest, get } from "./place.ts";
import {
  act,
  claimOne,
  client,
  estimateOf,
  finish,
  LIMITED,
  later,
  messageWith,
  NO_LIMITS,
  NOON,
  referenceOf,
  store,
  storedWith,
  submissionOf,
  withChannels,
} from "./samples.ts";

const STORED = { kind: "stored" };

/** Sends the given message, or a new one. */
function send(
  node: Store,
  { now = NOON, message = messageWith(), ...rest }: Partial<Submission> & { now?: Date } = {},
): Promise<Acceptance> {
  return node.intake.accept(submissionOf(message, rest), now);
}

export function acceptingSuite(test: ContractTest): void {
  test("stores a message exactly, due at once on each channel, with a short reference", async ({ place }) => {
    const node = await place.open({ rules: withChannels("mail", "hook") });
    const message = messageWith({ name: "Zoë O'Neill 🌍", message: "Two\nlines, \"quotes\", \\ and $1 'x'); --" });
    const acceptance = await send(node, { message });
    const reference = referenceOf(acceptance);
    expect(acceptance).toEqual({ kind: "stored", reference, state: "queued" });
    expect(reference).toMatch(REFERENCE_PATTERN);
    const { mail } = storedWith().deliveries;
    expect(await node.messages.find(reference)).toEqual({
      ...storedWith({ ...message, reference, deliveries: { mail, hook: mail } }),
      id: expect.any(Number),
      version: expect.any(String),
    });
  });

  test("stores an estimate without rounding, with everything that explains it", async ({ node }) => {
    const inputs = {
      electricityKwh: 0.1 + 0.2,
      gasKwh: 1e10,
      heatingOilLitres: 1 / 3,
      lpgLitres: 0,
      carKm: 12_345.678,
    };
    for (const footprint of [estimateOf(inputs, "IN"), estimateOf({ hotelNights: 1 }, ""), null]) {
      await send(node, { footprint });
      expect((await claimOne(node)).message.footprint).toEqual(footprint);
    }
  });

  test("commits before it resolves, so that another node sees every message of a batch", async ({ node, other }) => {
    const accepted = await Promise.all(Array.from({ length: 600 }, () => store(node)));
    expect(new Set(accepted).size).toBe(600);
    expect(new Set((await other.messages.list({})).map((message) => message.reference))).toEqual(new Set(accepted));
  });

  test("answers a repeated key with the first reference, in any network and state", async ({ node }) => {
    const again = { message: messageWith(), idempotencyKey: "k1", isTrapped: true, now: later(3 * DAY_MS) };
    const reference = referenceOf(await send(node, { ...again, networks: client("wifi"), now: NOON }));
    expect(await send(node, { ...again, networks: client("mobile") })).toEqual({ kind: "repeated", reference });
    await act(node, "release", [reference]);
    await finish(node, "delivered");
    expect(await send(node, { ...again, networks: client("wifi") })).toEqual({ kind: "repeated", reference });
    expect(await send(node, { idempotencyKey: "k1", networks: client("wifi") })).toEqual({ kind: "key-reused" });
    // Another client's key is independent: it can neither block nor find this key.
    const stranger = { message: messageWith(), idempotencyKey: "k1", networks: client("eve") };
    const strangers = referenceOf(await send(node, stranger));
    expect(strangers).not.toBe(reference);
    expect(await send(node, { ...stranger, now: again.now })).toEqual({ kind: "repeated", reference: strangers });
  });

  test("treats the same text as one message for ten minutes, unless a field differs", async ({ node }) => {
    const message = messageWith({ name: "ab", phone: "c" });
    const reference = referenceOf(await send(node, { message }));
    expect(await send(node, { message, now: later(10 * MINUTE_MS - 1) })).toEqual({ kind: "repeated", reference });
    expect(await send(node, { message, now: later(10 * MINUTE_MS) })).toMatchObject(STORED);
    expect(await send(node, { message: { ...message, name: "a", phone: "bc" } })).toMatchObject(STORED);
    const withEstimate = async (inputs: Record<string, unknown>) =>
      (await send(node, { message, footprint: estimateOf(inputs) })).kind;
    expect(await withEstimate({ carKm: 100, gasKwh: 5 })).toBe("stored");
    expect(await withEstimate({ gasKwh: "5", carKm: "100", carFuel: "petrol" })).toBe("repeated");
    expect(await withEstimate({ carKm: 100, gasKwh: 6 })).toBe("stored");
  });

  test("stores one row if the same key or the same text reaches two nodes at once", async ({ node, other }) => {
    const [keyed, words] = [{ message: messageWith(), idempotencyKey: "k1" }, { message: messageWith() }];
    const answers = await acrossNodes([node, other], 40, (one, turn) => send(one, turn % 4 < 2 ? keyed : words));
    expect(answers.filter(({ kind }) => kind === "stored")).toHaveLength(2);
    expect(answers.filter(({ kind }) => kind === "repeated")).toHaveLength(38);
    expect(new Set(answers.map(referenceOf)).size).toBe(2);
    expect(await node.messages.list({})).toHaveLength(2);
  });

  test("limits a client in each window, returns the waiting time, and stores nothing", async ({ place }) => {
    const node = await place.open({ rules: LIMITED });
    const sendAt = (atMs: number, name = "client") => send(node, { networks: client(name), now: later(atMs) });
    expect(await sendAt(0)).toMatchObject(STORED);
    expect(await sendAt(MINUTE_MS)).toMatchObject(STORED);
    expect(await sendAt(2 * MINUTE_MS)).toEqual({ kind: "limited", retryAfterMs: 8 * MINUTE_MS });
    expect(await sendAt(2 * MINUTE_MS, "neighbour")).toMatchObject(STORED);
    expect(await sendAt(10 * MINUTE_MS - 1)).toEqual({ kind: "limited", retryAfterMs: 1 });
    expect(await sendAt(10 * MINUTE_MS)).toMatchObject(STORED);
    expect(await sendAt(2 * HOUR_MS)).toEqual({ kind: "limited", retryAfterMs: 22 * HOUR_MS });
    expect(await sendAt(DAY_MS)).toMatchObject(STORED);
    expect(await node.messages.list({})).toHaveLength(5);
  });

  test("does not count repeats, and reveals nothing about other messages to a limited client", async ({ place }) => {
    const node = await place.open({ rules: LIMITED });
    const secret = messageWith();
    await send(node, { message: secret, networks: client("ada") });
    const eve = { networks: client("eve") };
    const again = { ...eve, message: messageWith() };
    for (let turn = 0; turn < 5; turn += 1) await send(node, again);
    expect(await send(node, eve)).toMatchObject(STORED);
    expect(await send(node, { ...eve, message: secret })).toMatchObject({ kind: "limited" });
  });

  test("quarantines messages above the higher limit of a wide network", async ({ place }) => {
    const rateLimits = [{ count: 2, windowMs: 10 * MINUTE_MS }];
    const node = await place.open({ rules: { ...NO_LIMITS, rateLimits } });
    const sendFrom = async (name: number, wide = "wide") => {
      const networks = [...client(`c${name}`), { hash: wide, allowance: 3 }];
      const { state, quarantineReason } = await get(node, referenceOf(await send(node, { networks })));
      return quarantineReason ?? state;
    };
    for (let turn = 0; turn < 6; turn += 1) expect(await sendFrom(turn)).toBe("queued");
    for (let turn = 6; turn < 20; turn += 1) expect(await sendFrom(turn)).toBe("network-limit");
    expect(await sendFrom(20, "elsewhere")).toBe("queued");
    // Stores only as many hits of a flooding network as its limit needs.
    expect(await place.sql("SELECT * FROM hits WHERE hash = 'wide'")).toHaveLength(6);
  });

  test("shares a client's limit between nodes, for any number of simultaneous messages", async ({ place }) => {
    const rules = { ...NO_LIMITS, rateLimits: [{ count: 5, windowMs: 10 * MINUTE_MS }] };
    const nodes = [await place.open({ rules }), await place.open({ rules })] as const;
    const answers = await acrossNodes(nodes, 40, (one) => send(one, { networks: client("c") }));
    expect(answers.filter(({ kind }) => kind === "stored")).toHaveLength(5);
    expect(answers.filter(({ kind }) => kind === "limited")).toHaveLength(35);
  });

  test("quarantines trapped messages, and those above the hourly limit of all nodes", async ({ place }) => {
    const rules = { ...NO_LIMITS, hourlyLimit: 3 };
    const [node, other] = [await place.open({ rules }), await place.open({ rules })];
    const reasons = async (count: number, atMs: number, isTrapped = false) => {
      const answers = await acrossNodes([node, other], count, (one) => send(one, { isTrapped, now: later(atMs) }));
      const stored = await node.messages.list({ references: answers.map(referenceOf) });
      return stored.map(({ state, quarantineReason }) => quarantineReason ?? state).sort();
    };
    expect(await reasons(4, 0, true)).toEqual(["trap", "trap", "trap", "trap"]);
    expect(await reasons(5, 0)).toEqual(["hourly-limit", "hourly-limit", "queued", "queued", "queued"]);
    expect(await reasons(1, HOUR_MS - 1)).toEqual(["hourly-limit"]);
    expect(await reasons(1, HOUR_MS)).toEqual(["queued"]);
    expect(await node.queue.claim("mail", 20, MINUTE_MS, later(HOUR_MS))).toHaveLength(4);
  });

  test("rejects a submission that cannot be stored, and stores the others in its batch", async ({ node }) => {
    const answers = await Promise.allSettled([NOON, new Date(Number.NaN), NOON].map((now) => send(node, { now })));
    expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await node.messages.list({})).toHaveLength(2);
  });

  test("locks out no client after the clock is set back", async ({ place }) => {
    const node = await place.open({ rules: LIMITED });
    const limited = { networks: client("client") };
    for (const minutes of [0, 1, 2]) await send(node, { ...limited, now: later(3 * DAY_MS + minutes * MINUTE_MS) });
    await node.queue.repairTimes(NOON);
    expect(await send(node, limited)).toMatchObject(STORED);
  });
}
