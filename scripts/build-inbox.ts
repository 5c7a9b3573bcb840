// Builds the page of the inbox into dist-inbox/, unless that is newer than everything it is made of.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const SOURCES = ["inbox", "contract", "app", "vite.inbox.config.ts", "package-lock.json"];
const BUILT = "dist-inbox/index.html";

const newest = Math.max(...SOURCES.map(newestMs));
if (newest > (statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0)) {
  await build({ configFile: "vite.inbox.config.ts", logLevel: "warn" });
}

/** When the file, or anything in the folder, last changed. */
function newestMs(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}
