import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../tests/support/fake-clock.ts";
import { createRecordingLog } from "../../tests/support/recording-log.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { HOUR_MS } from "../time.ts";
import { startPurge } from "./purge.ts";

/** Three messages with an .eml file each. Each purge takes the next answer: the erased messages, or an error. */
async function setUp(...answers: (string[] | Error)[]) {
  const dataDir = await makeScratchFolder();
  const folder = join(dataDir, "outbox");
  await mkdir(folder);
  for (const letter of ["A", "B", "C"]) await writeFile(join(folder, `BC-${letter.repeat(4)}-AA.eml`), "");
  const calls: (Date | null)[] = [];
  const retention = {
    async purge(now: Date | null) {
      calls.push(now);
      const answer = answers.shift() ?? [];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  // The remains of an operator's erasure.
  const people = { finishErasure: async () => calls.length > 1 };
  const queue = { repairTimes: async () => {} };
  const [clock, log] = [createFakeClock(), createRecordingLog()];
  const purge = startPurge({ store: { retention, people, queue }, dataDir, log, clock });
  onTestFinished(() => purge.stop());
  /** Lets due work finish. */
  const afterMs = async (ms: number) => {
    await clock.advance(ms);
    await clock.advance(0);
    return readdir(folder);
  };
  return { folder, calls, clock, log, purge, afterMs };
}

it("erases expired messages and only their files, at once and every hour, until it is stopped", async () => {
  const { calls, clock, log, purge, afterMs } = await setUp(["BC-AAAA-AA"], ["BC-BBBB-AA"]);
  expect(await afterMs(0)).toEqual(["BC-BBBB-AA.eml", "BC-CCCC-AA.eml"]);
  expect(await afterMs(HOUR_MS - 1)).toHaveLength(2);
  expect(await afterMs(1)).toEqual(["BC-CCCC-AA.eml"]);
  const purged = { event: "purged", count: 1, level: "info" };
  expect(log.lines).toMatchObject([purged, purged, { event: "erasure-finished" }]);
  await purge.stop();
  clock.setTimer(() => {}, 3 * HOUR_MS);
  await afterMs(2 * HOUR_MS);
  expect(calls).toHaveLength(2);
});

it("retries after an hour if the store was unavailable", async () => {
  const { log, afterMs } = await setUp(new StoreUnavailable({ problem: "away" }), ["BC-AAAA-AA"]);
  expect(await afterMs(HOUR_MS)).toEqual(["BC-BBBB-AA.eml", "BC-CCCC-AA.eml"]);
  expect(log.count("purge-failed")).toBe(1);
});
