import {
  CAR,
  CAR_SIZES,
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
  UK_ELECTRICITY,
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
  describeWhom,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintField,
  type FootprintInputs,
  formatAbout,
  formatAmount,
  formatMass,
  formatTotal,
  KM_PER_MILE,
  MAX_PEOPLE,
  optionLabel,
  SHORT_MAX_KM,
} from "./footprint-fields.ts";

export const MAX_AMOUNT = 1e10;
const MAX_DISTANCE_KM = 20_000;
/** The length of a number as text. */
const MAX_LENGTH = 100;
/** A response repeats at most this many unknown field names, because the sender chooses them. */
const MAX_UNKNOWN_FIELDS = 5;
const MAX_UNKNOWN_LENGTH = 40;

export const HOTEL_AVERAGE = `average of ${HOTEL_COUNTRIES} countries`;
const NO_SUCH_FIELD = "There is no such field in the estimate.";

export type ParsedFootprint =
  /** `null` if no amount was entered. That is no estimate, which differs from an estimate of 0. */
  | { ok: true; inputs: FootprintInputs | null }
  /** `rest` has the valid amounts. */
  | { ok: false; fields: FootprintErrors; rest: FootprintInputs | null };

/**
 * Reads an estimate's inputs from a request body: an object `footprint`, or fields whose names begin with `footprint.`.
 * Returns one sentence for each invalid value.
 */
export function parseFootprint(body: Readonly<Record<string, unknown>>): ParsedFootprint {
  const given = Object.hasOwn(body, "footprint") ? body.footprint : withPrefix(body);
  if (given === undefined || given === null || given === "") return { ok: true, inputs: null };
  if (typeof given !== "object" || Array.isArray(given)) {
    return { ok: false, fields: { footprint: "Send the estimate's inputs as an object." }, rest: null };
  }

  const fields: FootprintErrors = {};
  const amounts: Partial<Record<AmountField, number>> = {};
  const distances: Distances = {
    shortFlightKm: DISTANCES.shortFlightKm.usual,
    longFlightKm: DISTANCES.longFlightKm.usual,
  };
  let unknownFields = 0;
  const carUnit = "carUnit" in given && given.carUnit === "mi" ? ({ carUnit: "mi" } as const) : {};
  const people: Pick<FootprintInputs, "people"> = {};
  const choices: Choices = {
    for: "household",
    carFuel: "petrol",
    shortFlightClass: "economy",
    longFlightClass: "economy",
  };
  for (const [name, value] of Object.entries(given)) {
    const isEmpty = value === null || (typeof value === "string" && value.trim() === "");
    const key = `${FIELD_PREFIX}${name}` as const;
    if (isOneOf(AMOUNTS, name) || isOneOf(DISTANCES, name)) {
      if (isEmpty) continue;
      const isDistance = isOneOf(DISTANCES, name);
      const unit = isDistance ? "km" : unitOf(name, carUnit);
      const max = isDistance ? MAX_DISTANCE_KM : MAX_AMOUNT;
      const amount = checkAmount(value, { unit, max, hasUnits: name === "carKm" });
      if (typeof amount === "string") fields[key] = amount;
      else if (isDistance) distances[name] = amount;
      else amounts[name] = amount;
    } else if (isOneOf(CHOICES, name)) {
      if (isEmpty) continue;
      const options: readonly unknown[] = CHOICES[name].options;
      if (options.includes(value)) Object.assign(choices, { [name]: value });
      else fields[key] = `Choose one of: ${options.join(", ")}.`;
    } else if (name === "people") {
      if (isEmpty) continue;
      const count = checkAmount(value, { unit: "people", max: MAX_PEOPLE, isCount: true });
      if (typeof count === "string") fields[key] = count;
      else people.people = count;
    } else if (name === "carUnit") {
      const units: readonly unknown[] = CAR_UNITS;
      if (!isEmpty && !units.includes(value)) fields[key] = `Choose one of: ${units.join(", ")}.`;
    } else {
      unknownFields += 1;
      const isNamed = name.length <= MAX_UNKNOWN_LENGTH && unknownFields <= MAX_UNKNOWN_FIELDS;
      fields[isNamed ? key : "footprint"] = isNamed ? NO_SUCH_FIELD : "The estimate has unknown fields.";
    }
  }
  // Without its distance a flight cannot be counted.
  if (fields["footprint.shortFlightKm"]) delete amounts.shortFlights;
  if (fields["footprint.longFlightKm"]) delete amounts.longFlights;
  const isEmpty = Object.keys(amounts).length === 0;
  const inputs = isEmpty ? null : { ...amounts, ...distances, ...choices, ...people, ...carUnit };
  return Object.keys(fields).length > 0 ? { ok: false, fields, rest: inputs } : { ok: true, inputs };
}

