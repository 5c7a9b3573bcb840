import { openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { estimateOf, finish, messageWith, store as send, submissionOf } from "../../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { inspectDatabase } from "./open-store.ts";
import { rescueMessages } from "./rescue.ts";
import { sqliteFile } from "./sqlite.ts";

const PAGE_BYTES = 4096;

/** A database of 60 messages. The page of the message that begins with these words is overwritten. */
async function damage(words = "Unique words") {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  const references: string[] = [];
  for (let count = 0; count < 60; count += 1) {
    const message = `${count === 30 ? words : "Hello"} ${count} ${"x".repeat(900)}`;
    references.push(await send(store, submissionOf(messageWith({ message }))));
  }
  await store.close();
  const file = sqliteFile(dataDir);
  const page = Math.floor(readFileSync(file).indexOf(words) / PAGE_BYTES);
  writeSync(openSync(file, "r+"), Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, page * PAGE_BYTES);
  return { dataDir, references };
}

test("detects a damaged page, and sends the messages of other pages", async () => {
  const { dataDir, references } = await damage();
  const { damage: found } = await inspectDatabase({ dataDir, databaseUrl: null }, []);
  expect(found).not.toBe(null);
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  expect(await store.status.damagedAt()).toBe(null);
  const claims = await store.queue.claim("mail", 100, 60_000, new Date());
  expect(claims.length).toBeGreaterThan(50);
  expect(claims.length).toBeLessThan(60);
  expect(claims.map(({ message }) => message.reference)).not.toContain(references[30]);
  // Neither claimed again nor forgotten.
  expect(await store.queue.claim("mail", 100, 60_000, new Date())).toEqual([]);
  expect(await store.queue.countChannel("mail")).toMatchObject({ failed: 60 - claims.length, queued: claims.length });
  expect(await store.status.damagedAt()).toBeInstanceOf(Date);
});

test("leaves out values that cannot be ours, and believes the history of a message whose delivery is gone", async () => {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  const footprint = estimateOf({ carKm: 3 });
  const put = () => send(store, submissionOf(messageWith(), { footprint }));
  const [ancient, sent, unsent] = [await put(), await put(), await put()];
  for (const _ of [ancient, sent]) await finish(store, "delivered");
  await send(store, submissionOf(messageWith({ email: "bob@example.com" })));
  await store.people.erase("bob@example.com");
  await store.close();
  const db = new DatabaseSync(sqliteFile(dataDir));
  db.exec(`UPDATE messages SET accepted_at = -74000000000000 WHERE reference = '${ancient}';
    UPDATE messages SET footprint = '{"tot' WHERE reference = '${sent}';
    DELETE FROM deliveries`);
  db.close();
  const file = join(dataDir, "rescued.db");
  const { messages, unreadable } = await rescueMessages(dataDir, file);
  expect([messages, unreadable]).toEqual([2, [ancient, `the estimate of ${sent}`]]);
  const restored = await untilEnd(openStoreInProcess({ dataDir: await makeScratchFolder(), databaseUrl: null }));
  await restored.archive.restore(file, false, []);
  expect(await restored.messages.list({})).toMatchObject([
    { reference: unsent, state: "failed", footprint },
    { reference: sent, state: "delivered", footprint: null },
  ]);
  expect(await restored.archive.countAll()).toMatchObject({ erasures: 1 });
});

test("copies the readable messages of a damaged database, and names the others", async () => {
  const { dataDir, references } = await damage();
  const file = join(dataDir, "rescued.db");
  const { messages, unreadable } = await rescueMessages(dataDir, file);
  expect(unreadable).toContain(references[30]);
  expect(messages + unreadable.length).toBe(60);
  const restored = await untilEnd(openStoreInProcess({ dataDir: await makeScratchFolder(), databaseUrl: null }));
  expect(await restored.archive.restore(file, false, [])).toMatchObject({ messages });
  expect((await restored.messages.list({})).map(({ reference }) => reference).reverse()).toEqual(
    references.filter((reference) => !unreadable.includes(reference)),
  );
});
