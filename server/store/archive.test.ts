import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
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
  withChannels,
} from "../../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { sharePostgresForFile } from "../../tests/support/shared-postgres.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";
import { leftFiles, requireNothingLeft } from "./sqlite.ts";
import { openStore, type StoreOptions } from "./store.ts";

/** One message a minute from a client. */
const LIMITED = { ...NO_LIMITS, rateLimits: [{ count: 1, windowMs: MINUTE_MS }] };

const server = await sharePostgresForFile();

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
    const open = (options?: StoreOptions, rules = NO_LIMITS) =>
      untilEnd(openStoreInProcess({ dataDir, databaseUrl, rules }, options));
    return { dataDir, open, backup: join(dataDir, "backup.db") };
  }

  /** A backup of a site with work in progress. */
  async function makeBackup(file: string) {
    const { open } = await place();
    const before = await open({}, LIMITED);
    const footprint = estimateOf({ carKm: 1000 });
    const key = submissionOf(messageWith(), { idempotencyKey: "key", footprint });
    const [leased, waiting] = [await send(before, key), await send(before)];
    await before.intake.accept({ ...trapped("eve@example.com"), networks: client("eve") }, NOON);
    await before.actions.addNote(leased, "Zoë \u{1F30D}\n", NOON);
    await claimOne(before);
    await before.status.reportNode([], NOON);
    await before.archive.backup(`${file}.earlier`, later(-MINUTE_MS));
    await before.archive.backup(file, NOON);
    return { before, leased, waiting, key };
  }

  test("reads all of a backup: messages, queue, history and the secret, nothing of clients; row numbers continue", async () => {
    const { open, backup } = await place();
    const { before, leased, key } = await makeBackup(backup);
    const file = new DatabaseSync(backup, { readOnly: true });
    for (const table of ["hits", "keys"])
      expect(file.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
    file.close();
    const store = await open();
    const inbox = await open();
    expect(await store.archive.restore(backup, false)).toEqual({
      messages: 3,
      waiting: 2,
      erased: 0,
      restrictions: 0,
      replies: [],
    });
    expect(await inbox.messages.list({})).toEqual(await before.messages.list({}));
    expect(await inbox.messages.history(leased)).toEqual(await before.messages.history(leased));
    // Restores neither the lease of a dead worker nor its server's report.
    expect(await store.queue.claim("mail", 9, MINUTE_MS, NOON)).toHaveLength(2);
    expect(await store.status.website(NOON)).toMatchObject({ isRunning: false });
    // Of this backup, not of the one before.
    expect(await store.status.lastBackupAt()).toEqual(NOON);
    const again = await open({}, LIMITED);
    // The text shows that it is the same message; the limits start again.
    expect(await send(again, key, later(1))).toBe(leased);
    const unlimited = again.intake.accept(submissionOf(messageWith(), { networks: client("eve") }), later(1));
    expect(await unlimited).toMatchObject({ kind: "stored" });
    const next = await again.messages.find(await send(again));
    expect(next?.id).toBeGreaterThan(Math.max(...(await before.messages.list({})).map(({ id }) => id)));
  });

  test("reads answers and how far the mailbox was read, and leaves out the answers of whom this database erased", async () => {
    const { open, backup } = await place();
    const before = await (await place()).open();
    const reference = await send(before);
    const { id = 0 } = (await before.messages.find(reference)) ?? {};
    await before.mailbox.lease(["INBOX"], "node", MINUTE_MS);
    await before.mailbox.begin({ name: "INBOX", uidValidity: 1, lastUid: 5 }, "node");
    const mail = { id, reference, kind: "received", subject: "Re", attachments: [], sentAt: NOON } as const;
    for (const sender of ["ada@example.com", "eve@example.net"]) {
      const facts = { mailId: `<${sender}>`, sender, senderName: "", text: `From ${sender}`, isOfSender: true };
      await before.mailbox.record("INBOX", "node", 6, { ...mail, ...facts });
    }
    const toEve = { key: "to-eve", subject: "Re", text: "Dear Eve", recipient: "eve@example.net" };
    await before.replies.add(reference, toEve, NOON);
    await before.archive.backup(backup, NOON);
    const store = await open();
    expect(await store.people.erase("eve@example.net")).toEqual([]);
    expect(await store.archive.restore(backup, false)).toMatchObject({ messages: 1, erased: 0 });
    const restored = await open();
    const received = (await before.messages.history(reference)).filter(({ sender }) => sender === "ada@example.com");
    expect(received).toHaveLength(1);
    const history = await restored.messages.history(reference);
    expect(history.filter(({ channel }) => channel === null)).toEqual(received);
    expect(JSON.stringify(history)).not.toContain("Dear Eve");
    expect(await restored.messages.list({ search: "eve" })).toEqual([]);
    expect(await restored.mailbox.lease(["INBOX"], "node", MINUTE_MS)).toMatchObject([{ uidValidity: 1, lastUid: 6 }]);
  });

  test("replaces existing messages only on request, and all or nothing", async () => {
    const { open, backup, dataDir } = await place();
    const { leased } = await makeBackup(backup);
    const store = await open();
    const kept = await send(store, submissionOf(messageWith({ email: "kept@example.com" })));
    await expect(store.archive.restore(backup, false)).rejects.toThrow(
      /^This database already has messages \(1\);.+--replace$/,
    );
    const changed = join(dataDir, "changed.db");
    const lost = "UPDATE deliveries SET state = 'lost', due_at = NULL WHERE message_id = 2";
    change(backup, changed, `PRAGMA ignore_check_constraints = ON; ${lost}`);
    const damaged = join(dataDir, "damaged.db");
    damage(backup, damaged, "eve@example.com");
    for (const file of [changed, damaged]) await expectRefusal(store.archive.restore(file, true), CANNOT);
    // The backup's damage is not the database's.
    await store.status.ping();
    expect(await store.messages.list({})).toMatchObject([{ reference: kept }]);
    expect(await store.archive.restore(backup, true)).toMatchObject({ messages: 3 });
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
      expect(await store.archive.restore(backup, isReplacing)).toMatchObject({
        messages: 1,
        waiting: 0,
        erased: 2,
      });
    expect(await store.people.erase("eve@example.com")).toHaveLength(1);
    expect(await store.archive.restore(backup, true)).toMatchObject({ messages: 0, erased: 3 });
  });

  test("leaves out whom the backup names", async () => {
    const { open, backup, dataDir } = await place();
    const { before } = await makeBackup(backup);
    await before.people.erase("eve@example.com");
    const known = join(dataDir, "known.db");
    await before.archive.backup(known, NOON);
    const store = await open();
    expect(await store.archive.restore(known, false)).toMatchObject({ messages: 2, erased: 0 });
    expect(await store.archive.restore(backup, true)).toMatchObject({ messages: 2, erased: 1 });
  });

  test("leaves out each erased message, whatever a clock said, and keeps what its sender writes later", async () => {
    const { open, backup } = await place();
    const store = await open();
    const ahead = new Date("2100-01-01");
    const erased = await send(store, submissionOf(), ahead);
    await store.archive.backup(backup, NOON);
    expect(await store.people.erase("ada@example.com")).toEqual([erased]);
    expect(await store.archive.restore(backup, true)).toMatchObject({ messages: 0, erased: 1 });
    const later = await place();
    const kept = await send(store, submissionOf(), ahead);
    await store.archive.backup(later.backup, NOON);
    expect(await store.archive.restore(later.backup, true)).toMatchObject({ messages: 1, erased: 0 });
    expect(await store.messages.find(kept)).not.toBeNull();
  });

  test("leaves out erased messages under every address that they had, and keeps newer restrictions", async () => {
    const { open, backup } = await place();
    const { before, leased } = await makeBackup(backup);
    const [old, corrected] = [await place(), await place()];
    const store = await open();
    await store.archive.restore(backup, true);
    for (const one of [store, before]) {
      await one.people.rectify("ada@example.com", { email: "new@example.com" }, later(1));
      // The real owner of the first address writes later.
      await send(one, submissionOf(), later(2));
    }
    await before.archive.backup(corrected.backup, NOON);
    expect(await store.people.erase("new@example.com")).toHaveLength(2);
    expect(await store.archive.restore(backup, true)).toMatchObject({ messages: 1, erased: 2 });
    expect(await store.archive.restore(corrected.backup, true)).toMatchObject({ messages: 2, erased: 2 });
    expect(await store.messages.list({ email: "ada@example.com" })).toHaveLength(1);
    const target = await old.open();
    await target.archive.restore(backup, false);
    await target.people.restrict("ada@example.com", true, NOON);
    expect(await target.archive.restore(backup, true)).toMatchObject({ restrictions: 2 });
    expect(await target.messages.find(leased)).toMatchObject({ isRestricted: true });
    expect((await target.messages.history(leased)).at(-1)).toMatchObject({ kind: "restricted" });
    expect(await target.archive.restore(backup, true)).toMatchObject({ restrictions: 2 });
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
      await expectRefusal(store.archive.restore(file, true), because);
    }
    expect(await store.messages.list({})).toHaveLength(1);
    expect(readdirSync(dataDir).filter((name) => name.startsWith("restoring"))).toEqual([]);
  });

  test("fails replies and acknowledgements that the backup does not know as sent, and names the replies", async () => {
    const { open, backup } = await place();
    const before = await (await place()).open({}, withChannels("mail", "acknowledgement"));
    const reply = (key: string) => ({ key, subject: "Re: wind", text: "Yes." });
    const references: string[] = [];
    for (const key of ["queued", "leased", "failed", "held", "sent"]) {
      const reference = await send(before);
      await before.replies.add(reference, reply(key), NOON);
      references.push(reference);
      if (key === "queued") continue;
      const [claim] = (await before.queue.claim("reply", 9, MINUTE_MS, NOON)).slice(-1);
      if (key === "failed" && claim) await before.queue.settle(claim, { kind: "failed", error: "550" }, NOON);
      if (key === "sent" && claim) await before.queue.settle(claim, { kind: "delivered" }, NOON);
      if (key === "held") await before.actions.act("spam", { references: [reference] }, NOON);
    }
    await before.archive.backup(backup, NOON);
    const store = await open();
    const unsent = references.slice(0, 3);
    const restored = await store.archive.restore(backup, false);
    expect(restored).toMatchObject({ messages: 5, replies: unsent });
    for (const state of ["queued", "failed", "quarantined"] as const)
      for (const action of ["retry", "release"] as const) {
        const found = await store.messages.list({ state });
        await store.actions.act(action, { references: found.map(({ reference }) => reference) }, later(1));
      }
    for (const channel of ["reply", "acknowledgement"] as const)
      expect(await store.queue.claim(channel, 9, MINUTE_MS, later(MINUTE_MS))).toEqual([]);
    for (const reference of unsent) {
      const { deliveries } = (await store.messages.find(reference)) ?? {};
      expect(deliveries?.reply).toMatchObject({ state: "failed", error: "may have been sent after the backup" });
      expect(await store.actions.act("again", { references: [reference] }, later(2))).toEqual([reference]);
    }
    expect(await store.queue.claim("reply", 9, MINUTE_MS, later(MINUTE_MS))).toHaveLength(3);
  });

  test("acknowledges no message again that the backup does not know as mailed", async () => {
    const before = await (await place()).open();
    const { dataDir, backup } = await place();
    const now = new Date();
    await send(before, submissionOf(), now);
    await send(before, submissionOf(), later(-DAY_MS, now));
    await before.archive.backup(backup, now);
    const databaseUrl = kind === "SQLite" ? null : await server.createDatabase();
    const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl, acknowledge: true }));
    expect(await store.archive.restore(backup, false)).toMatchObject({ waiting: 2, replies: [] });
    for (const claim of await store.queue.claim("mail", 9, MINUTE_MS, now))
      await store.queue.settle(claim, { kind: "delivered" }, now, "acknowledgement");
    const [recent, old] = await store.messages.list({});
    expect([recent?.deliveries.acknowledgement, old?.deliveries.acknowledgement]).toMatchObject([
      { state: "failed", error: "may have been sent after the backup" },
      // The schedule skips it: it is too late.
      { state: "queued" },
    ]);
  });

  test.runIf(kind === "PostgreSQL")(
    "moves the folder's own file: nothing of it was sent, and it gets another name",
    async () => {
      const { dataDir, open } = await place();
      const own = await openStoreInProcess({ dataDir, databaseUrl: null });
      const reference = await send(own);
      await own.replies.add(reference, { key: "key", subject: "Re: wind", text: "Yes." }, NOON);
      const store = await open();
      const file = join(dataDir, "messages.db");
      await own.status.reportInbox("Anna", true);
      await expectRefusal(store.archive.restore(file, false), /^An inbox \(Anna\) uses the database /);
      await own.status.closeInbox();
      // Another program has it open.
      await expectRefusal(store.archive.restore(file, false), /^Another program uses .+messages\.db; stop it/);
      await own.close();
      expect(() => requireNothingLeft(dataDir)).toThrow(/2 deliveries in .+messages\.db would never be sent; move/);
      const settings = { dataDir, databaseUrl: "postgres://localhost/none" };
      await expect(openStore(settings, { isServer: true })).rejects.toThrow(
        /^DATABASE_URL is set, and 2 deliveries in /,
      );
      expect(await store.archive.restore(file, false)).toMatchObject({ messages: 1, waiting: 1, replies: [] });
      const left = readdirSync(dataDir).filter((name) => name.startsWith("messages"));
      expect(left).toEqual(["messages.moved.db"]);
      expect(leftFiles({ dataDir, databaseUrl: "" })).toEqual([join(dataDir, "messages.moved.db")]);
      requireNothingLeft(dataDir);
      expect(await store.queue.claim("reply", 9, MINUTE_MS, NOON)).toHaveLength(1);
      // Nobody's older messages are lost.
      await (await openStoreInProcess({ dataDir, databaseUrl: null })).close();
      await expectRefusal(store.archive.restore(file, true), /^There is already .+messages\.moved\.db; delete it/);
    },
  );

  test("refuses while an inbox of the database that it reads or replaces is open, and names its operator", async () => {
    const { open, backup } = await place();
    const other = await place();
    const source = await openStoreInProcess({ dataDir: other.dataDir, databaseUrl: null });
    await send(source);
    const [store, inbox] = [await open(), await open()];
    await inbox.status.reportInbox("Anna", true);
    await source.status.reportInbox("Bob", true);
    // The inbox of the database that was copied does not use the copy.
    await source.archive.backup(backup, NOON);
    const restore = (file = backup) => store.archive.restore(file, true);
    await expectRefusal(
      restore(),
      /^An inbox \(Anna\) uses the database that is read or replaced, .+; stop it with Ctrl-C/,
    );
    await inbox.status.closeInbox();
    const file = join(other.dataDir, "messages.db");
    await expectRefusal(restore(file), /^An inbox \(Bob\) uses the database that is read or replaced, /);
    expect(await store.messages.list({})).toEqual([]);
    await source.status.closeInbox();
    await source.close();
    expect(await restore(file)).toMatchObject({ messages: 1 });
    expect(await restore()).toMatchObject({ messages: 1 });
  });

  test("refuses while a website runs", async () => {
    const { open, backup } = await place();
    await makeBackup(backup);
    const store = await open();
    const website = await open({ isServer: true });
    await website.status.reportNode([], new Date());
    const because = /^(A website already uses .+; stop it, then restore|A website uses this database, .+)$/;
    await expectRefusal(store.archive.restore(backup, false), because);
    await website.status.reportNode(null, new Date());
    await website.close();
    expect(await store.archive.restore(backup, false)).toMatchObject({ messages: 3 });
  });
});
