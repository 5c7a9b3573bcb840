import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { electricityTable } from "../prerender/electricity.ts";
import {
  categoriesOf,
  describeInputs,
  estimateFootprint,
  estimateNotes,
  largestSaving,
  parseAmount,
  parseFootprint,
  rangeOf,
} from "./footprint.ts";
import * as factors from "./footprint-factors.ts";
import {
  AMOUNTS,
  type AmountField,
  CHOICES,
  type FootprintInputs,
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
    // Without a figure of its own: the world's average.
    [{ electricityKwh: 1000 }, "AQ", 472.94],
    [{ gasKwh: 1000 }, "", 212.52],
    [{ heatingOilLitres: 100 }, "", 307.094],
    [{ lpgLitres: 100 }, "", 174.264],
    [{ carKm: 10_000 }, "", 2075.1],
    [{ carKm: 10_000, carFuel: "diesel" }, "", 2141.1],
    [{ carKm: 10_000, carFuel: "hybrid" }, "", 1627.6],
    [{ carKm: 10_000, carFuel: "electric" }, "FR", 90.569],
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
    [{ gasKwh: 1000, carKm: 10_000, shortFlights: 1 }, "", null],
    [{ electricityKwh: 1000 }, "FR", null],
    [{ longFlights: 1, longFlightClass: "first" }, "", null],
    [{ hotelNights: 0 }, "", null],
    [{ busKm: 1000 }, "", [81.81, 157.26]],
    [{ taxiKm: 1000 }, "", [185.58, 254.92]],
    [{ hotelNights: 10 }, "", [47, 1522]],
    [{ hotelNights: 10 }, "GB", null],
    [{ longFlights: 1 }, "", [1634.36, 1841.45]],
    [{ longFlights: 1, longFlightClass: "premium" }, "", [2614.82, 2946.19]],
    [{ longFlights: 1, longFlightClass: "business" }, "", [4739.54, 5340.01]],
    [{ gasKwh: 1000, busKm: 1000, taxiKm: 1000 }, "", [479.91, 624.7]],
  ])("the range of %j in %j is %j", (footprint, country, range) => {
    const found = rangeOf(estimateOf(footprint, country), country, electricity);
    expect(found && [found.lowKg, found.highKg]).toEqual(range);
  });

  test("without a country, the range of electricity is that between the grids of all countries", () => {
    const grams = Object.values(electricity.countries).map(([gramsPerKwh]) => gramsPerKwh);
    const range = rangeOf(estimateOf({ electricityKwh: 1000 }), "", electricity);
    expect(range).toEqual({
      lowKg: Math.min(...grams),
      highKg: Math.max(...grams),
      between: ["the grids of different countries"],
    });
  });

  test("the electricity table has every country of the source, with its year", () => {
    expect(Object.keys(electricity.countries)).toHaveLength(209);
    expect(electricity.countries).toMatchObject({ FR: [44.18, 2024], IS: [expect.any(Number), 2023] });
    expect(electricity.countries).toMatchObject({ UA: [expect.any(Number), 2022], XK: [expect.any(Number), 2024] });
  });

  test("docs/footprint.md has the factors that are used", () => {
    const text = readFileSync("docs/footprint.md", "utf8");
    const { HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT } = factors;
    for (const table of [HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT]) {
      for (const { kgPerUnit } of Object.values<factors.Factor>(table)) expect(text).toContain(kgPerUnit.toFixed(5));
    }
    expect(text).toContain(factors.FACTORS_NAME);
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
    const asked = { ok: false, fields: { "footprint.gasKwh": question } };
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
    ["carKm", "500 miles", "Enter a number of km, such as 1,500 or 12.5."],
    ["longFlightKm", 20_001, "Enter 20,000 km or less."],
    ["carFuel", "coal", "Choose one of: petrol, diesel, hybrid, electric."],
    ["longFlightClass", 1, "Choose one of: economy, premium, business, first."],
    ["totalKg", 1, "There is no such field in the estimate."],
    ["__proto__", "1", "There is no such field in the estimate."],
    ["constructor", "1", "There is no such field in the estimate."],
  ])("%s: %j", (name, value, sentence) => {
    const key = `footprint.${name}`;
    const refused = { ok: false, fields: { [key]: sentence } };
    expect(
      parseFootprint({ footprint: JSON.parse(`{${JSON.stringify(name)}:0}`, (k, v) => (k === name ? value : v)) }),
    ).toEqual(refused);
    expect(parseFootprint({ [key]: value })).toEqual(refused);
  });

  test.each(["text", 7, true, [], [1]])("%j as the whole", (footprint) => {
    expect(parseFootprint({ footprint })).toEqual({
      ok: false,
      fields: { footprint: "Send the estimate's inputs as an object." },
    });
  });

  test("names five fields that do not exist, none of them long, and says that there are more", () => {
    const unknown = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`unknown${index}`, 1]));
    const parsed = parseFootprint({ footprint: { ["x".repeat(41)]: 1, gasKwh: -1, ...unknown } });
    expect(parsed).toEqual({
      ok: false,
      fields: {
        footprint: "There are fields that the estimate does not have.",
        "footprint.gasKwh": "Enter 0 or more kWh.",
        ...Object.fromEntries([0, 1, 2, 3].map((index) => [`footprint.unknown${index}`, expect.any(String)])),
      },
    });
  });
});

