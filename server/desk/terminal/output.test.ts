import { expect, test } from "vitest";
import { cut, table } from "./output.ts";

test("aligns columns", () => {
  const rows = ["A B", "abc x", "é y"].map((row) => row.split(" "));
  expect(table(rows)).toBe("A    B\nabc  x\né    y\n");
});

test("cuts a long text, and marks the cut", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdefg", 6)).toBe("abcde…");
  expect(cut("🙂🙂🙂", 2)).toBe("🙂…");
});
