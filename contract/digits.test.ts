import { expect, test } from "vitest";
import { withAsciiDigits } from "./digits.ts";

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
