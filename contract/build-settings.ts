/** The settings that the build writes into the pages. */
export interface BuildSettings {
  /** Without a trailing slash. */
  siteUrl: string;
  /** Without a trailing slash; empty means the pages' own origin. */
  apiBase: string;
  countriesUrl: string;
}

/** Reads the build's variables; `problems` has one sentence for each invalid one. */
export function parseBuildSettings(env: Readonly<Record<string, string | undefined>>): {
  settings: BuildSettings;
  problems: string[];
} {
  const problems: string[] = [];
  const siteUrl = trimSlash(env.SITE_URL || "http://localhost:3000");
  const apiBase = trimSlash(env.API_BASE ?? "");
  const countriesUrl = env.COUNTRIES_URL || "/countries.json";
  if (!isWebUrl(siteUrl) || new URL(siteUrl).pathname !== "/" || /[?#]/.test(siteUrl)) {
    problems.push(`SITE_URL is not the address of a site; e.g. https://www.example.com`);
  }
  if (apiBase !== "" && (!isWebUrl(apiBase) || /[?#]/.test(apiBase))) {
    problems.push(`API_BASE is not a web address; e.g. https://api.example.com, or leave it empty for the same origin`);
  }
  if (!/^\/(?!\/)/.test(countriesUrl) && !isWebUrl(countriesUrl)) {
    problems.push(`COUNTRIES_URL is neither a path nor a web address; e.g. /countries.json`);
  }
  return { settings: { siteUrl, apiBase, countriesUrl }, problems };
}

function trimSlash(url: string): string {
  return url.trim().replace(/\/+$/, "");
}

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
