import { expect, test } from "vitest";
import { plural, visible, visibleLines, withAsciiDigits } from "./text.ts";

test.each([
  ["plain text, Zoë, مرحبا, 日本 and 👩‍🔬", "plain text, Zoë, مرحبا, 日本 and 👩‍🔬"],
  ["\u001b[2Jgone", "\\u{1b}[2Jgone"],
  ["\u009b31mred", "\\u{9b}31mred"],
  ["two\nlines\tand a tab", "two\\nlines\\tand a tab"],
  ["txt.\u202Eexe", "txt.\\u{202e}exe"],
  ["\u2028\u2029", "\\u{2028}\\u{2029}"],
  ["‏שלום‎ \u2067abc\u2069 \u061Cمرحبا", "‏שלום‎ \u2067abc\u2069 \u061Cمرحبا"],
  ["anna@\u200Eexample.com", "anna@\\u{200e}example.com"],
  ["\u202Bembedded\u202C", "\\u{202b}embedded\\u{202c}"],
  ["half \uD83C", "half \\u{d83c}"],
])("shows %j as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("keeps line breaks in a text of several lines", () => {
  expect(visibleLines("one\ntwo\u001b")).toBe("one\ntwo\\u{1b}");
});

test("one is singular, and everything else plural", () => {
  expect([0, 1, 2].map((count) => plural(count, "message"))).toEqual(["0 messages", "1 message", "2 messages"]);
  expect([1, 2].map((count) => plural(count, "country", (number) => `${number}.0`))).toEqual([
    "1.0 country",
    "2.0 countries",
  ]);
});

test("reads the digits of every script that Intl knows", () => {
  const systems = Intl.supportedValuesOf("numberingSystem");
  const written = systems.map((numberingSystem) => {
    const text = new Intl.NumberFormat("en", { numberingSystem, useGrouping: false }).format(1_234_567_890);
    return [numberingSystem, withAsciiDigits(text)];
  });
  expect(written.length).toBeGreaterThan(50);
  // Chinese numerals written as digits are letters, so a text may contain them as words.
  const isRead = (system: string) => system !== "hanidec";
  expect(written.filter(([system = ""]) => isRead(system))).toEqual(
    systems.filter(isRead).map((system) => [system, "1234567890"]),
  );
});

test("changes full-width characters, and no others", () => {
  expect(withAsciiDigits("（＋８１）３－１２３４ ext. ٧, Ⅷ é 二")).toBe("(+81)3-1234 ext. 7, Ⅷ é 二");
});
