import type { IncomingHttpHeaders } from "node:http";

export type OriginVerdict = { kind: "own" } | { kind: "allowed"; origin: string } | { kind: "foreign" };

/**
 * Tells a post of our own pages (or of a program that is no browser) from one that another site makes in a visitor's
 * name. Browsers send `Origin` with every cross-site post and pages cannot forge it.
 */
export function judgeOrigin(headers: IncomingHttpHeaders, siteUrl: string, allowed: readonly string[]): OriginVerdict {
  const { origin, host } = headers;
  if (origin === undefined) return headers["sec-fetch-site"] === "cross-site" ? { kind: "foreign" } : { kind: "own" };
  if (allowed.includes(origin)) return { kind: "allowed", origin };
  if (origin === new URL(siteUrl).origin) return { kind: "own" };
  // Only the host is compared: behind a proxy this server does not see whether the visitor came by https.
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase() ? { kind: "own" } : { kind: "foreign" };
}
