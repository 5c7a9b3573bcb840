import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * After a post without script, the page's query contains the reference. Proxies log queries, so it contains no visitor
 * input. Only this site's nodes can make its code, so a forged link cannot show a success that never happened.
 */
export function sentQuery(reference: string, key: Uint8Array): string {
  return String(new URLSearchParams({ reference, code: codeOf(reference, key) }));
}

/** The reference of the sent message. Null unless `sentQuery` made its code. */
export function readSent(query: URLSearchParams, key: Uint8Array): string | null {
  const reference = query.get("reference") ?? "";
  const [given, expected] = [Buffer.from(query.get("code") ?? ""), Buffer.from(codeOf(reference, key))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? reference : null;
}

function codeOf(reference: string, key: Uint8Array): string {
  return createHmac("sha256", key).update(`sent ${reference}`).digest("base64url").slice(0, 16);
}
