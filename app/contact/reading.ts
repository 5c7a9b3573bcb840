import { type ElectricityTable, estimateFootprint } from "../../contract/footprint/arithmetic.ts";
import { type FootprintErrors, formatTotal } from "../../contract/footprint/fields.ts";
import { type Meanings, parseFootprint } from "../../contract/footprint/parsing.ts";
import { hintsOf, largestPart, questionsAbout } from "../../contract/footprint/words.ts";

export type Reading = ReturnType<typeof readEstimate>;

/** The estimate from the amounts that are readable now, and what to say beside the fields. */
export function readEstimate(values: Readonly<Record<string, string>>, electricity: ElectricityTable) {
  const { country = "" } = values;
  const parsed = parseFootprint(values);
  const inputs = parsed.ok ? parsed.inputs : parsed.rest;
  // Why an amount cannot be read, and the numbers that it can mean. The estimate leaves it out.
  const errors: FootprintErrors = parsed.ok ? {} : parsed.fields;
  const meanings: Meanings = parsed.ok ? {} : parsed.meanings;
  const none: Readonly<Record<string, string>> = {};
  if (!inputs) {
    return { estimate: null, country, total: "", largest: "", hints: none, questions: none, errors, meanings };
  }
  const estimate = estimateFootprint(inputs, country, electricity);
  const total = formatTotal(estimate.totalKg);
  const [hints, questions] = [hintsOf(inputs, values), questionsAbout(inputs)];
  return { estimate, country, total, largest: largestPart(estimate), hints, questions, errors, meanings };
}
