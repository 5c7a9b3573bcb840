import electricity from "./electricity.json" with { type: "json" };
import {
  CAR,
  CAR_SIZES,
  DOMESTIC_FLIGHT,
  ELECTRIC_CAR_KWH_PER_KM,
  EMBER,
  FACTORS_NAME,
  type Factor,
  HEATING,
  HOTEL,
  HOTEL_ELSEWHERE,
  LONG_FLIGHT,
  PUBLIC_TRANSPORT,
  SHORT_FLIGHT,
  UK_ELECTRIC_CAR,
  UK_ELECTRICITY,
} from "./factors.ts";
import { AMOUNTS, type AmountField, type Category, type FootprintInputs } from "./fields.ts";

/** How a short flight of this distance counts. The source has one factor without classes for domestic flights. */
export function flightKind({ shortFlightKm }: FootprintInputs): "domestic" | "short" | "long" {
  if (shortFlightKm > 3700) return "long";
  return shortFlightKm > 500 ? "short" : "domestic";
}

const KM_PER_MILE = 1.609344;

/** Grams of CO2e per kWh, and the year of that figure. */
export type Intensity = readonly [gramsPerKwh: number, year: number];

export interface ElectricityTable {
  name: string;
  world: Intensity;
  /** The 10th and 90th percentiles of the countries' figures, for an unknown country. */
  worldRange: readonly [lowGrams: number, highGrams: number];
  countries: Readonly<Record<string, Intensity>>;
}

/** Emissions per kWh by country; tools/electricity.ts renews the file. */
export const ELECTRICITY = electricity as unknown as ElectricityTable;

export interface FootprintLine {
  field: AmountField;
  /** In the factor's unit: flights are counted in passenger kilometres. */
  quantity: number;
  kg: number;
  factor: Pick<Factor, "kgPerUnit" | "unit" | "year" | "source">;
  /** The factor's country; `null` for an average of countries. Absent if the country does not matter. */
  place?: string | null;
}

/** What the sources' lowest and highest figures give. It does not measure the sources' own error. */
interface FootprintRange {
  lowKg: number;
  highKg: number;
  between: readonly string[];
  /** The amounts for which the source has one figure. Absent in estimates of version 1.0.0. */
  single?: readonly AmountField[];
}

/** Contains everything that is needed to read and explain it after the factors have changed. */
export interface FootprintEstimate {
  inputs: FootprintInputs;
  totalKg: number;
  range?: FootprintRange;
  lines: readonly FootprintLine[];
  factorSet: string;
}

export function estimateFootprint(inputs: FootprintInputs, country: string): FootprintEstimate {
  const lines: FootprintLine[] = [];
  const between: string[] = [];
  const single: AmountField[] = [];
  let [totalKg, lowKg, highKg] = [0, 0, 0];
  for (const field of Object.keys(AMOUNTS) as AmountField[]) {
    const amount = inputs[field];
    if (amount === undefined) continue;
    const { factor, place } = factorOf(field, inputs, country);
    const { kgPerUnit, unit, year, source, range } = factor;
    const quantity = amount * unitsPerYear(field, inputs);
    const line = { field, quantity, kg: withoutNoise(quantity * kgPerUnit), factor: { kgPerUnit, unit, year, source } };
    lines.push(place === undefined ? line : { ...line, place });
    totalKg += line.kg;
    lowKg += quantity * (range?.low ?? kgPerUnit);
    highKg += quantity * (range?.high ?? kgPerUnit);
    if (quantity > 0 && range) between.push(...range.between);
    else if (quantity > 0) single.push(field);
  }
  const range = {
    lowKg: withoutNoise(lowKg),
    highKg: withoutNoise(highKg),
    between: [...new Set(between)],
    single,
  };
  return {
    inputs,
    totalKg: withoutNoise(totalKg),
    ...(between.length > 0 && { range }),
    lines,
    factorSet: `${FACTORS_NAME}; ${ELECTRICITY.name}`,
  };
}

