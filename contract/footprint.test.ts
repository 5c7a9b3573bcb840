import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { electricityTable } from "../prerender/electricity.ts";
import {
  adviceFor,
  categoriesOf,
  describeInputs,
  estimateFootprint,
  estimateNotes,
  estimateSummary,
  explainLines,
  parseAmount,
  parseFootprint,
  sourcesOf,
} from "./footprint.ts";
import * as factors from "./footprint-factors.ts";
import {
  AMOUNTS,
  type AmountField,
  CHOICES,
  type FootprintInputs,
  formatCost,
  formatMass,
  formatTotal,
} from "./footprint-fields.ts";
import { reportHtml } from "./footprint-report.ts";

const electricity = electricityTable();

function inputsOf(footprint: Record<string, unknown>): FootprintInputs {
  const parsed = parseFootprint({ footprint });
  if (!parsed.ok || parsed.inputs === null) throw new Error(JSON.stringify(parsed));
  return parsed.inputs;
}
const estimateOf = (footprint: Record<string, unknown>, country = "") =>
  estimateFootprint(inputsOf(footprint), country, electricity);
const totalOf = (footprint: Record<string, unknown>, country = "") => estimateOf(footprint, country).totalKg;

describe("the figures", () => {
  test.each([
    [{ electricityKwh: 1000 }, "FR", 44.18],
    [{ electricityKwh: 1000 }, "IN", 708.96],
    [{ electricityKwh: 1000 }, "", 472.94],
    [{ electricityKwh: 1000 }, "GB", 167.78],
    // Figures of the source that are no measurements.
    [{ electricityKwh: 10_000 }, "CF", 4729.4],
    [{ electricityKwh: 1000 }, "FK", 472.94],
    [{ electricityKwh: 1000 }, "MS", 472.94],
    // Without a figure of its own: the world's average.
    [{ electricityKwh: 1000 }, "AQ", 472.94],
    [{ gasKwh: 1000 }, "", 212.52],
    [{ heatingOilLitres: 100 }, "", 307.094],
    [{ lpgLitres: 100 }, "", 174.264],
    [{ carKm: 10_000 }, "", 2075.1],
    [{ carKm: 10_000, carFuel: "diesel" }, "", 2141.1],
    [{ carKm: 10_000, carFuel: "hybrid" }, "", 1627.6],
    [{ carKm: 10_000, carFuel: "electric" }, "FR", 90.569],
    [{ carKm: 10_000, carFuel: "electric" }, "GB", 343.949],
    [{ carKm: 10_000, carFuel: "electric" }, "", 969.527],
    [{ railKm: 1000 }, "", 39.89],
    [{ coachKm: 1000 }, "", 46.04],
    [{ busKm: 1000 }, "", 128],
    [{ taxiKm: 1000 }, "", 185.58],
    [{ shortFlights: 1 }, "", 444.75],
    [{ shortFlights: 1, shortFlightKm: 1000, shortFlightClass: "business" }, "", 444.72],
    [{ longFlights: 1 }, "", 1841.45],
    [{ longFlights: 1, longFlightClass: "premium" }, "", 2946.19],
    [{ longFlights: 1, longFlightClass: "business" }, "", 5340.01],
    [{ longFlights: 1, longFlightClass: "first" }, "", 7365.54],
    [{ hotelNights: 10 }, "GB", 104],
    [{ hotelNights: 10 }, "IN", 589],
    [{ hotelNights: 10 }, "", 395],
    [{ electricityKwh: 0 }, "", 0],
  ])("%j in %j is %d kg", (footprint, country, kg) => {
    expect(totalOf(footprint, country)).toBe(kg);
  });

  test("every factor has a value, a unit, a boundary, a year, a source, a link and rows", () => {
    const { HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT, HOTEL, HOTEL_ELSEWHERE } = factors;
    const tables = [HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT, HOTEL, { HOTEL_ELSEWHERE }];
    const all = tables.flatMap((table) => Object.values<factors.Factor>(table));
    expect(all).toHaveLength(3 + 3 + 4 + 2 + 4 + 38 + 1);
    const rows = all.slice(0, -1).flatMap((factor) => Object.keys(factor.rows));
    expect(new Set(rows).size).toBe(rows.length);
    for (const factor of all) {
      expect(factor).toMatchObject({ year: 2026, source: expect.stringContaining("DESNZ") });
      expect(factor.kgPerUnit).toBeGreaterThan(0);
      expect(URL.canParse(factor.link) && factor.unit !== undefined && factor.boundary !== "").toBe(true);
      for (const id of Object.keys(factor.rows)) expect(id).toMatch(/^\d+_\d+_\d+_\d+_1$/);
    }
  });

  test.each([
    // What the source has one figure for has no range.
    [{ gasKwh: 1000, shortFlights: 1 }, "", null],
    [{ electricityKwh: 1000 }, "FR", null],
    [{ hotelNights: 0, carKm: 0 }, "", null],
    [{ busKm: 1000 }, "", [81.81, 157.26]],
    [{ taxiKm: 1000 }, "", [185.58, 254.92]],
    [{ hotelNights: 10 }, "", [47, 1522]],
    [{ hotelNights: 10 }, "GB", null],
    [{ carKm: 10_000 }, "", [1827.2, 3413.4]],
    [{ carKm: 10_000, carFuel: "diesel" }, "", [1773.6, 2597.5]],
    [{ carKm: 10_000, carFuel: "hybrid" }, "", [1440.6, 1980.7]],
    [{ carKm: 10_000, carFuel: "electric" }, "GB", [317.1042, 357.3714]],
    [{ longFlights: 1 }, "", [1634.36, 1841.45]],
    [{ longFlights: 1, longFlightClass: "premium" }, "", [2614.82, 2946.19]],
    [{ longFlights: 1, longFlightClass: "business" }, "", [4739.54, 5340.01]],
    [{ longFlights: 1, longFlightClass: "first" }, "", [6537.18, 7365.54]],
    [{ gasKwh: 1000, busKm: 1000, taxiKm: 1000 }, "", [479.91, 624.7]],
  ])("the range of %j in %j is %j", (footprint, country, range) => {
    const { range: found } = estimateOf(footprint, country);
    expect(found ? [found.lowKg, found.highKg] : null).toEqual(range);
  });

  test("without a country, electricity is between the 10th and the 90th percentile of the countries, never 0", () => {
    const grams = Object.values(electricity.countries)
      .map(([gramsPerKwh]) => gramsPerKwh)
      .sort((a, b) => a - b);
    expect(grams[0]).toBeGreaterThan(0);
    // A second way to compute it: the place in the sorted list, counted from both ends.
    const at = (tenths: number) => {
      const position = ((grams.length - 1) * tenths) / 10;
      const [below = 0, above = 0] = grams.slice(Math.floor(position), Math.floor(position) + 2);
      return below * (1 - (position % 1)) + above * (position % 1);
    };
    const { range } = estimateOf({ electricityKwh: 1000 });
    expect(range?.lowKg).toBeCloseTo(at(1), 2);
    expect(range?.highKg).toBeCloseTo(at(9), 2);
    expect(range?.between).toEqual(["grids of countries (10th to 90th percentile)"]);
    const car = estimateOf({ carKm: 1000, carFuel: "electric" }).range;
    expect(estimateOf({ carKm: 1, carFuel: "electric", electricityKwh: 1 }).range?.between).toEqual([
      "grids of countries (10th to 90th percentile)",
      "small and large cars",
    ]);
    expect(car?.lowKg).toBeCloseTo(at(1) * 0.189, 2);
    expect(car?.highKg).toBeCloseTo(at(9) * 0.213, 2);
  });

  test("the electricity table has every country of the source, with its year", () => {
    expect(Object.keys(electricity.countries)).toHaveLength(206);
    expect(electricity.countries).toMatchObject({
      FR: [44.18, 2024],
      GB: [167.78, 2026],
      IS: [expect.any(Number), 2023],
    });
    expect(electricity.countries).toMatchObject({ UA: [expect.any(Number), 2022], XK: [expect.any(Number), 2024] });
  });

  test("docs/footprint.md has the factors that are used", () => {
    const text = readFileSync("docs/footprint.md", "utf8");
    const { HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT } = factors;
    for (const table of [HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT]) {
      for (const { kgPerUnit, range } of Object.values<factors.Factor>(table)) {
        for (const kg of [kgPerUnit, range?.low, range?.high]) if (kg) expect(text).toContain(kg.toFixed(5));
      }
    }
    expect(text).toContain(factors.FACTORS_NAME);
    expect(text).toContain(factors.UK_ELECTRICITY.kgPerUnit.toFixed(5));
    expect(text).toContain(factors.DOMESTIC_FLIGHT.kgPerUnit.toFixed(5));
    expect(readFileSync("docs/operations.md", "utf8")).toContain("From 30 June 2027 on");
  });
});

