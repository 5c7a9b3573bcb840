import { expect, test } from "vitest";
import { answerTimeInWords, answerTimeMs, durationInWords, formatDuration, parseDurationMs } from "./duration.ts";

test.each([
  ["30s", 30_000],
  ["10m", 600_000],
  ["12h", 43_200_000],
  ["7d", 604_800_000],
  ["0d", undefined],
  ["7w", undefined],
  ["1.5h", undefined],
])("reads %s as %s ms", (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test("formats a duration in its largest unit, rounded down", () => {
  const times = [-5, 45_999, 60_000, 3_599_000, 3_600_000, 86_399_999, 86_400_000, 6 * 86_400_000 - 1];
  expect(times.map(formatDuration)).toEqual(["0s", "45s", "1m", "59m", "1h", "23h", "1d", "5d"]);
});

test("says a waiting time in words, rounded up, and an age rounded down", () => {
  const minutes = [0, 1, 1.01, 90, 5 * 60, 30 * 24 * 60];
  const words = minutes.map((count) => durationInWords(count * 60_000));
  expect(words).toEqual(["1 minute", "1 minute", "2 minutes", "90 minutes", "5 hours", "30 days"]);
  const hours = 52 * 3_600_000;
  expect([durationInWords(hours, Math.floor), durationInWords(hours)]).toEqual(["2 days", "3 days"]);
});

const HOUR_MS = 3_600_000;
test.each([
  [{ amount: 1, unit: "hours" }, "1 hour", HOUR_MS],
  [{ amount: 24, unit: "hours" }, "24 hours", 24 * HOUR_MS],
  [{ amount: 1, unit: "working days" }, "1 working day", 3 * 24 * HOUR_MS],
  [{ amount: 5, unit: "working days" }, "5 working days", 7 * 24 * HOUR_MS],
  [{ amount: 6, unit: "working days" }, "6 working days", 10 * 24 * HOUR_MS],
] as const)("%j is promised as %s, with its weekends", (time, words, ms) => {
  expect([answerTimeInWords(time), answerTimeMs(time)]).toEqual([words, ms]);
});
