import { expect, test } from "vitest";
import { REFERENCE_PATTERN } from "../../contract/send-email-answer.ts";
import { drawReference, normaliseReference } from "./reference.ts";

test("draws references of the promised shape, with evenly distributed letters and hardly any repeats", () => {
  const drawn = Array.from({ length: 20_000 }, () => drawReference("BC"));
  for (const reference of drawn) expect(reference).toMatch(REFERENCE_PATTERN);
  expect(new Set(drawn).size).toBeGreaterThan(19_990);
  for (const position of [3, 4, 5, 6, 8, 9]) {
    const letters = new Map<string, number>();
    for (const reference of drawn) {
      const letter = reference.charAt(position);
      letters.set(letter, (letters.get(letter) ?? 0) + 1);
    }
    expect([...letters.keys()].sort().join("")).toBe("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
    // 625 each on average; seven standard deviations either way.
    for (const count of letters.values()) expect(Math.abs(count - 625)).toBeLessThan(175);
  }
});

test.each([
  ["bc-7k3q-9m", "BC-7K3Q-9M"],
  [" BC-7K3Q-9M\n", "BC-7K3Q-9M"],
  ["lo-oil0-1o", "LO-0110-10"],
])("reads %j as %s", (typed, reference) => {
  expect(normaliseReference(typed)).toBe(reference);
});
