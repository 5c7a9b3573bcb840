import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { claimOne, messageWith, store as send, submissionOf } from "../../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { CHANNELS } from "../store/store.ts";
import type { Desk } from "./desk.ts";
import { KEPT_MARKS } from "./messages.ts";
import { createCaller } from "./router.ts";

async function openDesk() {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const steps: Desk["steps"] = new Map();
  const own = {
    account: null,
    steps,
    mailTo: null,
    savedReplies: { replies: [], facts: {} },
    databaseKind: "SQLite" as const,
  };
  const call = createCaller({ store, dataDir, program: "", channels: CHANNELS, ...own });
  const message = "Something private";
  const reference = await send(store, submissionOf(messageWith({ message })));
  const mark = async (action: "answer" | "unanswer") => {
    const step = randomUUID();
    await call.act({ action, targets: [{ reference }], step });
    return step;
  };
  return { store, steps, call, reference, message, mark };
}

test("keeps what an undo needs, without texts of messages, and forgets old steps if they are large", async () => {
  const { steps, call, reference, message, mark } = await openDesk();
  const first = await mark("answer");
  const [kept] = steps.get(first) ?? [];
  if (!kept) throw new Error("nothing was kept");
  expect(JSON.stringify(kept)).not.toContain(message);
  steps.set(first, Array(KEPT_MARKS).fill(kept));
  const second = await mark("unanswer");
  await expect(call.undo({ step: first })).rejects.toThrow(/^This can no longer be undone$/);
  expect(await call.undo({ step: second })).toEqual({ done: 1, skipped: [] });
  expect(await call.message({ reference })).toMatchObject({ answeredAt: expect.any(Date) });
});

test("does not say that a reply was sent while it is being sent", async () => {
  const { store, call, reference } = await openDesk();
  const key = randomUUID();
  await call.reply({ reference, key, text: "Dear Ada", isUndoable: true });
  await claimOne(store, new Date(8.64e15), "reply");
  await expect(call.takeBackReply({ reference, key })).rejects.toThrow(
    /^The reply can no longer be taken back; the history of the message says whether it was sent$/,
  );
});
