import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StoreUnavailable } from "../server/store/errors.ts";
import type { Store } from "../server/store/store.ts";
import { messageWith, store as send, submissionOf } from "../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../tests/support/in-process-store.ts";
import { deskOf } from "../tests/support/inbox-command.ts";
import { withStore } from "../tests/support/post-office.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { createCaller } from "./operations.ts";
import { exportPerson } from "./person.ts";

const EMAIL = "ada@example.com";

async function openPerson(messages = 1) {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  onTestFinished(() => store.close());
  for (let count = 0; count < messages; count += 1) await send(store, submissionOf(messageWith({ email: EMAIL })));
  const desk = deskOf({ store, dataDir, account: null });
  const call = (parts = {}) => createCaller({ ...desk, ...parts });
  return { store, dataDir, call };
}

test("a copy for the person includes drafts of replies", async () => {
  const { store } = await openPerson(2);
  const [newest] = await store.messages.list({});
  await store.replies.saveDraft(newest?.reference ?? "", { subject: "Re", text: "Dear Ada", note: "Ask" }, new Date(0));
  const drafts = [{ author: null, savedAt: "1970-01-01T00:00:00.000Z", subject: "Re", text: "Dear Ada", note: "Ask" }];
  const { messages } = JSON.parse(await exportPerson(EMAIL, store));
  expect(messages.map((message: { drafts?: unknown }) => message.drafts)).toEqual([drafts, undefined]);
});

test("an erasure removes the files even if traces remain, and a repeated request finishes it", async () => {
  const { store, dataDir, call } = await openPerson();
  const file = join(dataDir, "outbox", `${(await store.messages.list({}))[0]?.reference}.eml`);
  mkdirSync(join(dataDir, "outbox"));
  writeFileSync(file, "");
  const failing = () => Promise.reject(new StoreUnavailable({ problem: "Old pages are in use" }));
  const busy = withStore(store, { people: { finishErasure: failing } });
  const erase = (used: Store) => call({ store: used }).erase({ email: EMAIL });
  await expect(erase(withStore(store, { people: { finishErasure: async () => false } }))).resolves.toMatchObject({
    messages: 1,
    files: 1,
  });
  expect(existsSync(file)).toBe(false);
  await expect(erase(busy)).rejects.toMatchObject({ cause: expect.any(StoreUnavailable) });
  expect(await erase(store)).toEqual({ messages: 0, files: 0, references: [], leftFiles: [] });
});
