import type { Advice } from "./commands.ts";
import { parseDurationMs } from "./duration.ts";

/** How long a message is kept in each final state; `null` keeps it until an operator deletes it. */
export interface Retention {
  deliveredMs: number | null;
  failedMs: number | null;
  quarantinedMs: number | null;
}

export interface BuildSettings {
  /** As browsers spell it, without a trailing slash. */
  siteUrl: string;
  /** Without a trailing slash; empty means the pages' own origin. */
  apiBase: string;
  countriesUrl: string;
  retention: Retention;
  /** The folder with the company's settings, pages and claims ledger. Ends with a slash. */
  siteDir: string;
  /** Messages are posted to HOOK_URL, and the privacy policy says so. */
  postsHook: boolean;
  /** Answers are read from the mailbox of IMAP_URL, and the privacy policy says so. */
  readsMailbox: boolean;
}

export function parseBuildSettings(env: Readonly<Record<string, string | undefined>>): {
  settings: BuildSettings;
  problems: Advice[];
} {
  const problems: Advice[] = [];
  const givenSiteUrl = trimSlash(env.SITE_URL || "http://localhost:3000");
  const isSite = isWebUrl(givenSiteUrl) && new URL(givenSiteUrl).pathname === "/" && !/[?#]/.test(givenSiteUrl);
  const siteUrl = isSite ? new URL(givenSiteUrl).origin : givenSiteUrl;
  const apiBase = trimSlash(env.API_BASE ?? "");
  const countriesUrl = env.COUNTRIES_URL || "/countries.json";
  if (!isSite) {
    problems.push({ problem: "SITE_URL is not the address of a site", remedy: "e.g. https://www.example.com" });
  }
  if (apiBase !== "" && (!isWebUrl(apiBase) || /[?#]/.test(apiBase))) {
    const remedy = "e.g. https://api.example.com, or leave it empty for the same origin";
    problems.push({ problem: "API_BASE is not a web address", remedy });
  }
  if (!/^\/(?!\/)/.test(countriesUrl) && !isWebUrl(countriesUrl)) {
    problems.push({ problem: "COUNTRIES_URL is neither a path nor a web address", remedy: "e.g. /countries.json" });
  }
  const retention = parseRetention(env.RETENTION ?? "", problems);
  const siteDir = `${trimSlash(env.SITE_DIR || "app/")}/`;
  const postsHook = (env.HOOK_URL ?? "").trim() !== "";
  const readsMailbox = (env.IMAP_URL ?? "").trim() !== "";
  return { settings: { siteUrl, apiBase, countriesUrl, retention, siteDir, postsHook, readsMailbox }, problems };
}

function trimSlash(url: string): string {
  let trimmed = url.trim();
  while (trimmed.endsWith("/")) trimmed = trimmed.slice(0, -1);
  return trimmed;
}

/** Without a user name and a password, which every visitor would read. */
function isWebUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username + password === "";
}

function parseRetention(text: string, problems: Advice[]): Retention {
  const retention: Retention = {
    deliveredMs: 30 * 86_400_000,
    failedMs: 90 * 86_400_000,
    quarantinedMs: 14 * 86_400_000,
  };
  for (const part of text.split(",").filter((item) => item.trim() !== "")) {
    const [, state, duration] = /^\s*(delivered|failed|quarantined)\s*=\s*(\w+)\s*$/.exec(part) ?? [];
    const keptMs = duration === "keep" ? null : parseDurationMs(duration ?? "");
    if (state === undefined || keptMs === undefined) {
      const remedy = "e.g. RETENTION=delivered=30d,failed=90d,quarantined=keep";
      problems.push({ problem: `RETENTION has an invalid part "${part.trim()}"`, remedy });
    } else {
      retention[`${state as "delivered" | "failed" | "quarantined"}Ms`] = keptMs;
    }
  }
  return retention;
}
