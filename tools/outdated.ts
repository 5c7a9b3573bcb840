import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

// Lists the packages that have a newer version, in every package.json of the repository, and the overrides.

const FOLDERS = [".", "film", "scripts/node-runtime"];

/** npm exits with 1 if something is outdated. */
function npm(folder: string, ...args: string[]): string {
  return spawnSync("npm", [...args, "--loglevel=error"], { cwd: folder, encoding: "utf8" }).stdout.trim();
}

const rows = FOLDERS.flatMap((folder) => {
  const {
    overrides = {},
    dependencies = {},
    devDependencies = {},
  } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Partial<
    Record<"overrides" | "dependencies" | "devDependencies", Record<string, string>>
  >;
  const pinned = { ...overrides, ...dependencies, ...devDependencies };
  const latest = JSON.parse(npm(folder, "outdated", "--json") || "{}") as Record<string, { latest: string }>;
  return Object.entries(pinned).flatMap(([name, version]) => {
    const newest = name in overrides ? npm(folder, "view", name, "version") : latest[name]?.latest;
    const kind = name in overrides ? "override" : "";
    return newest && newest !== version ? [{ folder, name, version, newest, kind }] : [];
  });
});
if (rows.length > 0) console.table(rows);
else console.log("All packages are up to date.");
