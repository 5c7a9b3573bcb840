import { expect, test } from "vitest";
import { toCsv } from "./csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["+44 20", "'+44 20"],
  ["-2", "'-2"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["\r=1", '"\'\r=1"'],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ["a, b", '"a, b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["a=b", "a=b"],
  ["", ""],
])("writes %j as %j", (text, cell) => {
  expect(toCsv([[text, "x"]])).toBe(`${cell},x\r\n`);
});
