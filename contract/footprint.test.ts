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
  parseAmount,
  parseFootprint,
} from "./footprint.ts";
import * as factors from "./footprint-factors.ts";
import { AMOUNTS, type AmountField, CHOICES, formatCost, formatMass, formatTotal } from "./footprint-fields.ts";
import { reportHtml } from "./footprint-report.ts";

type Footprint = Readonly<Record<string, unknown>>;

const electricity = electricityTable();

function inputsOf(footprint: Footprint) {
  const parsed = parseFootprint({ footprint });
  if (!parsed.ok || parsed.inputs === null) throw new Error(JSON.stringify(parsed));
  return parsed.inputs;
}
const estimateOf = (footprint: Footprint, country = "") => estimateFootprint(inputsOf(footprint), country, electricity);
const totalOf = (footprint: Footprint, country = "") => estimateOf(footprint, country).totalKg;

describe("the figures", () => {
  const GRIDS = "countries’ grids (10th to 90th percentile)";
  const CARS = "small and large cars";
  const BUSES = "buses in London and elsewhere in the UK";
  const TAXIS = "a regular taxi and a black cab";
  const LONG = "UK and other long flights";

  test.each<[Footprint, country: string, kg: number, low?: number, high?: number, ...between: string[]]>([
    [{ electricityKwh: 1000 }, "FR", 44.18],
    [{ electricityKwh: 1000 }, "IN", 708.96],
    [{ electricityKwh: 1000 }, "GB", 167.78],
    [{ electricityKwh: 1000 }, "", 472.94, 97.7, 676.4, GRIDS],
    [{ gasKwh: 1000 }, "", 212.52],
    [{ heatingOilLitres: 100 }, "", 307.094],
    [{ lpgLitres: 100 }, "", 174.264],
    [{ carKm: 10_000 }, "", 2075.1, 1827.2, 3413.4, CARS],
    [{ carKm: 10_000, carUnit: "mi" }, "", 3339.5497344, 2940.5933568, 5493.3348096, CARS],
    [{ carKm: 10_000, carFuel: "diesel" }, "", 2141.1, 1773.6, 2597.5, CARS],
    [{ carKm: 10_000, carFuel: "hybrid" }, "", 1627.6, 1440.6, 1980.7, CARS],
    [{ carKm: 10_000, carFuel: "electric" }, "GB", 343.949, 317.1042, 357.3714, CARS],
    [{ carKm: 10_000, carFuel: "electric" }, "", 969.527, 184.653, 1440.732, GRIDS, CARS],
    [{ railKm: 1000 }, "", 39.89],
    [{ coachKm: 1000 }, "", 46.04],
    [{ busKm: 1000 }, "", 128, 81.81, 157.26, BUSES],
    [{ taxiKm: 1000 }, "", 185.58, 185.58, 254.92, TAXIS],
    [{ gasKwh: 1000, busKm: 1000, taxiKm: 1000 }, "", 526.1, 479.91, 624.7, BUSES, TAXIS],
    // Up to 500 km one way a flight counts as domestic, without classes.
    [{ shortFlights: 1, shortFlightKm: 500, shortFlightClass: "economy" }, "", 262.78],
    [{ shortFlights: 1, shortFlightKm: 500, shortFlightClass: "business" }, "", 262.78],
    [{ shortFlights: 1, shortFlightKm: 501, shortFlightClass: "business" }, "", 222.80472],
    [{ shortFlights: 1 }, "", 444.75],
    [{ longFlights: 1 }, "", 1841.45, 1634.36, 1841.45, LONG],
    [{ longFlights: 1, longFlightClass: "premium" }, "", 2946.19, 2614.82, 2946.19, LONG],
    [{ longFlights: 1, longFlightClass: "business" }, "", 5340.01, 4739.54, 5340.01, LONG],
    [{ longFlights: 1, longFlightClass: "first" }, "", 7365.54, 6537.18, 7365.54, LONG],
    [{ hotelNights: 10 }, "GB", 104],
    [{ hotelNights: 10 }, "IN", 589],
    [{ hotelNights: 10 }, "", 395, 47, 1522, "hotels in different countries"],
    [{ hotelNights: 0, carKm: 0 }, "", 0],
  ])("%j in %j is %d kg", (footprint, country, kg, lowKg, highKg, ...between) => {
    const { totalKg, range } = estimateOf(footprint, country);
    expect({ totalKg, range }).toEqual({
      totalKg: kg,
      range: lowKg === undefined ? undefined : { lowKg, highKg, between },
    });
  });

  test.each(["AQ", "CF", "FK", "MS"])("%s has no measured figure, so the world's average is used", (country) => {
    expect(estimateOf({ electricityKwh: 1000 }, country)).toEqual(estimateOf({ electricityKwh: 1000 }));
  });

  test("the electricity table has every country of the source, with its year", () => {
    const { countries } = electricity;
    expect(Object.keys(countries)).toHaveLength(206);
    const yearsOf = (...codes: string[]) => codes.map((code) => countries[code]?.[1]);
    expect(yearsOf("FR", "GB", "IS", "UA", "XK")).toEqual([2024, 2026, 2023, 2022, 2024]);
    const sourceOf = (country: string) => estimateOf({ electricityKwh: 1 }, country).lines[0]?.factor.source;
    expect([sourceOf("FR"), sourceOf("GB")]).toEqual([factors.EMBER, factors.UK_ELECTRICITY.source]);
  });

  test("every factor has its own rows of the source, and docs/footprint.md has those that are used", () => {
    const { HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT, HOTEL } = factors;
    const { UK_ELECTRICITY, DOMESTIC_FLIGHT } = factors;
    const explained: factors.Factor[] = [HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT].flatMap((table) =>
      Object.values<factors.Factor>(table),
    );
    const rows = [...explained, ...Object.values(HOTEL)].flatMap((factor) => Object.keys(factor.rows));
    expect(rows).toHaveLength(2 * 16 + 38);
    expect(new Set(rows).size).toBe(rows.length);
    for (const id of rows) expect(id).toMatch(/^\d+_\d+_\d+_\d+_1$/);

    const text = readFileSync("docs/footprint.md", "utf8");
    expect(text).toContain(factors.FACTORS_NAME);
    for (const { kgPerUnit, range } of [...explained, UK_ELECTRICITY, DOMESTIC_FLIGHT]) {
      for (const kg of [kgPerUnit, range?.low, range?.high]) if (kg) expect(text).toContain(kg.toFixed(5));
    }
    expect(readFileSync("docs/operations.md", "utf8")).toContain("From 30 June 2027");
  });
});

