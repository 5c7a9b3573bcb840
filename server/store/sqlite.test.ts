import crypto from "node:crypto";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  claimOne,
  client,
  estimateOf,
  messageWith,
  NO_LIMITS,
  NOON,
  store as send,
  submissionOf,
} from "../../tests/store-contract/samples.ts";
import { openStoreInProcess, RETENTION } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { HOUR_MS, MINUTE_MS } from "../time.ts";
import type { Database, Query } from "./database.ts";
import { StoreRefused, StoreUnavailable } from "./errors.ts";
import { openSqlite, requireSafeVersion, sqliteFile } from "./sqlite.ts";
import { createStore, type Store, type StoreOptions } from "./store.ts";

const WEBSITE = { isServer: true };

const openIn = (dataDir: string, options?: StoreOptions): Promise<Store> =>
  untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }, options));

/** A store in the current thread, whose statements can be watched. */
async function openWith(watch: (query: Query) => Query, rules = NO_LIMITS): Promise<Store> {
  const database = await openSqlite(sqliteFile(await makeScratchFolder()));
  const transaction: Database["transaction"] = (work, options) =>
    database.transaction((sql) => work({ ...sql, query: watch(sql.query) }), options);
  return untilEnd(
    createStore({ ...database, query: watch(database.query), transaction }, { retention: RETENTION, rules }),
  );
}

test("removes what a killed restore has left, which contains messages", async () => {
  const folder = await makeScratchFolder();
  writeFileSync(join(folder, "restoring.db"), "messages");
  await openIn(folder, WEBSITE);
  expect(readdirSync(folder)).not.toContain("restoring.db");
});

test("makes its files readable only by their owner", async () => {
  const folder = join(await makeScratchFolder(), "new", "data");
  await send(await openIn(folder, WEBSITE));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const names = ["messages.db", "messages.db-shm", "messages.db-wal", "website.lock"];
  expect(readdirSync(folder).sort()).toEqual(names);
  for (const name of names) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
});

test("a starting website ends the leases and reports of its predecessor; a command does not", async () => {
  const folder = await makeScratchFolder();
  const dead = await openIn(folder, WEBSITE);
  await send(dead);
  await claimOne(dead);
  await dead.status.reportNode([], NOON);
  await dead.close();
  const command = await openIn(folder);
  expect(await command.queue.claim("mail", 1, MINUTE_MS, NOON)).toEqual([]);
  expect(await command.status.website(NOON)).toMatchObject({ isRunning: true });
  const next = await openIn(folder, WEBSITE);
  expect(await next.status.website(NOON)).toMatchObject({ isRunning: false });
  expect(await claimOne(next)).toMatchObject({ attempts: 2 });
});

test("limits the number of waiting messages", async () => {
  const store = await openWith((query) => query);
  await store.close();
  const answers = await Promise.allSettled(Array.from({ length: 10_001 }, () => send(store)));
  const isFull = (answer: PromiseSettledResult<string>) => /10000 messages are waiting/.test(JSON.stringify(answer));
  expect(answers.findIndex((answer) => answer.status === "rejected" && isFull(answer))).toBe(10_000);
});

test("draws another reference if one is in use", async () => {
  const store = await openIn(await makeScratchFolder());
  const draws = ["0", "0", "1", "1", "0", "2"].map((digit) => `0000000${digit}-0-0-0-0` as const);
  vi.spyOn(crypto, "randomUUID").mockImplementation(() => draws.shift() ?? "ffffffff-0-0-0-0");
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  expect([await send(store), await send(store), await send(store)]).toEqual(["BC-0000-00", "BC-1000-00", "BC-2000-00"]);
});