/** False for a name that the form does not have. */
export function isFootprintField(name: string): name is FootprintField {
  return [AMOUNTS, DISTANCES, CHOICES, { carUnit: 0, people: 0 }].some((table) => isOneOf(table, name));
}

/** The unit of an amount as it was entered. */
export function unitOf(field: AmountField, { carUnit }: Pick<FootprintInputs, "carUnit">): string {
  return field === "carKm" && carUnit === "mi" ? "miles" : AMOUNTS[field].unit;
}

function withPrefix(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(body).filter(([name]) => name.startsWith(FIELD_PREFIX));
  // `fromEntries` treats "__proto__" like any other field name.
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(FIELD_PREFIX.length), value]));
}

function isOneOf<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}

interface AmountRule {
  unit: string;
  max: number;
  /** The visitor chooses the unit beside the amount. */
  hasUnits?: boolean;
  /** A whole number, 1 or more. */
  isCount?: boolean;
}

/** The number, or a sentence that says why it is invalid. */
function checkAmount(value: unknown, { unit, max, hasUnits, isCount }: AmountRule): number | string {
  const read = typeof value === "string" ? parseAmount(value, unit) : null;
  if (read !== null && typeof read === "object") return `Did you mean ${read.either} or ${read.or}?`;
  const amount = typeof value === "string" ? read : value;
  const text = typeof value === "string" ? value : "";
  if (amount === null && text.length <= MAX_LENGTH && /\d/.test(text) && /\p{L}/u.test(text)) {
    return `Numbers only: ${hasUnits ? "choose the unit beside it." : `how many ${unit}?`}`;
  }
  const isNumber = typeof amount === "number" && !Number.isNaN(amount);
  if (isNumber && amount > max) return `Enter at most ${max.toLocaleString("en-GB")} ${unit}.`;
  if (isCount && !(isNumber && amount >= 1 && Number.isInteger(amount))) {
    return `Enter a whole number of ${unit}, 1 or more.`;
  }
  if (!isNumber) return `Enter a number of ${unit}, such as 1,500 or 12.5.`;
  return amount < 0 ? `Enter 0 or more ${unit}.` : amount;
}

const UNIT_NAMES: Readonly<Record<string, string>> = {
  kWh: "kwh|kw h|kilowatt[- ]?hours?",
  litres: "l|ltr|liters?|litres?",
  km: "km|kms|kilomet(?:er|re)s?",
  miles: "mi|miles?",
  flights: "(?:return )?flights?",
  nights: "nights?",
  people: "people|persons?",
};

/**
 * Reads a number as people write it: "1 500 kWh", "1,500.25", "1.500,25", "1,50,000", "1'500" and "1,5". One comma with
 * three digits after it separates thousands ("1,500"). One point with three digits after it has two meanings, depending
 * on the country ("1.500"); the result has both. `null` for anything else, including slips such as "10,0000".
 */
