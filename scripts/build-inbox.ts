// Builds the inbox page into dist-inbox/, unless the existing page is newer than its sources and of the same SITE_DIR.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { draftDirOf, replaceWhenBuilt } from "../prerender/output.ts";

const { siteDir } = parseBuildSettings(process.env).settings;
const SOURCES = ["inbox", "contract", "app", siteDir, "vite.inbox.config.ts", "package-lock.json"];
const OUT_DIR = "dist-inbox";

const STAMP = ".site-dir";

const builtMs = statSync(join(OUT_DIR, STAMP), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const isOfSite = builtMs > 0 && readFileSync(join(OUT_DIR, STAMP), "utf8") === resolve(siteDir);
if (!isOfSite || Math.max(...SOURCES.map(newestMs)) > builtMs) {
  const outDir = resolve(draftDirOf(OUT_DIR));
  await replaceWhenBuilt(OUT_DIR, async () => {
    await build({ configFile: "vite.inbox.config.ts", logLevel: "warn", build: { outDir, emptyOutDir: true } });
    writeFileSync(join(outDir, STAMP), resolve(siteDir));
  });
}

function newestMs(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}
