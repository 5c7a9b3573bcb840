import { rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { FootprintEstimate } from "../../contract/footprint.ts";
import { StoreRefused, StoreUnavailable } from "../../server/store/store.ts";
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
  reportQuarantine,
  store,
  submissionOf,
} from "./samples.ts";

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
    const footprints = new Map([...[first, second].map((reference) => [reference, null] as const), [third, corrected]]);
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
    await reportQuarantine(node);
    const queued = await store(node);
    const retention = { deliveredMs: DAY_MS, failedMs: 2 * DAY_MS, quarantinedMs: null };
    expect(await node.purge(retention, later(DAY_MS))).toEqual([]);
    expect(await place.sql("SELECT * FROM client_hits")).toHaveLength(0);
    expect(await node.purge(retention, later(DAY_MS + HOUR_MS))).toEqual([delivered]);
    expect(await node.purge(retention, later(2 * DAY_MS))).toEqual([failed]);
    expect(await node.purge(retention, later(999 * DAY_MS))).toEqual([]);
    expect(await node.purge({ ...retention, quarantinedMs: DAY_MS }, later(999 * DAY_MS))).toEqual([trapped]);
    expect(await node.list({})).toMatchObject([{ reference: queued }]);
  });

  test("purges nothing from quarantine before somebody was told of it", async () => {
    const node = await (await newPlace()).open();
    const told = await store(node, submissionOf(messageWith(), { isTrapped: true }));
    const retention = { deliveredMs: null, failedMs: null, quarantinedMs: DAY_MS };
    expect(await node.purge(retention, later(9 * DAY_MS))).toEqual([]);
    await reportQuarantine(node);
    const untold = await store(node, submissionOf(messageWith(), { isTrapped: true }), later(2 * HOUR_MS));
    expect(await node.purge(retention, later(9 * DAY_MS))).toEqual([told]);
    expect(await node.list({})).toMatchObject([{ reference: untold }]);
  });

  test("does not take a message for reported that arrived before an alert and was stored after it", async () => {
    const node = await (await newPlace()).open();
    await store(node, submissionOf(messageWith(), { isTrapped: true }), later(HOUR_MS));
    await reportQuarantine(node);
    const late = await store(node, submissionOf(messageWith(), { isTrapped: true }), NOON);
    expect(await node.queueDepth()).toMatchObject({ newlyQuarantined: 1 });
    await node.purge({ deliveredMs: null, failedMs: null, quarantinedMs: DAY_MS }, later(9 * DAY_MS));
    expect(await node.list({})).toMatchObject([{ reference: late }]);
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
    await reportQuarantine(node);
    await node.accept(submissionOf(messageWith(), { networks: client("client") }), LIMITED, NOON);
    const retention = { deliveredMs: null, failedMs: null, quarantinedMs: HOUR_MS };
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
    await node.backup(join(folder, "copy.db"));
    await during;
    await expect(node.backup(join(folder, "copy.db"))).rejects.toThrow(/EEXIST/);

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