test("leaves no byte of an erased message in any of its files", async () => {
  const folder = await makeScratchFolder();
  const website = await openIn(folder, WEBSITE);
  const lengthOf = (index: number) => 1 + ((index * 7919) % 900);
  const sendNumber = (index: number) => {
    const email = index % 2 === 0 ? `keep${index}@example.com` : "Secret-Person@example.com";
    const words = (index % 2 === 0 ? "open " : "hidden-words ").repeat(lengthOf(index) / 10 + 1);
    const footprint = estimateOf({ carKm: index % 2 === 0 ? 5 : 123_456.789 });
    return send(website, submissionOf(messageWith({ email, message: `${words}${index}` }), { footprint }));
  };
  await Promise.all(Array.from({ length: 600 }, (_, index) => sendNumber(index)));
  // Rows that grow move to other pages, and leave copies behind that deleting alone does not reach.
  await website.people.rectify("secret-person@example.com", { phone: "moved-phone ".repeat(30) }, NOON);
  for (const claim of await website.queue.claim("mail", 200, MINUTE_MS, NOON)) {
    const error = `error for Secret-Person ${"x".repeat(lengthOf(claim.message.id))}`;
    await website.queue.settle(claim, { kind: "deferred", delayMs: 1, error }, NOON);
  }
  const secrets = ["Secret-Person", "hidden-words", "123456.789", "moved-phone"];
  const found = (texts: readonly string[]) => {
    const contents = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    return texts.filter((text) => contents.some((content) => content.includes(text)));
  };
  expect(found(secrets)).toEqual(secrets);
  const command = await openIn(folder);
  for (const { reference } of await command.messages.list({ search: "open " }))
    await command.actions.act("delete", { references: [reference] }, NOON);
  expect(await command.people.erase("secret-person@EXAMPLE.com")).toHaveLength(300);
  await command.people.finishErasure();
  expect(found(secrets)).toEqual([]);
}, 60_000);

test("erases the last traces once another program has stopped reading", async () => {
  const folder = await makeScratchFolder();
  const website = await openIn(folder, WEBSITE);
  await send(website);
  const reader = new DatabaseSync(sqliteFile(folder));
  reader.exec("BEGIN; SELECT * FROM messages");
  const [message] = await website.messages.list({});
  await website.people.erase(message?.email ?? "");
  const log = join(folder, "messages.db-wal");
  const { size } = statSync(log);
  const finished = website.people.finishErasure();
  // VACUUM has rewritten the file, but the reader keeps the old pages.
  await expect.poll(() => statSync(log).size).toBeGreaterThan(size);
  reader.close();
  expect(await finished).toBe(true);
  expect(statSync(log).size).toBeLessThan(size);
});

test.each<[what: string, lose: (folder: string) => void]>([
  ["its folder is removed", (folder) => rmSync(folder, { recursive: true })],
  ["its log is removed", (folder) => rmSync(join(folder, "messages.db-wal"))],
  [
    "another file takes its place",
    (folder) => {
      writeFileSync(join(folder, "restored.db"), "");
      renameSync(join(folder, "restored.db"), join(folder, "messages.db"));
    },
  ],
])("confirms no message once %s", async (what, lose) => {
  const folder = join(await makeScratchFolder(), "data");
  const ends: StoreUnavailable[] = [];
  const store = await openIn(folder, { ...WEBSITE, onEnd: (error) => void ends.push(error) });
  await send(store);
  await store.status.ping();
  lose(folder);
  for (const call of [() => send(store), () => store.queue.claim("mail", 1, 1000, NOON), () => store.status.ping()]) {
    await expect(call()).rejects.toThrow(/^.+messages\.db.* was removed or replaced .+; put the files back/);
  }
  await expect.poll(() => ends).toHaveLength(1);
  // SQLite would apply the old log to the replaced database.
  if (what === "another file takes its place") expect(readdirSync(folder)).not.toContain("messages.db-wal");
});

test("once a statement finds damage, no process stores messages, also after a restart", async () => {
  const folder = await makeScratchFolder();
  const store = await openIn(folder);
  const references = [];
  for (let count = 0; count < 20; count += 1)
    references.push(await send(store, submissionOf(messageWith({ message: `Words ${count} ${"x".repeat(900)}` }))));
  await store.close();
  const file = sqliteFile(folder);
  const page = readFileSync(file).indexOf("Words 10 ") >> 12;
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
  closeSync(descriptor);
  const damaged = /^The file of the message database is damaged; recover its messages with sqlite3/;
  const [again, other] = [await openIn(folder), await openIn(folder)];
  await again.status.ping();
  expect(await again.messages.find(String(references[0]))).toMatchObject({ reference: references[0] });
  await expect(again.messages.list({})).rejects.toThrow(damaged);
  for (const one of [again, other, await openIn(folder)]) {
    await expect(one.status.ping()).rejects.toThrow(damaged);
    await expect(send(one)).rejects.toThrow(damaged);
  }
});

test("is away while its folder cannot be read, and works again afterwards", async () => {
  const folder = join(await makeScratchFolder(), "data");
  const store = await openIn(folder, WEBSITE);
  await send(store);
  renameSync(folder, `${folder}.moved`);
  // A link to itself: a folder without permission cannot be made for root.
  symlinkSync(folder, folder);
  const error = await send(store).catch((error) => error);
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(error.message).toMatch(/^The message database cannot be used: its files cannot be reached \(ELOOP\); check/);
  rmSync(folder);
  renameSync(`${folder}.moved`, folder);
  await send(store);
});