test.each([
  [{}],
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

  test("what can be printed has inputs, factors, sources, date and total, and escapes what comes from elsewhere", () => {
    const inputs = inputsOf({ electricityKwh: 2500, carKm: 8000, carUnit: "mi", hotelNights: 1 });
    const sent = { inputs, country: "FR", countryName: "<b>France & co", reference: "BC-7K3Q-9M", date: new Date(0) };
    const html = reportHtml(sent, electricity);
    expect(html).not.toContain("<b>");
    const text = html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
    for (const part of [
      "about 2.8 t CO₂e a year",
      "Sent on 1 January 1970 with message BC-7K3Q-9M . To the nearest kilogram: 2,789 &nbsp;kg CO₂e.",
      "Electricity 2,500 kWh 0.04418 kg per kWh, &lt;b>France &amp; co 110 kg",
      "Car 8,000 miles (12,875 km), petrol 0.20751 kg per km, UK average 2.7 t",
      "Hotel 1 night 6.7 kg per night",
      "UK Government (DESNZ) conversion factors 2026, v1.2 . Counted: burning the fuel, and producing it.",
      "Ember, yearly electricity data, by co2.js of the Green Web Foundation , 2024. Counted:",
      "Factor set: DESNZ 2026 v1.2; Ember",
    ]) {
      expect(text).toContain(part);
    }
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
      "Computed with: DESNZ 2026 v1.2; Ember 2022-2024 (co2.js 0.19.0).",
      "An estimate, not a certificate.",
    ]);
  });

  test.each([
    [{ longFlights: 3, longFlightClass: "business" }, "economy class on the long flights"],
    [{ longFlights: 3 }, "one long return flight fewer"],
    [{ carKm: 10_000 }, "driving the same distance in an electric car"],
    [{ carKm: 10_000, carFuel: "electric" }, "driving a tenth less"],
    [{ taxiKm: 100 }, "the bus instead of the taxi"],
    [{ gasKwh: 9000, electricityKwh: 10 }, "a tenth less heating"],
  ])("the largest saving of %j", (footprint, change) => {
    const estimate = estimateOf(footprint, "FR");
    expect(largestSaving(estimate, "FR", electricity)?.change).toBe(change);
  });

  test("there is no saving where there is nothing to save", () => {
    expect(largestSaving(estimateOf({ railKm: 0 }), "", electricity)).toBeNull();
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
      const saving = largestSaving(estimate, country, electricity);
      if (saving) expect(saving.kg).toBeLessThanOrEqual(totalKg);
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
