import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { client, estimateOf, messageWith, NO_LIMITS, submissionOf } from "../../tests/store-contract/samples.ts";
import { listingMethods } from "./listing.ts";
import { createStore, openStore } from "./open-store.ts";
import { openSqliteFile, sqliteFile, toStoreError } from "./sqlite.ts";
import { StoreLost, StoreRefused, StoreUnavailable } from "./store.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sqlite-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function openIn(folder: string) {
  const store = await openStore({ databaseUrl: null, dataDir: folder });
  onTestFinished(() => store.close());
  return store;
}

/** Another program that holds the database's write lock. */
function lock(folder: string): DatabaseSync {
  const other = new DatabaseSync(join(folder, "messages.db"));
  other.exec("BEGIN IMMEDIATE");
  onTestFinished(() => {
    if (other.isOpen) other.close();
  });
  return other;
}

test("keeps its files to itself", async () => {
  const folder = join(newFolder(), "new", "data");
  const store = await openIn(folder);
  await store.accept(submissionOf(), NO_LIMITS, new Date());
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
  expect(modes.sort()).toEqual([
    ["messages.db", 0o600],
    ["messages.db-shm", 0o600],
    ["messages.db-wal", 0o600],
  ]);
});

test("accepts as soon as a lock is gone", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  const other = lock(folder);
  const accepted = store.accept(submissionOf(), NO_LIMITS, new Date());
  await new Promise((resolve) => setImmediate(resolve));
  other.exec("COMMIT");
  expect(await accepted).toMatchObject({ kind: "stored" });
});

test("takes no more than it can hold while it waits", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  const other = lock(folder);
  const answers = Promise.allSettled(
    Array.from({ length: 10_001 }, () => store.accept(submissionOf(), { ...NO_LIMITS }, new Date())),
  );
  other.exec("COMMIT");
  expect((await answers).filter((answer) => answer.status === "rejected")).toMatchObject([
    { reason: expect.any(StoreUnavailable) },
  ]);
}, 60_000);

test("leaves no byte of an erased message in any of its files", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  const lengthOf = (index: number) => 1 + ((index * 7919) % 900);
  const send = (index: number) => {
    const email = index % 2 === 0 ? `keep${index}@example.com` : "Secret-Person@example.com";
    const words = (index % 2 === 0 ? "open " : "hidden-words ").repeat(lengthOf(index) / 10 + 1);
    const footprint = estimateOf({ carKm: index % 2 === 0 ? 5 : 123_456.789 });
    return store.accept(
      submissionOf(messageWith({ email, message: `${words}${index}` }), { footprint }),
      NO_LIMITS,
      new Date(0),
    );
  };
  await Promise.all(Array.from({ length: 600 }, (_, index) => send(index)));
  // Rows that grow move to other pages, and leave copies behind that deleting alone does not reach.
  for (const claim of await store.claim(200, 1000, new Date(1))) {
    await store.reschedule(claim, new Date(2), "x".repeat(lengthOf(claim.message.id)), new Date(2));
  }
  const bytes = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const holds = (text: string) => bytes().some((content) => content.includes(text));
  expect([holds("Secret-Person"), holds("hidden-words"), holds("123456.789")]).toEqual([true, true, true]);
  const server = await openIn(folder);
  expect(await server.erase("secret-person@EXAMPLE.com")).toHaveLength(300);
  expect([holds("Secret-Person"), holds("hidden-words"), holds("123456.789")]).toEqual([false, false, false]);
  expect(holds("open ")).toBe(true);
  expect(await store.list({})).toHaveLength(300);
}, 60_000);

const FILES = ["messages.db", "messages.db-wal", "messages.db-shm"];
const LOSSES: [what: string, lose: (folder: string) => void][] = [
  ["all its files are removed", (folder) => FILES.forEach((name) => void rmSync(join(folder, name)))],
  ["its folder is removed", (folder) => rmSync(folder, { recursive: true })],
  ["its main file is removed", (folder) => rmSync(join(folder, "messages.db"))],
  ["its log is removed", (folder) => rmSync(join(folder, "messages.db-wal"))],
  [
    "another file takes its place",
    (folder) => {
      writeFileSync(join(folder, "restored.db"), "");
      renameSync(join(folder, "restored.db"), join(folder, "messages.db"));
    },
  ],
];

