import {
  CAR,
  DOMESTIC_FLIGHT,
  ELECTRIC_CAR_KWH_PER_KM,
  ELECTRICITY_BOUNDARY,
  EMBER,
  EMBER_LINK,
  FACTORS_NAME,
  type Factor,
  HEATING,
  HOTEL,
  HOTEL_COUNTRIES,
  HOTEL_ELSEWHERE,
  LONG_FLIGHT,
  PUBLIC_TRANSPORT,
  SHORT_FLIGHT,
} from "./footprint-factors.ts";
import {
  AMOUNTS,
  type AmountField,
  CAR_UNITS,
  type Category,
  CHOICES,
  type Choices,
  DISTANCES,
  type Distances,
  DOMESTIC_MAX_KM,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintField,
  type FootprintInputs,
  formatAmount,
  KM_PER_MILE,
  optionLabel,
  SHORT_MAX_KM,
} from "./footprint-fields.ts";

export const MAX_AMOUNT = 1e10;
const MAX_DISTANCE_KM = 20_000;
/** Of a number as text. */
const MAX_LENGTH = 100;
/** Limits what an answer repeats of fields that do not exist, because the sender chooses their names and number. */
const MAX_UNKNOWN_FIELDS = 5;
const MAX_UNKNOWN_LENGTH = 40;

export const HOTEL_AVERAGE = `average of ${HOTEL_COUNTRIES} countries`;
const NO_SUCH_FIELD = "There is no such field in the estimate.";

export type ParsedFootprint =
  /** `null` when no amount was entered: that is no estimate, and not an estimate of 0. */
  { ok: true; inputs: FootprintInputs | null } | { ok: false; fields: FootprintErrors };

/**
 * The inputs of an estimate in the body of a request: an object `footprint`, or fields whose names begin with
 * `footprint.`. Gives one sentence for each value that cannot be used.
 */
export function parseFootprint(body: Readonly<Record<string, unknown>>): ParsedFootprint {
  const given = Object.hasOwn(body, "footprint") ? body.footprint : withPrefix(body);
  if (given === undefined || given === null || given === "") return { ok: true, inputs: null };
  if (typeof given !== "object" || Array.isArray(given)) {
    return { ok: false, fields: { footprint: "Send the estimate's inputs as an object." } };
  }

  const fields: FootprintErrors = {};
  const amounts: Partial<Record<AmountField, number>> = {};
  const distances: Distances = {
    shortFlightKm: DISTANCES.shortFlightKm.usual,
    longFlightKm: DISTANCES.longFlightKm.usual,
  };
  let unknownFields = 0;
  const carUnit = "carUnit" in given && given.carUnit === "mi" ? ({ carUnit: "mi" } as const) : {};
  const choices: Choices = { carFuel: "petrol", shortFlightClass: "economy", longFlightClass: "economy" };
  for (const [name, value] of Object.entries(given)) {
    const isEmpty = value === null || (typeof value === "string" && value.trim() === "");
    const key = `${FIELD_PREFIX}${name}` as const;
    if (isOneOf(AMOUNTS, name) || isOneOf(DISTANCES, name)) {
      if (isEmpty) continue;
      const isDistance = isOneOf(DISTANCES, name);
      const unit = isDistance ? "km" : unitOf(name, carUnit);
      const amount = checkAmount(value, unit, isDistance ? MAX_DISTANCE_KM : MAX_AMOUNT);
      if (typeof amount === "string") fields[key] = amount;
      else if (isDistance) distances[name] = amount;
      else amounts[name] = amount;
    } else if (isOneOf(CHOICES, name)) {
      if (isEmpty) continue;
      const options: readonly unknown[] = CHOICES[name].options;
      if (options.includes(value)) Object.assign(choices, { [name]: value });
      else fields[key] = `Choose one of: ${options.join(", ")}.`;
    } else if (name === "carUnit") {
      const units: readonly unknown[] = CAR_UNITS;
      if (!isEmpty && !units.includes(value)) fields[key] = `Choose one of: ${units.join(", ")}.`;
    } else {
      unknownFields += 1;
      const isNamed = name.length <= MAX_UNKNOWN_LENGTH && unknownFields <= MAX_UNKNOWN_FIELDS;
      fields[isNamed ? key : "footprint"] = isNamed
        ? NO_SUCH_FIELD
        : "There are fields that the estimate does not have.";
    }
  }
  if (Object.keys(fields).length > 0) return { ok: false, fields };
  const isEmpty = Object.keys(amounts).length === 0;
  return { ok: true, inputs: isEmpty ? null : { ...amounts, ...distances, ...choices, ...carUnit } };
}

