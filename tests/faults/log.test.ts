import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createVisitors } from "../support/load.ts";
import { makePipe } from "../support/pipe.ts";
import { findFreePort, type RunningProgram, startProgram } from "../support/run-server.ts";
import { expectPagesUp, kill } from "../support/scene.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { mountSmallDisk } from "../support/small-disk.ts";

/** More lines than fit into the last blocks of a file that cannot grow; the system may have reserved several blocks. */
const MESSAGES = 200;

/** Starts a server that writes standard output and standard error to this file or pipe. */
async function startLoggingTo(log: string): Promise<RunningProgram & { dataDir: string }> {
  const port = await findFreePort();
  const dataDir = await makeScratchFolder();
  const settings = { HOURLY_LIMIT: "off", RATE_LIMIT: "off", DATA_DIR: dataDir };
  const command = ["sh", "-c", 'exec node server/main.ts >>"$LOG" 2>&1'];
  const server = await startProgram(command, { env: { ...settings, PORT: String(port), LOG: log }, port });
  onTestFinished(() => kill(server));
  return { ...server, dataDir };
}

async function expectServing(server: RunningProgram): Promise<void> {
  await expectPagesUp(server);
  const answers = await createVisitors().post(server.url, MESSAGES);
  expect(answers.map((answer) => answer?.status)).toEqual(answers.map(() => 200));
  await expectPagesUp(server);
}

test("a log on a full disk affects neither messages nor pages, and its lines are written later or counted", async ({
  skip,
}) => {
  const disk = await mountSmallDisk(skip);
  const file = join(disk.folder, "log");
  const readLog = () => readFileSync(file, "utf8");
  const server = await startLoggingTo(file);
  await expect.poll(readLog).toContain(" is on http://");
  await disk.fill();
  await expectServing(server);
  const delivered = () => readdirSync(join(server.dataDir, "outbox")).filter((name) => name.endsWith(".eml"));
  await expect.poll(delivered, { timeout: 20_000 }).toHaveLength(MESSAGES);
  disk.free();
  const countLines = () => {
    const lines = readLog().split("\n");
    const counts = lines.map((line) => Number(/"event":"log-dropped","count":(\d+)/.exec(line)?.[1] ?? 0));
    const events = lines.filter((line) => /"event":"(accepted|delivered)".*\}$/.test(line));
    return events.length + counts.reduce((sum, count) => sum + count, 0);
  };
  // Each message causes two lines: accepted and delivered.
  await expect.poll(countLines).toBe(2 * MESSAGES);
  expect(await server.stop()).toBe(0);
  expect(readLog().split("\n").at(-2)).toContain('"event":"stopping"');
});

test("a log in an unread pipe does not affect messages and pages, and SIGTERM ends the server in time", async () => {
  const pipe = await makePipe();
  const server = await startLoggingTo(pipe.path);
  pipe.fill();
  await expectServing(server);
  const stoppedAtMs = performance.now();
  await server.stop();
  // A server that waits for the reader ends itself only after ten seconds.
  expect(performance.now() - stoppedAtMs).toBeLessThan(8000);
});