test.each(LOSSES)("confirms nothing once %s, saves what it held, and says where", async (what, lose) => {
  const folder = join(newFolder(), "data");
  const losses: StoreLost[] = [];
  const store = await openStore({ databaseUrl: null, dataDir: folder }, { onLost: (error) => losses.push(error) });
  onTestFinished(() => store.close());
  await store.accept(submissionOf(), NO_LIMITS, new Date());
  await store.ping();
  lose(folder);
  await expect(store.accept(submissionOf(messageWith({ message: "Late" })), NO_LIMITS, new Date())).rejects.toThrow(
    StoreLost,
  );
  await expect(store.ping()).rejects.toThrow(StoreLost);
  await expect(store.claim(1, 1000, new Date())).rejects.toThrow(StoreLost);
  const [, saved = ""] = / were saved to (\S+\.db): stop the server, /.exec(losses[0]?.message ?? "") ?? [];
  expect(losses).toHaveLength(1);
  expect(statSync(saved).mode & 0o777).toBe(0o600);

  await store.close();
  // It would be read with the database that took the place of this one.
  if (what === "another file takes its place") expect(readdirSync(folder)).not.toContain("messages.db-wal");
  for (const name of FILES) rmSync(join(folder, name), { force: true });
  renameSync(saved, sqliteFile(folder));
  expect(await (await openIn(folder)).list({})).toHaveLength(2);
});

test("tries to save again until it can", async () => {
  const folder = newFolder();
  const losses: string[] = [];
  const onLost = ({ message }: StoreLost, isDone: boolean) => void (isDone && losses.push(message));
  const database = await openSqliteFile(sqliteFile(folder), { onLost });
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "no folder any more");
  await expect(database.verify()).rejects.toThrow(
    /could not be saved to .+ \(EEXIST\) and end with this process: do not/,
  );
  rmSync(folder);
  await database.close();
  expect(losses).toMatchObject([expect.any(String), expect.stringContaining(" were saved to ")]);
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^messages-saved-.+\.db$/)]);
});

test("has everything in its main file, and an empty log, a short time after the last message", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      store.accept(submissionOf(messageWith({ message: `Words ${index}` })), NO_LIMITS, new Date()),
    ),
  );
  await expect.poll(() => statSync(join(folder, "messages.db-wal")).size, { timeout: 10_000 }).toBe(0);
  copyFileSync(sqliteFile(folder), join(folder, "copy.db"));
  const copy = new DatabaseSync(join(folder, "copy.db"));
  onTestFinished(() => copy.close());
  expect(copy.prepare("SELECT count(*) AS count FROM messages").get()).toEqual({ count: 200 });
});

test("tries to write once for all who ask, and again after a failure", async () => {
  const database = await openSqliteFile(sqliteFile(newFolder()));
  let writes = 0;
  let isFull = false;
  const full = () => Promise.reject(new StoreUnavailable("full"));
  const store = createStore({
    ...database,
    query(sql, values) {
      if (values?.[0] === "write_check") writes += 1;
      return isFull ? full() : database.query(sql, values);
    },
    accept: (batch) => (isFull ? full() : database.accept(batch)),
  });
  onTestFinished(() => store.close());
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  for (let count = 0; count < 100; count += 1) await store.ping();
  expect(writes).toBe(1);
  vi.advanceTimersByTime(9999);
  await store.ping();
  expect(writes).toBe(1);
  vi.advanceTimersByTime(1);
  await Promise.all([store.ping(), store.ping()]);
  expect(writes).toBe(2);

  isFull = true;
  vi.advanceTimersByTime(1000);
  await store.ping();
  await expect(store.accept(submissionOf(), NO_LIMITS, new Date())).rejects.toThrow("full");
  await expect(store.ping()).rejects.toThrow("full");
  await expect(store.ping()).rejects.toThrow("full");
  expect(writes).toBe(3);
  isFull = false;
  vi.advanceTimersByTime(1000);
  await store.ping();
  expect(writes).toBe(4);
});

