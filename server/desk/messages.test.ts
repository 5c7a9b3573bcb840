import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { claimOne, store as send } from "../../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { CHANNELS } from "../store/store.ts";
import { createCaller } from "./operations.ts";

async function openDesk() {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const own = {
    account: null,
    mailTo: null,
    replyTexts: () => ({ replies: [], facts: {}, signature: null }),
    databaseKind: "SQLite" as const,
  };
  const call = createCaller({ store, dataDir, program: "", channels: CHANNELS, ...own });
  const reference = await send(store);
  const mark = async (action: "answer" | "unanswer") => {
    const step = randomUUID();
    await call.act({ action, targets: [{ reference }], step });
    return step;
  };
  return { store, call, reference, mark };
}

test("undoes a step once", async () => {
  const { call, reference, mark } = await openDesk();
  await mark("answer");
  const step = await mark("unanswer");
  expect(await call.undo({ step })).toEqual({ done: 1, skipped: [] });
  expect(await call.message({ reference })).toMatchObject({ answeredAt: expect.any(Date) });
  await expect(call.undo({ step })).rejects.toThrow(/^This can no longer be undone$/);
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
