import { createHmac, timingSafeEqual } from "node:crypto";
import { FOOTPRINT_PARAMETER, REFERENCE_PARAMETER } from "../../contract/send-email-answer.ts";

/** What a visitor without script is told after a post. It travels in the address of the page that says so. */
export interface SentResult {
  reference: string;
  estimate: { totalKg: number; understood: string } | null;
}

const UNDERSTOOD_PARAMETER = "understood";
const CODE_PARAMETER = "code";

/** With a code that only the nodes of this site can make, so that no link can show a success that never happened. */
export function sentQuery({ reference, estimate }: SentResult, key: Uint8Array): string {
  const query = new URLSearchParams({ [REFERENCE_PARAMETER]: reference });
  if (estimate) {
    query.set(FOOTPRINT_PARAMETER, plainDecimal(estimate.totalKg));
    query.set(UNDERSTOOD_PARAMETER, estimate.understood);
  }
  query.set(CODE_PARAMETER, codeOf(query, key));
  return query.toString();
}

/** Null unless `sentQuery` made the query. */
export function readSent(query: URLSearchParams, key: Uint8Array): SentResult | null {
  const reference = query.get(REFERENCE_PARAMETER);
  const given = Buffer.from(query.get(CODE_PARAMETER) ?? "");
  const expected = Buffer.from(codeOf(query, key));
  if (reference === null || given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const totalKg = query.get(FOOTPRINT_PARAMETER);
  const understood = query.get(UNDERSTOOD_PARAMETER) ?? "";
  return { reference, estimate: totalKg === null ? null : { totalKg: Number(totalKg), understood } };
}

function codeOf(query: URLSearchParams, key: Uint8Array): string {
  const parts = [REFERENCE_PARAMETER, FOOTPRINT_PARAMETER, UNDERSTOOD_PARAMETER].map((name) => query.get(name));
  return createHmac("sha256", key)
    .update(JSON.stringify(["sent", ...parts]))
    .digest("base64url")
    .slice(0, 16);
}

/** All digits; no exponent, which JavaScript writes for very small numbers. */
function plainDecimal(number: number): string {
  return String(number).includes("e") ? number.toFixed(20) : String(number);
}