test.each(["3.51.2", "3.50.9", "2.99.99", "3.6"])("refuses SQLite %s, which may lose messages", async (version) => {
  const folder = newFolder();
  const refusal = openSqliteFile(sqliteFile(folder), { sqliteVersion: version });
  await expect(refusal).rejects.toThrow(StoreRefused);
  await expect(refusal).rejects.toThrow(/^SQLite .+ may lose messages; 3\.51\.3 or newer is needed: [^\n]+$/);
  expect(readdirSync(folder)).toEqual([]);
});

test.each(["3.51.3", "3.52.0", "4.0.0"])("works with SQLite %s", async (version) => {
  const store = await openSqliteFile(sqliteFile(newFolder()), { sqliteVersion: version });
  await store.close();
});

test("refuses a file of another kind, and leaves it as it is", async () => {
  const folder = newFolder();
  const file = join(folder, "messages.db");
  writeFileSync(file, "Dear diary, ".repeat(1000));
  await expect(openStore({ databaseUrl: null, dataDir: folder })).rejects.toThrow(StoreRefused);
  await expect(openStore({ databaseUrl: null, dataDir: folder })).rejects.toThrow(
    /messages\.db is not a database of this program; [^\n]+DATA_DIR/,
  );
  expect(readFileSync(file, "utf8")).toBe("Dear diary, ".repeat(1000));
});

test("names the folder and DATA_DIR when it cannot be written", async () => {
  const file = join(newFolder(), "file");
  writeFileSync(file, "");
  const failure = openStore({ databaseUrl: null, dataDir: join(file, "data") });
  await expect(failure).rejects.toThrow(StoreUnavailable);
  await expect(failure).rejects.toThrow(
    /^The messages cannot be kept in .+file\/data \(ENOTDIR\); set DATA_DIR [^\n]+$/,
  );
});

test("names DATA_DIR when its file cannot be opened", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "messages.db"));
  await expect(openStore({ databaseUrl: null, dataDir: folder })).rejects.toThrow(
    /^The messages cannot be kept in .+ \(EISDIR\); set DATA_DIR/,
  );
});

test("answers by index, however many messages there are", async () => {
  const folder = newFolder();
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  onTestFinished(() => prepare.mockRestore());
  const store = createStore(await openSqliteFile(sqliteFile(folder)));
  onTestFinished(() => store.close());
  prepare.mockClear();
  const rules = { ...NO_LIMITS, rateLimits: [{ count: 5, windowMs: 1000 }], hourlyLimit: 10 };
  const keyed = submissionOf(messageWith(), { idempotencyKey: "key", networks: client("client") });
  await store.accept(keyed, rules, new Date());
  await store.claim(5, 1000, new Date());
  await store.dueInMs(new Date());
  await store.admitAcknowledgements(5, 1000, { ownAddresses: [], perHour: 1 }, new Date());
  await store.claim(5, 1000, new Date(), "acknowledgement");
  await store.dueInMs(new Date(), "acknowledgement");
  await store.claim(5, 1000, new Date(), "hook");
  await store.dueInMs(new Date(), "hook");
  await store.queueDepth();
  await store.list({ limit: 50 });
  await store.list({ state: "failed", limit: 50 });
  await store.find("BC-0000-00");
  const statements = prepare.mock.calls.map(([sql]) => sql);
  const depthSql = statements.find((sql) => sql.includes("newly_quarantined"));
  prepare.mockRestore();

  const db = new DatabaseSync(join(folder, "messages.db"));
  onTestFinished(() => db.close());
  expect(statements).toHaveLength(21);
  for (const sql of statements.filter((text) => !/^INSERT|FROM store_meta/.test(text))) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    const details = plan.map(({ detail }) => String(detail)).join("; ");
    expect(details).toMatch(/messages USING (COVERING |INTEGER )?(INDEX|PRIMARY KEY)|client_hits USING COVERING INDEX/);
    expect(details).not.toMatch(/TEMP B-TREE|SCAN messages(?! USING INDEX messages_by_age)|by_state \(state=\?\); USE/);
  }
  // A flood may leave hundreds of thousands there; to read each of them made others wait for seconds.
  const depthPlan = JSON.stringify(db.prepare(`EXPLAIN QUERY PLAN ${depthSql}`).all());
  expect(depthPlan).toMatch(/USING COVERING INDEX messages_quarantined/);
});

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail");
}