describe("what is refused", () => {
  const NO_NUMBER = "Enter a number of kWh, such as 1,500 or 12.5.";
  const TOO_MUCH = "Enter at most 10,000,000,000 kWh.";
  const NO_FIELD = "There is no such field in the estimate.";

  test.each<[field: string, sentence: string, ...values: unknown[]]>([
    ["electricityKwh", "Enter 0 or more kWh.", -1, "-1"],
    ["electricityKwh", NO_NUMBER, "a lot", Number.NaN, true, [1], { toString: 1 }, "10,0000", `${"0".repeat(100)}75`],
    ["electricityKwh", TOO_MUCH, Number("1e400"), "1e400", "9".repeat(99)],
    ["gasKwh", "Did you mean 1500 or 1.5?", "1.500"],
    ["gasKwh", "Did you mean 10000 or 10?", "10.000 kWh"],
    ["gasKwh", "Did you mean 999999 or 999.999?", " 999.999 "],
    ["carKm", "Numbers only: choose the unit beside it.", "100 miles"],
    ["carUnit", "Choose one of: km, mi.", "furlong"],
    ["lpgLitres", "Numbers only: how many litres?", "100 gallons"],
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
      const refused = { ok: false, fields: { [`footprint.${field}`]: sentence }, rest: null };
      expect(parseFootprint({ footprint: Object.fromEntries([[field, value]]) })).toEqual(refused);
      expect(parseFootprint({ [`footprint.${field}`]: value })).toEqual(refused);
    }
  });

  test.each(["text", 7, true, [], [1]])("%j instead of an object", (footprint) => {
    const fields = { footprint: "Send the estimate's inputs as an object." };
    expect(parseFootprint({ footprint })).toEqual({ ok: false, fields, rest: null });
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
  [1500.5, "kWh", "1’500.5"],
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
  [null, "kWh", "", "abc", "1,2,3", "1.2.3", "1..5", "--5", "0x10", "Infinity", "१५", "1 500 km", "1 kWh 5"],
  [null, "kWh", "1,500,25", "1.500.25", "1,5.000,1", "10,0000", "1500,0000"],
])("reads the amount %j (%s) in every spelling: %j", (amount, unit, ...texts) => {
  expect(texts.map((text) => [text, parseAmount(text, unit)])).toEqual(texts.map((text) => [text, amount]));
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
  ])("%d kg", (kg, words) => expect(formatTotal(kg)).toBe(words));

  test.each([
    [77_824, 25, "At 25 EUR a tonne, 78 t cost about 1,950 EUR."],
    [440, 12.5, "At 12.5 EUR a tonne, 440 kg cost about 5.5 EUR."],
    [94_400, 27.35, "At 27.35 EUR a tonne, 94 t cost about 2,571 EUR."],
  ])("%d kg at %d", (kg, amount, sentence) => expect(formatCost(kg, { amount, currency: "EUR" })).toBe(sentence));

  test.each<[Footprint, country: string, entered: string[], summary: string, notes: string[]]>([
    [
      { electricityKwh: "1 500,5", gasKwh: 0, longFlights: 2, longFlightClass: "business", hotelNights: 1 },
      "FR",
      ["Electricity: 1,500.5 kWh", "Long return flights: 2 flights of 6,500 km each way, business", "Hotel: 1 night"],
      "about 11 t CO₂e a year (from 9.6 t to 11 t), for one person or household",
      ["Hotels are counted with the figure for the sender's country."],
    ],
    [
      { carKm: "8,000 miles", carUnit: "mi", carFuel: "electric", hotelNights: 2 },
      "",
      ["Car: 8,000 miles (12,875 km), electric", "Hotel: 2 nights"],
      "about 1.3 t CO₂e a year (from 250 kg to 2.2 t), for one person or household",
      ["Averages (not country figures) were used for: Car, Hotel."],
    ],
    [
      { electricityKwh: 1, shortFlights: 1, shortFlightKm: 500, shortFlightClass: "business", hotelNights: 1 },
      "PL",
      [
        "Electricity: 1 kWh",
        "Short return flights: 1 flight of 500 km each way, as domestic flights",
        "Hotel: 1 night",
      ],
      "about 300 kg CO₂e a year (from 270 kg to 420 kg), for one person or household",
      ["Averages (not country figures) were used for: Hotel."],
    ],
    [
      { shortFlights: 1, shortFlightKm: 3701, shortFlightClass: "business", people: 1, for: "organisation" },
      "",
      ["Short return flights: 1 flight of 3,701 km each way, business"],
      "about 1.6 t CO₂e a year, for an organisation of 1 person",
      [
        "For an organisation of 1 person.",
        "The short flights are more than 3,700 km one way: they may be long flights.",
      ],
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
    expect(estimateNotes(estimate)).toEqual([
      ...notes,
      "Computed with: DESNZ 2026 v1.2; Ember 2022-2024 (co2.js 0.19.0), UK: DESNZ.",
      "An estimate, not a certificate.",
    ]);
  });

  test("`for` changes no figure, and is in the estimate unless an older message lacks it", () => {
    const stored = estimateOf({ gasKwh: 1000, for: "organisation", people: "1,000" });
    expect(stored).toMatchObject({ for: "organisation", people: 1000, totalKg: 212.52 });
    const { for: _, ...old } = inputsOf({ gasKwh: 1000 });
    expect(estimateFootprint(old, "", electricity)).not.toHaveProperty("for");
  });

  test("the report has all inputs, factors, facts and totals, names each source once, and escapes its values", () => {
    const amounts = { electricityKwh: 2500, carKm: 8000, carUnit: "mi", shortFlights: 1, hotelNights: 1, railKm: 0 };
    const inputs = inputsOf({ ...amounts, for: "organisation", people: 40 });
    const sent = { inputs, country: "FR", countryName: "<b>France & co", reference: "BC-7K3Q-9M", date: new Date(0) };
    const textOf = (markup: string) => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
    const html = reportHtml(sent, electricity, { amount: 25, currency: "E<R" });
    expect(html).not.toContain("<b>");
    expect([...html.matchAll(/<a /g)]).toHaveLength(2);
    for (const part of [
      "about 3.2 t CO₂e a year",
      "For an organisation of 40 people : about 81 kg for each person . Country: &lt;b>France &amp; co .",
      "Sent on 1 January 1970 with message BC-7K3Q-9M .",
      "At 25 E&lt;R a tonne, 3.2 t cost about 80 E&lt;R.",
      "Electricity 2,500 kWh 0.04418 kg per kWh, &lt;b>France &amp; co 110 kg",
      "Car 8,000 miles (12,875 km), petrol 0.20751 kg per km, UK average 2.7 t",
      "Short return flights 1 flight of 1,500 km each way, economy 0.14825 kg per passenger km, flights to or from the UK",
      "Hotel 1 night 6.7 kg per night",
      "Figures are rounded separately",
      "The range is from 2.9 t to 5.0 t : published figures differ for small and large cars.",
      "v1.2 . Counted: burning the fuel, and producing it (Car); burning the fuel, producing it, and the other effects",
      "Ember, yearly electricity data, in the Green Web Foundation’s co2.js, 2024 . Counted:",
      "Electricity is location-based",
      "Factor set: DESNZ 2026 v1.2; Ember",
    ]) {
      expect(textOf(html)).toContain(part);
    }
    expect(textOf(html)).not.toContain("Train");

    const other = { ...sent, inputs: inputsOf({ gasKwh: 1, lpgLitres: 1 }), countryName: "" };
    const plain = reportHtml(other, electricity, null);
    expect(textOf(plain)).toContain("For one person or household . Country: not chosen");
    expect(textOf(plain)).toContain("Counted: burning the fuel, and producing it (Natural gas, LPG).");
    expect(plain).not.toMatch(/a tonne|location|The range/);
  });

  const OFFICE = { for: "organisation", electricityKwh: 60_000, gasKwh: 90_000, carKm: 36_000, railKm: 20_000 };
  const FAMILY = { electricityKwh: 3500, gasKwh: 12_000 };
  test.each<[string, Footprint, ...advice: string[]]>([
    [
      "an office that flies in business class",
      { ...OFFICE, longFlights: 12, longFlightClass: "business" },
      "A fifth fewer flights 13 t; economy class on all of them 42 t",
      "A fifth less heating 3.8 t",
    ],
    ["a fleet", { ...OFFICE, carKm: 900_000 }, "A fifth less driving 37 t; electric cars instead 160 t"],
    [
      "a family with a car",
      { ...FAMILY, carKm: 15_000 },
      "A fifth less driving 620 kg; the same distance in an electric car 2.6 t",
      "A fifth less heating 510 kg",
    ],
    ["a family that flew", { ...FAMILY, longFlights: 4 }, "A fifth fewer flights 1.5 t", "A fifth less heating 510 kg"],
    [
      "a commuter",
      { taxiKm: 1000, busKm: 500, hotelNights: 1 },
      "A fifth less of these trips 50 kg; the bus instead of the taxi 58 kg",
    ],
    ["a guest", { hotelNights: 10 }, "A fifth fewer nights in hotels 21 kg"],
    ["nothing to save", { railKm: 0 }],
  ])("%s gets advice for its two largest parts", (_, footprint, ...advice) => {
    const words = adviceFor(estimateOf(footprint, "GB"), "GB", electricity).map(({ less, lessKg, change }) =>
      [`${less} ${formatMass(lessKg)}`, ...(change ? [`${change.words} ${formatMass(change.kg)}`] : [])].join("; "),
    );
    expect(words).toEqual(advice);
  });
});

