/**
 * The score that Mozilla's HTTP Observatory would give, after its published rules (github.com/mdn/mdn-http-observatory,
 * as of August 2026, when the opener and embedder policies came to count). Only what these rules can tell from one
 * answer is here; of the rest the site is assumed to be on HTTPS with a good certificate, to redirect plain HTTP to the
 * same host, and not to be on the browsers' preload list. None of that changes the score: each counts 0.
 */
export interface ScannedAnswer {
  headers: Readonly<Record<string, string | undefined>>;
  html: string;
}

type Rule = (answer: ScannedAnswer) => number;

const BROAD = ["*", "http:", "https:", "ftp:", "http://*", "https://*", "http://*.*", "https://*.*"];
const HALF_A_YEAR_S = 15_552_000;

const RULES: readonly Rule[] = [
  policyPoints,
  framePoints,
  transportPoints,
  cookiePoints,
  sharingPoints,
  integrityPoints,
  ({ headers }) => (headers["x-content-type-options"]?.trim().toLowerCase() === "nosniff" ? 0 : -5),
  ({ headers }) =>
    points(headers["cross-origin-resource-policy"], { "same-origin": 10, "same-site": 10, "cross-origin": 0 }),
  ({ headers }) =>
    points(headers["cross-origin-opener-policy"], {
      "same-origin": 10,
      "same-origin-allow-popups": 10,
      "noopener-allow-popups": 10,
      "unsafe-none": 0,
    }),
  ({ headers }) =>
    points(headers["cross-origin-embedder-policy"], { "require-corp": 10, credentialless: 10, "unsafe-none": 0 }),
  ({ headers }) =>
    points(headers["referrer-policy"]?.split(",").at(-1), {
      "no-referrer": 5,
      "same-origin": 5,
      "strict-origin": 5,
      "strict-origin-when-cross-origin": 5,
    }),
];

/** Bonuses count only for a site that has 90 of 100 points without them. */
export function observatoryScore(answer: ScannedAnswer): number {
  const all = RULES.map((rule) => rule(answer));
  const withoutBonus = 100 + all.filter((each) => each < 0).reduce((sum, each) => sum + each, 0);
  return Math.max(0, withoutBonus >= 90 ? 100 + all.reduce((sum, each) => sum + each, 0) : withoutBonus);
}

/** Nothing for no header, 5 off for one that is not understood. */
function points(value: string | undefined, worth: Readonly<Record<string, number>>): number {
  return value === undefined ? 0 : (worth[value.trim().toLowerCase()] ?? -5);
}

function policyPoints({ headers }: ScannedAnswer): number {
  const policy = parsePolicy(headers["content-security-policy"]);
  if (policy.size === 0) return -25;
  const sources = (name: string) => policy.get(name) ?? policy.get("default-src") ?? ["*"];
  const [scripts, styles] = [withoutIdleInline(sources("script-src")), withoutIdleInline(sources("style-src"))];
  const passive = [...sources("img-src"), ...sources("media-src")];
  const active = [...policy].filter(([name]) => !["img-src", "media-src"].includes(name)).flatMap(([, list]) => list);
  const isBroad = (source: string) => BROAD.includes(source);
  const isInline = (source: string) => source === "'unsafe-inline'" || source === "data:";
  const isPlain = (source: string) => source.startsWith("http:") || source.startsWith("ftp:");

  if (scripts.some((source) => isBroad(source) || isInline(source)) || sources("object-src").some(isBroad)) return -20;
  if (active.some(isPlain)) return -20;
  if ([...scripts, ...styles].includes("'unsafe-eval'") || passive.some(isPlain)) return -10;
  if (styles.some((source) => isBroad(source) || isInline(source))) return 0;
  return policy.get("default-src")?.join() === "'none'" ? 10 : 5;
}

/** Browsers ignore `unsafe-inline` beside a hash or a nonce. */
function withoutIdleInline(sources: readonly string[]): readonly string[] {
  const isKnown = sources.some((source) => /^'(sha(256|384|512)|nonce)-/.test(source));
  return isKnown ? sources.filter((source) => source !== "'unsafe-inline'") : sources;
}

function parsePolicy(header = ""): Map<string, string[]> {
  const directives = header.split(";").map((directive) => directive.trim().split(/\s+/));
  return new Map(directives.flatMap(([name, ...sources]) => (name ? [[name.toLowerCase(), sources]] : [])));
}

function framePoints({ headers }: ScannedAnswer): number {
  if (parsePolicy(headers["content-security-policy"]).has("frame-ancestors")) return 5;
  const value = headers["x-frame-options"]?.trim().toLowerCase() ?? "";
  if (["deny", "sameorigin"].includes(value)) return 5;
  return value.startsWith("allow-from") ? 0 : -20;
}

function transportPoints({ headers }: ScannedAnswer): number {
  const maxAge = /(?:^|;)\s*max-age=(\d+)/i.exec(headers["strict-transport-security"] ?? "")?.[1];
  if (maxAge === undefined) return -20;
  return Number(maxAge) >= HALF_A_YEAR_S ? 0 : -10;
}

/** The least that any cookie costs; this site sets none. */
function cookiePoints({ headers }: ScannedAnswer): number {
  return headers["set-cookie"] === undefined || /;\s*secure/i.test(headers["set-cookie"]) ? 0 : -5;
}

function sharingPoints({ headers }: ScannedAnswer): number {
  const isOpen = (headers["access-control-allow-origin"] ?? "*") !== "*";
  return isOpen && headers["access-control-allow-credentials"] === "true" ? -50 : 0;
}

function integrityPoints({ html }: ScannedAnswer): number {
  const scripts = [...html.matchAll(/<script\b([^>]*)>/g)].map(([, attributes = ""]) => attributes);
  const external = scripts.filter((attributes) => /\bsrc="(https?:)?\/\//.test(attributes));
  const isGuarded = (attributes: string) => /\bintegrity=/.test(attributes);
  if (external.some((attributes) => /\bsrc="(http:)?\/\//.test(attributes)))
    return external.every(isGuarded) ? -20 : -50;
  if (external.some((attributes) => !isGuarded(attributes))) return -5;
  return scripts.some((attributes) => /\bsrc=/.test(attributes) && isGuarded(attributes)) ? 5 : 0;
}
