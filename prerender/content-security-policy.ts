import { createHash } from "node:crypto";
import type { SiteSettings } from "../app/site.ts";
import type { BuildSettings } from "../contract/build-settings.ts";
import { NOTHING_POLICY } from "../contract/response-headers.ts";

const STYLE = /<style[^>]*>([\s\S]+?)<\/style>/g;

/**
 * The strictest policy that a page works under: nothing from elsewhere but what the settings name, and of what is
 * written into the page only these very styles and scripts, known by their hashes.
 */
export function contentSecurityPolicy(html: string, settings: BuildSettings, film: SiteSettings["heroFilm"]): string {
  const films = typeof film === "string" ? [] : film.map(({ url }) => originOf(url));
  const directives: Readonly<Record<string, readonly string[]>> = {
    "default-src": ["'none'"],
    "script-src": ["'self'", ...hashesOf(html, /<script[^>]*>([\s\S]+?)<\/script>/g)],
    "style-src": hashesOf(html, STYLE),
    "img-src": ["'self'"],
    "font-src": ["'self'"],
    "media-src": ["'self'", ...films],
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

/** For an SVG, which some browsers hold to its own policy even where it is but a picture: its styles and no more. */
export function drawingSecurityPolicy(svg: string): string {
  const styles = hashesOf(svg, STYLE);
  return styles.length > 0 ? `${NOTHING_POLICY}; style-src ${styles.join(" ")}` : NOTHING_POLICY;
}

function hashesOf(html: string, pattern: RegExp): string[] {
  return [...html.matchAll(pattern)].map(([, text = ""]) => {
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  });
}

/** Empty for a path of our own. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "";
}