/** False for a name that the sender of a request made up. */
export function isFootprintField(name: string): name is FootprintField {
  return isOneOf(AMOUNTS, name) || isOneOf(DISTANCES, name) || isOneOf(CHOICES, name) || name === "carUnit";
}

/** In which an amount is entered. */
export function unitOf(field: AmountField, { carUnit }: Pick<FootprintInputs, "carUnit">): string {
  return field === "carKm" && carUnit === "mi" ? "miles" : AMOUNTS[field].unit;
}

function withPrefix(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(body).filter(([name]) => name.startsWith(FIELD_PREFIX));
  // From entries, so that a field named "__proto__" is a field like any other.
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(FIELD_PREFIX.length), value]));
}

function isOneOf<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}

/** The number, or a sentence that says why it cannot be used. */
export function checkAmount(value: unknown, unit: string, max: number): number | string {
  const read = typeof value === "string" ? parseAmount(value, unit) : null;
  if (read !== null && typeof read === "object") return `Did you mean ${read.either} or ${read.or}?`;
  const amount = typeof value === "string" ? read : value;
  if (typeof amount !== "number" || Number.isNaN(amount)) return `Enter a number of ${unit}, such as 1,500 or 12.5.`;
  if (amount < 0) return `Enter 0 or more ${unit}.`;
  return amount > max ? `Enter ${max.toLocaleString("en-GB")} ${unit} or less.` : amount;
}

const UNIT_NAMES: Readonly<Record<string, string>> = {
  kWh: "kwh|kw h|kilowatt[- ]?hours?",
  litres: "l|ltr|liters?|litres?",
  km: "km|kms|kilomet(?:er|re)s?",
  miles: "mi|miles?",
  flights: "(?:return )?flights?",
  nights: "nights?",
};

/**
 * Reads a number as people write it: "1 500 kWh", "1,500.25", "1.500,25", "1,50,000", "1'500" and "1,5". One comma with
 * three digits after it separates thousands ("1,500"). One point with three digits after it can be either, depending on
 * the country ("1.500"), and gives both. `null` when it is not a number.
 */
