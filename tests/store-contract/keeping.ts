import { rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { FootprintEstimate } from "../../contract/footprint.ts";
import { keptUntil } from "../../server/store/retention.ts";
import {
  type Claim,
  type Store,
  type StoredMessage,
  StoreRefused,
  StoreUnavailable,
} from "../../server/store/store.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
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
  NOON,
  referenceOf,
  reportEnding,
  store,
  submissionOf,
} from "./samples.ts";

const RETENTION = { deliveredMs: 30 * DAY_MS, failedMs: 30 * DAY_MS, quarantinedMs: 30 * DAY_MS };

async function found(node: Store, reference: string): Promise<StoredMessage> {
  const message = await node.find(reference);
  if (!message) throw new Error(`${reference} is gone`);
  return message;
}

const isAbout =
  (reference: string) =>
  ({ message }: Claim) =>
    message.reference === reference;

export function keepingSuite(newPlace: NewPlace): void {
  test("lists newest first, by state, address, age and number", async () => {
    const node = await (await newPlace()).open();
    const first = await store(node, submissionOf(messageWith({ email: "Bob@Example.com" })));
    await finish(node, "delivered");
    const second = await store(node, submissionOf(), later(HOUR_MS));
    const third = await store(node, submissionOf(), later(HOUR_MS));
    const references = async (filter: Parameters<typeof node.list>[0]) =>
      (await node.list(filter)).map((message) => message.reference);
    expect(await references({})).toEqual([third, second, first]);
    expect(await references({ limit: 1 })).toEqual([third]);
    expect(await references({ state: "delivered" })).toEqual([first]);
    expect(await references({ email: " bob@example.COM " })).toEqual([first]);
    expect(await references({ since: later(HOUR_MS) })).toEqual([third, second]);
    expect(await references({ since: later(1), state: "delivered", limit: 5 })).toEqual([]);
  });

  test("finds a reference in any case, and as it is misread", async () => {
    const node = await (await newPlace()).open({ drawReference: () => "LO-10AB-01" });
    const reference = await store(node);
    expect(await node.find("lo-1oab-oi")).toMatchObject({ reference });
    expect(await node.find("LO-10AB-02")).toBeNull();
  });

  test("counts by day and country", async () => {
    const node = await (await newPlace()).open();
    await store(node, submissionOf(messageWith({ country: "DE" })), later(-DAY_MS));
    await store(node, submissionOf(messageWith({ country: "" })), later(11 * HOUR_MS));
    await store(node, submissionOf(messageWith({ country: "DE" })), NOON);
    await store(node, submissionOf(messageWith({ country: "DE" })), later(11 * HOUR_MS));
    expect(await node.countByDayAndCountry(later(-DAY_MS + 1))).toEqual([
      { day: "2025-06-15", country: "", count: 1 },
      { day: "2025-06-15", country: "DE", count: 2 },
    ]);
  });

  test("knows by its servers' signs of life whether the website runs, and since when it does not", async () => {
    const place = await newPlace();
    const [first, second, reader] = [await place.open(), await place.open(), await place.open()];
    const status = () => reader.websiteStatus(new Date());
    const isNow = expect.closeTo(Date.now(), -5);
    const age = (ms: number) =>
      place.sql(`UPDATE store_meta SET value = CAST(CAST(value AS BIGINT) - ${ms} AS TEXT) WHERE name LIKE 'server_%'`);
    expect(await status()).toEqual({ isRunning: false, lastSeenAt: null });
    await first.markRunning(new Date());
    await first.markRunning(new Date());
    const { isRunning, lastSeenAt } = await status();
    expect([isRunning, lastSeenAt?.getTime()]).toEqual([true, isNow]);

    // With one database for several nodes, one that stops says nothing of the others.
    await second.markRunning(new Date());
    await second.markStopped(new Date());
    expect((await status()).isRunning).toBe(place.isShared);
    await first.markStopped(new Date());
    const stopped = await status();
    expect([stopped.isRunning, stopped.lastSeenAt?.getTime()]).toEqual([false, isNow]);

    // One that died leaves no word, and the next one is not taken for it.
    await first.markRunning(new Date());
    await age(2 * MINUTE_MS);
    expect((await status()).isRunning).toBe(true);
    await age(MINUTE_MS);
    expect(await status()).toEqual({ isRunning: false, lastSeenAt: expect.any(Date) });
    await age(HOUR_MS);
    await second.markRunning(new Date());
    expect((await status()).isRunning).toBe(true);
    expect(await place.sql("SELECT name FROM store_meta WHERE name LIKE 'server_running%'")).toHaveLength(1);
  });

  test("rectifies only what is given, in all messages of an address", async () => {
    const node = await (await newPlace()).open();
    const mine = [messageWith({ email: "Ada@Example.com" }), messageWith({ email: "ada@example.com", country: "FR" })];
    for (const message of mine) await store(node, submissionOf(message));
    await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    expect(await node.rectify("ADA@example.com", { name: "Ada King", country: "" }, NOON)).toBe(2);
    expect(await node.list({ email: "ada@example.com" })).toMatchObject([
      { ...mine[1], name: "Ada King", country: "" },
      { ...mine[0], name: "Ada King", country: "" },
    ]);
    expect(await node.list({ email: "eve@example.com" })).toMatchObject([{ name: "Ada Lovelace", country: "GB" }]);
    expect(await node.rectify("nobody@example.com", { name: "X" }, NOON)).toBe(0);
  });

  test("stores corrected estimates with the correction, or neither", async () => {
    const place = await newPlace();
    const node = await place.open();
    const send = (footprint: FootprintEstimate | null, email = "ada@example.com") =>
      store(node, submissionOf(messageWith({ email }), { footprint }));
    const references = [await send(estimateOf({ carKm: 1 })), await send(null), await send(estimateOf({ busKm: 1 }))];
    const other = await send(estimateOf({ taxiKm: 1 }), "eve@example.com");
    const [first = "", second = "", third = ""] = references;
    const versions = (await node.list({ email: "ada@example.com" })).map(({ version }) => version);
    const corrected = estimateOf({ carKm: 1 }, "FR");
    const footprints = new Map<string, FootprintEstimate | null>([
      [first, null],
      [second, null],
      [third, corrected],
    ]);
    const rectify = () => node.rectify("ADA@example.com", { country: "FR" }, later(1), versions, footprints);
    await node.act("answer", { references: [second] }, NOON);
    expect(await rectify()).toBe(0);
    expect((await node.find(third))?.footprint).toEqual(estimateOf({ busKm: 1 }));
    await node.act("unanswer", { references: [second] }, NOON);
    expect(await rectify()).toBe(3);
    const after = await Promise.all([first, second, third, other].map((reference) => node.find(reference)));
    expect(after.map((message) => [message?.country, message?.footprint])).toEqual([
      ["FR", null],
      ["FR", null],
      ["FR", corrected],
      ["GB", estimateOf({ taxiKm: 1 })],
    ]);
    expect(await node.history(first)).toMatchObject([{ kind: "corrected" }]);
    expect(await node.rectify("ada@example.com", { name: "Ada King" }, later(2))).toBe(3);
    expect((await node.find(third))?.footprint).toEqual(corrected);
  });

  test("neither mails nor purges a restricted message until the restriction is lifted", async () => {
    const node = await (await newPlace()).open();
    const kept = { deliveredMs: DAY_MS, failedMs: DAY_MS, quarantinedMs: DAY_MS };
    await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    await finish(node, "delivered");
    const reference = await store(node);
    expect(await node.restrict("ADA@example.com", true, NOON)).toBe(1);
    expect(await node.restrict("eve@example.com", true, NOON)).toBe(1);
    expect(await node.claim(5, MINUTE_MS, later(HOUR_MS))).toEqual([]);
    expect(await node.dueInMs(NOON)).toBeNull();
    expect(await node.purge(kept, later(9 * DAY_MS))).toEqual([]);
    expect((await node.list({})).map((message) => message.isRestricted)).toEqual([true, true]);
    expect(await node.restrict("ada@example.com", false, NOON)).toBe(1);
    expect(await node.claim(5, MINUTE_MS, later(HOUR_MS))).toMatchObject([{ message: { reference } }]);
  });

  test("erases all messages of an address and no other's", async () => {
    const node = await (await newPlace()).open();
    const references = [
      await store(node, submissionOf(messageWith({ email: "Ada@Example.com" }))),
      await store(node, submissionOf(messageWith({ email: "ada@example.com" }), { isTrapped: true })),
    ];
    const other = await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    expect((await node.erase("ADA@example.com")).sort()).toEqual(references.sort());
    expect(await node.erase("ada@example.com")).toEqual([]);
    expect(await node.list({})).toMatchObject([{ reference: other }]);
  });

  test("remembers the reference of whatever is erased, purged or deleted, and nothing else of it", async () => {
    const place = await newPlace();
    const node = await place.open();
    const purged = await store(node);
    await finish(node, "delivered");
    const erased = await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    const [deleted, kept] = [await store(node), await store(node)];
    const all = [purged, erased, deleted, kept];
    expect(await node.erasedReferences(all)).toEqual([]);
    expect(await node.purge({ deliveredMs: 1, failedMs: null, quarantinedMs: null }, later(HOUR_MS))).toEqual([purged]);
    await node.erase("eve@example.com");
    await node.act("delete", { references: [deleted] }, NOON);
    expect((await node.erasedReferences(all)).sort()).toEqual([purged, erased, deleted].sort());
    expect(await node.existingReferences(all)).toEqual([kept]);
    const [row] = (await place.sql("SELECT * FROM erased_references")) as { erased_at: number }[];
    expect(Object.keys(row ?? {})).toEqual(["reference", "erased_at"]);
    expect(Math.abs(Number(row?.erased_at) - Date.now())).toBeLessThan(HOUR_MS);
    // As a node of the version before does, which knows nothing of this.
    await place.sql(`DELETE FROM messages WHERE reference = '${kept}'`);
    expect(await node.erasedReferences(all)).toHaveLength(4);
  });

  test("forgets what was erased after 400 days", async () => {
    const place = await newPlace();
    const node = await place.open();
    const [old, recent] = [later(-400 * DAY_MS).getTime(), later(-399 * DAY_MS).getTime()];
    await place.sql(`INSERT INTO erased_references VALUES ('BC-AAAA-AA', ${old}), ('BC-BBBB-BB', ${recent})`);
    await node.purge({ deliveredMs: null, failedMs: null, quarantinedMs: null }, NOON);
    expect(await node.erasedReferences(["BC-AAAA-AA", "BC-BBBB-BB"])).toEqual(["BC-BBBB-BB"]);
  });

  test("purges each state after its own time, counted from when it was reached, and never what is queued", async () => {
    const place = await newPlace();
    const node = await place.open();
    const limited = submissionOf(messageWith(), { networks: client("client") });
    const delivered = referenceOf(await node.accept(limited, LIMITED, NOON));
    await finish(node, "delivered", later(HOUR_MS));
    const failed = await store(node);
    await finish(node, "failed");
    const trapped = await store(node, submissionOf(messageWith(), { isTrapped: true }));
    const queued = await store(node);
    const retention = { deliveredMs: DAY_MS, failedMs: 2 * DAY_MS, quarantinedMs: null };
    await reportEnding(node, { ...retention, quarantinedMs: 2 * DAY_MS }, later(DAY_MS));
    expect(await node.purge(retention, later(DAY_MS))).toEqual([]);
    expect(await place.sql("SELECT * FROM client_hits")).toHaveLength(0);
    expect(await node.purge(retention, later(DAY_MS + HOUR_MS))).toEqual([delivered]);
    expect(await node.purge(retention, later(2 * DAY_MS))).toEqual([failed]);
    expect(await node.purge(retention, later(999 * DAY_MS))).toEqual([]);
    expect(await node.purge({ ...retention, quarantinedMs: DAY_MS }, later(999 * DAY_MS))).toEqual([trapped]);
    expect(await node.list({})).toMatchObject([{ reference: queued }]);
  });

  test("purges what reached nobody only a week after an alert has told of it, and of each message once", async () => {
    const node = await (await newPlace()).open();
    const failed = await store(node);
    await finish(node, "failed");
    const trapped = await store(node, submissionOf(messageWith(), { isTrapped: true }));
    const seen = await store(node, submissionOf(messageWith(), { isTrapped: true }));
    await node.markSeen(seen, later(HOUR_MS));
    const answered = await store(node);
    await finish(node, "failed");
    await node.act("answer", { references: [answered] }, NOON);
    expect(await node.findEnding(RETENTION, later(22 * DAY_MS - 1))).toMatchObject({ count: 0 });
    // Longer than ever: nothing was reported.
    expect((await node.purge(RETENTION, later(200 * DAY_MS))).sort()).toEqual([seen, answered].sort());
    expect(await reportEnding(node, RETENTION, later(200 * DAY_MS))).toMatchObject({
      count: 2,
      undelivered: 2,
      held: 0,
    });
    expect(await node.findEnding(RETENTION, later(201 * DAY_MS))).toMatchObject({ count: 0 });
    const late = await store(node, submissionOf(messageWith(), { isTrapped: true }), later(200 * DAY_MS));
    expect(await node.purge(RETENTION, later(207 * DAY_MS - 1))).toEqual([]);
    expect(keptUntil(await found(node, failed), RETENTION)).toEqual(later(207 * DAY_MS));
    expect((await node.purge(RETENTION, later(207 * DAY_MS))).sort()).toEqual([failed, trapped].sort());
    expect(await node.purge(RETENTION, later(300 * DAY_MS))).toEqual([]);
    expect(await node.list({})).toMatchObject([{ reference: late }]);
  });

  test("finds what nobody has answered eight days before its end, and again if it was queued again since", async () => {
    const node = await (await newPlace()).open();
    const delivered = await store(node);
    await finish(node, "delivered");
    const answered = await store(node);
    await finish(node, "delivered");
    await node.act("answer", { references: [answered] }, NOON);
    await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    await finish(node, "delivered");
    await node.restrict("eve@example.com", true, NOON);
    await store(node);
    expect(await node.findEnding(RETENTION, later(22 * DAY_MS - 1))).toMatchObject({ count: 0 });
    expect(await reportEnding(node, RETENTION, later(22 * DAY_MS))).toMatchObject({
      count: 1,
      undelivered: 0,
      held: 0,
    });
    expect(await node.findEnding(RETENTION, later(29 * DAY_MS))).toMatchObject({ count: 0 });
    await node.act("resend", { references: [delivered] }, later(29 * DAY_MS));
    const [claim] = await node
      .claim(2, MINUTE_MS, later(29 * DAY_MS))
      .then((claims) => claims.filter(isAbout(delivered)));
    if (claim) await node.markDelivered(claim, later(29 * DAY_MS));
    expect(await node.purge(RETENTION, later(51 * DAY_MS))).toEqual([answered]);
    expect(await node.findEnding(RETENTION, later(51 * DAY_MS))).toMatchObject({ count: 1 });
    expect(await node.purge(RETENTION, later(59 * DAY_MS))).toEqual([delivered]);
  });

  test("does not take a message for reported that reached its state after the alert was made", async () => {
    const node = await (await newPlace()).open();
    const short = { deliveredMs: null, failedMs: HOUR_MS, quarantinedMs: null };
    await store(node);
    await finish(node, "failed");
    const ending = await node.findEnding(short, later(1));
    await store(node);
    await finish(node, "failed", later(2));
    await node.markEndingReported(short, ending);
    expect(await node.findEnding(short, later(2))).toMatchObject({ count: 1 });
  });

  test("purges more than a tenth of all messages only a day after an alert", async () => {
    const node = await (await newPlace()).open();
    for (let count = 0; count < 21; count += 1) {
      await store(node);
      await finish(node, "delivered");
    }
    const references = (await node.list({})).map(({ reference }) => reference);
    await node.act("answer", { references }, NOON);
    expect(await node.findEnding(RETENTION, later(29 * DAY_MS))).toMatchObject({ count: 0 });
    expect(await node.purge(RETENTION, later(30 * DAY_MS))).toEqual([]);
    expect(await reportEnding(node, RETENTION, later(30 * DAY_MS))).toMatchObject({
      count: 21,
      undelivered: 0,
      held: 21,
    });
    expect(await node.purge(RETENTION, later(31 * DAY_MS - 1))).toEqual([]);
    expect(await node.purge(RETENTION, later(31 * DAY_MS))).toHaveLength(21);
  });

  test("purges a tenth of all messages, or twenty, as their time comes", async () => {
    const node = await (await newPlace()).open();
    for (let count = 0; count < 20; count += 1) {
      await store(node);
      await finish(node, "delivered");
    }
    expect(await node.purge(RETENTION, later(30 * DAY_MS))).toHaveLength(20);
  });

  test("trusts a clock that goes on from the newest change, and no other for a week", async () => {
    const place = await newPlace();
    const node = await place.open();
    expect(await node.judgeClock(NOON)).toBeNull();
    expect(await node.judgeClock(later(3 * DAY_MS))).toBeNull();
    const doubt = { newestChangeAt: later(3 * DAY_MS), trustedFrom: later(107 * DAY_MS) };
    expect(await node.judgeClock(later(100 * DAY_MS))).toEqual(doubt);
    expect(await node.judgeClock(later(100 * DAY_MS + HOUR_MS))).toEqual(doubt);
    // Set right again.
    expect(await node.judgeClock(later(3 * DAY_MS + HOUR_MS))).toBeNull();
    // A server that was off for long, and a clock that is right.
    for (let day = 50; day < 57; day += 1) expect(await node.judgeClock(later(day * DAY_MS))).not.toBeNull();
    expect(await node.judgeClock(later(57 * DAY_MS))).toBeNull();
    // Set back, then forward within the time of doubt: the week begins again.
    expect(await node.judgeClock(later(20 * DAY_MS))).toMatchObject({ newestChangeAt: later(57 * DAY_MS) });
    expect(await node.judgeClock(later(27 * DAY_MS))).toMatchObject({ trustedFrom: later(34 * DAY_MS) });
  });

  test("does not trust a clock that is before the newest message, until it has gone on for a week", async () => {
    const node = await (await newPlace()).open();
    await store(node, submissionOf(), later(100 * DAY_MS));
    expect(await node.judgeClock(later(100 * DAY_MS - 5 * MINUTE_MS))).toBeNull();
    const behind = await (await newPlace()).open();
    await store(behind, submissionOf(), later(100 * DAY_MS));
    for (let day = 0; day < 7; day += 1) {
      expect(await behind.judgeClock(later(day * DAY_MS))).toMatchObject({ newestChangeAt: later(100 * DAY_MS) });
    }
    for (let day = 7; day < 9; day += 1) expect(await behind.judgeClock(later(day * DAY_MS))).toBeNull();
  });

  test("searches name, address, phone, reference and words, in any case and literally", async () => {
    const node = await (await newPlace()).open();
    const reference = await store(
      node,
      submissionOf(
        messageWith({ name: "Grace Hopper", email: "g@navy.example", phone: "555 0199", message: "100% wind" }),
      ),
    );
    await store(node, submissionOf(messageWith({ message: "1000 winds" })));
    const found = async (search: string) => (await node.list({ search })).map((message) => message.reference);
    for (const words of ["hopper", "NAVY.example", "0199", reference.toLowerCase(), "100% W"]) {
      expect(await found(words)).toEqual([reference]);
    }
    expect(await found("100%_wind")).toEqual([]);
    expect(await found("wind")).toHaveLength(2);
  });

  test("purges many messages at once, and remembers a client for a day", async () => {
    const place = await newPlace();
    const node = await place.open();
    const trapped = Array.from({ length: 450 }, () => store(node, submissionOf(messageWith(), { isTrapped: true })));
    await Promise.all(trapped);
    await node.accept(submissionOf(messageWith(), { networks: client("client") }), LIMITED, NOON);
    const retention = { deliveredMs: null, failedMs: null, quarantinedMs: HOUR_MS };
    await reportEnding(node, retention, NOON);
    expect(await node.purge(retention, later(DAY_MS - 1))).toHaveLength(450);
    expect(await place.sql("SELECT * FROM client_hits")).toHaveLength(1);
  });

  test("backs up a consistent copy that can be opened while messages go on arriving", async () => {
    const folder = await makeScratchFolder();
    const place = await newPlace();
    const [node, other] = await Promise.all([place.open(), place.open()]);
    const before = await Promise.all(Array.from({ length: 700 }, () => store(node)));
    const erased = await store(node);
    await node.act("delete", { references: [erased] }, NOON);
    const estimate = estimateOf({ carKm: 12_345.678, hotelNights: 3 });
    const estimated = await store(node, submissionOf(messageWith(), { footprint: estimate }));
    await node.claim(3, HOUR_MS, NOON);
    const during = Promise.all(Array.from({ length: 300 }, () => store(other)));
    await node.backup(join(folder, "copy.db"), new Date());
    await during;
    await expect(node.backup(join(folder, "copy.db"), new Date())).rejects.toThrow(/EEXIST/);

    await rename(join(folder, "copy.db"), join(folder, "messages.db"));
    const copy = await openStoreInProcess({ dataDir: folder, databaseUrl: null });
    onTestFinished(() => copy.close());
    const references = new Set((await copy.list({})).map((message) => message.reference));
    expect(before.filter((reference) => !references.has(reference))).toEqual([]);
    expect(await copy.erasedReferences([erased])).toEqual([erased]);
    expect(await copy.list({ limit: 1 })).toMatchObject(
      await node.find(String((await copy.list({ limit: 1 }))[0]?.reference)).then((message) => [message]),
    );
    expect((await copy.find(estimated))?.footprint).toEqual(estimate);
    expect(Buffer.from(copy.clientKey)).toEqual(Buffer.from(node.clientKey));
    // Those that another node has leased can be claimed from the copy of a shared database.
    if (place.isShared) expect(await copy.claim(2000, HOUR_MS, new Date())).toHaveLength(references.size);
    expect(await store(copy)).toMatch(/^BC-/);
  });

  test("opens an empty database from several nodes at once, with one secret of its own", async () => {
    const place = await newPlace();
    const nodes = await Promise.all([place.open(), place.open(), place.open(), place.open()]);
    const keys = new Set(nodes.map((node) => Buffer.from(node.clientKey).toString("hex")));
    expect(keys.size).toBe(1);
    expect(nodes[0]?.clientKey).toHaveLength(32);
    const another = await (await newPlace()).open();
    expect(another.clientKey).not.toEqual(nodes[0]?.clientKey);
  });

  test("refuses a database that a newer version wrote, and leaves it alone", async () => {
    const place = await newPlace();
    await (await place.open()).close();
    await place.sql("UPDATE store_meta SET value = '99' WHERE name = 'schema_version'");
    const refusal = place.open();
    await expect(refusal).rejects.toThrow(StoreRefused);
    await expect(refusal).rejects.toThrow(/^This database was written by a newer version .+ \(schema 99, [^\n]+$/);
    expect(await place.sql("SELECT value FROM store_meta WHERE value = '99'")).toHaveLength(1);
  });

  test.each(["abc", "-1", "0", "1.5", "", "2"])(
    "refuses the changed schema version %j in one line",
    async (version) => {
      const place = await newPlace();
      await (await place.open()).close();
      await place.sql(`UPDATE store_meta SET value = '${version}' WHERE name = 'schema_version'`);
      const refusal = place.open();
      await expect(refusal).rejects.toThrow(StoreRefused);
      await expect(refusal).rejects.toThrow(/^The [^\n]*schema[^\n]* version [^\n]+; restore a backup$/);
      expect(await place.sql("SELECT value FROM store_meta WHERE name = 'schema_version'")).toEqual([
        { value: version },
      ]);
    },
  );

  test("takes messages of a node that runs the first version on the upgraded database", async () => {
    const place = await newPlace();
    const node = await place.open();
    await place.sql(`INSERT INTO messages (reference, idempotency_key, fingerprint, name, email, phone, country, message,
      state, accepted_at, state_changed_at, due_at)
      VALUES ('BC-AAAA-AA', 'k1', 'f', 'Ada', 'ada@example.com', '1', '', 'Words', 'queued', 1, 1, 1)`);
    expect(await node.find("BC-AAAA-AA")).toMatchObject({ state: "queued", name: "Ada" });
  });

  test("refuses a database with another program's messages", async () => {
    const place = await newPlace();
    await place.sql("CREATE TABLE messages (body TEXT)");
    await expect(place.open()).rejects.toThrow(StoreRefused);
  });

  test("answers pings until it is closed, and finishes what it has begun to accept", async () => {
    const place = await newPlace();
    const node = await place.open();
    await node.ping();
    const last = store(node);
    await node.close();
    expect(await last).toMatch(/^BC-/);
    await expect(node.ping()).rejects.toThrow(StoreUnavailable);
    await expect(store(node)).rejects.toThrow(StoreUnavailable);
    await node.close();
  });
}