export function parseAmount(text: string, unit: string): number | { either: number; or: number } | null {
  const unitName = new RegExp(`\\s*(?:${UNIT_NAMES[unit] ?? "(?!)"})\\.?$`, "i");
  if (text.length > MAX_LENGTH) return null;
  const trimmed = text.trim().replace(unitName, "");
  const compact = trimmed.replaceAll(/(?<=\d)[\s'’](?=\d)/gu, "");
  if (/^[1-9]\d*,\d{4,}$/.test(compact)) return null;
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

/** Grams of CO2e per kWh, and the year of that figure. */
export type Intensity = readonly [gramsPerKwh: number, year: number];

/** Made at build time; the page fetches it when the visitor opens the estimate. */
export interface ElectricityTable {
  /** The source and its version. */
  name: string;
  world: Intensity;
  /** The 10th and 90th percentiles of the countries' figures, for an unknown country. */
  worldRange: readonly [lowGrams: number, highGrams: number];
  /** By two-letter code. */
  countries: Readonly<Record<string, Intensity>>;
}

export interface FootprintLine {
  field: AmountField;
  /** In the factor's unit: flights are counted in passenger kilometres. */
  quantity: number;
  kg: number;
  factor: Pick<Factor, "kgPerUnit" | "unit" | "year" | "source">;
  /** The factor's country; `null` for an average of countries. Absent if the country does not matter. */
  place?: string | null;
}

/**
 * The totals with the sources' lowest and highest figures for these inputs, and what those figures apply to. The range
 * does not measure the sources' own error.
 */
export interface FootprintRange {
  lowKg: number;
  highKg: number;
  between: readonly string[];
}

/** Contains everything that is needed to read and explain it after the factors have changed. */
export interface FootprintEstimate {
  /** Whom it is for, as in `inputs`. Absent in older messages. */
  for?: FootprintInputs["for"];
  people?: number;
  inputs: FootprintInputs;
  totalKg: number;
  /** Absent if the sources have one figure for each amount. */
  range?: FootprintRange;
  lines: readonly FootprintLine[];
  /** The names of the factors and of the electricity table. */
  factorSet: string;
}

/** Computes yearly emissions. The country is a two-letter code, or empty. */
export function estimateFootprint(
  inputs: FootprintInputs,
  country: string,
  electricity: ElectricityTable,
): FootprintEstimate {
  const lines: FootprintLine[] = [];
  const ranges: { low: number; high: number; between: string }[] = [];
  for (const field of Object.keys(AMOUNTS) as AmountField[]) {
    const amount = inputs[field];
    if (amount === undefined) continue;
    const { factor, place } = factorOf(field, inputs, country, electricity);
    const { kgPerUnit, unit, year, source } = factor;
    const quantity = amount * kilometresOf(field, inputs);
    const line = { field, quantity, kg: withoutNoise(quantity * kgPerUnit), factor: { kgPerUnit, unit, year, source } };
    lines.push(place === undefined ? line : { ...line, place });
    const { range } = factor;
    if (range && quantity > 0) {
      ranges.push({
        low: quantity * range.low - line.kg,
        high: quantity * range.high - line.kg,
        between: range.between,
      });
    }
  }
  const totalKg = withoutNoise(lines.reduce((total, { kg }) => total + kg, 0));
  const { for: whom, people } = inputs;
  return {
    ...(whom !== undefined && { for: whom }),
    ...(people !== undefined && { people }),
    inputs,
    totalKg,
    ...(ranges.length > 0 && {
      range: {
        lowKg: withoutNoise(ranges.reduce((total, { low }) => total + low, totalKg)),
        highKg: withoutNoise(ranges.reduce((total, { high }) => total + high, totalKg)),
        between: [...new Set(ranges.flatMap(({ between }) => between.split("; ")))],
      },
    }),
    lines,
    factorSet: `${FACTORS_NAME}; ${electricity.name}`,
  };
}

/** Makes 1,000 times 0.21252 equal 212.52 instead of 212.51999999999998. */
function withoutNoise(kg: number): number {
  return Number(kg.toPrecision(12));
}

/** The kilometres in a return flight or in a mile; 1 for amounts that need no conversion. */
function kilometresOf(field: AmountField, inputs: FootprintInputs): number {
  if (field === "carKm" && inputs.carUnit === "mi") return KM_PER_MILE;
  if (field === "shortFlights") return 2 * inputs.shortFlightKm;
  return field === "longFlights" ? 2 * inputs.longFlightKm : 1;
}

/** The factor for a field, with its country if that matters. */
export function factorOf(
  field: AmountField,
  inputs: FootprintInputs,
  country: string,
  electricity: ElectricityTable,
): { factor: Factor; place?: string | null } {
  switch (field) {
    case "electricityKwh":
      return gridFactor(country, electricity, "kWh", { average: 1, small: 1, large: 1 });
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

/** The source has a separate factor without classes for flights up to this distance. */
export function isDomestic({ shortFlightKm }: Pick<FootprintInputs, "shortFlightKm">): boolean {
  return shortFlightKm <= DOMESTIC_MAX_KM;
}

function gridFactor(
  country: string,
  electricity: ElectricityTable,
  unit: "kWh" | "km",
  kwh: typeof ELECTRIC_CAR_KWH_PER_KM,
): { factor: Factor; place: string | null } {
  const own = Object.hasOwn(electricity.countries, country) ? electricity.countries[country] : undefined;
  const [gramsPerKwh, year] = own ?? electricity.world;
  const [lowGrams, highGrams] = own ? [gramsPerKwh, gramsPerKwh] : electricity.worldRange;
  // The table has hundredths of a gram; further digits are rounding errors.
  const kgOf = (grams: number, kwhPerUnit: number) => Math.round(grams * kwhPerUnit * 1e5) / 1e8;
  const differences = [...(own ? [] : [GRIDS]), ...(unit === "km" ? [CAR_SIZES] : [])];
  const uk = { boundary: UK_ELECTRICITY.boundary, source: UK_ELECTRICITY.source, link: UK_ELECTRICITY.link };
  const factor: Factor = {
    kgPerUnit: kgOf(gramsPerKwh, kwh.average),
    unit,
    year,
    ...(country === "GB" ? uk : { boundary: ELECTRICITY_BOUNDARY, source: EMBER, link: EMBER_LINK }),
    rows: {},
    ...(differences.length > 0 && {
      range: {
        low: kgOf(lowGrams, kwh.small),
        high: kgOf(highGrams, kwh.large),
        between: differences.join("; "),
      },
    }),
  };
  return { factor, place: own ? country : null };
}

const GRIDS = "countries’ grids (10th to 90th percentile)";

/** By category, the largest first. */
export function categoriesOf({ lines }: FootprintEstimate): { category: Category; kg: number }[] {
  const totals = new Map<Category, number>();
  for (const { field, kg } of lines) {
    const { category } = AMOUNTS[field];
    totals.set(category, (totals.get(category) ?? 0) + kg);
  }
  return [...totals].map(([category, kg]) => ({ category, kg })).sort((a, b) => b.kg - a.kg);
}

interface Advice {
  /** "A fifth fewer flights". */
  less: string;
  lessKg: number;
  /** A full switch, such as to an electric car, with its saving. */
  change: { words: string; kg: number } | null;
}

/**
 * Suggestions for the two largest parts. Both name the saving of a fifth, so that the reader can compare them. The
 * saving of a full switch follows where one exists.
 */
export function adviceFor(estimate: FootprintEstimate, country: string, electricity: ElectricityTable): Advice[] {
  const { inputs, totalKg } = estimate;
  const change = (words: string, changes: Partial<FootprintInputs>) => {
    const kg = totalKg - estimateFootprint({ ...inputs, ...changes }, country, electricity).totalKg;
    return kg > totalKg / 1000 ? { words, kg } : null;
  };
  const isOrganisation = inputs.for === "organisation";
  const taxiAsBus = { taxiKm: 0, busKm: (inputs.busKm ?? 0) + (inputs.taxiKm ?? 0) };
  const advice: Readonly<Record<Category, [less: string, change: Advice["change"]]>> = {
    Electricity: ["A fifth less electricity", null],
    Heating: ["A fifth less heating", null],
    Car: [
      "A fifth less driving",
      change(isOrganisation ? "electric cars instead" : "the same distance in an electric car", {
        carFuel: "electric",
      }),
    ],
    "Public transport and taxi": ["A fifth less of these trips", change("the bus instead of the taxi", taxiAsBus)],
    Flights: [
      "A fifth fewer flights",
      change("economy class on all of them", { shortFlightClass: "economy", longFlightClass: "economy" }),
    ],
    Hotels: ["A fifth fewer nights in hotels", null],
  };
  return categoriesOf(estimate)
    .filter(({ kg }, index) => kg > (index === 0 ? 0 : totalKg / 10))
    .slice(0, 2)
    .map(({ category, kg }) => ({ less: advice[category][0], lessKg: kg / 5, change: advice[category][1] }));
}

/** The inputs, one per line: "Car" and "10,000 km, petrol". Leaves out amounts of 0. */
export function describeInputs({ inputs, lines }: FootprintEstimate): { label: string; value: string; kg: number }[] {
  return lines
    .filter(isCounted)
    .map(({ field, kg }) => ({ label: AMOUNTS[field].label, value: amountText(field, inputs), kg }));
}

function isCounted({ quantity }: FootprintLine): boolean {
  return quantity > 0;
}

function amountText(field: AmountField, inputs: FootprintInputs): string {
  const unit = unitOf(field, inputs);
  const amount = inputs[field] ?? 0;
  return `${formatAmount(amount)} ${amount === 1 ? unit.replace(/s$/, "") : unit}${detailsOf(field, inputs)}`;
}

/** A line of an estimate as text: the input, the factor, and the factor's source. */
export interface ExplainedLine {
  label: string;
  /** "10,000 km, petrol". */
  value: string;
  kg: number;
  /** In kg per `unit`. */
  kgPerUnit: string;
  unit: string;
  where: string;
  /** Whether its factor comes from an electricity grid. */
  isFromGrid: boolean;
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
  return lines.filter(isCounted).map(({ field, place, kg }) => {
    const { factor } = factorOf(field, inputs, country, electricity);
    const average = field === "hotelNights" ? HOTEL_AVERAGE : "world average";
    const isDomesticLine = field === "shortFlights" && isDomestic(inputs);
    const isFlight = AMOUNTS[field].category === "Flights";
    const flights = isDomesticLine ? "domestic flights in the UK, average passenger" : "flights to or from the UK";
    const uk = isFlight ? flights : "UK average";
    return {
      label: AMOUNTS[field].label,
      value: amountText(field, inputs),
      kg,
      kgPerUnit: formatAmount(factor.kgPerUnit),
      unit: factor.unit,
      where: place === undefined ? uk : (place && countryName) || average,
      isFromGrid: place !== undefined && field !== "hotelNights",
      boundary: factor.boundary,
      source: factor.source,
      link: factor.link,
      year: factor.year,
    };
  });
}

/** Lists each source once, with what its figures count and the lines that use it. */
export function sourcesOf(lines: readonly ExplainedLine[]): { source: string; link: string; counted: string }[] {
  const unique = (texts: readonly string[]) => [...new Set(texts)];
  return unique(lines.map(({ source }) => source)).map((source) => {
    const own = lines.filter((line) => line.source === source);
    const counted = unique(own.map(({ boundary }) => boundary)).map((boundary) => {
      const labels = own.flatMap((line) => (line.boundary === boundary ? line.label : []));
      return `${boundary} (${labels.join(", ")})`;
    });
    const [{ link, year } = { link: "", year: "" }] = own;
    return { source: source.includes(String(year)) ? source : `${source}, ${year}`, link, counted: counted.join("; ") };
  });
}

/** "from 70 t to 90 t"; empty if both ends look the same. */
export function rangeText({ range }: FootprintEstimate): string {
  const [low, high] = range ? [formatMass(range.lowKg), formatMass(range.highKg)] : [];
  return low === high ? "" : `from ${low} to ${high}`;
}

/** "about 1.9 t for each person"; empty if the number of people is unknown. */
export function eachText({ inputs: { people }, totalKg }: FootprintEstimate): string {
  return people === undefined || people === 1 ? "" : `${formatAbout(totalKg / people)} for each person`;
}

/** The estimate on one line: "about 78 t CO₂e a year (from 70 t to 90 t), for an organisation of 40 people". */
export function estimateSummary(estimate: FootprintEstimate): string {
  const range = rangeText(estimate);
  const total = `${formatTotal(estimate.totalKg)}${range && ` (${range})`}, for ${describeWhom(estimate.inputs)}`;
  return [total, eachText(estimate)].filter(Boolean).join(": ");
}

/** The notes that belong below a stored estimate, one sentence each. */
export function estimateNotes(estimate: FootprintEstimate): string[] {
  const { inputs, lines, factorSet } = estimate;
  const averaged = lines.filter(isCounted).flatMap(({ field, place }) => (place === null ? AMOUNTS[field].label : []));
  const isSaid = inputs.for === "organisation" || inputs.people !== undefined;
  return [
    ...(isSaid ? [`For ${[describeWhom(inputs), eachText(estimate)].filter(Boolean).join(": ")}.`] : []),
    ...(averaged.length > 0 ? [`Averages (not country figures) were used for: ${averaged.join(", ")}.`] : []),
    ...(inputs.shortFlights && inputs.shortFlightKm > SHORT_MAX_KM
      ? [`The short flights are more than ${formatAmount(SHORT_MAX_KM)} km one way: they may be long flights.`]
      : []),
    ...(lines.some(({ field, place }) => field === "hotelNights" && place)
      ? ["Hotels are counted with the figure for the sender's country."]
      : []),
    `Computed with: ${factorSet}.`,
    "An estimate, not a certificate.",
  ];
}

/** " (14,484 km)" if the car's distance is in miles, because the factor is per kilometre. */
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
