import { createHash } from "node:crypto";
import type { RenderedPage } from "../app/render.tsx";
import type { BuildSettings } from "../contract/build-settings.ts";
import { NOTHING_POLICY } from "../contract/response-headers.ts";

type PolicySubject = Pick<RenderedPage, "inlineStyles" | "inlineScripts" | "fetches">;

/**
 * The strictest policy that the page works with. It allows only the origins in the settings, and inline styles and
 * scripts only by their hashes.
 */
export function contentSecurityPolicy(
  { inlineStyles, inlineScripts, fetches }: PolicySubject,
  settings: BuildSettings,
): string {
  const films = fetches.filter(({ kind }) => kind === "film").flatMap(({ urls }) => urls);
  const directives: Readonly<Record<string, readonly string[]>> = {
    "default-src": ["'none'"],
    "script-src": ["'self'", ...inlineScripts.map(hashSource)],
    "style-src": inlineStyles.map(hashSource),
    "img-src": ["'self'"],
    "font-src": ["'self'"],
    "media-src": ["'self'", ...films.map(originOf)],
    "manifest-src": ["'self'"],
    "connect-src": ["'self'", originOf(settings.apiBase), originOf(settings.countriesUrl)],
    "form-action": ["'self'", originOf(settings.apiBase)],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
  };
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${[...new Set(sources)].filter(Boolean).join(" ")}`)
    .join("; ");
}

/** Some browsers apply an SVG's policy even to a picture, so the policy must allow the SVG's own style. */
export function svgSecurityPolicy(inlineStyle: string): string {
  return `${NOTHING_POLICY}; style-src ${hashSource(inlineStyle)}`;
}

function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Empty for a path on this site. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "";
}
