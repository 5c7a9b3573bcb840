import { createHmac, timingSafeEqual } from "node:crypto";
import type { FootprintInputs } from "../../contract/footprint-fields.ts";
import { FOOTPRINT_PARAMETER, REFERENCE_PARAMETER } from "../../contract/send-email-answer.ts";

/** What a visitor without script is told after a post. It travels in the address of the page that says so. */
export interface SentResult {
  reference: string;
  estimate: { totalKg: number; inputs: FootprintInputs; country: string; date: Date } | null;
}

/** Beside the total: what it was computed from, so that the page can show how. */
const INPUTS_PARAMETER = "inputs";
const COUNTRY_PARAMETER = "country";
const DATE_PARAMETER = "date";
const PROBLEMS_PARAMETER = "problems";
const CODE_PARAMETER = "code";

/** With a code that only the nodes of this site can make, so that no link can show a success that never happened. */
export function sentQuery({ reference, estimate }: SentResult, key: Uint8Array): string {
  const query = new URLSearchParams({ [REFERENCE_PARAMETER]: reference });
  if (estimate) {
    query.set(FOOTPRINT_PARAMETER, plainDecimal(estimate.totalKg));
    query.set(INPUTS_PARAMETER, JSON.stringify(estimate.inputs));
    query.set(COUNTRY_PARAMETER, estimate.country);
    query.set(DATE_PARAMETER, estimate.date.toISOString().slice(0, 10));
  }
  return signed(query, key);
}

/** The same for a message that was refused: sentences of ours about what is wrong with it. */
export function problemsQuery(problems: string, key: Uint8Array): string {
  return signed(new URLSearchParams({ [PROBLEMS_PARAMETER]: problems }), key);
}

/** Null unless `sentQuery` made the query. */
export function readSent(query: URLSearchParams, key: Uint8Array): SentResult | null {
  const reference = query.get(REFERENCE_PARAMETER);
  if (reference === null || !isOurs(query, key)) return null;
  const totalKg = query.get(FOOTPRINT_PARAMETER);
  if (totalKg === null) return { reference, estimate: null };
  const inputs = JSON.parse(query.get(INPUTS_PARAMETER) ?? "") as FootprintInputs;
  const country = query.get(COUNTRY_PARAMETER) ?? "";
  const date = new Date(query.get(DATE_PARAMETER) ?? "");
  return { reference, estimate: { totalKg: Number(totalKg), inputs, country, date } };
}

/** Null unless `problemsQuery` made the query. */
export function readProblems(query: URLSearchParams, key: Uint8Array): string | null {
  return isOurs(query, key) ? query.get(PROBLEMS_PARAMETER) : null;
}

function signed(query: URLSearchParams, key: Uint8Array): string {
  return `${query}&${CODE_PARAMETER}=${codeOf(query, key)}`;
}

function isOurs(query: URLSearchParams, key: Uint8Array): boolean {
  const rest = new URLSearchParams(query);
  rest.delete(CODE_PARAMETER);
  const given = Buffer.from(query.get(CODE_PARAMETER) ?? "");
  const expected = Buffer.from(codeOf(rest, key));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function codeOf(query: URLSearchParams, key: Uint8Array): string {
  return createHmac("sha256", key).update(`sent?${query}`).digest("base64url").slice(0, 16);
}

/** All digits; no exponent, which JavaScript writes for very small numbers. */
function plainDecimal(number: number): string {
  return String(number).includes("e") ? number.toFixed(20) : String(number);
}