describe("what the estimate says", () => {
  test.each([
    ["1.500", "Did you mean 1500 or 1.5?"],
    ["10.000 kWh", "Did you mean 10000 or 10?"],
    [" 999.999 ", "Did you mean 999999 or 999.999?"],
  ])("%j can be read in two ways, and is asked about", (text, question) => {
    const asked = { ok: false, fields: { "footprint.gasKwh": question }, rest: null };
    expect(parseFootprint({ footprint: { gasKwh: text } })).toEqual(asked);
    expect(parseFootprint({ "footprint.gasKwh": text })).toEqual(asked);
    expect(parseFootprint({ footprint: { gasKwh: Number.parseFloat(text) } })).toMatchObject({ ok: true });
  });

  test("up to 500 km one way a flight counts as domestic, without classes, and says so", () => {
    const flight = (shortFlightKm: number, shortFlightClass = "business") =>
      estimateOf({ shortFlights: 1, shortFlightKm, shortFlightClass });
    expect(flight(500).totalKg).toBe(262.78);
    expect(flight(500, "economy").totalKg).toBe(262.78);
    expect(flight(501).totalKg).toBe(222.80472);
    expect(describeInputs(flight(500))).toMatchObject([{ value: "1 flight of 500 km each way, as domestic flights" }]);
    expect(describeInputs(flight(501))).toMatchObject([{ value: "1 flight of 501 km each way, business" }]);
  });

  test("miles stay what was typed", () => {
    const inMiles = estimateOf({ carKm: "8,000 miles", carUnit: "mi" });
    expect(describeInputs(inMiles)).toMatchObject([{ label: "Car", value: "8,000 miles (12,875 km), petrol" }]);
    expect(inMiles.totalKg).toBe(withoutNoise(8000 * 1.609344 * 0.20751));
    expect(inMiles.inputs).toMatchObject({ carKm: 8000, carUnit: "mi" });
    expect(estimateOf({ carKm: 8000, carUnit: "km" }).inputs).not.toHaveProperty("carUnit");
    expect(parseFootprint({ footprint: { carKm: 1, carUnit: "furlong" } })).toEqual({
      ok: false,
      fields: { "footprint.carUnit": "Choose one of: km, mi." },
      rest: expect.objectContaining({ carKm: 1 }),
    });
  });

  test("a short flight that is long is questioned, and hotels name their country", () => {
    const far = estimateNotes(estimateOf({ shortFlights: 1, shortFlightKm: 20_000 }));
    expect(far).toContain("Short flights of more than 3,700 km one way: were they long ones?");
    expect(estimateNotes(estimateOf({ shortFlights: 1, shortFlightKm: 3700 })).join()).not.toContain("long ones");
    expect(estimateNotes(estimateOf({ hotelNights: 1 }, "IN"))).toContain(
      "Hotels: with the figure of the sender's country.",
    );
  });

  const withoutNoise = (kg: number) => Number(kg.toPrecision(12));
});

