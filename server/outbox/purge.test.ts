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

const STORED = ["BC-AAAA-AA", "BC-BBBB-BB", "BC-CCCC-CC"];

/** A store of three messages with an .eml file each. Each purge erases what its answer names, or fails with it. */
async function setUp(answers: (string[] | Error)[], stored = STORED, erasedBefore: readonly string[] = []) {
  const dataDir = await makeScratchFolder();
  const folder = join(dataDir, "outbox");
  await mkdir(folder);
  for (const reference of STORED) await writeFile(join(folder, `${reference}.eml`), "");
  const messages = new Set(stored);
  const erased = new Set(erasedBefore);
  const calls: Date[] = [];
  const store = {
    async purge(_retention: unknown, now: Date) {
      calls.push(now);
      const answer = answers.shift() ?? [];
      if (answer instanceof Error) throw answer;
      for (const reference of answer) {
        messages.delete(reference);
        erased.add(reference);
      }
      return answer;
    },
    async existingReferences(references: readonly string[]) {
      return references.filter((reference) => messages.has(reference));
    },
    async erasedReferences(references: readonly string[]) {
      return references.filter((reference) => erased.has(reference));
    },
  };
  const clock = createFakeClock();
  const log = createRecordingLog();
  const purge = startPurge({ store, retention: RETENTION, dataDir, log, clock });
  onTestFinished(() => purge.stop());
  return { folder, calls, clock, log, purge };
}

it("removes the files of erased messages at once and then every hour, and no others", async () => {
  const { folder, calls, clock, log } = await setUp([["BC-AAAA-AA"], ["BC-BBBB-BB"]]);
  await clock.advance(HOUR_MS - 1);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml", "BC-CCCC-CC.eml"]);
  await clock.advance(1);
  await clock.advance(0);
  expect(await readdir(folder)).toEqual(["BC-CCCC-CC.eml"]);
  expect(calls).toHaveLength(2);
  expect([log.count("purged"), log.count("stray-files-removed")]).toEqual([2, 2]);
});

it("removes at start the files of messages that were erased while no server was running", async () => {
  const { folder, clock, log } = await setUp([], ["BC-BBBB-BB"], ["BC-AAAA-AA", "BC-CCCC-CC"]);
  await clock.advance(0);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml"]);
  expect(log.lines).toMatchObject([{ event: "stray-files-removed", count: 2, level: "info" }]);
});

it("moves aside the files that the database knows nothing of, with a warning", async () => {
  const { folder, clock, log } = await setUp([], []);
  await clock.advance(0);
  expect(await readdir(folder)).toEqual(["unknown"]);
  expect(await readdir(join(folder, "unknown"))).toHaveLength(3);
  expect(log.lines).toMatchObject([{ event: "unknown-files", count: 3, level: "warn" }]);
});

it("goes on after an hour when the store was away", async () => {
  const { folder, clock, log } = await setUp([new StoreUnavailable("away"), ["BC-AAAA-AA"]]);
  await clock.advance(HOUR_MS);
  await clock.advance(0);
  expect(log.count("purge-failed")).toBe(1);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml", "BC-CCCC-CC.eml"]);
});

it("retries a file that could not be removed, which does not keep the others", async () => {
  const { folder, clock, log } = await setUp([[], ["BC-AAAA-AA", "BC-CCCC-CC"]]);
  await clock.advance(0);
  // A folder is not removed as a file.
  await rm(join(folder, "BC-AAAA-AA.eml"));
  await mkdir(join(folder, "BC-AAAA-AA.eml"));
  await clock.advance(HOUR_MS);
  await clock.advance(0);
  expect(log.count("purge-failed")).toBe(1);
  expect(await readdir(folder)).toEqual(["BC-AAAA-AA.eml", "BC-BBBB-BB.eml"]);
  await rm(join(folder, "BC-AAAA-AA.eml"), { recursive: true });
  await writeFile(join(folder, "BC-AAAA-AA.eml"), "");
  await clock.advance(HOUR_MS);
  await clock.advance(0);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml"]);
});

it("does nothing more once stopped", async () => {
  const { calls, clock, purge } = await setUp([]);
  await purge.stop();
  clock.setTimer(() => {}, 3 * HOUR_MS);
  await clock.advance(2 * HOUR_MS);
  expect(calls).toHaveLength(1);
});
