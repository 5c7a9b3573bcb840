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

test.each([
  [-5, "0s"],
  [45_999, "45s"],
  [60_000, "1m"],
  [3_599_000, "59m"],
  [3_600_000, "1h"],
  [86_399_999, "23h"],
  [86_400_000, "1d"],
  [6 * 86_400_000 - 1, "5d"],
])("formats %s ms as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [0, "1 minute"],
  [60_000, "1 minute"],
  [60_001, "2 minutes"],
  [90 * 60_000, "90 minutes"],
  [5 * 3_600_000, "5 hours"],
  [30 * 86_400_000, "30 days"],
])("says %s ms as %s", (ms, words) => {
  expect(durationInWords(ms)).toBe(words);
});

test("rounds an age down and a waiting time up: 52 hours are 2 days", () => {
  const ms = 52 * 3_600_000;
  expect([durationInWords(ms, Math.floor), durationInWords(ms)]).toEqual(["2 days", "3 days"]);
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
