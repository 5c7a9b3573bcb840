import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type BuildManifest, manifestFile } from "../../contract/build-manifest.ts";
import { parseBuildSettings } from "../../contract/build-settings.ts";

/** What the site is made of; prerender/site-plugin.test.ts compares it with what Vite loads. */
export const SOURCES = [
  "app",
  "contract",
  "prerender",
  "server/mail/compose.ts",
  "docs/carbon.md",
  "docs/footprint.md",
  "vite.config.ts",
  "package-lock.json",
];

/** Builds the site and the inbox, unless they are newer than everything they are made of, and have the present settings. */
export function buildIfStale(): void {
  if (isStale()) build("vite", "build", "--logLevel", "warn");
  // This one looks by itself whether there is anything to do.
  build("node", "scripts/build-inbox.ts");
}

function build(command: string, ...parameters: string[]): void {
  const { status } = spawnSync(command, parameters, {
    // vitest says "test" here, which would put React's development build into the pages.
    env: { ...process.env, NODE_ENV: "production", PATH: `node_modules/.bin:${process.env.PATH}` },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`${[command, ...parameters].join(" ")} failed; see its messages above.`);
}

function isStale(): boolean {
  const manifest = manifestFile("dist");
  if (!existsSync(manifest)) return true;
  const { settings } = JSON.parse(readFileSync(manifest, "utf8")) as BuildManifest;
  if (!isDeepStrictEqual(settings, parseBuildSettings(process.env).settings)) return true;
  const builtMs = statSync(manifest).mtimeMs;
  return [...SOURCES, settings.siteDir].some((source) => changedMs(source) > builtMs);
}

/** When the file, or the latest of a folder, was changed last. A folder itself changes with what is removed from it. */
function changedMs(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return path.endsWith(".test.ts") ? 0 : stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => changedMs(join(path, name))));
}
