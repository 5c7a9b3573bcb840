import { chmod, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { STORE_FAILURES, StoreLost, StoreRefused, StoreUnavailable, storeError } from "../server/store/errors.ts";
import { createOpening } from "../server/store/opening.ts";
import { openPostgres } from "../server/store/postgres.ts";
import { lockFolder, sqliteFile } from "../server/store/sqlite.ts";
import { openStore } from "../server/store/store.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgres } from "./support/shared-postgres.ts";
import { mountSmallDisk } from "./support/small-disk.ts";

let postgres: Awaited<ReturnType<typeof sharePostgres>>;
beforeAll(async () => {
  postgres = await sharePostgres();
});
afterAll(() => postgres.stop());

/** Opens a website's store, and returns what the website does about the error: it is `away`, or it `ends`. */
async function effectOf(settings: { dataDir?: string; databaseUrl?: string }): Promise<string> {
  const dataDir = settings.dataDir ?? (await makeScratchFolder());
  const opening = openStore({ databaseUrl: null, ...settings, dataDir }, { isServer: true });
  const error = await opening.then(
    (store) => store.close(),
    (reason) => reason,
  );
  if (error instanceof StoreLost || error instanceof StoreRefused) return `ends: ${error.message}`;
  return error instanceof StoreUnavailable ? `away: ${error.message}` : String(error);
}

/** A folder with the database of a website that has stopped. */
async function usedFolder(): Promise<string> {
  const dataDir = await makeScratchFolder();
  await (await openStore({ dataDir, databaseUrl: null }, { isServer: true })).close();
  return dataDir;
}

describe("with SQLite", () => {
  test("a full disk: away", async ({ skip }) => {
    const disk = await mountSmallDisk(skip);
    await disk.fill();
    expect(await effectOf({ dataDir: disk.folder })).toMatch(/^away: .+(disk is full|ENOSPC|disk reported)/);
    disk.free();
    expect(await effectOf({ dataDir: disk.folder })).toBe("undefined");
  });

  test("a lock that another program keeps: away", async () => {
    const dataDir = await usedFolder();
    const other = new DatabaseSync(sqliteFile(dataDir));
    other.exec("BEGIN IMMEDIATE");
    expect(await effectOf({ dataDir })).toMatch(/^away: .+stayed locked/);
    other.close();
  });

  test("a folder that may not be written: ends", async () => {
    const locked = join(await makeScratchFolder(), "locked");
    await mkdir(locked, { mode: 0o500 });
    // File modes do not restrict root, but the kernel's own folders do.
    const dataDir = process.getuid?.() === 0 ? "/sys/data" : locked;
    expect(await effectOf({ dataDir })).toMatch(/^ends: Messages cannot be stored in /);
    await chmod(locked, 0o700);
  });

  test("a damaged header: ends", async () => {
    const dataDir = await usedFolder();
    await writeFile(sqliteFile(dataDir), "not a database".repeat(100), { flag: "r+" });
    expect(await effectOf({ dataDir })).toMatch(/^ends: .+not a database of this program/);
  });

  test("another website in the folder: ends", async () => {
    const dataDir = await makeScratchFolder();
    const unlock = lockFolder(dataDir);
    expect(await effectOf({ dataDir })).toMatch(/^ends: A website already uses /);
    unlock();
  });

  test("removed files, while it runs: ends", async () => {
    const dataDir = await makeScratchFolder();
    const ended = Promise.withResolvers<StoreUnavailable>();
    const store = await openStore({ dataDir, databaseUrl: null }, { isServer: true, onEnd: ended.resolve });
    await unlink(sqliteFile(dataDir));
    await expect(store.messages.changeToken()).rejects.toThrow(StoreLost);
    expect(await ended.promise).toMatchObject({ name: "StoreLost", message: expect.stringContaining("was removed") });
    await store.close().catch(() => {});
  });
});

describe("with PostgreSQL", () => {
  const changed = async (change: (url: URL) => void) => {
    const url = new URL(await postgres.createDatabase());
    change(url);
    return effectOf({ databaseUrl: String(url) });
  };

  test("a refused connection: away", async () => {
    expect(await changed((url) => (url.port = "1"))).toMatch(/^away: .+ECONNREFUSED/);
  });

  test("a name that is not found: away", async () => {
    expect(await changed((url) => (url.hostname = "nowhere.invalid"))).toMatch(/^away: .+nowhere\.invalid/);
  });

  test("a server that ends the connection because it stops: away", async () => {
    const database = await openPostgres(await postgres.createDatabase());
    const dying = database.query("SELECT pg_terminate_backend(pg_backend_pid())");
    await expect(dying).rejects.toSatisfy(
      (error) => error instanceof StoreUnavailable && !(error instanceof StoreLost),
    );
    await database.close();
  });

  test("too many connections: away", async () => {
    await postgres.administer("CREATE ROLE crowded LOGIN PASSWORD 'x' CONNECTION LIMIT 0");
    const crowded = (url: URL) => Object.assign(url, { username: "crowded", password: "x" });
    expect(await changed(crowded)).toMatch(/^away: .+too many connections/);
    await postgres.administer("DROP ROLE crowded");
  });

  test("a wrong password, or none: ends", async () => {
    for (const password of ["wrong", ""])
      expect(await changed((url) => (url.password = password))).toMatch(/^ends: .+password/);
  });

  test("a role that does not exist: ends", async () => {
    expect(await changed((url) => (url.username = "nobody_here"))).toMatch(/^ends: .+nobody_here/);
  });

  test("no such database: ends, also while it runs", async () => {
    expect(await changed((url) => (url.pathname = "/missing"))).toMatch(/^ends: .+"missing" does not exist/);
    const name = "lost_while_running";
    await postgres.administer(`CREATE DATABASE ${name}`);
    const url = new URL(await postgres.createDatabase());
    url.pathname = `/${name}`;
    url.search = "";
    const ended = vi.fn();
    const store = await openStore(
      { dataDir: await makeScratchFolder(), databaseUrl: String(url) },
      { isServer: true, onEnd: ended },
    );
    await postgres.administer(`DROP DATABASE ${name} WITH (FORCE)`);
    const ask = () => store.messages.list({}).catch(() => {});
    await expect.poll(() => ask().then(() => ended.mock.calls.length)).toBe(1);
    await ask();
    expect(ended.mock.calls).toEqual([[expect.any(StoreLost)]]);
    await store.close();
  });
});

test.each([
  ["sqlite 13", "away"],
  ["ENOSPC", "away"],
  ["sqlite 10", "away"],
  ["EIO", "away"],
  ["sqlite 5", "away"],
  ["sqlite 11", "away"],
  ["sqlite 8", "ends"],
  ["EACCES", "ends"],
  ["EROFS", "ends"],
  ["sqlite 26", "ends"],
  ["ECONNRESET", "away"],
  ["ENOTFOUND", "away"],
  ["EAI_AGAIN", "away"],
  ["57P01", "away"],
  ["57P03", "away"],
  ["53300", "away"],
  ["53100", "away"],
  ["28P01", "ends"],
  ["28000", "ends"],
  ["42501", "ends"],
  ["3D000", "ends"],
  ["XX000", "away"],
  [undefined, "away"],
])("the code %s: %s", (code, effect) => {
  const error = storeError(code, { problem: "p" }, null);
  expect(error instanceof StoreLost ? "ends" : "away").toBe(effect);
});

test("the store is tried again after 1, 2, 4 … 30 s, and an error that lasts ends the attempts", async () => {
  const clock = createFakeClock();
  const waits: number[] = [];
  let failure: Error = new StoreUnavailable({ problem: "away" });
  const opening = createOpening<string>(
    () => Promise.reject(failure),
    (_error, retryMs) => waits.push(retryMs),
    clock,
  );
  const started = opening.start();
  await clock.advance(120_000);
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30].map((seconds) => seconds * 1000));
  failure = new StoreLost({ problem: "wrong password" });
  void clock.advance(30_000);
  await expect(started).rejects.toThrow("wrong password");
  expect(waits).toHaveLength(8);
});

test("docs/operations.md says of every failure whether the website stays", async () => {
  const documented = await readFile("docs/operations.md", "utf8");
  const listed = (state: string) => new RegExp(`^- ${state}: (.+)$`, "m").exec(documented)?.[1]?.split("; ");
  for (const { what, effect } of STORE_FAILURES) expect(listed(effect === "ends" ? "ends" : "stays")).toContain(what);
});
