import type { Advice } from "./commands.ts";
import { durationInWords, parseDurationMs } from "./duration.ts";

/** How long a message is kept in each final state; `null` keeps it until an operator deletes it. */
export interface Retention {
  deliveredMs: number | null;
  failedMs: number | null;
  quarantinedMs: number | null;
}

/** The settings that the build writes into the pages. */
export interface BuildSettings {
  /** Without a trailing slash. */
  siteUrl: string;
  /** Without a trailing slash; empty means the pages' own origin. */
  apiBase: string;
  countriesUrl: string;
  /** What the privacy policy promises. */
  retention: Retention;
  /** The folder with the company's settings, pages and claims ledger. Ends with a slash. */
  siteDir: string;
  /** Messages are posted to HOOK_URL, and the privacy policy says so. */
  postsHook: boolean;
}

/** Reads the build's variables. `problems` has one entry for each invalid variable. */
export function parseBuildSettings(env: Readonly<Record<string, string | undefined>>): {
  settings: BuildSettings;
  problems: Advice[];
} {
  const problems: Advice[] = [];
  const siteUrl = trimSlash(env.SITE_URL || "http://localhost:3000");
  const apiBase = trimSlash(env.API_BASE ?? "");
  const countriesUrl = env.COUNTRIES_URL || "/countries.json";
  if (!isWebUrl(siteUrl) || new URL(siteUrl).pathname !== "/" || /[?#]/.test(siteUrl)) {
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
  return { settings: { siteUrl, apiBase, countriesUrl, retention, siteDir, postsHook }, problems };
}

function trimSlash(url: string): string {
  return url.trim().replace(/(?<!\/)\/+$/, "");
}

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
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

/**
 * Pages keep the settings of their build. Returns where these contradict the current variables. Messages may be deleted
 * earlier than the privacy policy says, but not later.
 */
export function outdatedSettings(built: BuildSettings, wanted: BuildSettings): Advice[] {
  const words = {
    SITE_URL: "siteUrl",
    API_BASE: "apiBase",
    COUNTRIES_URL: "countriesUrl",
    SITE_DIR: "siteDir",
  } as const;
  const outdated: Advice[] = Object.entries(words).flatMap(([name, key]) =>
    built[key] === wanted[key]
      ? []
      : {
          problem: `${name} is "${wanted[key]}", but the pages were built with "${built[key]}"`,
          command: "build" as const,
        },
  );
  const states = { delivered: "deliveredMs", failed: "failedMs", quarantined: "quarantinedMs" } as const;
  const keptLonger = Object.entries(states).flatMap(([state, key]) => {
    const [promisedMs, keptMs] = [built.retention[key], wanted.retention[key]];
    return (keptMs ?? Infinity) > (promisedMs ?? Infinity)
      ? `${state} ${periodInWords(keptMs)} instead of ${periodInWords(promisedMs)}`
      : [];
  });
  if (keptLonger.length > 0) {
    outdated.push({
      problem: `RETENTION keeps messages longer than the privacy policy says (${keptLonger.join(", ")})`,
      remedy: "shorten RETENTION, or run this with the same RETENTION",
      command: "build",
    });
  }
  if (wanted.postsHook && !built.postsHook) {
    outdated.push({
      problem: "HOOK_URL is set, but the privacy policy does not say that messages are passed on",
      remedy: "run this with the same HOOK_URL",
      command: "build",
    });
  }
  return outdated;
}

function periodInWords(ms: number | null): string {
  return ms === null ? "until deleted by hand" : durationInWords(ms);
}
