// Sets how `pg` reads numbers.
import "./postgres.ts";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { sharePostgres } from "../../tests/support/shared-postgres.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { exportMessages } from "../desk/export.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { sqliteFile } from "./sqlite.ts";
import { openArchive, openStore, type Store, type StoreOptions } from "./store.ts";

// Databases that released versions wrote, as SQL, and what these versions exported from them.

const RELEASES = join(import.meta.dirname, "../../tests/fixtures/releases");
const DATABASES = { SQLite: "sqlite.sql", PostgreSQL: "postgres.sql" };

const KINDS = Object.keys(DATABASES) as (keyof typeof DATABASES)[];

const server = await sharePostgres();
afterAll(() => server.stop());

/** A database with the dump of a release. */
async function load(kind: keyof typeof DATABASES, release: string) {
  const dump = readFileSync(join(RELEASES, release, DATABASES[kind]), "utf8");
  const dataDir = await makeScratchFolder();
  const databaseUrl = kind === "SQLite" ? null : await server.createDatabase();
  const open = (options?: StoreOptions) => untilEnd(openStoreInProcess({ dataDir, databaseUrl }, options));
  const openAsCommand = () => untilEnd(openStore({ dataDir, databaseUrl }));
  const openAsArchive = () => untilEnd(openArchive({ dataDir, databaseUrl }));
  if (databaseUrl === null) {
    const db = new DatabaseSync(sqliteFile(dataDir));
    onTestFinished(() => db.close());
    db.exec(dump);
    return { dump, dataDir, open, openAsCommand, openAsArchive, read: async (sql: string) => db.prepare(sql).all() };
  }
  const client = new pg.Client(databaseUrl);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(dump);
  return {
    dump,
    dataDir,
    open,
    openAsCommand,
    openAsArchive,
    read: async (sql: string) => (await client.query(sql)).rows,
  };
}

async function exported(store: Store): Promise<unknown[]> {
  const parts = await Array.fromAsync(exportMessages({ filter: {}, format: "json" }, store.messages));
  return JSON.parse(parts.join(""));
}

const expected = (release: string): unknown[] =>
  JSON.parse(readFileSync(join(RELEASES, release, "messages.json"), "utf8"));

const versionOf = (dump: string) => Number(/'schema_version', '(\d+)'/.exec(dump)?.[1]);

test("includes this version: before a release, run tools/dump-release.ts", () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));
  expect(readdirSync(RELEASES)).toContain(version);
});

const isOld = (release: string) =>
  versionOf(readFileSync(join(RELEASES, release, DATABASES.SQLite), "utf8")) < SCHEMA_VERSION;

