import { once } from "node:events";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { startReceiver } from "../support/receiver.ts";
import type { Skip } from "../support/require-program.ts";
import type { RunningServer } from "../support/run-server.ts";
import { expectPagesUp, expectRefusedForNow, openScene, type Scene } from "../support/scene.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { attachStrace } from "../support/strace.ts";
import { untilEnd } from "../support/until-end.ts";

const LONG = { timeout: 120_000 };

test("on a full disk, messages are refused, pages are served, and nothing is lost", LONG, async ({ skip }) => {
  const disk = await mountSmallDisk(skip);
  const { scene, server } = await openBusyScene({ dataDir: disk.folder });
  await disk.fill();
  await expectOutage(scene, server);
  expect(server.output()).toMatch(/the disk is full \(SQLite error 13\); free some space on the disk with DATA_DIR/);
  disk.free();
  await scene.expectNothingLost(server);
});

test("with a disk that fails to sync, messages are refused, and nothing is lost", LONG, async ({ skip }) => {
  const { scene, server } = await openBusyScene();
  const files = ["", "-wal", "-shm"].flatMap((end) => ["-P", `${scene.dataDir}/messages.db${end}`]);
  const repair = await injectFault(skip, server, "fsync,fdatasync", "error=EIO", files);
  await expectOutage(scene, server);
  await repair();
  await scene.expectNothingLost(server);
});

test(
  "on a stuck disk, messages are refused, /readyz fails, pages are served, and nothing is lost",
  LONG,
  async ({ skip }) => {
    const { scene, server } = await openBusyScene();
    const repair = await injectFault(skip, server, "fsync,fdatasync", "delay_enter=11s");
    const answers = scene.visitors.post(server.url, 3);
    await expectPagesUp(server);
    await expect.poll(() => readiness(server), { timeout: 30_000 }).toBe(503);
    expectRefusedForNow(await answers);
    await repair();
    // The refused messages were stored after all, and are sent.
    await scene.expectNothingLost(server);
  },
);

test("if the database is removed, the server confirms nothing, sends an alert and ends", LONG, async () => {
  const receiver = await startReceiver<{ text: string }>();
  const { scene, server } = await openBusyScene({}, { ALERT_URL: receiver.url });
  const folder = await makeScratchFolder();
  const files = ["", "-wal", "-shm"].map((end) => `messages.db${end}`);
  const exited = once(server.process, "exit");
  for (const file of files) await rename(join(scene.dataDir, file), join(folder, file));
  const answers = await scene.visitors.post(server.url, 3).catch(() => []);
  expect(answers.filter((answer) => answer?.reference)).toEqual([]);
  expect(await exited).toEqual([1, null]);
  expect(receiver.posts.map(({ body }) => body.text)).toEqual([
    expect.stringMatching(
      /: The website restarts\. .+ was removed or replaced while it was in use; put the files back/,
    ),
  ]);

  for (const file of files) await rename(join(folder, file), join(scene.dataDir, file));
  const again = await scene.start();
  expect(await scene.visitors.postAgain(again.url)).toBe(0);
  const store = await untilEnd(openStoreInProcess({ dataDir: scene.dataDir, databaseUrl: null }));
  const references = (await store.messages.list({})).map(({ reference }) => reference);
  expect(new Set(references)).toEqual(new Set(scene.visitors.acknowledged));
});

function injectFault(skip: Skip, { process }: RunningServer, calls: string, fault: string, files: string[] = []) {
  const options = ["-o", "/dev/null", ...files, "-e", `trace=${calls}`, "-e", `inject=${calls}:${fault}`];
  return attachStrace(skip, process.pid, options);
}

/** A scene whose server has accepted and mailed its first messages. */
async function openBusyScene(options?: Parameters<typeof openScene>[0], env?: Record<string, string>) {
  const scene = await openScene(options);
  const server = await scene.start(env);
  await scene.visitors.post(server.url, 3);
  await scene.queueIsEmpty();
  return { scene, server };
}

async function expectOutage({ visitors }: Scene, server: RunningServer): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    expectRefusedForNow(await visitors.post(server.url, 3));
    await expectPagesUp(server);
  }
  // A check is shared for ten seconds.
  await expect.poll(() => readiness(server), { timeout: 30_000 }).toBe(503);
}

async function readiness({ url }: RunningServer): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}
