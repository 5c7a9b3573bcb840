import { expect, it } from "vitest";
import { nextAttemptAt } from "./retry-schedule.ts";

const NOW = new Date("2026-01-05T10:00:00Z");
const MINUTES = 60_000;
const middle = () => 0.5;

/** All delays in minutes, until the schedule gives up. */
function delays(random: () => number): number[] {
  const found: number[] = [];
  for (let attempts = 1; ; attempts += 1) {
    const dueAt = nextAttemptAt(attempts, NOW, random);
    if (dueAt === null) return found;
    found.push((dueAt.getTime() - NOW.getTime()) / MINUTES);
  }
}

it("waits 1, 5, 15, 30 minutes, 1 and 2 hours, then 4 hours each", () => {
  expect(delays(middle).map(Math.round).slice(0, 9)).toEqual([1, 5, 15, 30, 60, 120, 240, 240, 240]);
});

it("varies each delay by up to a tenth, for any number of attempts", () => {
  const [least, most] = [delays(() => 0), delays(() => 0.999999)];
  expect(least[0]).toBeCloseTo(0.9);
  expect(most[0]).toBeCloseTo(1.1);
  expect(least[20]).toBeCloseTo(216);
  expect(most[20]).toBeCloseTo(264);
  expect(most).toHaveLength(least.length);
  // After five hours, the store assumes a wrong clock.
  expect(Math.max(...most)).toBeLessThan(5 * 60);
});
