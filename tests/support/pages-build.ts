import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A company's folder with a copy of the fixture's pages, and an empty folder for its build, which must be in the
 * project to find its packages.
 */
export function makePagesBuild() {
  const siteDir = mkdtempSync(join(tmpdir(), "site-"));
  const pagesDir = join(siteDir, "pages");
  cpSync("tests/fixtures/pages", pagesDir, { recursive: true });
  writeFileSync(join(siteDir, "site.ts"), "export const site = {};\n");
  const parent = "node_modules/.cache/tests";
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(`${parent}/pages-`);
  const remove = () => {
    for (const dir of [siteDir, folder]) rmSync(dir, { recursive: true, force: true });
  };
  return { siteDir, pagesDir, distDir: join(folder, "dist"), remove };
}

/** Builds the site of another folder, like `npm start` (draft) or `npm run build`. */
export function buildPages(
  { siteDir, distDir }: Record<"siteDir" | "distDir", string>,
  mode: "draft" | "production" = "draft",
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
      SITE_DIR: siteDir,
      DIST_DIR: distDir,
    },
    timeout: 240_000,
  });
  return { status, output: stdout + stderr };
}
