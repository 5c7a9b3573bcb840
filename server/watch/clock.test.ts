import { expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../tests/support/fake-clock.ts";
import { createRecordingLog } from "../../tests/support/recording-log.ts";
import { StoreUnavailable } from "../store/store.ts";
import { openSharedClock } from "./clock.ts";

const MINUTE_MS = 60_000;

/** A machine, and a database whose clock is so much later. */
async function setUp(laterMs: number) {
  const machineClock = createFakeClock();
  const startMs = machineClock.now().getTime();
  const log = createRecordingLog();
  // Goes on with the timers, whatever the date is set to.
  let elapsedMs = 0;
  let isAway = false;
  const store = {
    async databaseTime() {
      if (isAway) throw new StoreUnavailable("away");
      return new Date(startMs + elapsedMs + laterMs);
    },
  };
  const clock = await openSharedClock({ store, log, machineClock, stopwatch: () => elapsedMs });
  onTestFinished(() => clock.stop());
  return {
    clock,
    log,
    machineClock,
    expectedAfter: (ms: number) => new Date(startMs + ms + laterMs),
    setAway: (away: boolean) => {
      isAway = away;
    },
    async pass(ms: number) {
      for (const endMs = elapsedMs + ms; elapsedMs < endMs; ) {
        elapsedMs += MINUTE_MS / 2;
        await machineClock.advance(MINUTE_MS / 2);
        // Until the time was read and the next timer is set.
        await machineClock.advance(0);
      }
    },
  };
}

it("is the database's, and goes on by the stopwatch whatever the machine's date is set to", async () => {
  const { clock, machineClock, expectedAfter, pass, setAway } = await setUp(-5 * MINUTE_MS);
  expect(clock.now()).toEqual(expectedAfter(0));
  machineClock.set(100 * 24 * 60 * MINUTE_MS);
  expect(clock.now()).toEqual(expectedAfter(0));
  setAway(true);
  await pass(10 * MINUTE_MS);
  expect(clock.now()).toEqual(expectedAfter(10 * MINUTE_MS));
  setAway(false);
  await pass(MINUTE_MS);
  expect(clock.now()).toEqual(expectedAfter(11 * MINUTE_MS));
});

it("says once that the machine's clock is off by more than a minute, and once that it is right again", async () => {
  const { clock, log, machineClock, pass } = await setUp(0);
  const set = async (ms: number) => {
    machineClock.set(ms);
    await pass(2 * MINUTE_MS);
  };
  await set(MINUTE_MS);
  expect([clock.machineAheadMs, log.lines]).toEqual([0, []]);
  await set(5 * MINUTE_MS);
  expect(clock.machineAheadMs).toBe(6 * MINUTE_MS);
  await set(0);
  expect(log.lines).toMatchObject([{ event: "clock-off", level: "warn", aheadSeconds: 360 }]);
  expect(log.lines[0]?.text).toMatch(/^The clock of \S+ is 6 minutes ahead of the database's; set it$/);
  await set(-6 * MINUTE_MS);
  expect(clock.machineAheadMs).toBe(0);
  await set(-2 * MINUTE_MS);
  expect(log.lines.map(({ event }) => event)).toEqual(["clock-off", "clock-right", "clock-off"]);
  expect(log.lines[2]?.text).toContain("2 minutes behind");
});
