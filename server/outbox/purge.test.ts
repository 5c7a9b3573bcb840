import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../tests/support/fake-clock.ts";
import { createRecordingLog } from "../../tests/support/recording-log.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { StoreUnavailable } from "../store/store.ts";
import { startPurge } from "./purge.ts";

const RETENTION = { deliveredMs: 1, failedMs: null, quarantinedMs: 1 };
const HOUR_MS = 60 * 60_000;

async function setUp(answers: (string[] | Error)[], obstacle?: string) {
  const dataDir = await makeScratchFolder();
  const folder = join(dataDir, "outbox");
  await mkdir(folder);
  for (const reference of ["BC-AAAA-AA", "BC-BBBB-BB", "BC-CCCC-CC"]) {
    await writeFile(join(folder, `${reference}.eml`), "");
  }
  // A folder is not removed as a file.
  if (obstacle) await mkdir(join(folder, obstacle));
  const calls: Date[] = [];
  const store = {
    async purge(_retention: unknown, now: Date) {
      calls.push(now);
      const answer = answers.shift() ?? [];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const clock = createFakeClock();
  const log = createRecordingLog();
  const purge = startPurge({ store, retention: RETENTION, dataDir, log, clock });
  onTestFinished(() => purge.stop());
  return { dataDir, folder, calls, clock, log, purge };
}

it("removes the mails of erased messages at once and then every hour, and no others", async () => {
  const { folder, calls, clock } = await setUp([["BC-AAAA-AA"], ["BC-BBBB-BB"]]);
  await clock.advance(HOUR_MS - 1);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml", "BC-CCCC-CC.eml"]);
  await clock.advance(1);
  await clock.advance(0);
  expect(await readdir(folder)).toEqual(["BC-CCCC-CC.eml"]);
  expect(calls).toHaveLength(2);
});

it("goes on after an hour when the store was away", async () => {
  const { folder, clock, log } = await setUp([new StoreUnavailable("away"), ["BC-AAAA-AA"]]);
  await clock.advance(HOUR_MS);
  await clock.advance(0);
  expect(log.count("purge-failed")).toBe(1);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml", "BC-CCCC-CC.eml"]);
});

it("tries a file again that could not be removed, which keeps no other from being removed", async () => {
  const { folder, clock, log } = await setUp([["BC-DDDD-DD", "BC-AAAA-AA"]], "BC-DDDD-DD.eml");
  await clock.advance(0);
  expect(log.count("purge-failed")).toBe(1);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml", "BC-CCCC-CC.eml", "BC-DDDD-DD.eml"]);
  await rm(join(folder, "BC-DDDD-DD.eml"), { recursive: true });
  await writeFile(join(folder, "BC-DDDD-DD.eml"), "");
  await clock.advance(HOUR_MS);
  await clock.advance(0);
  expect(await readdir(folder)).not.toContain("BC-DDDD-DD.eml");
});

it("does nothing more once stopped", async () => {
  const { calls, clock, purge } = await setUp([]);
  await purge.stop();
  clock.setTimer(() => {}, 3 * HOUR_MS);
  await clock.advance(2 * HOUR_MS);
  expect(calls).toHaveLength(1);
});
