import { expect, test } from "vitest";
import { estimateOf, type Footprint } from "../../tests/store-contract/samples.ts";
import { type FootprintInputs, formatTotal, START_TEXTS } from "./fields.ts";
import { parseFootprint } from "./parsing.ts";
import { describeInputs, estimateNotes, estimateSummary, formatCost, hintsOf, resultNotes } from "./words.ts";

test.each([
  [4151.2, "about 4.2 t CO₂e a year"],
  [996, "about 1.0 t CO₂e a year"],
  [994, "about 990 kg CO₂e a year"],
  [4.42, "about 4.4 kg CO₂e a year"],
  [0.04, "less than 0.1 kg CO₂e a year"],
  [0, "about 0 kg CO₂e a year"],
  [1_234_567, "about 1,200 t CO₂e a year"],
])("%d kg", (kg, words) => expect(formatTotal(kg)).toBe(words));

test.each([
  [1400, { amount: 25, currency: "EUR", includes: "VAT" }, "about 35 EUR including VAT"],
  [77_824, { amount: 25, currency: "EUR" }, "about 1,950 EUR"],
  [440, { amount: 12.5, currency: "credits" }, "about 5.50 credits"],
  [0.3, { amount: 25, currency: "EUR" }, "less than 0.01 EUR"],
  [440, { amount: 15, currency: "JPY" }, "about 7 JPY"],
  [440, { amount: 7.5, currency: "KWD" }, "about 3.300 KWD"],
  [2300, { amount: 25, currency: "EUR" }, "about 58 EUR"],
  [7, { amount: 15, currency: "EUR" }, "about 0.11 EUR"],
])("credits for %d kg at %j cost %s", (kg, price, cost) => expect(formatCost(kg, price)).toBe(cost));

const GRIDS = "countries’ grids (10th to 90th percentile)";
function rangeNote(between: string, single = ""): string {
  const left = single && ` The range does not cover what has one published figure: ${single}.`;
  return `Published figures differ for ${between}: therefore the range.${left} The true figure can be outside this range.`;
}

test.each<[Footprint, country: string, entered: string[], summary: string, notes: string[]]>([
  [
    { electricityKwh: "1 500,5", gasKwh: 0, longFlights: 2, longFlightClass: "business", hotelNights: 1 },
    "FR",
    ["Electricity: 1,500.5 kWh", "Long return flights: 2 flights of 6,500 km each way, business", "Hotel: 1 night"],
    "about 11 t CO₂e a year (from 9.6 t to 11 t), for one person or household",
    [
      "Electricity is from the average grid of France (Ember, 2024).",
      "Hotels are those of France.",
      rangeNote("UK and other long flights", "Electricity, Hotel"),
    ],
  ],
  [
    { electricityKwh: 100, electricityPer: "month", carKm: "8,000", carUnit: "mi" },
    "",
    ["Electricity: 100 kWh a month (1,200 kWh a year)", "Car: 8,000 miles (12,875 km), petrol"],
    "about 3.2 t CO₂e a year (from 2.5 t to 5.2 t), for one person or household",
    ["Electricity is from the world’s average grid (Ember, 2024).", rangeNote(`${GRIDS}; small and large cars`)],
  ],
  [
    { shortFlights: 1, shortFlightKm: 3701, shortFlightClass: "business", people: 1, for: "organisation" },
    "",
    ["Short return flights: 1 flight of 3,701 km each way, business, as long flights"],
    "about 3.0 t CO₂e a year (from 2.7 t to 3.0 t), for an organisation of 1 person",
    [rangeNote("UK and other long flights"), "For an organisation of 1 person."],
  ],
  [
    { shortFlights: 1, shortFlightKm: 3700, people: "4" },
    "",
    ["Short return flights: 1 flight of 3,700 km each way, economy"],
    "about 1.1 t CO₂e a year, for a household of 4 people: about 270 kg for each person",
    ["For a household of 4 people: about 270 kg for each person."],
  ],
])("describes %j in %j by line, in one line, and with notes", (footprint, country, entered, summary, notes) => {
  const estimate = estimateOf(footprint, country);
  expect(describeInputs(estimate).map(({ label, value }) => `${label}: ${value}`)).toEqual(entered);
  expect(estimateSummary(estimate)).toBe(summary);
  expect(estimateNotes(estimate, null)).toEqual([
    ...notes,
    "Computed with: DESNZ 2026 v1.2; Ember 2022-2024 (co2.js 0.19.0), UK: DESNZ.",
    "An estimate, not a certificate.",
  ]);
});

test("says where the figures of an electric car and of hotels are from", () => {
  const notesIn = (country: string) =>
    resultNotes(estimateOf({ carKm: 1, carFuel: "electric", hotelNights: 1 }, country), null);
  const british = "Electricity is from the average grid of United Kingdom (DESNZ, 2026).";
  expect(notesIn("GB")).toEqual(expect.arrayContaining([british, "Hotels are those of United Kingdom."]));
  const average = "Electricity is from the world’s average grid (Ember, 2024).";
  expect(notesIn("CF")).toEqual(expect.arrayContaining([average, "Hotels are those of the average of 38 countries."]));
});

test("says how a number was read as soon as it is not only digits, and how short flights are counted", () => {
  const read = (texts: Readonly<Record<string, string>>) => {
    const named = Object.fromEntries(Object.entries(texts).map(([field, text]) => [`footprint.${field}`, text]));
    return hintsOf(parseFootprint(named).inputs as FootprintInputs, { ...START_TEXTS, ...named });
  };
  expect(read({ gasKwh: "1500" })).toEqual({});
  expect(read({ gasKwh: "1,500" })).toEqual({ "footprint.gasKwh": "Read as 1,500 kWh" });
  expect(read({ gasKwh: "1.500" })).toEqual({ "footprint.gasKwh": "Read as 1.5 kWh" });
  expect(read({ carKm: "100", carUnit: "mi" })).toEqual({ "footprint.carKm": "Read as 100 miles (161 km)" });
  const flight = (shortFlightKm: string) => read({ shortFlights: "1", shortFlightKm })["footprint.shortFlightKm"];
  expect([flight("500"), flight("501"), flight("3701")]).toEqual([
    "Counted as domestic: no classes",
    undefined,
    "Counted as long flights",
  ]);
  const [line] = describeInputs(estimateOf({ shortFlights: 1, shortFlightKm: 500 }));
  expect(line?.value).toBe("1 flight of 500 km each way, as domestic flights");
});
