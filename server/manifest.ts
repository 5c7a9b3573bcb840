import { existsSync, readFileSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildManifest, MANIFEST_VERSION, manifestFile } from "../contract/build-manifest.ts";
import type { BuildSettings } from "../contract/build-settings.ts";
import type { Advice } from "../contract/commands.ts";
import { durationInWords } from "../contract/duration.ts";
import { errorCode, errorName, OperatorError } from "./errors.ts";

export class BuildMissing extends OperatorError {
  override readonly name = "BuildMissing";
}

export const DIST_DIR = fileURLToPath(new URL("../dist", import.meta.url));

/** `null` without a build. */
export function readSite(): BuildManifest["site"] | null {
  try {
    return readManifest(DIST_DIR).site;
  } catch (error) {
    if (error instanceof BuildMissing) return null;
    throw error;
  }
}

export function readManifest(distDir: string): BuildManifest {
  let manifest: BuildManifest;
  try {
    manifest = JSON.parse(readFileSync(manifestFile(distDir), "utf8"));
  } catch (error) {
    const isMissing = errorCode(error) === "ENOENT";
    const reason = `The build in dist/ cannot be read (${errorName(error)})`;
    const problem = isMissing ? "There is no build to serve in dist/" : reason;
    throw new BuildMissing({ problem, command: "build" }, { cause: error });
  }
  if (manifest.version !== MANIFEST_VERSION) {
    throw new BuildMissing({ problem: "The build in dist/ is from another version of the program", command: "build" });
  }
  return manifest;
}

/** Where the settings of the built pages contradict the current variables. */
export function outdatedSettings(built: BuildSettings, wanted: BuildSettings): Advice[] {
  const outdated: Advice[] = [];
  const note = (problem: string, remedy?: string) => outdated.push({ problem, remedy, command: "build" });
  const texts = {
    SITE_URL: "siteUrl",
    API_BASE: "apiBase",
    COUNTRIES_URL: "countriesUrl",
    SITE_DIR: "siteDir",
  } as const;
  for (const [name, key] of Object.entries(texts)) {
    if (built[key] === wanted[key] || (key === "siteDir" && isSameFolder(built.siteDir, wanted.siteDir))) continue;
    note(`${name} is "${wanted[key]}", but the pages were built with "${built[key]}"`);
  }
  const periods = { delivered: "deliveredMs", failed: "failedMs", quarantined: "quarantinedMs" } as const;
  for (const [state, key] of Object.entries(periods)) {
    const [promisedMs, keptMs] = [built.retention[key], wanted.retention[key]];
    if (keptMs === promisedMs) continue;
    const isLonger = (keptMs ?? Infinity) > (promisedMs ?? Infinity);
    const change = `${state} ${periodInWords(keptMs)} instead of ${periodInWords(promisedMs)}`;
    const problem = `RETENTION keeps messages ${isLonger ? "longer" : "shorter"} than the privacy policy says (${change})`;
    note(
      problem,
      isLonger ? "shorten RETENTION, or run this with the same RETENTION" : "run this with the same RETENTION",
    );
  }
  if (wanted.postsHook && !built.postsHook) {
    const problem = "HOOK_URL is set, but the privacy policy does not say that messages are passed on";
    note(problem, "run this with the same HOOK_URL");
  }
  if (wanted.readsMailbox && !built.readsMailbox) {
    const problem = "IMAP_URL is set, but the privacy policy does not say that answers are read and kept";
    note(problem, "run this with the same IMAP_URL");
  }
  return outdated;
}

function periodInWords(ms: number | null): string {
  return ms === null ? "until deleted by hand" : durationInWords(ms);
}

function isSameFolder(one: string, other: string): boolean {
  const real = (folder: string) => (existsSync(folder) ? realpathSync(folder) : resolve(folder));
  return real(one) === real(other);
}
