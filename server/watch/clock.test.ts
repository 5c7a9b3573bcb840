import { expect, it } from "vitest";
import { createFakeClock } from "../../tests/support/fake-clock.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { StoreUnavailable } from "../store/store.ts";
import { openSharedClock } from "./clock.ts";

const MINUTE_MS = 60_000;

it("uses the database's time, and the stopwatch while the database is away, never the machine's date", async () => {
  const machineClock = createFakeClock();
  const databaseMs = machineClock.now().getTime() - 5 * MINUTE_MS;
  // Advances with the timers, independent of the date.
  let elapsedMs = 0;
  let isAway = false;
  let correctionMs = 0;
  const time = async () => {
    if (isAway) throw new StoreUnavailable({ problem: "away" });
    return new Date(databaseMs + elapsedMs + correctionMs);
  };
  const clock = await untilEnd(openSharedClock({ status: { time }, machineClock, stopwatch: () => elapsedMs }));
  const pass = async (ms: number) => {
    for (const endMs = elapsedMs + ms; elapsedMs < endMs; ) {
      elapsedMs += MINUTE_MS / 2;
      await machineClock.advance(MINUTE_MS / 2);
      // Waits until the time is read and the next timer is set.
      await machineClock.advance(0);
    }
  };
  const passedMs = () => clock.now().getTime() - databaseMs;
  expect(passedMs()).toBe(0);
  machineClock.set(100 * 24 * 60 * MINUTE_MS);
  expect(passedMs()).toBe(0);
  isAway = true;
  correctionMs = 1000;
  await pass(10 * MINUTE_MS);
  expect(passedMs()).toBe(10 * MINUTE_MS);
  isAway = false;
  await pass(MINUTE_MS);
  expect(passedMs()).toBe(11 * MINUTE_MS + 1000);
});
