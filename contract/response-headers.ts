/** For an answer that is no page: should a browser ever show it as one, it may load, run, post and frame nothing. */
export const NOTHING_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Films start by themselves and nothing else is asked of a visitor's device, not even by a script that got in. */
const UNUSED_FEATURES = [
  "accelerometer",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "usb",
];

const SECURITY_HEADERS = {
  "content-security-policy": NOTHING_POLICY,
  "cross-origin-opener-policy": "same-origin",
  // Not `require-corp`: the settings may name a film on a host that says nothing of who may embed it.
  "cross-origin-embedder-policy": "credentialless",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": UNUSED_FEATURES.map((feature) => `${feature}=()`).join(", "),
  "referrer-policy": "strict-origin-when-cross-origin",
  "x-content-type-options": "nosniff",
  // For browsers that do not know `frame-ancestors`.
  "x-frame-options": "DENY",
} as const;

/** A year; without subdomains, which may be other people's and not on HTTPS. */
const STRICT_TRANSPORT = "max-age=31536000";

/** What every answer of the site carries, whoever serves it; a page puts its own policy in place of the strictest. */
export function securityHeaders(siteUrl: string): Readonly<Record<string, string>> {
  return siteUrl.startsWith("https:")
    ? { ...SECURITY_HEADERS, "strict-transport-security": STRICT_TRANSPORT }
    : SECURITY_HEADERS;
}

/** `immutable`: the name holds a hash. `revalidate`: may change with the next build. */
export const CACHE_CONTROL = { immutable: "public, max-age=31536000, immutable", revalidate: "no-cache" } as const;
