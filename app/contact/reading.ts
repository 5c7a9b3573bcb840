import {
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
} from "../../contract/footprint/arithmetic.ts";
import { FIELD_PREFIX, type FootprintErrors, formatTotal, type NumberField } from "../../contract/footprint/fields.ts";
import { parseAmount, parseFootprint, unitOf } from "../../contract/footprint/parsing.ts";
import { hintsOf, largestPart } from "../../contract/footprint/words.ts";
import type { Values } from "./form-state.ts";

/** The estimate from the amounts that are readable now. */
export interface Reading {
  /** `null` if no amount was entered. */
  estimate: FootprintEstimate | null;
  /** As text; empty without an estimate. */
  total: string;
  /** "Flights, 55%"; empty if there are fewer than two parts. */
  largest: string;
  /** By field name: see `hintsOf`. */
  hints: Readonly<Record<string, string>>;
  /** By field name: why an amount cannot be read. The estimate leaves it out. */
  errors: FootprintErrors;
  /** The numbers that an amount such as "1.500" can mean. */
  meanings: Readonly<Record<string, readonly string[]>>;
  /** A two-letter code, or empty. */
  country: string;
}

export function readEstimate(values: Values, electricity: ElectricityTable): Reading {
  const { country = "" } = values;
  const parsed = parseFootprint(values);
  const errors = parsed.ok ? {} : parsed.fields;
  const inputs = parsed.ok ? parsed.inputs : parsed.rest;
  const estimate = inputs && estimateFootprint(inputs, country, electricity);
  return {
    estimate,
    total: estimate ? formatTotal(estimate.totalKg) : "",
    largest: estimate ? largestPart(estimate) : "",
    hints: inputs ? hintsOf(inputs, values) : {},
    errors,
    meanings: Object.fromEntries(Object.keys(errors).map((name) => [name, meaningsOf(name, values)])),
    country,
  };
}

function meaningsOf(name: string, values: Values): string[] {
  const field = name.slice(FIELD_PREFIX.length) as NumberField;
  const read = parseAmount(values[name] ?? "", unitOf(field, { carUnit: values[`${FIELD_PREFIX}carUnit`] ?? "" }));
  return typeof read === "object" && read !== null ? [String(read.either), String(read.or)] : [];
}
