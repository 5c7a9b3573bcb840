import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type BuildManifest, manifestFile } from "../../contract/build-manifest.ts";
import { parseBuildSettings } from "../../contract/build-settings.ts";

/** The sources of the site. */
const SOURCES = ["app", "contract", "prerender", "server/mail/compose.ts", "vite.config.ts", "package-lock.json"];

/** Builds the site and the inbox, unless the builds are newer than all sources and have the current settings. */
// biome-ignore lint/style/noDefaultExport: Playwright looks for it.
export default function buildIfStale(): void {
  if (isStale()) build("vite", "build", "--logLevel", "warn", "--mode", "draft");
  // This script itself checks whether a build is needed.
  build("node", "scripts/build-inbox.ts");
}

function build(command: string, ...parameters: string[]): void {
  const { status } = spawnSync(command, parameters, {
    // vitest sets "test", which would put React's development build into the pages.
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

/** When the file, or the newest file in the folder, was last changed. The folder's own time shows removed files. */
function changedMs(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return path.endsWith(".test.ts") ? 0 : stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => changedMs(join(path, name))));
}