describe.each(readdirSync(RELEASES))("a database of version %s", (release) => {
  const isOldRelease = isOld(release);
  describe.each(KINDS)("on %s", (kind) => {
    test("is upgraded without changing a message", async () => {
      const { open, read } = await load(kind, release);
      // Half an emoji, which a text field may leave at its maximum length. PostgreSQL refuses it in JSON.
      if (release === "1.0.0")
        await read(`UPDATE messages SET draft = replace(draft, 'Grace', 'Grace\\ud83d') RETURNING id`);
      const tables = ["messages", "deliveries", "events", "keys", "hits"];
      const GONE = [
        "interruptions",
        "draft",
        "announced_at",
        "announced_for",
        "payload",
        "footprint_kg",
        "reported_at",
      ];
      const readAll = () => Array.fromAsync(tables, (table) => read(`SELECT * FROM ${table} ORDER BY 1, 2`));
      const before = (await readAll()) as Record<string, unknown>[][];
      const store = await open();
      const dated = (former: unknown) => (former ? expect.stringMatching(`^${former}:\\d{13}$`) : null);
      const kept = before.map((rows) =>
        rows.map((row) =>
          expect.objectContaining({
            ...Object.fromEntries(Object.entries(row).filter(([name]) => !GONE.includes(name))),
            ...("former_addresses" in row && isOldRelease && { former_addresses: dated(row.former_addresses) }),
            ...(row.kind === "replied" && { detail: null }),
          }),
        ),
      );
      expect(await readAll()).toEqual(kept);
      await expect(read("SELECT * FROM old_messages")).rejects.toThrow(/old_messages/);
      expect(await exported(store)).toMatchObject(expected(release));
      const replies = await read("SELECT key, subject, text, CAST(sent_at AS TEXT) AS sent_at FROM replies");
      const written = { subject: "Re: Your message", text: "Thank you" };
      expect(replies).toMatchObject([
        { key: "00000000-0000-4000-8000-000000000001", ...written, sent_at: "1768469220000" },
      ]);
      const [{ reference } = {}] = await read("SELECT reference FROM messages WHERE id = 6");
      const { own } = await store.messages.readDrafts(String(reference));
      expect(own).toMatchObject({
        subject: "Re: Your message",
        text: release === "1.0.0" ? "Dear Grace\ufffd" : "Dear Grace",
      });
    });

    test("is restored from a backup, which stays as it is", async () => {
      const { open, openAsArchive } = await load(kind, release);
      const { dataDir } = await load("SQLite", release);
      const backup = sqliteFile(dataDir);
      const before = readFileSync(backup);
      const archive = await openAsArchive();
      expect(await archive.restore(backup, true, [])).toMatchObject({ messages: expected(release).length });
      expect(await exported(await open())).toMatchObject(expected(release));
      expect(readFileSync(backup).equals(before)).toBe(true);
      expect(readdirSync(dataDir)).toEqual(["messages.db"]);
    });
  });
});

describe.each(readdirSync(RELEASES).filter(isOld))("a database of the older version %s", (release) => {
  test.each(KINDS)("is not upgraded on %s by an operator's command, which says what to do", async (kind) => {
    const { dump, openAsCommand, read } = await load(kind, release);
    await expect(openAsCommand()).rejects.toThrow(
      /^This database was written by an older version .+; restart the website with this version, .+$/,
    );
    const [version] = await read("SELECT value FROM meta WHERE name = 'schema_version'");
    expect(version).toMatchObject({ value: String(versionOf(dump)) });
  });

  test.each(KINDS)("keeps all replies of a message, their keys, and whether each was sent, on %s", async (kind) => {
    const { open, read } = await load(kind, release);
    const keptId = kind === "SQLite" ? "" : "OVERRIDING SYSTEM VALUE";
    const add = (id: number, event: string, detail: string | null) =>
      read(`INSERT INTO events (id, message_id, at, kind, channel, detail) ${keptId}
        VALUES (${id}, 1, ${id}, '${event}', ${event === "replied" ? "NULL" : "'reply'"},
          ${detail === null ? "NULL" : `'${detail}'`}) RETURNING id`);
    await add(101, "replied", "Re: two\n\nNot sent\n\nat all");
    await add(102, "failed", "550");
    await add(103, "replied", "Re: three\n\nSent");
    await add(104, "delivered", null);
    await add(105, "replied", "Re: four\n\nWaits");
    const payload = JSON.stringify({ key: "k4", subject: "x", text: "y\ud83d", earlier: ["k1", "k3"] });
    await read(`UPDATE deliveries SET payload = '${payload}', state = 'queued', due_at = 1
      WHERE message_id = 1 AND channel = 'reply' RETURNING state`);
    const store = await open();
    const [claim] = await store.queue.claim("reply", 1, 1000, new Date());
    expect(claim?.reply).toEqual({ key: "k4", subject: "Re: four", text: "Waits", earlier: ["k1", "k3"] });
    const sql =
      "SELECT key, text, CAST(sent_at AS TEXT) AS sent_at FROM replies WHERE event_id > 100 ORDER BY event_id";
    expect(await read(sql)).toMatchObject([
      { key: "event-101", text: "Not sent\n\nat all", sent_at: null },
      { key: "k3", text: "Sent", sent_at: "104" },
      { key: "k4", text: "Waits", sent_at: null },
    ]);
    const history = await store.messages.history(claim?.message.reference ?? "");
    expect(history.findLast((event) => event.kind === "replied")?.detail).toBe("Re: four\n\nWaits");
  });
});
