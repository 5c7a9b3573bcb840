import { expect, test } from "vitest";
import { REFERENCE_PATTERN } from "../../contract/send-email-answer.ts";
import {
  client,
  DAY_MS,
  estimateOf,
  finish,
  HOUR_MS,
  LIMITED,
  later,
  MINUTE_MS,
  messageWith,
  type NewPlace,
  NO_LIMITS,
  NOON,
  referenceOf,
  store,
  submissionOf,
} from "./samples.ts";

export function acceptingSuite(newPlace: NewPlace): void {
  test("stores a message word for word, queued and due at once, under a short reference", async () => {
    const place = await newPlace();
    const node = await place.open();
    const message = messageWith({ name: "Zoë O'Neill 🌍", message: "Two\nlines, \"quotes\", \\ and $1 'x'); --" });
    const acceptance = await node.accept(submissionOf(message), NO_LIMITS, NOON);
    expect(acceptance).toEqual({
      kind: "stored",
      reference: expect.stringMatching(REFERENCE_PATTERN),
      state: "queued",
    });
    expect(await node.find(referenceOf(acceptance))).toEqual({
      ...message,
      id: expect.any(Number),
      reference: referenceOf(acceptance),
      state: "queued",
      acceptedAt: NOON,
      stateChangedAt: NOON,
      dueAt: NOON,
      attempts: 0,
      lastError: null,
      isRestricted: false,
      answeredAt: null,
      notifiedAt: null,
      quarantineReason: null,
      footprint: null,
      acknowledgement: null,
      hook: null,
      version: expect.any(String),
    });
  });

  test("keeps an estimate to the digit, with everything that explains it", async () => {
    const node = await (await newPlace()).open();
    const everything = {
      electricityKwh: 0.1 + 0.2,
      gasKwh: 1e10,
      heatingOilLitres: 1 / 3,
      lpgLitres: 0,
      carKm: 12_345.678,
      railKm: 1,
      coachKm: 2,
      busKm: 3,
      taxiKm: 4,
      shortFlights: 5,
      longFlights: 6,
      hotelNights: 7,
    };
    const estimates = [estimateOf(everything, "IN"), estimateOf({ hotelNights: 1 }, ""), null];
    const references = await Promise.all(
      estimates.map((footprint) => store(node, submissionOf(messageWith(), { footprint }))),
    );
    const found = await Promise.all(references.map((reference) => node.find(reference)));
    expect(found.map((message) => message?.footprint)).toEqual(estimates);
    const claimed = await node.claim(9, MINUTE_MS, NOON);
    expect(claimed.map(({ message }) => message.footprint?.totalKg)).toEqual(estimates.map((one) => one?.totalKg));
  });

  test("takes the same words with other inputs for another message, and in another order for the same", async () => {
    const node = await (await newPlace()).open();
    const message = messageWith();
    const send = (footprint: Record<string, unknown> | null, rest = {}) =>
      node.accept(
        submissionOf(message, { ...rest, footprint: footprint && estimateOf(footprint) }),
        NO_LIMITS,
        later(MINUTE_MS),
      );
    const keyed = { idempotencyKey: "k1", networks: client("ada") };
    const first = referenceOf(await send({ carKm: 100, gasKwh: 5 }, keyed));
    expect(await send({ gasKwh: 5, carKm: 100, carFuel: "petrol" })).toEqual({ kind: "repeated", reference: first });
    expect(await send({ gasKwh: "5", carKm: "100" }, keyed)).toEqual({ kind: "repeated", reference: first });
    expect(await send({ carKm: 100, gasKwh: 6 }, keyed)).toEqual({ kind: "key-reused" });
    expect(await send(null, keyed)).toEqual({ kind: "key-reused" });
    expect(await send({ carKm: 100, gasKwh: 6 })).toMatchObject({ kind: "stored" });
    expect(await send({ carKm: 100, gasKwh: 5, carFuel: "diesel" })).toMatchObject({ kind: "stored" });
    const without = await send(null);
    expect(without).toMatchObject({ kind: "stored" });
    expect(await send(null)).toEqual({ kind: "repeated", reference: referenceOf(without) });
    expect(await node.list({})).toHaveLength(4);
  });

  test("has committed when it answers: another node sees every message of a batch", async () => {
    const place = await newPlace();
    const [node, other] = await Promise.all([place.open(), place.open()]);
    const accepted = await Promise.all(Array.from({ length: 600 }, () => store(node)));
    expect(new Set(accepted).size).toBe(600);
    expect(new Set((await other.list({})).map((message) => message.reference))).toEqual(new Set(accepted));
  });

  test("answers a key that comes again with the first reference, even after quarantine or delivery", async () => {
    const node = await (await newPlace()).open();
    const message = messageWith();
    const trapped = submissionOf(message, { idempotencyKey: "k1", isTrapped: true });
    const reference = await store(node, trapped);
    expect(await node.accept(trapped, NO_LIMITS, later(3 * DAY_MS))).toEqual({ kind: "repeated", reference });
    await node.act("release", { references: [reference] }, NOON);
    await finish(node, "delivered");
    expect(await node.accept(trapped, NO_LIMITS, later(3 * DAY_MS))).toEqual({ kind: "repeated", reference });
  });

  test("lets a stranger's key be a key of its own: it can neither block nor find another's", async () => {
    const node = await (await newPlace()).open();
    const reference = await store(node, submissionOf(messageWith(), { idempotencyKey: "k1", networks: client("ada") }));
    const stranger = submissionOf(messageWith(), { idempotencyKey: "k1", networks: client("eve") });
    const answer = await node.accept(stranger, NO_LIMITS, NOON);
    expect(answer).toMatchObject({ kind: "stored" });
    expect(referenceOf(answer)).not.toBe(reference);
    expect(await node.accept(stranger, NO_LIMITS, later(DAY_MS))).toMatchObject({ kind: "repeated" });
  });

  test("finds a key's message from another network too, when the words are the same", async () => {
    const node = await (await newPlace()).open();
    const message = messageWith();
    const reference = await store(node, submissionOf(message, { idempotencyKey: "k1", networks: client("wifi") }));
    const again = submissionOf(message, { idempotencyKey: "k1", networks: client("mobile") });
    expect(await node.accept(again, NO_LIMITS, later(DAY_MS))).toEqual({ kind: "repeated", reference });
  });

  test("remembers the key of a repeat by words, for these words and no others", async () => {
    const node = await (await newPlace()).open();
    const message = messageWith();
    const reference = await store(node, submissionOf(message));
    const keyed = submissionOf(message, { idempotencyKey: "k1" });
    expect(await node.accept(keyed, NO_LIMITS, later(MINUTE_MS))).toEqual({ kind: "repeated", reference });
    const others = submissionOf(messageWith(), { idempotencyKey: "k1" });
    expect(await node.accept(others, NO_LIMITS, later(MINUTE_MS))).toEqual({ kind: "key-reused" });
    expect(await node.accept(keyed, NO_LIMITS, later(HOUR_MS))).toEqual({ kind: "repeated", reference });
    expect(await node.list({})).toHaveLength(1);
  });

  test("does not tell a limited client that somebody else sent the same words", async () => {
    const node = await (await newPlace()).open();
    const secret = messageWith();
    await store(node, submissionOf(secret, { networks: client("ada") }));
    const guess = (message = messageWith()) =>
      node.accept(submissionOf(message, { networks: client("eve") }), LIMITED, NOON);
    await guess();
    await guess();
    expect(await guess(secret)).toMatchObject({ kind: "limited" });
  });

  test("forgets the keys of messages that are gone", async () => {
    const place = await newPlace();
    const node = await place.open();
    const send = (email: string) =>
      store(node, submissionOf(messageWith({ email }), { idempotencyKey: email, networks: client("c") }));
    const [, deleted] = [await send("a@example.com"), await send("b@example.com")];
    await send("c@example.com");
    await node.erase("a@example.com");
    expect(await node.act("delete", { references: [deleted.toLowerCase()] }, NOON)).toEqual([deleted]);
    expect(await node.act("delete", { references: [deleted] }, NOON)).toEqual([]);
    expect(await place.sql("SELECT * FROM message_keys")).toHaveLength(1);
  });

  test("takes the same words for the same message within ten minutes, not after, and not when fields differ", async () => {
    const node = await (await newPlace()).open();
    const message = messageWith({ name: "ab", phone: "c" });
    const reference = await store(node, submissionOf(message));
    const again = await node.accept(submissionOf(message), NO_LIMITS, later(10 * MINUTE_MS - 1));
    expect(again).toEqual({ kind: "repeated", reference });
    expect(await node.accept(submissionOf(message), NO_LIMITS, later(10 * MINUTE_MS))).toMatchObject({
      kind: "stored",
    });
    const shifted = submissionOf({ ...message, name: "a", phone: "bc" });
    expect(await node.accept(shifted, NO_LIMITS, NOON)).toMatchObject({ kind: "stored" });
  });

  test("stores one row when the same key or the same words reach two nodes at once", async () => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open()] as const;
    const keyed = submissionOf(messageWith(), { idempotencyKey: "k1" });
    const words = submissionOf();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? nodes[0] : nodes[1])).flatMap((node) => [
        node.accept(keyed, NO_LIMITS, NOON),
        node.accept(words, NO_LIMITS, NOON),
      ]),
    );
    expect(answers.filter((answer) => answer.kind === "stored")).toHaveLength(2);
    expect(answers.filter((answer) => answer.kind === "repeated")).toHaveLength(38);
    expect(new Set(answers.map(referenceOf)).size).toBe(2);
    expect(await nodes[0].list({})).toHaveLength(2);
  });

  test("limits a client over each window, says how long, and stores nothing then", async () => {
    const node = await (await newPlace()).open();
    const send = (atMs: number, name = "client") =>
      node.accept(submissionOf(messageWith(), { networks: client(name) }), LIMITED, later(atMs));
    expect(await send(0)).toMatchObject({ kind: "stored" });
    expect(await send(MINUTE_MS)).toMatchObject({ kind: "stored" });
    expect(await send(2 * MINUTE_MS)).toEqual({ kind: "limited", retryAfterMs: 8 * MINUTE_MS });
    expect(await send(2 * MINUTE_MS, "neighbour")).toMatchObject({ kind: "stored" });
    expect(await send(10 * MINUTE_MS - 1)).toEqual({ kind: "limited", retryAfterMs: 1 });
    expect(await send(10 * MINUTE_MS)).toMatchObject({ kind: "stored" });
    expect(await send(2 * HOUR_MS)).toEqual({ kind: "limited", retryAfterMs: 22 * HOUR_MS });
    expect(await send(DAY_MS)).toMatchObject({ kind: "stored" });
    expect(await node.list({})).toHaveLength(5);
  });

  test("holds back what comes from a wide network beyond its limit, which is higher than a client's", async () => {
    const place = await newPlace();
    const node = await place.open();
    const rules = { ...NO_LIMITS, rateLimits: [{ count: 2, windowMs: 10 * MINUTE_MS }] };
    const send = (name: string, wide: string) => {
      const networks = [...client(name), { hash: wide, allowance: 3 }];
      return node.accept(submissionOf(messageWith(), { networks }), rules, NOON);
    };
    for (let turn = 0; turn < 6; turn += 1) expect(await send(`c${turn}`, "wide")).toMatchObject({ kind: "stored" });
    const held = await send("c6", "wide");
    expect(held).toMatchObject({ kind: "stored", state: "quarantined" });
    expect(await node.find(referenceOf(held))).toMatchObject({ quarantineReason: "network-limit" });
    expect(await send("c7", "elsewhere")).toMatchObject({ kind: "stored", state: "queued" });
    for (let turn = 8; turn < 30; turn += 1) await send(`c${turn}`, "wide");
    // It remembers no more of a flooding network than its limit needs.
    expect(await place.sql("SELECT * FROM client_hits WHERE client_hash = 'wide'")).toHaveLength(6);
  });

  test("lets a repeated message pass without counting it against the client", async () => {
    const node = await (await newPlace()).open();
    const submission = submissionOf(messageWith(), { networks: client("client") });
    for (let turn = 0; turn < 5; turn += 1) await node.accept(submission, LIMITED, NOON);
    const another = submissionOf(messageWith(), { networks: client("client") });
    expect(await node.accept(another, LIMITED, NOON)).toMatchObject({ kind: "stored" });
  });

  test("shares a client's limit between nodes, however many messages come at once", async () => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open()] as const;
    const rules = { ...NO_LIMITS, rateLimits: [{ count: 5, windowMs: 10 * MINUTE_MS }] };
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, turn) =>
        (turn % 2 === 0 ? nodes[0] : nodes[1]).accept(
          submissionOf(messageWith(), { networks: client("c") }),
          rules,
          NOON,
        ),
      ),
    );
    expect(answers.filter((answer) => answer.kind === "stored")).toHaveLength(5);
    expect(answers.filter((answer) => answer.kind === "limited")).toHaveLength(35);
  });

  test("holds back what is trapped, and what is beyond the hourly limit of all nodes together", async () => {
    const place = await newPlace();
    const nodes = [await place.open(), await place.open()] as const;
    const rules = { ...NO_LIMITS, hourlyLimit: 3 };
    const states = async (count: number, atMs: number, isTrapped = false) => {
      const answers = await Promise.all(
        Array.from({ length: count }, (_, turn) =>
          (turn % 2 === 0 ? nodes[0] : nodes[1]).accept(submissionOf(messageWith(), { isTrapped }), rules, later(atMs)),
        ),
      );
      return answers.map((answer) => (answer.kind === "stored" ? answer.state : answer.kind)).sort();
    };
    const held = "quarantined";
    expect(await states(4, 0, true)).toEqual([held, held, held, held]);
    expect(await states(5, 0)).toEqual([held, held, "queued", "queued", "queued"]);
    expect(await states(1, HOUR_MS - 1)).toEqual([held]);
    expect(await states(1, HOUR_MS)).toEqual(["queued"]);
    expect(await nodes[0].claim(20, MINUTE_MS, later(HOUR_MS))).toHaveLength(4);
  });

  test("draws another reference when one is taken", async () => {
    const draws = ["BC-0000-00", "BC-0000-00", "BC-0000-01", "BC-0000-01", "BC-0000-00", "BC-0000-02"];
    const node = await (await newPlace()).open({ drawReference: () => draws.shift() ?? "BC-ZZZZ-ZZ" });
    const references = [await store(node), await store(node), await store(node)];
    expect(references).toEqual(["BC-0000-00", "BC-0000-01", "BC-0000-02"]);
  });

  test("rejects a submission that cannot be stored without harming those beside it", async () => {
    const node = await (await newPlace()).open();
    const answers = await Promise.allSettled([
      store(node),
      store(node, submissionOf(), new Date(Number.NaN)),
      store(node),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await node.list({})).toHaveLength(2);
  });

  test("goes on when the clock is set back: nobody is locked out, nothing is lost", async () => {
    const node = await (await newPlace()).open();
    const send = (at: Date) => node.accept(submissionOf(messageWith(), { networks: client("client") }), LIMITED, at);
    for (const minutes of [0, 1, 2]) await send(later(3 * DAY_MS + minutes * MINUTE_MS));
    expect(await send(NOON)).toMatchObject({ kind: "stored" });
    // What was due in three days was due before the clock was set back; it goes out now, like the rest.
    expect(await node.claim(2, MINUTE_MS, NOON)).toHaveLength(2);
    expect(await node.claim(5, MINUTE_MS, NOON)).toHaveLength(1);
    expect(await node.claim(5, MINUTE_MS, NOON)).toHaveLength(0);
  });
}