test("a full disk is the store's trouble, and says so", () => {
  const db = new DatabaseSync(":memory:");
  db.exec("PRAGMA max_page_count = 3; CREATE TABLE words (word TEXT)");
  const full = errorOf(() => db.prepare("INSERT INTO words VALUES (?)").run("x".repeat(50_000)));
  expect(toStoreError(full)).toBeInstanceOf(StoreUnavailable);
  expect(toStoreError(full)).toMatchObject({ message: expect.stringMatching(/disk is full.+DATA_DIR/), cause: full });
});

test.each([
  [5 | (2 << 8), /locked/],
  [8, /read-only/],
  [10 | (4 << 8), /disk reported an error/],
  [11, /damaged/],
  [14, /cannot be opened/],
])("code %i is the store's trouble", (errcode, message) => {
  const error = Object.assign(new Error("x"), { code: "ERR_SQLITE_ERROR", errcode });
  expect(toStoreError(error)).toBeInstanceOf(StoreUnavailable);
  expect(toStoreError(error)).toMatchObject({ message: expect.stringMatching(message) });
});

test("a closed database is the store's trouble", () => {
  const db = new DatabaseSync(":memory:");
  db.close();
  expect(toStoreError(errorOf(() => db.exec("SELECT 1")))).toBeInstanceOf(StoreUnavailable);
});

test("a wrong statement is a fault of the program and stays what it is", () => {
  const fault = errorOf(() => new DatabaseSync(":memory:").exec("SELEC 1"));
  expect(toStoreError(fault)).toBe(fault);
});

test("reads lists, tabs, pages and counts by an index, however many messages there are", async () => {
  const database = await openSqliteFile(sqliteFile(newFolder()));
  onTestFinished(() => database.close());
  const plans: string[] = [];
  const { list, page, placeOf, countStates, history, changeToken } = listingMethods({
    ...database,
    async query(sql, values) {
      const steps = await database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values);
      plans.push(steps.map(({ detail }) => detail).join("; "));
      return database.query(sql, values);
    },
  });
  const after = { acceptedAt: new Date(1), id: 1 };
  const since = new Date(0);
  await page({}, {}, { sort: "newest", offset: 50, limit: 51 });
  await page({}, { unanswered: true }, { sort: "footprint", offset: 50, limit: 51 });
  await page({ since, until: since }, { state: "failed" }, { sort: "newest", offset: 0, limit: 51 });
  await placeOf("BC-AAAA-AA", {}, "newest");
  for (const tab of [{}, { unanswered: true }, { state: "quarantined" }] as const) {
    for (const filter of [{}, { after }, { since }]) await list({ ...filter, ...tab, limit: 51 });
  }
  // A search has to read every message, but the pages that follow go on where the one before ended.
  await list({ search: "wind", after, limit: 51 });
  await list({ references: ["BC-AAAA-AA"] });
  await countStates({});
  await history("BC-AAAA-AA");
  await changeToken();
  expect(plans.length).toBeGreaterThan(15);
  for (const plan of plans) {
    expect(plan).not.toMatch(/SCAN message(s|_events)(?! USING (COVERING )?INDEX)/);
    if (!/LIST SUBQUERY|MATERIALIZE/.test(plan)) expect(plan).not.toMatch(/TEMP B-TREE FOR .*ORDER BY/);
  }
});
