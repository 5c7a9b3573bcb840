import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A copy of the fixture's pages, and an empty folder. Both are in the project, so that they find its packages. */
export function makePagesBuild() {
  const parent = "node_modules/.cache/tests";
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(`${parent}/pages-`);
  const pagesDir = join(folder, "pages");
  cpSync("tests/fixtures/pages", pagesDir, { recursive: true });
  return { pagesDir, outDir: join(folder, "dist"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Builds the site with the pages of another folder, like `npm start` (draft) or `npm run build`. Returns the output.
 */
export function buildPages(
  { pagesDir, outDir }: Record<"pagesDir" | "outDir", string>,
  mode: "draft" | "production" = "draft",
  env: Readonly<Record<string, string>> = {},
): { status: number | null; output: string } {
  const command = ["build", "--logLevel", "warn", "--mode", mode, "--config", "tests/fixtures/pages.vite.config.ts"];
  const { status, stdout, stderr } = spawnSync("vite", command, {
    encoding: "utf8",
    // vitest sets "test", which would put React's development build into the pages.
    env: {
      ...process.env,
      NODE_ENV: "production",
      NO_COLOR: "1",
      PATH: `node_modules/.bin:${process.env.PATH}`,
      PAGES_DIR: pagesDir,
      OUT_DIR: outDir,
      ...env,
    },
    timeout: 60_000,
  });
  return { status, output: stdout + stderr };
}
