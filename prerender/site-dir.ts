import { existsSync, globSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Plugin } from "vite";
import { site as defaults } from "../app/site.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import type { Advice } from "../contract/commands.ts";

/** Used if SITE_DIR is not set. */
const DEFAULT_SETTINGS = resolve("app/site.ts");
/** The settings of SITE_DIR, with the program's defaults for missing ones. */
const MERGED_SETTINGS = "\0site-settings";

/** The real path, because Vite identifies files by it. */
export function siteFolder(siteDir: string): string {
  const folder = resolve(siteDir);
  return existsSync(folder) ? realpathSync(folder) : folder;
}

/** The sources of the site's text and links, except the pages from files. */
export function sourceFiles(siteDir: string): string[] {
  const files = globSync(["app/**/*.{ts,tsx,mdx}", "contract/footprint/*.ts", "docs/{carbon,footprint}.md"]);
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

/** The first place of the longest part, whatever marks are between its words, as `file:line`. */
export async function findText(parts: readonly string[], files: readonly string[]): Promise<string | undefined> {
  const [longest = ""] = parts.toSorted((a, b) => b.length - a.length);
  const words = longest.match(/[\p{L}\p{N}]+/gu)?.slice(0, 6) ?? ["$^"];
  const [found] = await linesWith(new RegExp(words.join("(?:\\]\\([^)]*\\)|[^\\p{L}\\p{N}])+"), "u"), files);
  return found && `${found.file}:${found.line}`;
}

/** Why a build cannot start; empty if it can. */
export function siteDirProblems(siteDir: string): Advice[] {
  if (existsSync(join(siteDir, "site.ts"))) return [];
  const remedy = "copy app/site.ts and app/pages there, and edit them";
  return [{ problem: `SITE_DIR has no site.ts (${resolve(siteDir)})`, remedy }];
}

/** Redirects every import of `app/site.ts` to the settings of SITE_DIR. */
export function companySettings(): Plugin {
  let folder: string;
  let isOwn = false;
  return {
    name: "company-settings",

    config() {
      folder = siteFolder(parseBuildSettings(process.env).settings.siteDir);
      isOwn = folder !== siteFolder(dirname(DEFAULT_SETTINGS));
      return isOwn ? { server: { fs: { allow: [resolve("."), folder] } } } : {};
    },

    resolveId: {
      order: "pre",
      async handler(source, importer) {
        if (!isOwn || importer === MERGED_SETTINGS || !/(^|\/)site\.ts$/.test(source)) return undefined;
        const found = await this.resolve(source, importer, { skipSelf: true });
        return found?.id === DEFAULT_SETTINGS ? MERGED_SETTINGS : undefined;
      },
    },

    load(id) {
      if (id !== MERGED_SETTINGS) return undefined;
      return `import { site as defaults } from ${JSON.stringify(DEFAULT_SETTINGS)};
import { site as own } from ${JSON.stringify(join(folder, "site.ts"))};
export const site = { ...defaults, ...own, policyFacts: { ...defaults.policyFacts, ...own.policyFacts } };
`;
    },
  };
}

/** The settings that may be `null`. */
const OPTIONAL = {
  pricePerTonne: {
    isValid: (value: unknown) => {
      const { amount, currency } = Object(value) as Record<string, unknown>;
      return Number.isFinite(amount) && Number(amount) > 0 && typeof currency === "string" && currency.trim() !== "";
    },
    example: '{ amount: 25, currency: "EUR" }',
  },
  answerWithin: {
    isValid: (value: unknown) => typeof value === "string" && value.trim() !== "",
    example: '"two working days"',
  },
};

/** Checks the settings of SITE_DIR at build time, because TypeScript does not. */
export function settingsProblems(site: object): string[] {
  const kindOf = (value: unknown) => (Array.isArray(value) ? "list" : typeof value);
  return Object.entries(site).flatMap(([name, value]) => {
    const expected: unknown = (defaults as unknown as Record<string, unknown>)[name];
    if (expected === undefined)
      return [`There is no setting "${name}". The settings are: ${Object.keys(defaults).join(", ")}.`];
    if (name in OPTIONAL) {
      const { isValid, example } = OPTIONAL[name as keyof typeof OPTIONAL];
      return value === null || isValid(value) ? [] : [`"${name}" is not valid; e.g. ${example}, or null for none.`];
    }
    // The only setting that may be a word or a list.
    if (name === "heroFilm" || kindOf(value) === kindOf(expected)) return [];
    return [`"${name}" must be of type ${kindOf(expected)}, not ${kindOf(value)}.`];
  });
}
