import { expect, test } from "vitest";
import { bars, cut, table, widthOf } from "./table.ts";

test("aligns columns by what they take on a terminal", () => {
  expect(
    table([
      ["A", "B"],
      ["日本", "x"],
      ["é", "y"],
    ]),
  ).toBe("A     B\n日本  x\né     y\n");
  expect(widthOf("e\u0301")).toBe(1);
});

test("cuts what is too long, and says so", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdefg", 6)).toBe("abcde…");
  expect(cut("日本語", 4)).toBe("日…");
});

test("draws the highest count in full and hides none", () => {
  expect(
    bars(
      [
        ["a", 100],
        ["b", 1],
        ["c", 0],
      ],
      10,
    ),
  ).toBe("a  100  ██████████\nb    1  █\nc    0\n");
});
