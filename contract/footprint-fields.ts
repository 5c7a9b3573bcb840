/** Yearly amounts, in the order of the form and of every list. */
export const AMOUNTS = {
  electricityKwh: { label: "Electricity", unit: "kWh", category: "Electricity" },
  gasKwh: { label: "Natural gas", unit: "kWh", category: "Heating" },
  heatingOilLitres: { label: "Heating oil", unit: "litres", category: "Heating" },
  lpgLitres: { label: "LPG", unit: "litres", category: "Heating" },
  carKm: { label: "Car", unit: "km", category: "Car" },
  railKm: { label: "Train", unit: "km", category: "Public transport and taxi" },
  coachKm: { label: "Coach", unit: "km", category: "Public transport and taxi" },
  busKm: { label: "Local bus", unit: "km", category: "Public transport and taxi" },
  taxiKm: { label: "Taxi", unit: "km", category: "Public transport and taxi" },
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

/** One way, in km. A short flight counts as domestic up to the first distance, and is doubted above the second. */
export const DOMESTIC_MAX_KM = 500;
export const SHORT_MAX_KM = 3700;

/** The unit of `carKm`, which is sent with the number. The first is the default. */
export const CAR_UNITS = ["km", "mi"] as const;
export const KM_PER_MILE = 1.609344;

/** The first option is the default. `for` changes words and advice, never a figure. */
export const CHOICES = {
  for: { label: "For whom", options: ["household", "organisation"] },
  carFuel: { label: "Car fuel", options: ["petrol", "diesel", "hybrid", "electric"] },
  shortFlightClass: { label: "Class, short flights", options: ["economy", "business"] },
  longFlightClass: { label: "Class, long flights", options: ["economy", "premium", "business", "first"] },
} as const;

export type Distances = Record<keyof typeof DISTANCES, number>;
export type Choices = { [Name in keyof typeof CHOICES]: (typeof CHOICES)[Name]["options"][number] };

export const MAX_PEOPLE = 1_000_000;

/**
 * The checked inputs, with at least one amount. Missing distances and choices have their defaults, except `for`, which
 * older messages lack.
 */
export type FootprintInputs = Partial<Record<AmountField, number>> &
  Distances &
  Omit<Choices, "for"> &
  Partial<Pick<Choices, "for">> & { people?: number; carUnit?: "mi" };

export type FootprintField = AmountField | keyof Distances | keyof Choices | "carUnit" | "people";

/** By field name in a form post; `footprint` is for a value that is not an object. */
export type FootprintErrors = Partial<Record<"footprint" | `footprint.${string}`, string>>;

export const FIELD_PREFIX = "footprint.";

export function optionLabel(option: string): string {
  return { premium: "premium economy", mi: "miles" }[option] ?? option;
}

/** Two significant figures, because an estimate is not more precise. */
function roundedKg(kg: number): number {
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

/** An amount as the program read it: "1,500". */
export function formatAmount(amount: number): string {
  return amount.toLocaleString("en-GB", { maximumFractionDigits: 10 });
}

/** "an organisation of 40 people". */
export function describeWhom({ for: whom, people }: Pick<FootprintInputs, "for" | "people">): string {
  const name =
    whom === "organisation" ? "an organisation" : people === undefined ? "one person or household" : "a household";
  return people === undefined ? name : `${name} of ${formatAmount(people)} ${people === 1 ? "person" : "people"}`;
}

/** The company's price for a tonne, with the currency as written after a number. */
export interface Price {
  amount: number;
  currency: string;
}

/** "At 25 EUR a tonne, 78 t cost about 1,950 EUR." Uses the rounded total, so that the visitor can check the sum. */
export function formatCost(totalKg: number, { amount, currency }: Price): string {
  const cost = (roundedKg(totalKg) / 1000) * amount;
  const about = cost.toLocaleString("en-GB", { maximumFractionDigits: cost < 10 ? 2 : 0 });
  return `At ${formatAmount(amount)} ${currency} a tonne, ${formatMass(totalKg)} cost about ${about} ${currency}.`;
}
