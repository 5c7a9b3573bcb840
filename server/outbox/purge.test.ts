import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../tests/support/fake-clock.ts";
import { createRecordingLog } from "../../tests/support/recording-log.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { type ClockDoubt, type Ending, StoreUnavailable } from "../store/store.ts";
import { startPurge } from "./purge.ts";

const RETENTION = { deliveredMs: 1, failedMs: null, quarantinedMs: 1 };
const HOUR_MS = 60 * 60_000;
const FIRST_MS = 10 * 60_000;

const STORED = ["BC-AAAA-AA", "BC-BBBB-BB", "BC-CCCC-CC"];

const ENDING: Ending = { foundAt: new Date(0), count: 2, undelivered: 1, held: 0, lastId: 7 };
const DOUBT: ClockDoubt = { newestChangeAt: new Date("2025-10-01"), trustedFrom: new Date("2026-01-12") };

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
  const found: { doubts: (ClockDoubt | null)[]; endings: Ending[] } = { doubts: [], endings: [] };
  const reported: Ending[] = [];
  let troubles = 0;
  const purge = startPurge({
    store: {
      ...store,
      judgeClock: async () => found.doubts.shift() ?? null,
      findEnding: async () => found.endings.shift() ?? { ...ENDING, count: 0 },
      markEndingReported: async (_retention, ending) => void reported.push(ending),
    },
    retention: RETENTION,
    dataDir,
    log,
    clock,
    onTrouble() {
      troubles += 1;
    },
  });
  onTestFinished(() => purge.stop());
  return { folder, calls, clock, log, purge, found, reported, troubles: () => troubles };
}

it("erases nothing for ten minutes, then every hour, with the files of what it erased and no others", async () => {
  const { folder, calls, clock, log } = await setUp([["BC-AAAA-AA"], ["BC-BBBB-BB"]]);
  await clock.advance(FIRST_MS - 1);
  expect(calls).toHaveLength(0);
  await clock.advance(HOUR_MS);
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

it("erases nothing while the clock is in doubt, and says so once, and when that is over", async () => {
  const { calls, clock, log, purge, found, troubles } = await setUp([]);
  found.doubts.push(DOUBT, DOUBT);
  await clock.advance(FIRST_MS + HOUR_MS);
  await clock.advance(0);
  expect(calls).toHaveLength(0);
  expect(purge).toMatchObject({ clockDoubt: DOUBT, ending: null });
  expect(log.lines).toMatchObject([{ event: "purge-held", level: "warn" }]);
  expect(log.lines[0]?.text).toMatch(/^Nothing is erased: .+ 2026-01-05T.+ 2025-10-01T.+ from 2026-01-12T\S+ on$/);
  expect(troubles()).toBe(2);
  await clock.advance(HOUR_MS);
  await clock.advance(0);
  expect(calls).toHaveLength(1);
  expect(purge.clockDoubt).toBeNull();
  expect(log.count("purge-resumed")).toBe(1);
});

it("has the messages that end soon reported, once", async () => {
  const { clock, purge, found, reported, troubles } = await setUp([]);
  found.endings.push(ENDING);
  await clock.advance(FIRST_MS);
  await clock.advance(0);
  expect([purge.ending, troubles()]).toEqual([ENDING, 1]);
  await purge.noteEndingReported();
  await purge.noteEndingReported();
  expect([purge.ending, reported]).toEqual([null, [ENDING]]);
});

it("goes on after an hour when the store was away", async () => {
  const { folder, clock, log } = await setUp([new StoreUnavailable("away"), ["BC-AAAA-AA"]]);
  await clock.advance(FIRST_MS + HOUR_MS);
  await clock.advance(0);
  expect(log.count("purge-failed")).toBe(1);
  expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml", "BC-CCCC-CC.eml"]);
});

it("retries a file that could not be removed, which does not keep the others", async () => {
  const { folder, clock, log } = await setUp([[], ["BC-AAAA-AA", "BC-CCCC-CC"]]);
  await clock.advance(FIRST_MS);
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
  await clock.advance(FIRST_MS);
  await clock.advance(0);
  await purge.stop();
  clock.setTimer(() => {}, 3 * HOUR_MS);
  await clock.advance(2 * HOUR_MS);
  expect(calls).toHaveLength(1);
});
