import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { estimateOf, type Footprint } from "../../tests/store-contract/samples.ts";
import { categoriesOf, ELECTRICITY } from "./arithmetic.ts";
import * as factors from "./factors.ts";

const GRIDS = "countries’ grids (10th to 90th percentile)";
const CARS = "small and large cars";
const BUSES = "buses in London and elsewhere in the UK";
const TAXIS = "a regular taxi and a black cab";
const LONG = "UK and other long flights";

test.each<[Footprint, country: string, kg: number, low?: number, high?: number, ...between: string[]]>([
  [{ electricityKwh: 1000 }, "FR", 44.18],
  [{ electricityKwh: 1000 }, "GB", 167.78],
  [{ electricityKwh: 1000 }, "", 472.94, 97.7, 676.4, GRIDS],
  [{ electricityKwh: 100, electricityPer: "month", gasKwh: 100, gasPer: "year" }, "FR", 74.268],
  [{ gasKwh: 1000 }, "", 212.52],
  [{ gasKwh: 100, gasPer: "month" }, "", 255.024],
  [{ heatingOilLitres: 100 }, "", 307.094],
  [{ lpgLitres: 100 }, "", 174.264],
  [{ carKm: 10_000 }, "", 2075.1, 1827.2, 3413.4, CARS],
  [{ carKm: 10_000, carUnit: "mi" }, "", 3339.5497344, 2940.5933568, 5493.3348096, CARS],
  [{ carKm: 10_000, carFuel: "diesel" }, "", 2141.1, 1773.6, 2597.5, CARS],
  [{ carKm: 10_000, carFuel: "hybrid" }, "", 1627.6, 1440.6, 1980.7, CARS],
  [{ carKm: 10_000, carFuel: "electric" }, "GB", 400.1, 368.8727, 415.7137, CARS],
  [{ carKm: 10_000, carFuel: "electric" }, "", 969.527, 184.653, 1440.732, GRIDS, CARS],
  [{ railKm: 1000 }, "", 39.89],
  [{ coachKm: 1000 }, "", 46.04],
  [{ busKm: 1000 }, "", 128, 81.81, 157.26, BUSES],
  [{ taxiKm: 1000 }, "", 185.58, 185.58, 254.92, TAXIS],
  [{ gasKwh: 1000, busKm: 1000, taxiKm: 1000 }, "", 526.1, 479.91, 624.7, BUSES, TAXIS],
  // Up to 500 km one way a flight counts as domestic, without classes.
  [{ shortFlights: 1, shortFlightKm: 500, shortFlightClass: "business" }, "", 262.78],
  [{ shortFlights: 1, shortFlightKm: 501, shortFlightClass: "business" }, "", 222.80472],
  [{ shortFlights: 1 }, "", 444.75],
  // Beyond 3,700 km it counts as a long one, in its own class.
  [{ shortFlights: 1, shortFlightKm: 3700 }, "", 1097.05],
  [{ shortFlights: 1, shortFlightKm: 4000 }, "", 1133.2, 1005.76, 1133.2, LONG],
  [{ shortFlights: 1, shortFlightKm: 4000, shortFlightClass: "business" }, "", 3286.16, 2916.64, 3286.16, LONG],
  [{ longFlights: 1 }, "", 1841.45, 1634.36, 1841.45, LONG],
  [{ longFlights: 1, longFlightClass: "premium" }, "", 2946.19, 2614.82, 2946.19, LONG],
  [{ longFlights: 1, longFlightClass: "business" }, "", 5340.01, 4739.54, 5340.01, LONG],
  [{ longFlights: 1, longFlightClass: "first" }, "", 7365.54, 6537.18, 7365.54, LONG],
  [{ hotelNights: 10 }, "GB", 104],
  [{ hotelNights: 10 }, "", 395, 47, 1522, "hotels in different countries"],
  [{ hotelNights: 0, carKm: 0 }, "", 0],
])("%j in %j is %d kg", (footprint, country, kg, lowKg, highKg, ...between) => {
  const { totalKg, range } = estimateOf(footprint, country);
  expect({ totalKg, range }).toEqual({
    totalKg: kg,
    range: lowKg === undefined ? undefined : { lowKg, highKg, between, single: expect.any(Array) },
  });
});

test.each(["AQ", "CF", "FK", "MS"])("%s has no measured figure, so the world's average is used", (country) => {
  expect(estimateOf({ electricityKwh: 1000 }, country)).toEqual(estimateOf({ electricityKwh: 1000 }, ""));
});

test("the electricity table has every country of the source, with its year", () => {
  const { countries } = ELECTRICITY;
  expect(Object.keys(countries)).toHaveLength(206);
  const yearsOf = (...codes: string[]) => codes.map((code) => countries[code]?.[1]);
  expect(yearsOf("FR", "GB", "IS", "UA", "XK")).toEqual([2024, 2026, 2023, 2022, 2024]);
  const sourceOf = (country: string) => estimateOf({ electricityKwh: 1 }, country).lines[0]?.factor.source;
  expect([sourceOf("FR"), sourceOf("GB")]).toEqual([factors.EMBER, factors.UK_ELECTRICITY.source]);
});

test("app/explanations/footprint.md has the factors that are used", () => {
  const { HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT, UK_ELECTRICITY, DOMESTIC_FLIGHT } = factors;
  const tables = [HEATING, CAR, PUBLIC_TRANSPORT, SHORT_FLIGHT, LONG_FLIGHT, { UK_ELECTRICITY, DOMESTIC_FLIGHT }];
  const text = readFileSync("app/explanations/footprint.md", "utf8");
  expect(text).toContain(factors.FACTORS_NAME);
  for (const { kgPerUnit, range } of tables.flatMap((table) => Object.values<factors.Factor>(table))) {
    for (const kg of [kgPerUnit, range?.low, range?.high]) if (kg) expect(text).toContain(kg.toFixed(5));
  }
  expect(readFileSync("docs/operations.md", "utf8")).toContain("From 30 June 2027");
});

test("the parts add up to the total, and the stored inputs give the same result", () => {
  const estimate = estimateOf({ electricityKwh: 1500, gasKwh: 9000, carKm: 8000, busKm: 1, longFlights: 1 }, "FR");
  const sumOf = (parts: readonly { kg: number }[]) => parts.reduce((total, { kg }) => total + kg, 0);
  for (const parts of [estimate.lines, categoriesOf(estimate)]) expect(sumOf(parts)).toBeCloseTo(estimate.totalKg, 6);
  expect(estimateOf(JSON.parse(JSON.stringify(estimate)).inputs, "FR")).toEqual(estimate);
});
