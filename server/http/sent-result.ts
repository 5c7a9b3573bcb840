import { createHmac, timingSafeEqual } from "node:crypto";

const REFERENCE_PARAMETER = "reference";
const CODE_PARAMETER = "code";

/**
 * After a post without script, the page's query contains the reference. Proxies log queries, so it contains no visitor
 * input. Only this site's nodes can make its signature, so a forged link cannot show a success that never happened.
 */
export function sentQuery(reference: string, key: Uint8Array): string {
  const query = new URLSearchParams({ [REFERENCE_PARAMETER]: reference });
  return `${query}&${CODE_PARAMETER}=${codeOf(query, key)}`;
}

/** The reference of the sent message. Null unless `sentQuery` made the query. */
export function readSent(query: URLSearchParams, key: Uint8Array): string | null {
  const rest = new URLSearchParams(query);
  rest.delete(CODE_PARAMETER);
  const given = Buffer.from(query.get(CODE_PARAMETER) ?? "");
  const expected = Buffer.from(codeOf(rest, key));
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  return isOurs ? query.get(REFERENCE_PARAMETER) : null;
}

function codeOf(query: URLSearchParams, key: Uint8Array): string {
  return createHmac("sha256", key).update(`sent?${query}`).digest("base64url").slice(0, 16);
}