/** Makes 1,000 times 0.21252 equal 212.52 instead of 212.51999999999998. */
export function withoutNoise(kg: number): number {
  return Number(kg.toPrecision(12));
}

/** The factor's units in one unit of the input, per year: the months, or the kilometres in a mile or a return flight. */
export function unitsPerYear(field: AmountField, inputs: FootprintInputs): number {
  if (field === "electricityKwh" && inputs.electricityPer === "month") return 12;
  if (field === "gasKwh" && inputs.gasPer === "month") return 12;
  if (field === "carKm" && inputs.carUnit === "mi") return KM_PER_MILE;
  if (field === "shortFlights") return 2 * inputs.shortFlightKm;
  return field === "longFlights" ? 2 * inputs.longFlightKm : 1;
}

function factorOf(
  field: AmountField,
  inputs: FootprintInputs,
  country: string,
): { factor: Factor; place?: string | null } {
  switch (field) {
    case "electricityKwh":
      return gridFactor(country, "kWh", { average: 1, small: 1, large: 1 });
    case "carKm":
      if (inputs.carFuel === "electric") return gridFactor(country, "km", ELECTRIC_CAR_KWH_PER_KM);
      return { factor: CAR[inputs.carFuel] };
    case "shortFlights":
      if (flightKind(inputs) === "domestic") return { factor: DOMESTIC_FLIGHT };
      return { factor: (flightKind(inputs) === "long" ? LONG_FLIGHT : SHORT_FLIGHT)[inputs.shortFlightClass] };
    case "longFlights":
      return { factor: LONG_FLIGHT[inputs.longFlightClass] };
    case "hotelNights": {
      const factor = Object.hasOwn(HOTEL, country) ? HOTEL[country] : undefined;
      return factor ? { factor, place: country } : { factor: HOTEL_ELSEWHERE, place: null };
    }
    case "gasKwh":
    case "heatingOilLitres":
    case "lpgLitres":
      return { factor: HEATING[field] };
    default:
      return { factor: PUBLIC_TRANSPORT[field] };
  }
}

function gridFactor(
  country: string,
  unit: "kWh" | "km",
  kwh: typeof ELECTRIC_CAR_KWH_PER_KM,
): { factor: Factor; place: string | null } {
  const own = Object.hasOwn(ELECTRICITY.countries, country) ? ELECTRICITY.countries[country] : undefined;
  const [grams, year] = own ?? ELECTRICITY.world;
  const uk = unit === "km" ? UK_ELECTRIC_CAR : UK_ELECTRICITY;
  const gramsPerKwh = country === "GB" ? (1000 * uk.kgPerUnit) / kwh.average : grams;
  const [lowGrams, highGrams] = own ? [gramsPerKwh, gramsPerKwh] : ELECTRICITY.worldRange;
  // The table has hundredths of a gram; further digits are rounding errors.
  const kgOf = (grams: number, kwhPerUnit: number) => Math.round(grams * kwhPerUnit * 1e5) / 1e8;
  const between = [...(own ? [] : [GRIDS]), ...(unit === "km" ? [CAR_SIZES] : [])];
  const factor: Factor = {
    kgPerUnit: kgOf(gramsPerKwh, kwh.average),
    unit,
    year,
    source: country === "GB" ? uk.source : EMBER,
    ...(between.length > 0 && { range: { low: kgOf(lowGrams, kwh.small), high: kgOf(highGrams, kwh.large), between } }),
  };
  return { factor, place: own ? country : null };
}

const GRIDS = "countries’ grids (10th to 90th percentile)";

export function categoriesOf({ lines }: FootprintEstimate): { category: Category; kg: number }[] {
  const totals = new Map<Category, number>();
  for (const { field, kg } of lines) {
    const { category } = AMOUNTS[field];
    totals.set(category, (totals.get(category) ?? 0) + kg);
  }
  return [...totals].map(([category, kg]) => ({ category, kg })).sort((a, b) => b.kg - a.kg);
}
