import { expect, test } from "vitest";
import { bars, cut, plural, table, toCsv, visibleJson, widthOf } from "./output.ts";

test("writes JSON that is safe to show and means the same", () => {
  const value = { text: "a\u001b[2J\u009b\u202E\u{E0001}\n日本", list: [1, null] };
  const json = visibleJson(value);
  expect(JSON.parse(json)).toEqual(value);
  expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(json).toContain("日本");
});

test.each([
  ["=1+1", "'=1+1"],
  ["+44 20", "'+44 20"],
  ["-2", "'-2"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "\"'\t'=1\""],
  ["\r=1", "\"'\r'=1\""],
  ["\n=1", "\"'\n'=1\""],
  ["\tabc", '"\'\tabc"'],
  ["  =1+1", "'  =1+1"],
  ["\u00A0\u3000+1", "'\u00A0\u3000+1"],
  ["\u200B\uFEFF@SUM(A1)", "'\u200B\uFEFF@SUM(A1)"],
  ["\u0000-2", "'\u0000-2"],
  ["\uFF1D1", "'\uFF1D1"],
  ["\uFF0B1", "'\uFF0B1"],
  ["\uFF0D1", "'\uFF0D1"],
  ["\uFF20SUM(A1)", "'\uFF20SUM(A1)"],
  [" \uFE661", "' \uFE661"],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ["a, b", '"a, b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["a; b", '"a; b"'],
  ["a\tb", '"a\tb"'],
  ["a=b", "a=b"],
  ["a - b + c @ d", "a - b + c @ d"],
  ["", ""],
])("writes %j as %j in CSV", (text, cell) => {
  expect(toCsv([[text, "x"]])).toBe(`${cell},x\r\n`);
});

test.each([
  ["x;=1+1;", '"x;\'=1+1;"'],
  ["x; =1+1", '"x;\' =1+1"'],
  ['x;"=1+1"', `"x;'""=1+1"""`],
  ["x\t@SUM(A1)", '"x\t\'@SUM(A1)"'],
  ["Dear all,\n\n+1", '"Dear all,\n\n\'+1"'],
])("keeps %j inert in a spreadsheet that separates cells at ; or tab", (text, cell) => {
  expect(toCsv([["x", text]])).toBe(`x,${cell}\r\n`);
  for (const separator of [";", "\t"]) {
    // Without a quote at the start of the row, such a spreadsheet takes every quote for text or for an empty start.
    const cells = toCsv([["x", text]]).split(new RegExp(`[${separator}\r\n]`));
    expect(cells.filter((seen) => /^[\s"]*[=+\-@]/.test(seen))).toEqual([]);
  }
});

test("aligns columns by what they take on a terminal", () => {
  expect(
    table([
      ["A", "B"],
      ["日本", "x"],
      ["é", "y"],
    ]),
  ).toBe("A     B\n日本  x\né     y\n");
});

test("cuts the last column to the width, but keeps its first 30 columns", () => {
  const rows = [
    ["A", "B"],
    ["1234567890", "x".repeat(40)],
  ];
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

test("cuts what is too long, and says so", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdefg", 6)).toBe("abcde…");
  expect(cut("日本語", 4)).toBe("日…");
  expect(cut("👩‍🔬👩‍🔬👩‍🔬", 4)).toBe("👩‍🔬…");
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

test("counts in English", () => {
  expect([0, 1, 2].map((count) => plural(count, "message"))).toEqual(["0 messages", "1 message", "2 messages"]);
});
