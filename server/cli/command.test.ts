import { expect, test } from "vitest";
import { UsageError, when } from "./command.ts";

const NOW = new Date("2025-06-15T12:00:00Z");

test.each([
  ["2025-01-31", "2025-01-31T00:00:00.000Z"],
  ["2025-01-31T10:00:00+02:00", "2025-01-31T08:00:00.000Z"],
  ["7d", "2025-06-08T12:00:00.000Z"],
  ["12h", "2025-06-15T00:00:00.000Z"],
  ["30m", "2025-06-15T11:30:00.000Z"],
])("reads %s as a time", (text, moment) => {
  expect(when("").parse(text, NOW).toISOString()).toBe(moment);
});

test.each(["yesterday", "2025-02-31", "2025-13-01", "7", "7w", "", "-7d"])("refuses %j as a time", (text) => {
  expect(() => when("").parse(text, NOW)).toThrow(UsageError);
});
