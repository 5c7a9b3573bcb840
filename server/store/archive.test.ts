import { copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import {
  claimOne,
  client,
  estimateOf,
  later,
  messageWith,
  NO_LIMITS,
  NOON,
  store as send,
  submissionOf,
  trapped,
} from "../../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { sharePostgres } from "../../tests/support/shared-postgres.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { MINUTE_MS } from "../time.ts";
import type { StoreOptions } from "./open-store.ts";
import { sqliteFile } from "./sqlite.ts";

const server = await sharePostgres();
afterAll(() => server.stop());

describe.each(["SQLite", "PostgreSQL"] as const)("into %s", (kind) => {
  async function place() {
    const dataDir = await makeScratchFolder();
    const databaseUrl = kind === "SQLite" ? null : await server.createDatabase();
    const open = (options?: StoreOptions) => untilEnd(openStoreInProcess({ dataDir, databaseUrl }, options));
    return { dataDir, open, backup: join(dataDir, "backup.db") };
  }

  /** A backup of a site with work in progress. */
  async function makeBackup(file: string) {
    const { open } = await place();
    const before = await open();
    const footprint = estimateOf({ carKm: 1000 });
    const key = submissionOf(messageWith(), { idempotencyKey: "key", footprint });
    const rules = { ...NO_LIMITS, rateLimits: [{ count: 1, windowMs: MINUTE_MS }] };
    const [leased, waiting] = [await send(before, key), await send(before)];
    await before.intake.accept({ ...trapped("eve@example.com"), networks: client("eve") }, rules, NOON);
    await before.messages.addNote(leased, "Zoë \u{1F30D}\n", NOON);
    await claimOne(before);
    await before.status.reportNode([], NOON);
    await before.archive.backup(file, NOON);
    return { before, leased, waiting, key, rules };
  }

  test("reads all of a backup: messages, queue, history, keys, limits and the secret; row numbers continue", async () => {
    const { open, backup } = await place();
    const { before, leased, key, rules } = await makeBackup(backup);
    const store = await open();
    const inbox = await open();
    expect(await store.archive.restore(backup, false, [])).toEqual({ messages: 3, waiting: 2, erased: 0 });
    expect(await inbox.messages.list({})).toEqual(await before.messages.list({}));
    expect(await inbox.messages.history(leased)).toEqual(await before.messages.history(leased));
    expect(await inbox.people.hashAddress("ADA@example.com")).toBe(await before.people.hashAddress("ada@example.com"));
    // Restores neither the lease of a dead worker nor its server's report.
    expect(await store.queue.claim("mail", 9, MINUTE_MS, NOON)).toHaveLength(2);
    expect(await store.status.website(NOON)).toMatchObject({ isRunning: false });
    const again = await open();
    expect(await send(again, key, later(1))).toBe(leased);
    const limited = again.intake.accept(submissionOf(messageWith(), { networks: client("eve") }), rules, later(1));
    expect(await limited).toMatchObject({ kind: "limited" });
    const next = await again.messages.find(await send(again));
    expect(next?.id).toBeGreaterThan(Math.max(...(await before.messages.list({})).map(({ id }) => id)));
  });

  test("replaces existing messages only on request, and all or nothing", async () => {
    const { open, backup, dataDir } = await place();
    const { leased } = await makeBackup(backup);
    const store = await open();
    const kept = await send(store, submissionOf(messageWith({ email: "kept@example.com" })));
    await expect(store.archive.restore(backup, false, [])).rejects.toThrow(
      /^This database already has messages \(1\);.+--replace$/,
    );
    const damaged = join(dataDir, "damaged.db");
    copyFileSync(backup, damaged);
    const changed = new DatabaseSync(damaged);
    changed.exec(
      "PRAGMA ignore_check_constraints = ON; UPDATE deliveries SET state = 'lost', due_at = NULL WHERE message_id = 2",
    );
    changed.close();
    await expect(store.archive.restore(damaged, true, [])).rejects.toThrow();
    expect(await store.messages.list({})).toMatchObject([{ reference: kept }]);
    expect(await store.archive.restore(backup, true, [])).toMatchObject({ messages: 3 });
    expect([await store.messages.find(kept), await store.messages.find(leased)]).toMatchObject([
      null,
      { reference: leased },
    ]);
  });

  test("leaves out the messages of people who were erased after they wrote them", async () => {
    const { open, backup } = await place();
    const { before } = await makeBackup(backup);
    const store = await open();
    const erasure = async (email: string, at: Date) => ({ hash: await before.people.hashAddress(email), at });
    const late = [await erasure(" EVE@example.com", NOON), await erasure("ada@example.com", later(-1))];
    expect(await store.archive.restore(backup, false, late)).toEqual({ messages: 2, waiting: 2, erased: 1 });
    expect(await store.archive.restore(backup, true, [await erasure("Ada@example.com", later(1))])).toEqual({
      messages: 1,
      waiting: 0,
      erased: 2,
    });
    expect(await store.queue.countDeliveries()).toMatchObject([{ channel: "mail", state: "quarantined", count: 1 }]);
  });

  test("refuses while a website runs, and refuses a file that is not a backup of this version, in one sentence", async () => {
    const { open, backup, dataDir } = await place();
    await makeBackup(backup);
    const store = await open();
    const refused = (file: string, reason: RegExp) =>
      expect(store.archive.restore(file, false, [])).rejects.toMatchObject({
        name: "StoreRefused",
        message: expect.stringMatching(reason),
      });
    const website = await open({ isServer: true });
    await website.status.reportNode([], await website.status.time());
    await refused(backup, /^(A website already uses .+; stop it, then restore|A website uses this database, .+)$/);
    await website.status.reportNode(null, await website.status.time());
    await website.close();
    const other = join(dataDir, "other.db");
    writeFileSync(other, "x".repeat(5000));
    await refused(other, /other\.db is not a backup of this program; nothing was changed$/);
    await refused(join(dataDir, "none.db"), /none\.db cannot be read \(ENOENT\); nothing was changed$/);
    const db = new DatabaseSync(backup);
    db.exec("UPDATE meta SET value = '7' WHERE name = 'schema_version'");
    db.close();
    await refused(
      backup,
      /is from a newer version of the program \(schema 7, this one knows \d+\); use that version; nothing/,
    );
    expect(await store.messages.list({})).toEqual([]);
    if (kind === "SQLite") expect(statSync(sqliteFile(dataDir)).mode & 0o077).toBe(0);
  });
});
