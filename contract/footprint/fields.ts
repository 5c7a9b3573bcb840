/** Yearly amounts, in the order of the form and of every list. */
export const AMOUNTS = {
  electricityKwh: { label: "Electricity", unit: "kWh", category: "Electricity" },
  gasKwh: { label: "Natural gas", unit: "kWh", category: "Heating" },
  heatingOilLitres: { label: "Heating oil", unit: "litres", category: "Heating" },
  lpgLitres: { label: "LPG", unit: "litres", category: "Heating" },
  carKm: { label: "Car", unit: "km", category: "Car" },
  railKm: { label: "Train", unit: "km", category: "Transport" },
  coachKm: { label: "Coach", unit: "km", category: "Transport" },
  busKm: { label: "Local bus", unit: "km", category: "Transport" },
  taxiKm: { label: "Taxi", unit: "km", category: "Transport" },
  shortFlights: { label: "Short return flights", unit: "flights", category: "Flights" },
  longFlights: { label: "Long return flights", unit: "flights", category: "Flights" },
  hotelNights: { label: "Hotel", unit: "nights", category: "Hotels" },
} as const;

export type AmountField = keyof typeof AMOUNTS;
export type Category = (typeof AMOUNTS)[AmountField]["category"];

/** One way, in km. */
export const DISTANCES = {
  shortFlightKm: { label: "Kilometres one way, short flight", usual: 1500 },
  longFlightKm: { label: "Kilometres one way, long flight", usual: 6500 },
} as const;

/** What a number counts, which is sent with it. The first option is the default, which is not stored. */
export const UNITS = {
  electricityPer: ["year", "month"],
  gasPer: ["year", "month"],
  carUnit: ["km", "mi"],
} as const;

/** The first option is the default. `for` changes words and advice, never a figure. */
export const CHOICES = {
  for: { label: "For whom", options: ["household", "organisation"] },
  carFuel: { label: "Car fuel", options: ["petrol", "diesel", "hybrid", "electric"] },
  shortFlightClass: { label: "Class, short flights", options: ["economy", "business"] },
  longFlightClass: { label: "Class, long flights", options: ["economy", "premium", "business", "first"] },
} as const;

export type Distances = Record<keyof typeof DISTANCES, number>;
type Choices = { [Name in keyof typeof CHOICES]: (typeof CHOICES)[Name]["options"][number] };

/** The checked inputs, with at least one amount. Missing distances and choices have their defaults. */
export type FootprintInputs = Partial<Record<AmountField, number>> & Distances & Choices & Units & { people?: number };

type Units = { [Name in keyof typeof UNITS]?: (typeof UNITS)[Name][1] };

export type FootprintField = AmountField | keyof Distances | "people" | keyof Choices | keyof Units;

export const FIELD_PREFIX = "footprint.";

export type EstimateName = `${typeof FIELD_PREFIX}${FootprintField}`;

export function nameOf<Field extends FootprintField>(field: Field) {
  return `${FIELD_PREFIX}${field}` as const;
}

/** By field name in a form post; `footprint` is for a value that is not an object. */
export type FootprintErrors = Partial<Record<"footprint" | `footprint.${string}`, string>>;

/** Not those of units, which are not stored. */
export const DEFAULTS = Object.fromEntries([
  ...Object.entries(DISTANCES).map(([name, { usual }]) => [name, usual]),
  ...Object.entries(CHOICES).map(([name, { options }]) => [name, options[0]]),
]) as Distances & Choices;

export const START_TEXTS = Object.fromEntries(
  [
    ...Object.keys(AMOUNTS).map((name) => [name, ""]),
    ...Object.entries(DEFAULTS),
    ...Object.entries(UNITS).map(([name, [usual]]) => [name, usual]),
    ["people", ""],
  ].map(([name, value]) => [`${FIELD_PREFIX}${name}`, String(value)]),
) as Readonly<Record<EstimateName, string>>;

export function optionLabel(option: string): string {
  return { premium: "premium economy", mi: "miles" }[option] ?? option;
}

// The page's first script shows a total, so the numbers' formats are here: words.ts imports the factors.

/** Two significant figures, because an estimate is not more precise. */
export function roundedKg(kg: number): number {
  return Number(kg.toPrecision(2));
}

/** "4.2 t", "440 kg". */
export function formatMass(kg: number): string {
  const rounded = roundedKg(kg);
  if (rounded > 0 && rounded < 0.1) return "less than 0.1 kg";
  if (rounded < 1000) return `${formatAmount(rounded)} kg`;
  const tonnes = rounded / 1000;
  return `${tonnes.toLocaleString("en-GB", { minimumFractionDigits: tonnes < 10 ? 1 : 0 })} t`;
}

/** "about 4.2 t", "less than 0.1 kg". */
export function formatAbout(kg: number): string {
  const mass = formatMass(kg);
  return mass.startsWith("less") ? mass : `about ${mass}`;
}

/** "about 4.2 t CO₂e a year". */
export function formatTotal(totalKg: number): string {
  return `${formatAbout(totalKg)} CO₂e a year`;
}

/** Keeps numbers and their units on one line. */
export function unbroken(text: string): string {
  return text.replace(/(\d) | (?=CO₂e)/g, "$1\u00a0");
}

export function formatAmount(amount: number): string {
  return amount.toLocaleString("en-GB", { maximumFractionDigits: 10 });
}