export function parseAmount(text: string, unit: string): number | { either: number; or: number } | null {
  const unitName = new RegExp(`\\s*(?:${UNIT_NAMES[unit] ?? "(?!)"})\\.?$`, "i");
  if (text.length > MAX_LENGTH) return null;
  const trimmed = text.trim().replace(unitName, "");
  const compact = trimmed.replaceAll(/(?<=\d)[\s'’](?=\d)/gu, "");
  if (/^[1-9]\d{0,2}\.\d{3}$/.test(compact)) return { either: Number(compact.replace(".", "")), or: Number(compact) };
  if (/^[+-]?\d+(?:\.\d+)?e[+-]?\d+$/i.test(compact)) return Number(compact);
  const [, sign, digits] = /^([+-]?)([\d.,]+)$/.exec(compact.replace(/^−/, "-")) ?? [];
  if (digits === undefined || !/\d/.test(digits)) return null;
  const plain = withoutGroups(digits);
  return plain === null ? null : Number(`${sign === "-" ? "-" : ""}${plain}`);
}

/** The digits with at most one point. */
function withoutGroups(digits: string): string | null {
  const separators = [...digits].filter((character) => character === "," || character === ".");
  const last = separators.at(-1);
  if (last === undefined) return digits;
  const isMixed = separators.some((separator) => separator !== last);
  const isSingle = separators.length === 1;
  const isThousands = isSingle && last === "," && /^[1-9]\d{0,2},\d{3}$/.test(digits);
  const isDecimal = isMixed
    ? separators.filter((separator) => separator === last).length === 1
    : isSingle && !isThousands;
  const end = isDecimal ? digits.lastIndexOf(last) : digits.length;
  const whole = digits.slice(0, end);
  const fraction = digits.slice(end + 1);
  // Groups of three, or of two before the last one as in India.
  const isGrouped = /^(?:\d*|\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3})$/.test(whole);
  if (!isGrouped || !/^\d*$/.test(fraction)) return null;
  const kinds = new Set([...whole].filter((character) => character === "," || character === "."));
  return kinds.size > 1 ? null : `${whole.replaceAll(/[.,]/g, "") || "0"}${fraction && `.${fraction}`}`;
}

/** Grams of CO2e for each kWh, and the year of that figure. */
export type Intensity = readonly [gramsPerKwh: number, year: number];

/** Made at build time; the page fetches it when somebody opens the estimate. */
export interface ElectricityTable {
  /** What it was made from. */
  name: string;
  world: Intensity;
  /** By two-letter code. */
  countries: Readonly<Record<string, Intensity>>;
}

export interface FootprintLine {
  field: AmountField;
  /** In the factor's unit: flights are counted in passenger kilometres. */
  quantity: number;
  kg: number;
  factor: Pick<Factor, "kgPerUnit" | "unit" | "year" | "source">;
  /** The country that the factor is for; `null` for an average of countries. Absent where the country does not matter. */
  place?: string | null;
}

/** Complete: it can be read and explained without the factors of its time. */
export interface FootprintEstimate {
  inputs: FootprintInputs;
  totalKg: number;
  lines: readonly FootprintLine[];
  /** The names of the factors and of the electricity table. */
  factorSet: string;
}

/** The emissions of a year. The country is a two-letter code, or empty. */
export function estimateFootprint(
  inputs: FootprintInputs,
  country: string,
  electricity: ElectricityTable,
): FootprintEstimate {
  const lines: FootprintLine[] = [];
  for (const field of Object.keys(AMOUNTS) as AmountField[]) {
    const amount = inputs[field];
    if (amount === undefined) continue;
    const { factor, place } = factorOf(field, inputs, country, electricity);
    const { kgPerUnit, unit, year, source } = factor;
    const quantity = amount * kilometresOf(field, inputs);
    const line = { field, quantity, kg: withoutNoise(quantity * kgPerUnit), factor: { kgPerUnit, unit, year, source } };
    lines.push(place === undefined ? line : { ...line, place });
  }
  const totalKg = withoutNoise(lines.reduce((total, { kg }) => total + kg, 0));
  return { inputs, totalKg, lines, factorSet: `${FACTORS_NAME}; ${electricity.name}` };
}

/** 1,000 times 0.21252 is 212.52, and not 212.51999999999998. */
function withoutNoise(kg: number): number {
  return Number(kg.toPrecision(12));
}

/** Passenger kilometres of one return flight, kilometres of one mile; 1 for everything that is counted as it is entered. */
function kilometresOf(field: AmountField, inputs: FootprintInputs): number {
  if (field === "carKm" && inputs.carUnit === "mi") return KM_PER_MILE;
  if (field === "shortFlights") return 2 * inputs.shortFlightKm;
  return field === "longFlights" ? 2 * inputs.longFlightKm : 1;
}

/** The factor for a field, and the country that it is for, where that matters. */
export function factorOf(
  field: AmountField,
  inputs: FootprintInputs,
  country: string,
  electricity: ElectricityTable,
): { factor: Factor; place?: string | null } {
  switch (field) {
    case "electricityKwh":
      return gridFactor(country, electricity, "kWh", 1);
    case "carKm":
      if (inputs.carFuel === "electric") return gridFactor(country, electricity, "km", ELECTRIC_CAR_KWH_PER_KM);
      return { factor: CAR[inputs.carFuel] };
    case "shortFlights":
      return { factor: isDomestic(inputs) ? DOMESTIC_FLIGHT : SHORT_FLIGHT[inputs.shortFlightClass] };
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

/** Up to this distance the source has another factor, without classes. */
export function isDomestic({ shortFlightKm }: Pick<FootprintInputs, "shortFlightKm">): boolean {
  return shortFlightKm <= DOMESTIC_MAX_KM;
}

function gridFactor(country: string, electricity: ElectricityTable, unit: "kWh" | "km", kwhPerUnit: number) {
  const own = Object.hasOwn(electricity.countries, country) ? electricity.countries[country] : undefined;
  const [gramsPerKwh, year] = own ?? electricity.world;
  // The table has hundredths of a gram: more digits are noise of the multiplication.
  const kgOf = (grams: number) => Math.round(grams * kwhPerUnit * 1e5) / 1e8;
  const all = own ? [] : Object.values(electricity.countries).map(([grams]) => grams);
  const range = {
    low: kgOf(Math.min(...all)),
    high: kgOf(Math.max(...all)),
    between: "the grids of different countries",
  };
  const factor: Factor = {
    kgPerUnit: kgOf(gramsPerKwh),
    unit,
    boundary: ELECTRICITY_BOUNDARY,
    year,
    source: EMBER,
    link: EMBER_LINK,
    rows: {},
    ...(all.length > 0 && { range }),
  };
  return { factor, place: own ? country : null };
}

/**
 * The total with the lowest and with the highest figures that the sources have for what was entered, and what these
 * differ between. `null` where they have one figure for each amount.
 */
export function rangeOf(
  { inputs, lines, totalKg }: FootprintEstimate,
  country: string,
  electricity: ElectricityTable,
): { lowKg: number; highKg: number; between: string[] } | null {
  const ranges = lines.flatMap(({ field, quantity, kg }) => {
    const { range } = factorOf(field, inputs, country, electricity).factor;
    if (!range || quantity === 0) return [];
    return { low: quantity * range.low - kg, high: quantity * range.high - kg, between: range.between };
  });
  if (ranges.length === 0) return null;
  return {
    lowKg: withoutNoise(ranges.reduce((total, { low }) => total + low, totalKg)),
    highKg: withoutNoise(ranges.reduce((total, { high }) => total + high, totalKg)),
    between: [...new Set(ranges.map(({ between }) => between))],
  };
}

/** By category, the largest first. */
export function categoriesOf({ lines }: FootprintEstimate): { category: Category; kg: number }[] {
  const totals = new Map<Category, number>();
  for (const { field, kg } of lines) {
    const { category } = AMOUNTS[field];
    totals.set(category, (totals.get(category) ?? 0) + kg);
  }
  return [...totals].map(([category, kg]) => ({ category, kg })).sort((a, b) => b.kg - a.kg);
}

/** Of the changes compared here the one that saves most, in words; `null` when there is nothing to save. */
export function largestSaving(
  { inputs, lines, totalKg }: FootprintEstimate,
  country: string,
  electricity: ElectricityTable,
): { change: string; kg: number } | null {
  const savedBy = (changes: Partial<FootprintInputs>) =>
    totalKg - estimateFootprint({ ...inputs, ...changes }, country, electricity).totalKg;
  const less = (field: "shortFlights" | "longFlights") => Math.max(0, (inputs[field] ?? 0) - 1);
  const kgOf = (category: Category) =>
    lines.reduce((sum, { field, kg }) => (AMOUNTS[field].category === category ? sum + kg : sum), 0);

  const savings = [
    { change: "driving the same distance in an electric car", kg: savedBy({ carFuel: "electric" }) },
    { change: "driving a tenth less", kg: kgOf("Car") / 10 },
    { change: "economy class on the short flights", kg: savedBy({ shortFlightClass: "economy" }) },
    { change: "economy class on the long flights", kg: savedBy({ longFlightClass: "economy" }) },
    { change: "one short return flight fewer", kg: savedBy({ shortFlights: less("shortFlights") }) },
    { change: "one long return flight fewer", kg: savedBy({ longFlights: less("longFlights") }) },
    {
      change: "the bus instead of the taxi",
      kg: savedBy({ taxiKm: 0, busKm: (inputs.busKm ?? 0) + (inputs.taxiKm ?? 0) }),
    },
    { change: "a tenth less electricity", kg: kgOf("Electricity") / 10 },
    { change: "a tenth less heating", kg: kgOf("Heating") / 10 },
    { change: "a tenth fewer nights in hotels", kg: kgOf("Hotels") / 10 },
  ];
  const largest = savings.reduce((best, saving) => (saving.kg > best.kg ? saving : best));
  return largest.kg > 0 ? largest : null;
}

/** What was entered, line by line: "Car" and "10,000 km, petrol". */
export function describeInputs({ inputs, lines }: FootprintEstimate): { label: string; value: string; kg: number }[] {
  return lines.map(({ field, kg }) => ({ label: AMOUNTS[field].label, value: amountText(field, inputs), kg }));
}

function amountText(field: AmountField, inputs: FootprintInputs): string {
  const unit = unitOf(field, inputs);
  const amount = inputs[field] ?? 0;
  return `${formatAmount(amount)} ${amount === 1 ? unit.replace(/s$/, "") : unit}${detailsOf(field, inputs)}`;
}

/** A line of an estimate in words: what was entered, what it was multiplied by, and where that can be looked up. */
export interface ExplainedLine {
  label: string;
  /** "10,000 km, petrol". */
  value: string;
  kg: number;
  /** In kg for each `unit`. */
  kgPerUnit: string;
  unit: string;
  where: string;
  boundary: string;
  source: string;
  link: string;
  year: number;
}

export function explainLines(
  { inputs, lines }: FootprintEstimate,
  country: string,
  countryName: string,
  electricity: ElectricityTable,
): ExplainedLine[] {
  return lines.map(({ field, place, kg }) => {
    const { factor } = factorOf(field, inputs, country, electricity);
    const average = field === "hotelNights" ? HOTEL_AVERAGE : "world average";
    const isDomesticLine = field === "shortFlights" && isDomestic(inputs);
    const uk = isDomesticLine ? "domestic flights in the UK, average passenger" : "UK average";
    return {
      label: AMOUNTS[field].label,
      value: amountText(field, inputs),
      kg,
      kgPerUnit: formatAmount(factor.kgPerUnit),
      unit: factor.unit,
      where: place === undefined ? uk : (place && countryName) || average,
      boundary: factor.boundary,
      source: factor.source,
      link: factor.link,
      year: factor.year,
    };
  });
}

/** What has to stand below a stored estimate, a sentence each. */
export function estimateNotes({ inputs, lines, factorSet }: FootprintEstimate): string[] {
  const averaged = lines.flatMap(({ field, place }) => (place === null ? AMOUNTS[field].label : []));
  return [
    ...(averaged.length > 0 ? [`An average of countries was used for: ${averaged.join(", ")}.`] : []),
    ...(inputs.shortFlights && inputs.shortFlightKm > SHORT_MAX_KM
      ? [`Short flights of more than ${formatAmount(SHORT_MAX_KM)} km one way: were they long ones?`]
      : []),
    ...(lines.some(({ field, place }) => field === "hotelNights" && place)
      ? ["Hotels: with the figure of the sender's country."]
      : []),
    `Computed with: ${factorSet}.`,
    "An estimate, not a certificate.",
  ];
}

/** " (14,484 km)" where the car's distance is in miles: its factor is for a kilometre. */
export function kmNote({ carKm = 0, carUnit }: FootprintInputs): string {
  return carUnit === "mi" ? ` (${formatAmount(Math.round(carKm * KM_PER_MILE))} km)` : "";
}

function detailsOf(field: AmountField, inputs: FootprintInputs): string {
  if (field === "carKm") return `${kmNote(inputs)}, ${inputs.carFuel}`;
  if (field === "shortFlights")
    return ` of ${formatAmount(inputs.shortFlightKm)} km each way, ${isDomestic(inputs) ? "as domestic flights" : optionLabel(inputs.shortFlightClass)}`;
  if (field === "longFlights")
    return ` of ${formatAmount(inputs.longFlightKm)} km each way, ${optionLabel(inputs.longFlightClass)}`;
  return "";
}
