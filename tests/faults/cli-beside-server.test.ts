import { rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { messageWith, store as send, submissionOf } from "../store-contract/samples.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { runCliProcess } from "../support/run-cli.ts";
import { openScene } from "../support/scene.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const ROUNDS = 5;

test(`the operator's commands can write while a server is under load (${ROUNDS} rounds)`, async () => {
  const scene = await openScene();
  const server = await scene.start();
  const backups = await makeScratchFolder();
  const stop = new AbortController();
  const load = scene.visitors.postUntil(stop.signal, server.url, 4);
  const run = (...args: string[]) => runCliProcess({ DATA_DIR: scene.dataDir }, ...args);

  for (let round = 1; round <= ROUNDS; round += 1) {
    // One message fails and is retried, another is quarantined and erased. Each command is a separate process.
    scene.mailServer.behave({ kind: "refuse", at: "recipient", code: 550, times: 1 });
    await send(scene.store, submissionOf(messageWith({ email: "gone@example.com" }), { isTrapped: true }), new Date());
    const outcomes = await Promise.all([
      run("privacy", "rectify", "load@example.com", "--name", `Name ${round}`),
      run("privacy", "erase", "gone@example.com", "--yes"),
      run("backup", join(backups, `${round}.db`)),
      run("retry", "--failed"),
    ]);
    expect(outcomes).toMatchObject(outcomes.map(() => ({ code: 0, err: "" })));
  }
  stop.abort();
  await load;
  expect(scene.visitors.acknowledged.length).toBeGreaterThan(ROUNDS);
  await scene.queueIsEmpty();
  expect(await run("retry", "--failed")).toMatchObject({ code: 0, err: "" });
  // Every half minute, or when it accepts a message, the server looks for deliveries that other processes queued.
  await scene.visitors.post(server.url);
  await scene.expectNothingLost(server);

  expect(await scene.store.list({ email: "gone@example.com" })).toEqual([]);
  await rename(join(backups, "1.db"), join(backups, "messages.db"));
  const copy = await openStoreInProcess({ dataDir: backups, databaseUrl: null });
  const copied = (await copy.list({ email: "load@example.com" })).map(({ reference }) => reference);
  await copy.close();
  expect(copied.filter((reference) => !scene.visitors.acknowledged.includes(reference))).toEqual([]);
}, 300_000);
