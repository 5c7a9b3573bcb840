import { expect, test } from "vitest";
import { readCountries } from "./countries.ts";

const item = (cca2: unknown, common: unknown) => ({ cca2, name: { common } });

test("sorts by common name as in English, whatever the machine's language", () => {
  const names = readCountries([item("ZW", "Zimbabwe"), item("AX", "Åland Islands"), item("AL", "Albania")]);
  expect(names.map(({ code }) => code)).toEqual(["AX", "AL", "ZW"]);
});

test("leaves out items of another shape", () => {
  expect(readCountries([null, 1, {}, item(1, "One"), item("XX", null), item("GB", "United Kingdom")])).toEqual([
    { code: "GB", name: "United Kingdom" },
  ]);
});

test.each([null, {}, "text", 7])("refuses %j, which is not a list", (list) => {
  expect(() => readCountries(list)).toThrow("not a list");
});