test("the parts add up to the total, more input never lowers it, and the stored inputs give the same result", () => {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  for (let seed = 0; seed < 500; seed += 1) {
    const { footprint, country } = generate(seed);
    const estimate = estimateOf(footprint, country);
    const { totalKg, lines, range } = estimate;
    expect(Number.isFinite(totalKg) && totalKg >= 0).toBe(true);
    for (const parts of [lines, categoriesOf(estimate)]) {
      expect(sum(parts.map(({ kg }) => kg)) / (totalKg || 1)).toBeCloseTo(totalKg === 0 ? 0 : 1, 9);
    }
    expect(range?.lowKg ?? totalKg).toBeLessThanOrEqual(totalKg + 1e-9);
    expect(range?.highKg ?? totalKg).toBeGreaterThanOrEqual(totalKg - 1e-9);
    for (const { lessKg, change } of adviceFor(estimate, country, electricity)) {
      expect(Math.max(lessKg, change?.kg ?? 0)).toBeLessThanOrEqual(totalKg);
    }
    for (const field of Object.keys(AMOUNTS) as AmountField[]) {
      const more = Math.min(1e10, Number(footprint[field] ?? 0) * 2 + 1);
      expect(totalOf({ ...footprint, [field]: more }, country)).toBeGreaterThanOrEqual(totalKg);
    }
    const strings = Object.fromEntries(Object.entries(footprint).map(([name, value]) => [name, String(value)]));
    expect(estimateOf(strings, country)).toEqual(estimate);
    expect(estimateOf(JSON.parse(JSON.stringify(estimate)).inputs, country)).toEqual(estimate);
  }
});

/** Some of the fields, with amounts from 0 to 10 billion. The same seed gives the same case. */
function generate(seed: number): { footprint: Footprint; country: string } {
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
