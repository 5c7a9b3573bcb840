import { expect, test } from "vitest";
import { visible, visibleLines } from "./visible-text.ts";

test.each([
  ["plain text, Zoë, مرحبا, 日本 and 👩‍🔬", "plain text, Zoë, مرحبا, 日本 and 👩‍🔬"],
  ["\u001b[2Jgone", "\\u{1b}[2Jgone"],
  ["\u009b31mred", "\\u{9b}31mred"],
  ["two\nlines\tand a tab", "two\\nlines\\tand a tab"],
  ["txt.\u202Eexe", "txt.\\u{202e}exe"],
  ["\u2028\u2029", "\\u{2028}\\u{2029}"],
  ["half \uD83C", "half \\u{d83c}"],
])("shows %j as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("keeps line breaks in a text of several lines", () => {
  expect(visibleLines("one\ntwo\u001b")).toBe("one\ntwo\\u{1b}");
});
