import { createHmac, timingSafeEqual } from "node:crypto";
import { REFERENCE_PARAMETER } from "../../contract/send-email-answer.ts";

const PROBLEMS_PARAMETER = "problems";
const CODE_PARAMETER = "code";

/**
 * After a post without script, the page's query contains the result. Proxies log queries, so it contains no visitor
 * input. Only this site's nodes can make its signature, so a forged link cannot show a success that never happened.
 */
export function sentQuery(reference: string, key: Uint8Array): string {
  return signed(new URLSearchParams({ [REFERENCE_PARAMETER]: reference }), key);
}

/** The same for a refused message, with our own sentences about its problems. */
export function problemsQuery(problems: string, key: Uint8Array): string {
  return signed(new URLSearchParams({ [PROBLEMS_PARAMETER]: problems }), key);
}

/** The reference of the sent message. Null unless `sentQuery` made the query. */
export function readSent(query: URLSearchParams, key: Uint8Array): string | null {
  return isOurs(query, key) ? query.get(REFERENCE_PARAMETER) : null;
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