test("empties the write-ahead log soon after the last message", async () => {
  const folder = await makeScratchFolder();
  const store = await openIn(folder);
  await Promise.all(Array.from({ length: 200 }, () => send(store)));
  await expect.poll(() => statSync(join(folder, "messages.db-wal")).size).toBe(0);
});

test("pings share one write in ten seconds, and its failure", async () => {
  let writes = 0;
  const store = await openWith((query) => (sql, values) => {
    if (values?.[0] !== "write_check") return query(sql, values);
    writes += 1;
    return writes === 2 ? Promise.reject(new StoreUnavailable({ problem: "full" })) : query(sql, values);
  });
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const both = () => Promise.allSettled([store.status.ping(), store.status.ping()]);
  for (const status of ["fulfilled", "rejected", "fulfilled"]) {
    expect(await both()).toMatchObject([{ status }, { status }]);
    vi.advanceTimersByTime(9999);
    expect(await both()).toMatchObject([{ status }, { status }]);
    vi.advanceTimersByTime(1);
  }
  expect(writes).toBe(3);
});

test.each(["3.51.2", "2.99.99", "3.6"])("refuses SQLite %s, which may lose messages", (version) => {
  expect(() => requireSafeVersion(version)).toThrow(/ may lose messages; 3\.51\.3 or newer is needed: /);
  for (const newer of ["3.51.3", "4.0.0"]) requireSafeVersion(newer);
});

test.each<[what: string, write: (file: string) => void]>([
  ["no database", (file) => writeFileSync(file, "Dear diary, ".repeat(1000))],
  ["another program's", (file) => new DatabaseSync(file).exec("CREATE TABLE diary (entry TEXT)")],
])("refuses a file that is %s, does not change it, and releases the folder", async (_, write) => {
  const folder = await makeScratchFolder();
  write(sqliteFile(folder));
  const before = readFileSync(sqliteFile(folder));
  const refusal = openIn(folder, WEBSITE);
  await expect(refusal).rejects.toThrow(StoreRefused);
  await expect(refusal).rejects.toThrow(/messages\.db is not a database of this program; [^\n]+DATA_DIR/);
  expect(readFileSync(sqliteFile(folder))).toEqual(before);
  rmSync(sqliteFile(folder));
  await openIn(folder, WEBSITE);
});

test("uses an index for its queries, so that they do not slow down with many messages", async () => {
  const plans = new Map<string, string>();
  const rules = { ...NO_LIMITS, rateLimits: [{ count: 5, windowMs: 1000 }], hourlyLimit: 10 };
  const explain =
    (query: Query): Query =>
    async (sql, values) => {
      const steps = await query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values);
      plans.set(sql, steps.map(({ detail }) => detail).join("; "));
      return query(sql, values);
    };
  const store = await openWith(explain, rules);
  plans.clear();
  const keyed = submissionOf(messageWith(), { idempotencyKey: "key", networks: client("client") });
  await store.intake.accept(keyed, NOON);
  const claim = await claimOne(store);
  await store.queue.admit(claim, [{ name: "all", count: 1, windowMs: HOUR_MS }], NOON);
  await store.queue.settle(claim, { kind: "delivered" }, NOON, "acknowledgement");
  await store.queue.dueInMs("mail", NOON);
  await store.queue.flushBacklog("mail", NOON);
  await store.queue.countDeliveries();
  await store.retention.markAnnounced(await store.retention.findExpiring(NOON));
  await store.messages.find("BC-0000-00");
  await store.messages.history("BC-0000-00");
  await store.messages.changeToken();
  const after = { acceptedAt: NOON, newAnswerAt: null, id: 1 };
  for (const tab of ["all", "unanswered", "quarantined"] as const) {
    for (const filter of [{}, { after }, { since: NOON, until: NOON }, { offset: 50 }])
      await store.messages.list({ ...filter, tab, limit: 51 });
    await store.messages.countTabs({ tab });
  }
  // A search must read every message, but each further page continues where the previous one ended.
  await store.messages.list({ search: "wind", after, limit: 51 });
  await store.messages.list({ references: ["BC-0000-00"] });
  await store.messages.neighbours("BC-0000-00", {});
  expect(plans.size).toBeGreaterThan(30);
  const SLOW = /SCAN (messages|deliveries|events|keys|hits)(?! USING (COVERING )?INDEX)/;
  expect([...plans].filter(([, plan]) => SLOW.test(plan))).toEqual([]);
});