describe("what is refused", () => {
  test.each([
    ["electricityKwh", -1, "Enter 0 or more kWh."],
    ["electricityKwh", "-1", "Enter 0 or more kWh."],
    ["electricityKwh", "a lot", "Enter a number of kWh, such as 1,500 or 12.5."],
    ["electricityKwh", Number.NaN, "Enter a number of kWh, such as 1,500 or 12.5."],
    ["electricityKwh", true, "Enter a number of kWh, such as 1,500 or 12.5."],
    ["electricityKwh", [1], "Enter a number of kWh, such as 1,500 or 12.5."],
    ["electricityKwh", Number("1e400"), "Enter 10,000,000,000 kWh or less."],
    ["electricityKwh", "1e400", "Enter 10,000,000,000 kWh or less."],
    ["electricityKwh", "9".repeat(99), "Enter 10,000,000,000 kWh or less."],
    ["electricityKwh", `${"0".repeat(100)}75`, "Enter a number of kWh, such as 1,500 or 12.5."],
    ["electricityKwh", "10,0000", "Enter a number of kWh, such as 1,500 or 12.5."],
    ["carKm", "100 miles", "Numbers only: choose the unit beside it."],
    ["lpgLitres", "100 gallons", "Numbers only: how many litres?"],
    ["people", "40 staff", "Numbers only: how many people?"],
    ["people", 0, "Enter a whole number of people, 1 or more."],
    ["people", "2,5", "Enter a whole number of people, 1 or more."],
    ["people", 1_000_001, "Enter 1,000,000 people or less."],
    ["for", "everyone", "Choose one of: household, organisation."],
    ["longFlightKm", 20_001, "Enter 20,000 km or less."],
    ["carFuel", "coal", "Choose one of: petrol, diesel, hybrid, electric."],
    ["longFlightClass", 1, "Choose one of: economy, premium, business, first."],
    ["totalKg", 1, "There is no such field in the estimate."],
    ["__proto__", "1", "There is no such field in the estimate."],
    ["constructor", "1", "There is no such field in the estimate."],
  ])("%s: %j", (name, value, sentence) => {
    const key = `footprint.${name}`;
    const refused = { ok: false, fields: { [key]: sentence }, rest: null };
    expect(
      parseFootprint({ footprint: JSON.parse(`{${JSON.stringify(name)}:0}`, (k, v) => (k === name ? value : v)) }),
    ).toEqual(refused);
    expect(parseFootprint({ [key]: value })).toEqual(refused);
  });

  test.each(["text", 7, true, [], [1]])("%j as the whole", (footprint) => {
    expect(parseFootprint({ footprint })).toEqual({
      ok: false,
      fields: { footprint: "Send the estimate's inputs as an object." },
      rest: null,
    });
  });

  test("names five fields that do not exist, none of them long, and says that there are more", () => {
    const unknown = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`unknown${index}`, 1]));
    const parsed = parseFootprint({ footprint: { ["x".repeat(41)]: 1, gasKwh: -1, ...unknown } });
    expect(parsed).toEqual({
      ok: false,
      rest: null,
      fields: {
        footprint: "There are fields that the estimate does not have.",
        "footprint.gasKwh": "Enter 0 or more kWh.",
        ...Object.fromEntries([0, 1, 2, 3].map((index) => [`footprint.unknown${index}`, expect.any(String)])),
      },
    });
  });
});

