// Builds the inbox page into dist/inbox/, unless the existing page is newer than its sources and of the same SITE_DIR.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";
import { inboxDir } from "../contract/build-manifest.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { replaceWhenBuilt } from "../prerender/output.ts";

const { siteDir } = parseBuildSettings(process.env).settings;
const SOURCES = ["desk/page", "desk/words.ts", "contract", "app", siteDir, "vite.inbox.config.ts", "package-lock.json"];
const DIST_DIR = "dist";
const OUT_DIR = inboxDir(DIST_DIR);

const STAMP = ".site-dir";

const builtMs = statSync(join(OUT_DIR, STAMP), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const isOfSite = builtMs > 0 && readFileSync(join(OUT_DIR, STAMP), "utf8") === resolve(siteDir);
if (!isOfSite || Math.max(...SOURCES.map(newestMs)) > builtMs) {
  const draftDir = join(DIST_DIR, ".inbox-draft");
  const outDir = resolve(inboxDir(draftDir));
  await replaceWhenBuilt(DIST_DIR, draftDir, async () => {
    await build({ configFile: "vite.inbox.config.ts", logLevel: "warn", build: { outDir, emptyOutDir: true } });
    writeFileSync(join(outDir, STAMP), resolve(siteDir));
  });
}

function newestMs(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}
