import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { hashWith } from "./people.ts";
import type { Store, StoreOptions } from "./store.ts";

const server = await sharePostgres();
afterAll(() => server.stop());

/** Copies the file and runs the statements on the copy. */
function change(file: string, copy: string, sql: string): void {
  copyFileSync(file, copy);
  const db = new DatabaseSync(copy);
  db.exec(sql);
  db.close();
}

/** Overwrites the page that contains the text in a copy of the file. */
function damage(file: string, copy: string, text: string): void {
  const content = readFileSync(file);
  const page = content.indexOf(text) >> 12;
  writeFileSync(copy, content.fill(0xff, page << 12, (page + 1) << 12));
}

const CANNOT = /\.db cannot be restored \(.+\); use another backup; nothing was changed$/;

async function expectRefusal(restoring: Promise<unknown>, because: RegExp): Promise<void> {
  await expect(restoring).rejects.toMatchObject({ name: "StoreRefused", message: expect.stringMatching(because) });
}

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

  test("reads all of a backup: messages, queue, history and the secret, nothing of clients; row numbers continue", async () => {
    const { open, backup } = await place();
    const { before, leased, key, rules } = await makeBackup(backup);
    const file = new DatabaseSync(backup, { readOnly: true });
    for (const table of ["hits", "keys"])
      expect(file.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
    file.close();
    const store = await open();
    const inbox = await open();
    expect(await store.archive.restore(backup, false, [])).toEqual({
      messages: 3,
      waiting: 2,
      erased: 0,
      restrictions: 0,
    });
    expect(await inbox.messages.list({})).toEqual(await before.messages.list({}));
    expect(await inbox.messages.history(leased)).toEqual(await before.messages.history(leased));
    // Restores neither the lease of a dead worker nor its server's report.
    expect(await store.queue.claim("mail", 9, MINUTE_MS, NOON)).toHaveLength(2);
    expect(await store.status.website(NOON)).toMatchObject({ isRunning: false });
    const again = await open();
    // The text shows that it is the same message; the limits start again.
    expect(await send(again, key, later(1))).toBe(leased);
    const unlimited = again.intake.accept(submissionOf(messageWith(), { networks: client("eve") }), rules, later(1));
    expect(await unlimited).toMatchObject({ kind: "stored" });
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
    const changed = join(dataDir, "changed.db");
    const lost = "UPDATE deliveries SET state = 'lost', due_at = NULL WHERE message_id = 2";
    change(backup, changed, `PRAGMA ignore_check_constraints = ON; ${lost}`);
    const damaged = join(dataDir, "damaged.db");
    damage(backup, damaged, "eve@example.com");
    for (const file of [changed, damaged]) await expectRefusal(store.archive.restore(file, true, []), CANNOT);
    // The backup's damage is not the database's.
    await store.status.ping();
    expect(await store.messages.list({})).toMatchObject([{ reference: kept }]);
    expect(await store.archive.restore(backup, true, [])).toMatchObject({ messages: 3 });
    expect([await store.messages.find(kept), await store.messages.find(leased)]).toMatchObject([
      null,
      { reference: leased },
    ]);
  });

  test("leaves out whom this database erased, whatever its secret, and again at the next restore", async () => {
    const { open, backup } = await place();
    await makeBackup(backup);
    const store = await open();
    expect(await store.people.erase(" ADA@example.com")).toEqual([]);
    for (const isReplacing of [false, true])
      expect(await store.archive.restore(backup, isReplacing, [])).toMatchObject({
        messages: 1,
        waiting: 0,
        erased: 2,
      });
    expect(await store.people.erase("eve@example.com")).toHaveLength(1);
    expect(await store.archive.restore(backup, true, [])).toMatchObject({ messages: 0, erased: 3 });
  });

  test("leaves out whom the backup or a list of 1.1.0 names, and keeps what they wrote after their erasure", async () => {
    const { open, backup, dataDir } = await place();
    const { before } = await makeBackup(backup);
    await before.people.erase("eve@example.com");
    const known = join(dataDir, "known.db");
    await before.archive.backup(known, NOON);
    const store = await open();
    expect(await store.archive.restore(known, false, [])).toMatchObject({ messages: 2, erased: 0 });
    expect(await store.archive.restore(backup, true, [])).toMatchObject({ messages: 2, erased: 1 });

    const [own, theirs] = [await (await place()).open(), await (await place()).open()];
    const listed = (secret: Uint8Array, email: string, at: Date) => ({
      hash: hashWith(Buffer.from(secret).toString("hex"), email),
      at,
    });
    const bySecretOf = async (store: Store, secret: Uint8Array, at: Date) =>
      (await store.archive.restore(backup, false, [listed(secret, "ada@example.com", at)])).erased;
    expect(await bySecretOf(own, before.secret, later(1))).toBe(2);
    expect(await bySecretOf(theirs, theirs.secret, NOON)).toBe(2);
    expect(await bySecretOf(await (await place()).open(), before.secret, later(-1))).toBe(0);
  });

  test("leaves out erased messages under every address that they had, and keeps newer restrictions", async () => {
    const { open, backup } = await place();
    const { before, leased } = await makeBackup(backup);
    const [old, corrected] = [await place(), await place()];
    const store = await open();
    await store.archive.restore(backup, true, []);
    for (const one of [store, before]) {
      await one.people.rectify("ada@example.com", { email: "new@example.com" }, later(1));
      // The real owner of the first address writes later.
      await send(one, submissionOf(), later(2));
    }
    await before.archive.backup(corrected.backup, NOON);
    expect(await store.people.erase("new@example.com")).toHaveLength(2);
    expect(await store.archive.restore(backup, true, [])).toMatchObject({ messages: 1, erased: 2 });
    expect(await store.archive.restore(corrected.backup, true, [])).toMatchObject({ messages: 2, erased: 2 });
    expect(await store.messages.list({ email: "ada@example.com" })).toHaveLength(1);
    const target = await old.open();
    await target.archive.restore(backup, false, []);
    await target.people.restrict("ada@example.com", true, NOON);
    expect(await target.archive.restore(backup, true, [])).toMatchObject({ restrictions: 2 });
    expect(await target.messages.find(leased)).toMatchObject({ isRestricted: true });
    expect((await target.messages.history(leased)).at(-1)).toMatchObject({ kind: "restricted" });
    expect(await target.archive.restore(backup, true, [])).toMatchObject({ restrictions: 2 });
  });

  test("refuses a file that is not a backup, or of a newer version, in one sentence, and keeps all messages", async () => {
    const { open, backup, dataDir } = await place();
    await makeBackup(backup);
    const store = await open();
    await send(store);
    const newer = /^This database was written by a newer version of the program \(schema 7, this one knows \d+\); /;
    const cases: [name: string, write: (file: string) => void, because: RegExp][] = [
      ["column", (file) => change(backup, file, "ALTER TABLE messages DROP COLUMN phone"), CANNOT],
      ["foreign", (file) => new DatabaseSync(file).exec("CREATE TABLE diary (entry TEXT)"), CANNOT],
      ["unversioned", (file) => change(backup, file, "DELETE FROM meta"), /is not a backup of this program; nothing/],
      ["text", (file) => writeFileSync(file, "x".repeat(5000)), CANNOT],
      ["headless", (file) => damage(backup, file, "schema_version"), CANNOT],
      ["none", () => {}, CANNOT],
      ["newer", (file) => change(backup, file, "UPDATE meta SET value = '7' WHERE name = 'schema_version'"), newer],
    ];
    for (const [name, write, because] of cases) {
      const file = join(dataDir, `${name}.db`);
      write(file);
      await expectRefusal(store.archive.restore(file, true, []), because);
    }
    expect(await store.messages.list({})).toHaveLength(1);
    expect(readdirSync(dataDir).filter((name) => name.startsWith("restoring"))).toEqual([]);
  });

  test("refuses while a website runs", async () => {
    const { open, backup } = await place();
    await makeBackup(backup);
    const store = await open();
    const website = await open({ isServer: true });
    await website.status.reportNode([], new Date());
    const because = /^(A website already uses .+; stop it, then restore|A website uses this database, .+)$/;
    await expectRefusal(store.archive.restore(backup, false, []), because);
    await website.status.reportNode(null, new Date());
    await website.close();
    expect(await store.archive.restore(backup, false, [])).toMatchObject({ messages: 3 });
  });
});