test("what can be read is counted while the rest cannot; a flight without its distance is left out", () => {
  const given = { gasKwh: "11.500", carKm: 100, shortFlights: 1, shortFlightKm: "far", people: "x", longFlights: 1 };
  const parsed = parseFootprint({ footprint: given });
  expect(parsed.ok ? [] : Object.keys(parsed.fields)).toEqual([
    "footprint.gasKwh",
    "footprint.shortFlightKm",
    "footprint.people",
  ]);
  const rest = parsed.ok ? null : parsed.rest;
  expect(rest).toEqual(inputsOf({ carKm: 100, longFlights: 1 }));
});

test.each([
  [{}],
  [{ footprint: { people: 40, for: "organisation" } }],
  [{ footprint: {} }],
  [{ footprint: null }],
  [{ footprint: { electricityKwh: "", gasKwh: " ", carKm: null } }],
  // What a form posts when nothing was entered.
  [{ "footprint.carFuel": "petrol", "footprint.shortFlightKm": "1500", "footprint.longFlightClass": "first" }],
])("%j is no estimate", (body) => {
  expect(parseFootprint(body)).toEqual({ ok: true, inputs: null });
});

describe("numbers as people write them", () => {
  test.each<[text: string, amount: number | null, unit?: string]>([
    ["0", 0],
    ["1500", 1500],
    [" 1500 ", 1500],
    ["1,5", 1.5],
    ["1.5", 1.5],
    ["1 500", 1500],
    ["1\u00a0500", 1500],
    ["1\u202f500\u2009000", 1_500_000],
    ["1'500", 1500],
    ["1’500.5", 1500.5],
    ["1,500", 1500],
    ["0.500", 0.5],
    ["1.5000", 1.5],
    ["1500.125", 1500.125],
    ["0,500", 0.5],
    ["0,1234", 0.1234],
    ["10,0000", null],
    ["1500,0000", null],
    ["12,50", 12.5],
    ["1,500.25", 1500.25],
    ["1.500,25", 1500.25],
    ["1,500,000", 1_500_000],
    ["1.500.000", 1_500_000],
    ["1,50,000", 150_000],
    ["12,34,56,789.5", 123_456_789.5],
    [".5", 0.5],
    ["5.", 5],
    ["+5", 5],
    ["1e3", 1000],
    ["-5", -5],
    ["−5", -5],
    ["1 500 kWh", 1500],
    ["1 500kwh", 1500],
    ["1500 kilowatt hours", 1500],
    ["20 nights", 20, "nights"],
    ["300 l", 300, "litres"],
    ["300 Liter", 300, "litres"],
    ["12 000 km", 12_000, "km"],
    ["2 return flights", 2, "flights"],
    ["500 mi", 500, "miles"],
    ["", null],
    ["abc", null],
    ["1,2,3", null],
    ["1.2.3", null],
    ["1,500,25", null],
    ["1.500.25", null],
    ["1,5.000,1", null],
    ["1..5", null],
    ["--5", null],
    ["1 kWh 5", null],
    ["0x10", null],
    ["Infinity", null],
    ["1 500 km", null],
    ["१५", null],
  ])("%j is %j", (text, amount, unit = "kWh") => {
    expect(parseAmount(text, unit)).toBe(amount);
  });
});

