import { join } from "node:path";
import { expect } from "vitest";
import { StoreRefused, StoreUnavailable } from "../../server/store/errors.ts";
import { SCHEMA_VERSION } from "../../server/store/schema.ts";
import { HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { untilEnd } from "../support/until-end.ts";
import type { ContractTest } from "./place.ts";
import { later, NOON, store } from "./samples.ts";

async function expectRefusal(opening: Promise<unknown>, because: RegExp): Promise<void> {
  await expect(opening).rejects.toThrow(StoreRefused);
  await expect(opening).rejects.toThrow(because);
}

export function openingSuite(test: ContractTest): void {
  test("opens an empty database on several nodes at once, with one shared secret", async ({ place }) => {
    const nodes = await Promise.all([place.open(), place.open()]);
    const keys = new Set(nodes.map(({ secret }) => secret));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{64}$/);
    const elsewhere = await untilEnd(openStoreInProcess({ dataDir: await makeScratchFolder(), databaseUrl: null }));
    expect(keys).not.toContain(elsewhere.secret);
  });

  test.for([
    [null, "restore a backup"],
    ["3.5", "restore a backup"],
    [`${SCHEMA_VERSION + 1}`, "run that version; .+"],
  ] as const)(
    "refuses a database with the schema version %j, and does not change it",
    async ([version, remedy], { place }) => {
      const opened = await place.open();
      const change = `UPDATE meta SET value = '${version}' WHERE name = 'schema_version'`;
      await place.sql(version === null ? "DELETE FROM meta WHERE name = 'schema_version'" : change);
      const before = await place.sql("SELECT value FROM meta ORDER BY name");
      await expectRefusal(place.open(), new RegExp(`^Th[^\\n]*schema [^\\n]+; ${remedy}$`));
      expect(await place.sql("SELECT value FROM meta ORDER BY name")).toEqual(before);
      // The website that has it open goes on.
      expect(await store(opened)).toMatch(/^BC-/);
    },
  );

  test("a failed upgrade changes nothing", async ({ place }) => {
    await (await place.open()).close();
    // The upgrade adds the column again, and then fails at the next one, which is there.
    await place.sql("DROP INDEX deliveries_unknown");
    await place.sql("ALTER TABLE deliveries DROP COLUMN unknown_outcomes");
    await place.sql("UPDATE meta SET value = '3' WHERE name = 'schema_version'");
    await expectRefusal(place.open(), / does not match its version 3 \(/);
    await expect(place.sql("SELECT unknown_outcomes FROM deliveries")).rejects.toThrow(/unknown_outcomes/);
  });

  test("refuses a database with another program's messages, and does not change it", async ({ place }) => {
    // Marks the file as a database of this program.
    if (!place.isShared) await place.sql(`PRAGMA application_id = ${0x42436d67}`);
    await place.sql("CREATE TABLE messages (body TEXT)");
    const because = /^The database already has a table "messages" of another program; set DATABASE_URL [^\n]+$/;
    await expectRefusal(place.open(), because);
    await expect(place.sql("SELECT * FROM meta")).rejects.toThrow(/meta/);
  });

  test("answers pings until it is closed, and stores messages that it has started to accept", async ({ node }) => {
    await node.status.ping();
    const last = store(node);
    await node.close();
    expect(await last).toMatch(/^BC-/);
    await expect(node.status.ping()).rejects.toThrow(StoreUnavailable);
    await expect(store(node)).rejects.toThrow(StoreUnavailable);
    await node.close();
  });

  test("writes a consistent backup that can be opened, while messages arrive", async ({ node, other }) => {
    const dataDir = await makeScratchFolder();
    const before = await Promise.all(Array.from({ length: 700 }, () => store(node)));
    await node.queue.claim("mail", 3, HOUR_MS, NOON);
    const during = Promise.all(Array.from({ length: 300 }, () => store(other)));
    await node.archive.backup(join(dataDir, "messages.db"), NOON);
    await during;
    const copy = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }, { isServer: true }));
    const references = new Set((await copy.messages.list({})).map((message) => message.reference));
    expect(before.filter((reference) => !references.has(reference))).toEqual([]);
    // Includes deliveries that another server had leased.
    expect(await copy.queue.claim("mail", 2000, HOUR_MS, NOON)).toHaveLength(references.size);
  });

  test("lets only one of many nodes change a sent alert, or remove it", async ({ node, other }) => {
    const nodes = [node, other];
    type Alert = Parameters<typeof node.status.moveAlert>[1];
    const move = async (from: Alert, to: Alert) =>
      (await Promise.all(nodes.map((one) => one.status.moveAlert("delivery", from, to)))).filter(Boolean).length;
    const told = { sinceMs: NOON.getTime(), problem: "1 message waits", count: 1, lastMs: 0, isPosted: true };
    const [first, second, third] = [0, 1, 2].map((atMs) => ({ atMs, ...told }));
    expect((await node.status.alerts()).size).toBe(0);
    expect(await move(null, first ?? null)).toBe(1);
    expect(await move(first ?? null, second ?? null)).toBe(1);
    expect(await move(first ?? null, third ?? null)).toBe(0);
    expect([...(await other.status.alerts())]).toEqual([["delivery", second]]);
    expect(await move(second ?? null, null)).toBe(1);
    expect((await node.status.alerts()).size).toBe(0);
  });

  test("derives from reports whether the website runs, and its paused channels", async ({ node, other, place }) => {
    const reader = await place.open();
    const pause = { channel: "hook", reason: "451 later", since: later(-HOUR_MS), nextAt: later(1) } as const;
    const expectAt = async (ms: number, isRunning: boolean, lastSeenAt: Date | null, pauses: (typeof pause)[]) =>
      expect(await reader.status.website(later(ms))).toEqual({ isRunning, lastSeenAt, pauses });
    await expectAt(0, false, null, []);
    await node.status.reportNode([pause], NOON);
    await expectAt(1, true, NOON, [pause]);
    // The stop of one server does not affect the others.
    await other.status.reportNode([], later(2));
    await other.status.reportNode(null, later(3));
    await expectAt(3, true, later(3), [pause]);
    // A dead server sends no reports, and its last report expires.
    await expectAt(2 * MINUTE_MS, true, later(3), [pause]);
    await expectAt(3 * MINUTE_MS, false, later(3), []);
    await other.status.reportNode(null, later(2 * HOUR_MS));
    expect(await place.sql("SELECT name FROM meta WHERE name LIKE 'node.%'")).toHaveLength(1);
  });
}
