import { describe, expect, test } from "vitest";
import { inputsOf } from "../../tests/store-contract/samples.ts";
import { longestText } from "../../tests/support/longest-text.ts";
import { parseAmount, parseFootprint } from "./parsing.ts";

describe("what is refused", () => {
  const NO_NUMBER = "Enter a number of kWh, such as 1,500 or 12.5.";
  const TOO_MUCH = "Enter at most 10,000,000,000 kWh.";
  const NO_FIELD = "There is no such field in the estimate.";

  test.each<[field: string, sentence: string, ...values: unknown[]]>([
    ["electricityKwh", "Enter 0 or more kWh.", -1, "-1"],
    ["electricityKwh", NO_NUMBER, "a lot", Number.NaN, true, [1], { toString: 1 }, "10,0000", `${"0".repeat(100)}75`],
    ["electricityKwh", TOO_MUCH, Number("1e400"), "1e400", "9".repeat(99)],
    ["gasKwh", "Did you mean 1500 or 1.5?", "1.500", "१.५००"],
    ["gasKwh", "Did you mean 10000 or 10?", "10.000 kWh"],
    ["gasKwh", "Did you mean 999999 or 999.999?", " 999.999 "],
    ["carKm", "Numbers only: choose the unit beside it.", "100 miles"],
    ["carUnit", "Choose one of: km, mi.", "furlong"],
    ["gasPer", "Choose one of: year, month.", "week", 12],
    ["lpgLitres", "Numbers only: how many litres?", "100 gallons", "१०० gallons"],
    ["people", "Numbers only: how many people?", "40 staff"],
    ["people", "Enter a whole number of people, 1 or more.", 0, -1, "2,5", "many", true],
    ["people", "Enter at most 1,000,000 people.", 1_000_001, "1e400"],
    ["for", "Choose one of: household, organisation.", "everyone"],
    ["longFlightKm", "Enter at most 20,000 km.", 20_001],
    ["carFuel", "Choose one of: petrol, diesel, hybrid, electric.", "coal"],
    ["longFlightClass", "Choose one of: economy, premium, business, first.", 1],
    ["totalKg", NO_FIELD, 1],
    ["__proto__", NO_FIELD, "1"],
    ["constructor", NO_FIELD, "1"],
  ])("%s: %s %j", (field, sentence, ...values) => {
    for (const value of values) {
      const key = `footprint.${field}`;
      const [, ...meant] = /^Did you mean (.+) or (.+)\?$/.exec(sentence) ?? [];
      const meanings = meant.length > 0 ? { [key]: meant } : {};
      const refused = { ok: false, fields: { [key]: sentence }, meanings, rest: null };
      expect(parseFootprint({ footprint: Object.fromEntries([[field, value]]) })).toEqual(refused);
      expect(parseFootprint({ [key]: value })).toEqual(refused);
    }
  });

  test.each(["text", 7, true, [], [1]])("%j instead of an object", (footprint) => {
    const fields = { footprint: "Send the estimate's inputs as an object." };
    expect(parseFootprint({ footprint })).toEqual({ ok: false, fields, meanings: {}, rest: null });
  });

  test("names at most five unknown fields, no long ones, and says that there are more", () => {
    const unknown = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`unknown${index}`, 1]));
    const parsed = parseFootprint({ footprint: { ["x".repeat(41)]: 1, gasKwh: -1, ...unknown } });
    const named = ["gasKwh", "unknown0", "unknown1", "unknown2", "unknown3"].map((name) => `footprint.${name}`);
    expect(Object.keys(parsed.ok ? {} : parsed.fields).sort()).toEqual(["footprint", ...named]);
    expect(parsed).toMatchObject({ fields: { footprint: "The estimate has unknown fields." } });
  });

  test("counts the readable inputs; leaves out a flight without its distance", () => {
    const given = { gasKwh: "11.500", carKm: 100, shortFlights: 1, shortFlightKm: "far", people: "x", longFlights: 1 };
    const parsed = parseFootprint({ footprint: given });
    const wrong = ["footprint.gasKwh", "footprint.shortFlightKm", "footprint.people"];
    expect(Object.keys(parsed.ok ? {} : parsed.fields)).toEqual(wrong);
    expect(parsed.ok || parsed.rest).toEqual(inputsOf({ carKm: 100, longFlights: 1 }));
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
    expect(parseFootprint(body)).toEqual({ ok: true, inputs: null });
  });
});

test.each<[amount: number | null, unit: string, ...texts: string[]]>([
  [0, "kWh", "0"],
  [1500, "kWh", "1500", " 1500 ", "1 500", "1\u00a0500", "1'500", "1,500"],
  [1500, "kWh", "1 500 kWh", "1 500kwh", "1500 kilowatt hours"],
  [1500.5, "kWh", "1’500.5", "१,५००.५", "١٬٥٠٠٫٥", "１，５００．５", "１ ５００.５ｋＷｈ"],
  [1500.25, "kWh", "1,500.25", "1.500,25"],
  [1500.125, "kWh", "1500.125"],
  [1_500_000, "kWh", "1\u202f500\u2009000", "1,500,000", "1.500.000"],
  [150_000, "kWh", "1,50,000"],
  [123_456_789.5, "kWh", "12,34,56,789.5"],
  [1.5, "kWh", "1,5", "1.5", "1.5000"],
  [12.5, "kWh", "12,50"],
  [0.5, "kWh", ".5", "0.500", "0,500"],
  [0.1234, "kWh", "0,1234"],
  [5, "kWh", "5.", "+5"],
  [-5, "kWh", "-5", "−5"],
  [1000, "kWh", "1e3"],
  [20, "nights", "20 nights"],
  [300, "litres", "300 l", "300 Liter"],
  [12_000, "km", "12 000 km"],
  [2, "flights", "2 return flights"],
  [500, "miles", "500 mi"],
  [null, "kWh", "", "abc", "1,2,3", "1.2.3", "1..5", "--5", "0x10", "Infinity", "1 500 km", "1 kWh 5"],
  [null, "kWh", "1,500,25", "1.500.25", "1,5.000,1", "10,0000", "1500,0000"],
])("reads the amount %j (%s) in every spelling: %j", (amount, unit, ...texts) => {
  expect(texts.map((text) => [text, parseAmount(text, unit)])).toEqual(texts.map((text) => [text, amount]));
});

test("no check reads a text that is too long for a number or a choice, and the text is refused", async () => {
  for (const field of ["electricityKwh", "carKm", "people", "shortFlightKm", "carFuel", "carUnit"]) {
    for (const piece of ["é", "०", " ", "1,"]) {
      const longest = await longestText("é", () => {
        const parsed = parseFootprint({ footprint: { [field]: `é${piece.repeat(60_000)}` } });
        expect(parsed).toMatchObject({ ok: false, fields: { [`footprint.${field}`]: expect.any(String) } });
      });
      expect(longest, field).toBeLessThanOrEqual(100);
    }
  }
});