describe("the words", () => {
  test.each([
    [4151.2, "about 4.2 t CO₂e a year"],
    [4000, "about 4.0 t CO₂e a year"],
    [996, "about 1.0 t CO₂e a year"],
    [994, "about 990 kg CO₂e a year"],
    [44.18, "about 44 kg CO₂e a year"],
    [4.42, "about 4.4 kg CO₂e a year"],
    [0.04, "less than 0.1 kg CO₂e a year"],
    [0, "about 0 kg CO₂e a year"],
    [12_345, "about 12 t CO₂e a year"],
    [1_234_567, "about 1,200 t CO₂e a year"],
  ])("%d kg", (kg, words) => {
    expect(formatTotal(kg)).toBe(words);
  });

  test("what can be printed has inputs, factors, each source once, date, country, for whom, range and total, and escapes", () => {
    const inputs = inputsOf({
      ...{ electricityKwh: 2500, carKm: 8000, carUnit: "mi", shortFlights: 1, hotelNights: 1, railKm: 0 },
      ...{ for: "organisation", people: 40 },
    });
    const sent = { inputs, country: "FR", countryName: "<b>France & co", reference: "BC-7K3Q-9M", date: new Date(0) };
    const html = reportHtml(sent, electricity, { amount: 25, currency: "E<R" });
    expect(html).not.toContain("<b>");
    expect([...html.matchAll(/<a /g)]).toHaveLength(2);
    const textOf = (markup: string) => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
    const text = textOf(html);
    for (const part of [
      "about 3.2 t CO₂e a year",
      "For an organisation of 40 people : about 81 kg for each person . Country: &lt;b>France &amp; co .",
      "Sent on 1 January 1970 with message BC-7K3Q-9M .",
      "At 25 E&lt;R a tonne, 3.2 t cost about 80 E&lt;R.",
      "Electricity 2,500 kWh 0.04418 kg per kWh, &lt;b>France &amp; co 110 kg",
      "Car 8,000 miles (12,875 km), petrol 0.20751 kg per km, UK average 2.7 t",
      "Short return flights 1 flight of 1,500 km each way, economy 0.14825 kg per passenger km, flights to or from the UK",
      "Hotel 1 night 6.7 kg per night",
      "Each figure is rounded by itself",
      "The range is from 2.9 t to 5.0 t : this covers only how the sources’ figures differ for small and large cars.",
      "v1.2 . Counted: burning the fuel, and producing it (Car); burning the fuel, producing it, and the other effects",
      "Ember, yearly electricity data, by co2.js of the Green Web Foundation, 2024 . Counted:",
      "Electricity is location-based",
      "Factor set: DESNZ 2026 v1.2; Ember",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toMatch(/nearest kilogram|Train/);
    const plain = reportHtml({ ...sent, inputs: inputsOf({ gasKwh: 1 }), countryName: "" }, electricity, null);
    expect(textOf(plain)).toContain("For one person or household . Country: not chosen");
    expect(plain).not.toMatch(/a tonne|location|The range/);
  });

  test.each([
    [{ carKm: 1 }, "about 0.21 kg CO₂e a year (from 0.18 kg to 0.34 kg), for one person or household"],
    [{ gasKwh: 10_000, people: 1, for: "organisation" }, "about 2.1 t CO₂e a year, for an organisation of 1 person"],
    [
      { gasKwh: 10_000, people: 4 },
      "about 2.1 t CO₂e a year, for a household of 4 people: about 530 kg for each person",
    ],
  ])("%j in one line", (footprint, line) => {
    expect(estimateSummary(estimateOf(footprint))).toBe(line);
  });

  test("whom it is for is in the estimate, and in the notes where somebody said it", () => {
    const stored = estimateOf({ gasKwh: 1000, for: "organisation", people: "1,000" });
    expect(stored).toMatchObject({ for: "organisation", people: 1000, totalKg: totalOf({ gasKwh: 1000 }) });
    expect(estimateNotes(stored)[0]).toBe("For an organisation of 1,000 people: about 0.21 kg for each person.");
    expect(estimateOf({ gasKwh: 1000 })).toMatchObject({ for: "household" });
    const { for: _, ...old } = inputsOf({ gasKwh: 1000 });
    expect(estimateFootprint(old, "", electricity)).not.toHaveProperty("for");
  });

  test.each([
    [77_824, 25, "At 25 EUR a tonne, 78 t cost about 1,950 EUR."],
    [440, 12.5, "At 12.5 EUR a tonne, 440 kg cost about 5.5 EUR."],
    [94_400, 27.35, "At 27.35 EUR a tonne, 94 t cost about 2,571 EUR."],
  ])("%d kg at %d", (kg, amount, sentence) => {
    expect(formatCost(kg, { amount, currency: "EUR" })).toBe(sentence);
  });

  test("a source is named once, with what it counts", () => {
    const estimate = estimateOf({ electricityKwh: 1, gasKwh: 1, carKm: 1, longFlights: 1 }, "GB");
    const sources = sourcesOf(explainLines(estimate, "GB", "United Kingdom", electricity));
    expect(sources.map(({ source }) => source)).toEqual(["UK Government (DESNZ) conversion factors 2026, v1.2"]);
    expect(sources[0]?.counted).toContain("burning the fuel, and producing it (Natural gas, Car)");
  });

  test("what was entered is listed as it was understood", () => {
    const flights = { longFlights: 2, longFlightClass: "business" };
    const estimate = estimateOf({ electricityKwh: "1 500,5", carKm: "1,200", ...flights, hotelNights: 1 }, "FR");
    expect(describeInputs(estimate).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "Electricity: 1,500.5 kWh",
      "Car: 1,200 km, petrol",
      "Long return flights: 2 flights of 6,500 km each way, business",
      "Hotel: 1 night",
    ]);
  });

  test.each([
    [{ carKm: 1, electricityKwh: 1 }, "FR", []],
    [{ carKm: 1, carFuel: "electric", hotelNights: 1 }, "", ["An average of countries was used for: Car, Hotel."]],
    [{ electricityKwh: 1, hotelNights: 1 }, "PL", ["An average of countries was used for: Hotel."]],
  ])("the notes of %j in %j say what is an average, which factors were used, and what it is not", (...sample) => {
    const [footprint, country, averages] = sample;
    expect(estimateNotes(estimateOf(footprint, country))).toEqual([
      ...averages,
      "Computed with: DESNZ 2026 v1.2; Ember 2022-2024 (co2.js 0.19.0), for the UK DESNZ.",
      "An estimate, not a certificate.",
    ]);
  });

  const OFFICE = { for: "organisation", electricityKwh: 60_000, gasKwh: 90_000, carKm: 36_000, railKm: 20_000 };
  const FAMILY = { electricityKwh: 3500, gasKwh: 12_000, carKm: 15_000 };
  test.each<[string, Record<string, unknown>, string[]]>([
    [
      "an office that flies a lot",
      { ...OFFICE, shortFlights: 46, longFlights: 12 },
      ["A fifth fewer flights 8.5 t", "A fifth less heating 3.8 t"],
    ],
    [
      "the same in business class",
      { ...OFFICE, longFlights: 12, longFlightClass: "business" },
      ["A fifth fewer flights 13 t; economy class on all of them 42 t", "A fifth less heating 3.8 t"],
    ],
    ["a fleet", { ...OFFICE, carKm: 900_000 }, ["A fifth less driving 37 t; electric cars only 160 t"]],
    [
      "a family with a car",
      FAMILY,
      ["A fifth less driving 620 kg; the same distance in an electric car 2.6 t", "A fifth less heating 510 kg"],
    ],
    [
      "a family that flew once",
      { ...FAMILY, carKm: 2000, longFlights: 4 },
      ["A fifth fewer flights 1.5 t", "A fifth less heating 510 kg"],
    ],
    [
      "a commuter",
      { taxiKm: 1000, busKm: 500, hotelNights: 1 },
      ["A fifth less of these trips 50 kg; the bus instead of the taxi 58 kg"],
    ],
    ["one part alone", { hotelNights: 10 }, ["A fifth fewer nights in hotels 21 kg"]],
    ["nothing to save", { railKm: 0 }, []],
  ])("%s is told what saves something in its two largest parts", (_, footprint, advice) => {
    const words = adviceFor(estimateOf(footprint, "GB"), "GB", electricity).map(({ less, lessKg, change }) =>
      [`${less} ${formatMass(lessKg)}`, ...(change ? [`${change.words} ${formatMass(change.kg)}`] : [])].join("; "),
    );
    expect(words).toEqual(advice);
  });
});

describe("for generated inputs", () => {
  const cases = Array.from({ length: 500 }, (_, seed) => generate(seed));

  test("the total is the sum of its parts, finite, and never negative", () => {
    for (const { footprint, country } of cases) {
      const estimate = estimateOf(footprint, country);
      const { totalKg } = estimate;
      const alone = estimate.lines.map(({ field }) =>
        totalOf({ ...footprint, ...onlyAmount(footprint, field) }, country),
      );
      expect(Number.isFinite(totalKg) && totalKg >= 0).toBe(true);
      for (const parts of [alone, categoriesOf(estimate).map(({ kg }) => kg)]) {
        expect(sum(parts) / (totalKg || 1)).toBeCloseTo(totalKg === 0 ? 0 : 1, 9);
      }
      const { lowKg, highKg } = estimate.range ?? { lowKg: totalKg, highKg: totalKg };
      expect(lowKg).toBeLessThanOrEqual(totalKg + 1e-9);
      expect(highKg).toBeGreaterThanOrEqual(totalKg - 1e-9);
      for (const { lessKg, change } of adviceFor(estimate, country, electricity)) {
        expect(Math.max(lessKg, change?.kg ?? 0)).toBeLessThanOrEqual(totalKg);
      }
    }
  });

  test("more of anything is never less", () => {
    for (const { footprint, country } of cases) {
      const total = totalOf(footprint, country);
      for (const field of Object.keys(AMOUNTS) as AmountField[]) {
        const more = Math.min(1e10, Number(footprint[field] ?? 0) * 2 + 1);
        expect(totalOf({ ...footprint, [field]: more }, country)).toBeGreaterThanOrEqual(total);
      }
    }
  });

  test("numbers, their strings and the stored form give the same total to the digit", () => {
    for (const { footprint, country } of cases) {
      const estimate = estimateOf(footprint, country);
      const strings = Object.fromEntries(
        Object.entries(footprint).map(([name, value]) => [`footprint.${name}`, String(value)]),
      );
      const parsed = parseFootprint(strings);
      if (!parsed.ok || !parsed.inputs) throw new Error("not parsed");
      expect(estimateFootprint(parsed.inputs, country, electricity)).toEqual(estimate);
      expect(JSON.parse(JSON.stringify(estimate))).toEqual(estimate);
      expect(estimateOf(JSON.parse(JSON.stringify(estimate)).inputs, country)).toEqual(estimate);
      expect(formatMass(estimate.totalKg)).toMatch(/^(less than )?[\d,.]+ (kg|t)$/);
    }
  });
});

function onlyAmount(footprint: Record<string, unknown>, field: AmountField) {
  return Object.fromEntries(Object.keys(AMOUNTS).map((name) => [name, name === field ? footprint[name] : null]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Some of the fields, with amounts from 0 to 10 billion. The same seed gives the same case. */
function generate(seed: number): { footprint: Record<string, unknown>; country: string } {
  let state = seed + 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)];
  const footprint: Record<string, unknown> = { electricityKwh: random() * 1e4 };
  for (const field of Object.keys(AMOUNTS))
    if (random() < 0.4) footprint[field] = pick([0, random(), random() * 1e3, 1e10]);
  for (const [field, { options }] of Object.entries(CHOICES))
    if (random() < 0.7) footprint[field] = pick<string>(options);
  if (random() < 0.5) footprint.shortFlightKm = Math.round(random() * 3700);
  return { footprint, country: pick(["", "FR", "IN", "US", "AQ", "XK", "toString"]) ?? "" };
}
