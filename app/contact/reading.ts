import {
  categoriesOf,
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
} from "../../contract/footprint/arithmetic.ts";
import {
  AMOUNTS,
  type AmountField,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintInputs,
  formatAmount,
  formatTotal,
  isDomestic,
  SHORT_MAX_KM,
} from "../../contract/footprint/fields.ts";
import { parseAmount, parseFootprint, unitOf } from "../../contract/footprint/parsing.ts";
import { kmNote } from "../../contract/footprint/words.ts";
import { estimateInputs, type Values } from "./form-state.ts";

/** The estimate from the amounts that are readable now. */
export interface Reading {
  /** `null` if no amount was entered. */
  estimate: FootprintEstimate | null;
  /** As text; empty without an estimate. */
  total: string;
  /** "Flights, 55%"; empty if there are fewer than two parts. */
  largest: string;
  /** By field name: how the page reads a number, where that is not obvious, and a question about an unusual number. */
  hints: Readonly<Record<string, string>>;
  /** By field name: why an amount cannot be read. The estimate leaves it out. */
  errors: FootprintErrors;
  /** The numbers that an amount such as "1.500" can mean. */
  meanings: Readonly<Record<string, readonly string[]>>;
  /** A two-letter code, or empty. */
  country: string;
  electricity: ElectricityTable;
}

export function readEstimate(values: Values, electricity: ElectricityTable): Reading {
  const { country = "" } = values;
  const texts = estimateInputs(values);
  const parsed = parseFootprint({ footprint: texts });
  const inputs = parsed.ok ? parsed.inputs : parsed.rest;
  const estimate = inputs && estimateFootprint(inputs, country, electricity);
  const [first, second] = estimate ? categoriesOf(estimate) : [];
  const share = first && estimate ? Math.round((100 * first.kg) / estimate.totalKg) : 0;
  return {
    estimate,
    total: estimate ? formatTotal(estimate.totalKg) : "",
    largest: first && second && first.kg > 0 ? `${first.category}, ${share}%` : "",
    hints: inputs ? hintsOf(texts, inputs) : {},
    errors: parsed.ok ? {} : parsed.fields,
    meanings: parsed.ok ? {} : meaningsOf(texts),
    country,
    electricity,
  };
}

function meaningsOf(texts: Values): Record<string, string[]> {
  const { carUnit = "" } = texts;
  const all = Object.entries(texts).map(([field, text]): [string, string[]] => {
    const read = parseAmount(text, unitOf(field as AmountField, { carUnit }));
    const isDoubtful = typeof read === "object" && read !== null;
    return [FIELD_PREFIX + field, isDoubtful ? [String(read.either), String(read.or)] : []];
  });
  return Object.fromEntries(all);
}

function hintsOf(texts: Values, inputs: FootprintInputs): Record<string, string> {
  const hints: Record<string, string> = {};
  const add = (field: string, hint: string) => {
    const name = FIELD_PREFIX + field;
    hints[name] = [hints[name], hint].filter(Boolean).join(" ");
  };
  for (const field of [...Object.keys(AMOUNTS), ...Object.keys(DISTANCES)] as (keyof FootprintInputs)[]) {
    const amount = inputs[field];
    const text = texts[field]?.trim() ?? "";
    if (typeof amount !== "number" || text === "") continue;
    const inKm = field === "carKm" ? kmNote(inputs) : "";
    if (inKm !== "" || !/^\d+$/.test(text)) {
      add(field, `Read as ${formatAmount(amount)} ${unitOf(field as AmountField, inputs)}${inKm}`);
    }
  }
  if (inputs.shortFlights !== undefined) {
    if (isDomestic(inputs)) add("shortFlightKm", "Counted as domestic flights: the class does not matter");
    if (inputs.shortFlightKm > SHORT_MAX_KM) {
      add("shortFlightKm", "Enter flights of more than 3,700 km one way as long flights.");
    }
  }
  for (const [field, question] of doubtsAbout(inputs)) add(field, question);
  return hints;
}

/** A year's use of a typical home in Great Britain, by Ofgem's typical domestic consumption values of 2023. */
const HOME_KWH = { electricityKwh: 2700, gasKwh: 11_500 };
const LARGE_HOUSEHOLD = 20;
/** An organisation that does not say how many people it has may be large. */
const UNKNOWN_PEOPLE = 1000;

/** The amount for each person above which the page asks, and a comparison that helps to find a slip. */
const UNUSUAL: Readonly<Record<AmountField, readonly [limit: number, compare: (amount: number) => string]>> = {
  electricityKwh: [50_000, (kwh) => homes(kwh / HOME_KWH.electricityKwh)],
  gasKwh: [100_000, (kwh) => homes(kwh / HOME_KWH.gasKwh)],
  heatingOilLitres: [10_000, perDay("litres")],
  lpgLitres: [10_000, perDay("litres")],
  carKm: [200_000, perDay("km")],
  railKm: [100_000, perDay("km")],
  coachKm: [100_000, perDay("km")],
  busKm: [100_000, perDay("km")],
  taxiKm: [100_000, perDay("km")],
  shortFlights: [150, perDay("flights")],
  longFlights: [100, perDay("flights")],
  hotelNights: [366, perDay("rooms")],
};

/** Asks about amounts that are probably slips. The estimate counts them all the same. */
function doubtsAbout(inputs: FootprintInputs): [field: string, question: string][] {
  const { for: whom, people } = inputs;
  const heads = people ?? (whom === "organisation" ? UNKNOWN_PEOPLE : 1);
  const doubts = (Object.keys(UNUSUAL) as AmountField[]).flatMap((field): [string, string][] => {
    const amount = inputs[field] ?? 0;
    const [limit, compare] = UNUSUAL[field];
    return amount > limit * heads ? [[field, `That is ${compare(amount)}. Is it right?`]] : [];
  });
  if (whom === "household" && people !== undefined && people > LARGE_HOUSEHOLD) {
    doubts.push(["people", `That is a household of ${formatAmount(people)} people. Is it right?`]);
  }
  return doubts;
}

function homes(count: number): string {
  return `as much as ${rounded(count)} typical British homes use`;
}

function perDay(things: string): (amount: number) => string {
  return (amount) => `about ${rounded(amount / 365)} ${things} a day`;
}

/** Two significant figures; a tenth only below 10. */
function rounded(amount: number): string {
  return formatAmount(Number(amount.toPrecision(2)));
}
