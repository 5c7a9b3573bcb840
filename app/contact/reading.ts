import {
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
} from "../../contract/footprint/arithmetic.ts";
import { type FootprintErrors, formatTotal } from "../../contract/footprint/fields.ts";
import { type Meanings, parseFootprint } from "../../contract/footprint/parsing.ts";
import { hintsOf, largestPart, questionsAbout } from "../../contract/footprint/words.ts";
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
  /** By field name: see `questionsAbout`. */
  questions: Readonly<Record<string, string>>;
  /** By field name: why an amount cannot be read. The estimate leaves it out. */
  errors: FootprintErrors;
  meanings: Meanings;
  /** A two-letter code, or empty. */
  country: string;
}

export function readEstimate(values: Values, electricity: ElectricityTable): Reading {
  const { country = "" } = values;
  const parsed = parseFootprint(values);
  const { fields: errors, meanings, rest: inputs } = parsed.ok ? { ...READABLE, rest: parsed.inputs } : parsed;
  const estimate = inputs && estimateFootprint(inputs, country, electricity);
  return {
    estimate,
    total: estimate ? formatTotal(estimate.totalKg) : "",
    largest: estimate ? largestPart(estimate) : "",
    hints: inputs ? hintsOf(inputs, values) : {},
    questions: inputs ? questionsAbout(inputs) : {},
    errors,
    meanings,
    country,
  };
}

const READABLE = { fields: {}, meanings: {} };
