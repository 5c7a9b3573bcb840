import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createVisitors } from "../support/load.ts";
import { findFreePort, startProgram } from "../support/run-server.ts";
import { expectPagesUp } from "../support/scene.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { untilEnd } from "../support/until-end.ts";

/** More lines than fit into the last blocks of a file that cannot grow; the system may have reserved several blocks. */
const MESSAGES = 200;

test("a log on a full disk affects neither messages nor pages, and its lines are written later or counted", async ({
  skip,
}) => {
  const disk = await mountSmallDisk(skip);
  const file = join(disk.folder, "log");
  const readLog = () => readFileSync(file, "utf8");
  const port = await findFreePort();
  const dataDir = await makeScratchFolder();
  const env = { HOURLY_LIMIT: "off", RATE_LIMIT: "off", DATA_DIR: dataDir, PORT: String(port), LOG: file };
  const command = ["sh", "-c", 'exec node server/main.ts >>"$LOG" 2>&1'];
  const server = await untilEnd(startProgram(command, { env, port }));
  await expect.poll(readLog).toContain(" is on http://");
  await disk.fill();
  const answers = await createVisitors().post(server.url, MESSAGES);
  expect(answers.map((answer) => answer?.status)).toEqual(answers.map(() => 200));
  await expectPagesUp(server);
  const delivered = () => readdirSync(join(dataDir, "outbox")).filter((name) => name.endsWith(".eml"));
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
