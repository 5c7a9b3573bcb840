import { existsSync, globSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import { completeSettings } from "../app/settings.ts";
import { type SiteSettings, settingProblems } from "../app/site-schema.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import type { Advice } from "../contract/commands.ts";
import { lookFiles, lookProblems } from "./look.ts";
import type { Problem } from "./page-files.ts";

/** Used if SITE_DIR is not set. */
const DEFAULT_SETTINGS = resolve("app/site.ts");
/** Completes the settings of SITE_DIR with the default ones. */
const COMPLETE_SETTINGS = resolve("app/settings.ts");
/** The settings of SITE_DIR, with the program's defaults for missing ones. */
const MERGED_SETTINGS = "\0site-settings";

/** The real path, because Vite identifies files by it. */
export function siteFolder(siteDir: string): string {
  const folder = resolve(siteDir);
  return existsSync(folder) ? realpathSync(folder) : folder;
}

/** The sources of the site's text and links, except the pages from files. */
export function sourceFiles(siteDir: string): string[] {
  const files = globSync(["app/**/*.{ts,tsx,md}", "contract/footprint/*.ts", "docs/{carbon,footprint}.md"]);
  const isOther = (file: string) => /\.test\.|^app\/(pages\/|site\.ts$)/.test(file);
  return [...files.filter((file) => !isOther(file)), `${siteDir}site.ts`].sort();
}

/** Where a pattern matches in the files. */
export async function linesWith(pattern: RegExp, files: readonly string[]): Promise<{ file: string; line: number }[]> {
  const found = await Promise.all(
    files.map(async (file) => {
      const lines = (await readFile(file, "utf8")).split("\n");
      return lines.flatMap((text, index) => (pattern.test(text) ? { file, line: index + 1 } : []));
    }),
  );
  return found.flat();
}

/** Why a build cannot start; empty if it can. */
export function siteDirProblems(siteDir: string): Advice[] {
  if (existsSync(join(siteDir, "site.ts"))) return [];
  const remedy = "copy app/site.ts and app/pages there, and edit them";
  return [{ problem: `SITE_DIR has no site.ts (${resolve(siteDir)})`, remedy }];
}

/** Reads the company's settings without Vite, once per process. */
export async function readOwnSettings(siteDir: string): Promise<Partial<SiteSettings>> {
  const { href } = pathToFileURL(join(siteFolder(siteDir), "site.ts"));
  return ((await import(/* @vite-ignore */ href)) as { site: Partial<SiteSettings> }).site;
}

/** Redirects every import of `app/site.ts` to the settings of SITE_DIR, and of `app/media/` to the company's files. */
export function companySettings(): Plugin {
  let folder: string;
  let isOwn = false;
  return {
    name: "company-settings",

    async config() {
      folder = siteFolder(parseBuildSettings(process.env).settings.siteDir);
      isOwn = folder !== siteFolder(dirname(DEFAULT_SETTINGS));
      if (!isOwn) return {};
      // A problem of the settings is reported later.
      const own = await readOwnSettings(folder).catch(() => ({}));
      const media = await lookFiles(completeSettings(own), folder).catch(() => []);
      const alias = [...media].map(([name, replacement]) => ({
        find: new RegExp(`^.*/media/${RegExp.escape(name)}(?=$|\\?)`),
        replacement,
      }));
      return { resolve: { alias }, server: { fs: { allow: [resolve("."), folder] } } };
    },

    resolveId: {
      order: "pre",
      async handler(source, importer) {
        if (!isOwn || importer === COMPLETE_SETTINGS || !/(^|\/)site\.ts$/.test(source)) return undefined;
        const found = await this.resolve(source, importer, { skipSelf: true });
        return found?.id === DEFAULT_SETTINGS ? MERGED_SETTINGS : undefined;
      },
    },

    load(id) {
      if (id !== MERGED_SETTINGS) return undefined;
      return `import { completeSettings } from ${JSON.stringify(COMPLETE_SETTINGS)};
import { site as own } from ${JSON.stringify(join(folder, "site.ts"))};
export const site = completeSettings(own);
`;
    },
  };
}

/** Checks the settings of SITE_DIR, because TypeScript does not. */
export async function settingsProblems(own: Partial<SiteSettings>, siteDir: string): Promise<Problem[]> {
  const site = completeSettings(own);
  const ofValues = settingProblems(site);
  const messages = ofValues.length > 0 ? ofValues : await lookProblems(site, siteFolder(siteDir));
  return messages.map((message) => ({ file: `${siteDir}site.ts`, line: 1, message }));
}
