import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { StoreUnavailable } from "../server/store/errors.ts";
import { claimOne, NOON, store as send } from "../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../tests/support/in-process-store.ts";
import { deskOf } from "../tests/support/inbox-command.ts";
import { withStore } from "../tests/support/post-office.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { untilEnd } from "../tests/support/until-end.ts";
import { createCaller } from "./operations.ts";

const later = (time: Date, ms: number) => new Date(time.getTime() + ms);

async function openDesk(databaseTime = new Date()) {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const withTime = withStore(store, { status: { time: async () => databaseTime } });
  const call = createCaller(deskOf({ store: withTime, dataDir, account: null }));
  return { store, call, reference: await send(store) };
}

test("asks before a reply if somebody has replied since the operator opened the message", async () => {
  const { call, store, reference } = await openDesk();
  const { readAt } = await call.message({ reference });
  await store.actions.addNote(reference, "No reply", readAt);
  const reply = { reference, text: "Dear Ada", since: readAt, key: randomUUID() };
  await store.replies.add(reference, { key: randomUUID(), subject: "Re", text: "Hello" }, later(readAt, 1000));
  const asked = await call.reply(reply);
  expect(asked).toMatchObject({ outcome: "answered", by: { author: null, detail: "Re\n\nHello", kind: "replied" } });
  const claim = await claimOne(store, later(readAt, 2000), "reply");
  await store.queue.settle(claim, { kind: "delivered" }, later(readAt, 2000));
  const since = asked.by?.at;
  expect(await call.reply({ ...reply, since })).toMatchObject({ outcome: "stored" });
  // A client that did not get the answer repeats its own reply.
  expect(await call.reply({ ...reply, since })).toMatchObject({ outcome: "stored" });
  expect(await store.messages.notes([reference])).toMatchObject(new Map([[reference, { length: 3 }]]));
});

test("says what a reply waits for", async () => {
  const { call, store, reference } = await openDesk();
  const waits = async () => (await call.message({ reference })).waits.reply;
  const { wait } = await call.reply({ reference, text: "Dear Ada" });
  expect(wait).toMatchObject({ kind: "website-down" });
  const now = new Date();
  await store.status.reportNode([], now);
  expect(await waits()).toEqual({ kind: "sending", until: expect.any(Date), reason: null });
  const claim = await claimOne(store, now, "reply");
  await store.queue.settle(claim, { kind: "deferred", delayMs: 60_000, error: "451 later" }, now);
  expect(await waits()).toEqual({ kind: "later", until: later(now, 60_000), reason: "451 later" });
  const nextAt = later(now, 60_000);
  await store.status.reportNode([{ channel: "mail", reason: "wrong password", since: now, nextAt }], now);
  expect(await waits()).toEqual({ kind: "paused", until: nextAt, reason: "wrong password" });
  const { messages, counts } = await call.list({ tab: "waiting" });
  expect([counts.waiting, messages[0]?.deliveryMarks.map(({ text }) => text)]).toEqual([1, ["Reply waiting"]]);
});

test("a reply is sent ten seconds later by the database's clock, and is not called sent while it is being sent", async () => {
  const { store, call, reference } = await openDesk(NOON);
  const key = randomUUID();
  await call.reply({ reference, key, text: "Dear Ada", isUndoable: true });
  expect((await store.messages.find(reference))?.deliveries.reply?.dueAt).toEqual(later(NOON, 10_000));
  await claimOne(store, new Date(8.64e15), "reply");
  await expect(call.takeBackReply({ reference, key })).rejects.toThrow(
    /^The reply was not taken back: it is being sent now$/,
  );
});

test("a database that fails while the status is read fails that call alone", async () => {
  const { store } = await openDesk();
  const fail = async () => {
    throw new StoreUnavailable({ problem: "The message database is closed" });
  };
  const failing = withStore(store, { queue: { countChannel: fail }, messages: { countTabs: fail } });
  const call = createCaller(deskOf({ store: failing, dataDir: "", account: null }));
  await expect(call.status()).rejects.toThrow("The message database is closed");
});
