/** For responses that are not pages. If a browser shows one as a page, it cannot load, run, post or frame anything. */
export const NOTHING_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The site uses none of these, so injected scripts must not use them. Autoplay is not listed: the film needs it. */
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
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": UNUSED_FEATURES.map((feature) => `${feature}=()`).join(", "),
  "referrer-policy": "strict-origin-when-cross-origin",
  "x-content-type-options": "nosniff",
  // For browsers that do not know `frame-ancestors`.
  "x-frame-options": "DENY",
} as const;

/** One year. Excludes subdomains: other people may run them without HTTPS. */
const STRICT_TRANSPORT = "max-age=31536000";

/** The headers of every response, from the server and from static hosts. A page has its own Content-Security-Policy. */
export function securityHeaders(siteUrl: string): Readonly<Record<string, string>> {
  return siteUrl.startsWith("https:")
    ? { ...SECURITY_HEADERS, "strict-transport-security": STRICT_TRANSPORT }
    : SECURITY_HEADERS;
}

/** `immutable`: the name contains a hash. `revalidate`: the content may change with the next build. */
export const CACHE_CONTROL = { immutable: "public, max-age=31536000, immutable", revalidate: "no-cache" } as const;

export const CONTENT_TYPE: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".ico": "image/x-icon",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".woff2": "font/woff2",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
};
