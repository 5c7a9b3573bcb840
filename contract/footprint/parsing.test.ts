import { describe, expect, test } from "vitest";
import { inputsOf } from "../../tests/store-contract/samples.ts";
import { longestText } from "../../tests/support/longest-text.ts";
import { parseAmount, parseFootprint } from "./parsing.ts";

describe("what is refused", () => {
  const NO_NUMBER = "Enter a number, such as 1,500.";
  const TOO_MUCH = "Enter at most 10,000,000,000.";
  const NO_COUNT = "Enter a whole number, 1 or more.";

  test.each<[field: string, sentence: string, ...values: unknown[]]>([
    ["electricityKwh", "Enter 0 or more.", -1, "-1"],
    ["electricityKwh", NO_NUMBER, "a lot", Number.NaN, true, [1], { toString: 1 }, "1,2,3", `${"0".repeat(100)}75`],
    ["electricityKwh", NO_NUMBER, "1e400", "1 500 kWh"],
    ["electricityKwh", TOO_MUCH, Number("1e400"), "9".repeat(99)],
    ["carKm", NO_NUMBER, "100 miles"],
    ["carUnit", "Choose one of: km, mi.", "furlong"],
    ["gasPer", "Choose one of: year, month.", "week", 12],
    ["people", NO_COUNT, 0, -1, "2,5", "many", true, "40 staff"],
    ["people", "Enter at most 1,000,000.", 1_000_001, "9".repeat(40)],
    ["for", "Choose one of: household, organisation.", "everyone"],
    ["longFlightKm", "Enter at most 20,000.", 20_001],
    ["carFuel", "Choose one of: petrol, diesel, hybrid, electric.", "coal"],
    ["longFlightClass", "Choose one of: economy, premium, business, first.", 1],
  ])("%s: %s %j", (field, sentence, ...values) => {
    for (const value of values) {
      const key = `footprint.${field}`;
      const refused = { inputs: null, errors: { [key]: sentence } };
      expect(parseFootprint({ footprint: Object.fromEntries([[field, value]]) })).toEqual(refused);
      expect(parseFootprint({ [key]: value })).toEqual(refused);
    }
  });

  test.each(["text", 7, true, [], [1]])("%j instead of an object", (footprint) => {
    const errors = { footprint: "Send the estimate's inputs as an object." };
    expect(parseFootprint({ footprint })).toEqual({ inputs: null, errors });
  });

  test.each(["totalKg", "__proto__", "constructor", "x".repeat(41)])("an unknown field: %s", (field) => {
    const errors = { footprint: `There is no field "${field.slice(0, 40)}" in the estimate.` };
    const given = Object.fromEntries([[field, 1]]);
    expect(parseFootprint({ footprint: given })).toEqual({ inputs: null, errors });
    expect(parseFootprint({ [`footprint.${field}`]: 1 })).toEqual({ inputs: null, errors });
  });

  test("counts the readable inputs; leaves out a flight without its distance", () => {
    const given = { gasKwh: "?", carKm: 100, shortFlights: 1, shortFlightKm: "far", people: "x", longFlights: 1 };
    const { inputs, errors } = parseFootprint({ footprint: given });
    const wrong = ["footprint.gasKwh", "footprint.shortFlightKm", "footprint.people"];
    expect(Object.keys(errors)).toEqual(wrong);
    expect(inputs).toEqual(inputsOf({ carKm: 100, longFlights: 1 }));
  });

  test.each([
    {},
    { footprint: { people: 40, for: "organisation" } },
    { footprint: {} },
    { footprint: null },
    { footprint: { electricityKwh: "", gasKwh: " ", carKm: null } },
    // The post of an empty form.
    { "footprint.carFuel": "petrol", "footprint.shortFlightKm": "1500", "footprint.longFlightClass": "first" },
  ])("%j is no estimate, and no error", (body) => {
    expect(parseFootprint(body)).toEqual({ inputs: null, errors: {} });
  });
});

test.each<[amount: number | null, ...texts: string[]]>([
  [0, "0", "0.0"],
  [1500, "1500", " 1500 ", "1 500", "1\u00a0500", "1'500", "1,500"],
  [1500.5, "1’500.5", "१,५००.५", "١٬٥٠٠٫٥", "１，５００．５", "１ ５００.５"],
  [1500.25, "1,500.25", "1.500,25", "1 500,25"],
  [1500.125, "1500.125", "1 500,125"],
  [1_500_000, "1\u202f500\u2009000", "1,500,000", "1.500.000", "1500,000"],
  [150_000, "1,50,000"],
  [123_456_789.5, "12,34,56,789.5"],
  // A single point is a decimal, also before three digits.
  [1.5, "1,5", "1.5", "1.500", "1,5000", "१.५००"],
  [12.5, "12,50"],
  [10, "10,0000"],
  // A leading zero never groups.
  [0.5, ".5", "0.500", "0,500"],
  [0.1234, "0,1234"],
  [5, "5.", "+5"],
  [-5, "-5", "−5"],
  [null, "", "abc", ".", "1,2,3", "1.2.3", "1..5", "--5", "0x10", "Infinity", "1e3", "1 500 km", "20 nights"],
  [null, "1,500,25", "1.500.25", "1,5.000,1", "1,500 000", "1 5", "0,500,000", "1,500,250.5,1"],
])("reads the amount %j in every spelling: %j", (amount, ...texts) => {
  expect(texts.map((text) => [text, parseAmount(text)])).toEqual(texts.map((text) => [text, amount]));
});

test("no check reads a text that is too long for a number or a choice, and the text is refused", async () => {
  for (const field of ["electricityKwh", "people", "shortFlightKm", "carFuel"]) {
    const longest = await longestText("é", () => {
      const parsed = parseFootprint({ footprint: { [field]: `é${"०".repeat(60_000)}` } });
      expect(parsed).toMatchObject({ errors: { [`footprint.${field}`]: expect.any(String) } });
    });
    expect(longest, field).toBeLessThanOrEqual(100);
  }
});
