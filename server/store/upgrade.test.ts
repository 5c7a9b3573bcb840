// Sets how `pg` reads numbers.
import "./postgres.ts";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { exportMessages } from "../../desk/export-messages.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { sharePostgresForFile } from "../../tests/support/shared-postgres.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { sqliteFile } from "./sqlite.ts";
import { openArchive, openStore, type Store, type StoreOptions } from "./store.ts";

// Databases that released versions wrote, as SQL, and what these versions exported from them.

const RELEASES = join(import.meta.dirname, "../../tests/fixtures/releases");
const DATABASES = { SQLite: "sqlite.sql", PostgreSQL: "postgres.sql" };

const KINDS = Object.keys(DATABASES) as (keyof typeof DATABASES)[];

/** Each column with its rules, and each index. */
const SCHEMA = {
  SQLite: `SELECT tables.name || concat_ws(' ', '', columns.name, columns.type, "notnull", dflt_value, pk) AS line
    FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'
    UNION SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql > '' ORDER BY 1`,
  PostgreSQL: `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable,
      replace(column_default, current_schema(), '')) AS line
    FROM information_schema.columns WHERE table_schema = current_schema()
    UNION SELECT replace(indexdef, current_schema(), '') FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`,
};

const server = await sharePostgresForFile();

/** A database with the dump of a release, or an empty one. */
async function load(kind: keyof typeof DATABASES, release?: string) {
  const dump = release ? readFileSync(join(RELEASES, release, DATABASES[kind]), "utf8") : "";
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
  describe.each(KINDS)("on %s", (kind) => {
    test("is upgraded without changing a message", async () => {
      const { dump, open, read } = await load(kind, release);
      const all = [...dump.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, table = ""]) => table);
      const tables = all.filter((table) => !["meta", "retention"].includes(table));
      const readAll = () => Array.fromAsync(tables, (table) => read(`SELECT * FROM ${table} ORDER BY 1, 2`));
      const before = (await readAll()) as Record<string, unknown>[][];
      const store = await open();
      // What an undo would put back lacks new columns.
      const changed = { replaced: null, search_text: expect.any(String) };
      const kept = (row: object) =>
        expect.objectContaining({
          ...row,
          ...Object.fromEntries(Object.entries(changed).filter(([name]) => name in row)),
        });
      expect(await readAll()).toEqual(before.map((rows) => rows.map(kept)));
      expect(await exported(store)).toMatchObject(expected(release));
      const { own } = await store.replies.readDrafts(String(before[0]?.[5]?.reference));
      expect(own).toMatchObject({ subject: "Re: Your message", text: "Dear Grace" });
    });

    test("is upgraded to the columns and indexes of a new database", async () => {
      const [upgraded, created] = [await load(kind, release), await load(kind)];
      for (const { open } of [upgraded, created]) await open();
      const tables = await created.read(SCHEMA[kind]);
      expect(tables.length).toBeGreaterThan(80);
      expect(await upgraded.read(SCHEMA[kind])).toEqual(tables);
    });

    test("is restored from a backup, which stays as it is", async () => {
      const { open, openAsArchive } = await load(kind, release);
      const { dataDir } = await load("SQLite", release);
      const backup = sqliteFile(dataDir);
      const before = readFileSync(backup);
      const archive = await openAsArchive();
      expect(await archive.restore(backup, true)).toMatchObject({ messages: expected(release).length });
      expect(await exported(await open())).toMatchObject(expected(release));
      expect(readFileSync(backup).equals(before)).toBe(true);
      expect(readdirSync(dataDir)).toEqual(["messages.db"]);
    });
  });
});

test.each(KINDS)("a database of version 1.x is refused on %s with the version that upgrades it", async (kind) => {
  const { open, openAsArchive, read } = await load(kind, "2.0.0");
  await read("UPDATE meta SET value = '2' WHERE name = 'schema_version' RETURNING 1");
  const because = "This database is of version 1.x; start it once with 2.0.0";
  await expect(open()).rejects.toThrow(because);
  const archive = await openAsArchive();
  await expect(archive.countAll()).rejects.toThrow(because);
});

test("a backup of version 1.x is refused with the version that upgrades it, and stays as it is", async () => {
  const { dataDir, read } = await load("SQLite", "2.0.0");
  await read("UPDATE meta SET value = '2' WHERE name = 'schema_version' RETURNING 1");
  const { openAsArchive } = await load("SQLite");
  await expect((await openAsArchive()).restore(sqliteFile(dataDir), true)).rejects.toThrow(
    /messages\.db is a backup of version 1\.x; restore it with 2\.0\.0 and back up again$/,
  );
  expect(await read("SELECT value FROM meta WHERE name = 'schema_version'")).toEqual([{ value: "2" }]);
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

  test.each(KINDS)("is upgraded on %s to what a search finds now", async (kind) => {
    const { open, read } = await load(kind, release);
    await read("UPDATE messages SET name = 'Łukasz' WHERE name = 'Robert' RETURNING id");
    const store = await open();
    const find = async (search: string) => (await store.messages.list({ search })).map(({ name }) => name);
    expect(await find("lukasz")).toEqual(["Łukasz"]);
    expect(await find("lukasz 4420-79460000 united kingdom gb")).toEqual(["Łukasz"]);
    expect(await find("zoe 442079460000")).toEqual(["Zoë"]);
    expect(await find("zoe gb")).toEqual([]);
  });
});
