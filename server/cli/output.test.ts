import { expect, test } from "vitest";
import { bars, cut, table, widthOf } from "./output.ts";

test("aligns columns by their width on a terminal", () => {
  const rows = ["A B", "日本 x", "é y"].map((row) => row.split(" "));
  expect(table(rows)).toBe("A     B\n日本  x\né     y\n");
});

test("cuts the last column to the width, but keeps its first 30 columns", () => {
  const rows = ["A B", `1234567890 ${"x".repeat(40)}`].map((row) => row.split(" "));
  expect(table(rows)).toBe(`A           B\n1234567890  ${"x".repeat(40)}\n`);
  expect(table(rows, 50)).toBe(`A           B\n1234567890  ${"x".repeat(37)}…\n`);
  expect(table(rows, 20)).toBe(`A           B\n1234567890  ${"x".repeat(29)}…\n`);
});

test.each([
  ["ascii", 5],
  ["e\u0301", 1],
  ["日本", 4],
  ["한국", 4],
  ["ＡＢ", 4],
  ["🙂", 2],
  ["❤\uFE0F", 2],
  ["👩‍🔬", 2],
  ["می‌خواهم", 7],
])("%s takes %i columns", (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test("cuts a long text, and marks the cut", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdefg", 6)).toBe("abcde…");
  expect(cut("日本語", 4)).toBe("日…");
  expect(cut("👩‍🔬👩‍🔬👩‍🔬", 4)).toBe("👩‍🔬…");
});

test("draws the highest count at full width, and any other count above 0 with at least one column", () => {
  const counts = Object.entries({ a: 100, b: 1, c: 0 });
  expect(bars(counts)).toBe(`a  100  ${"█".repeat(40)}\nb    1  █\nc    0\n`);
  expect(bars(Object.entries({ a: 1, b: 4 }))).toBe(`a  1  ${"█".repeat(10)}\nb  4  ${"█".repeat(40)}\n`);
});
