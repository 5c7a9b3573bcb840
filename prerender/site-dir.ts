import { existsSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { type ESTree, type Plugin, parseSync, runnerImport } from "vite";
import { site as defaults } from "../app/site.ts";
import { completeSettings, type SiteSettings, settingProblems } from "../app/site-schema.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import type { Advice } from "../contract/commands.ts";
import { lookFiles, lookProblems } from "./pictures.ts";

export interface Problem {
  file: string;
  line: number;
  message: string;
}

/** Ends the build. Vite prints it without a stack trace, because the program is not at fault. */
export function refusal(message: string): Error {
  return Object.assign(new Error(message), { [inspect.custom]: () => message });
}

export function problemsError(problems: readonly Problem[]): Error {
  const lines = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  return refusal(`The pages cannot be built:\n${[...new Set(lines)].join("\n")}`);
}

/** The path as error messages show it: relative if it is in the working directory. */
export function shown(file: string): string {
  const path = relative("", file);
  return path.startsWith("..") ? file : path;
}

const DEFAULT_SETTINGS = resolve("app/site.ts");
const SETTINGS = "virtual:site";
const SETTINGS_ID = `\0${SETTINGS}`;

/** The real path, because Vite identifies files by it. */
export function siteFolder(siteDir: string): string {
  const folder = resolve(siteDir);
  return existsSync(folder) ? realpathSync(folder) : folder;
}

/** Why a build cannot start; empty if it can. */
export function siteDirProblems(siteDir: string): Advice[] {
  if (existsSync(join(siteDir, "site.ts"))) return [];
  const remedy = "copy app/site.ts and app/pages there, and edit them";
  return [{ problem: `SITE_DIR has no site.ts (${resolve(siteDir)})`, remedy }];
}

export interface CompanySettings {
  /** Completed with the defaults. */
  site: SiteSettings;
  /** `site.ts`, and the files that it imports. */
  files: readonly string[];
}

/** Reads the company's settings as they are now. Rejects with the file and line of an error in them. */
export async function readSettings(siteDir: string): Promise<CompanySettings> {
  const file = `${siteDir}site.ts`;
  const { problems } = await parseSettings(siteDir);
  if (problems.length > 0) throw problemsError(problems);
  const path = join(siteFolder(siteDir), "site.ts");
  try {
    const { module, dependencies } = await runnerImport<{ site: Partial<SiteSettings> }>(path, { logLevel: "silent" });
    return { site: completeSettings(module.site, defaults), files: [path, ...dependencies] };
  } catch {
    // Node has the lines of the file, Vite those of what it made of it.
    const { message, stack = "" }: Error = await import(
      /* @vite-ignore */ `${pathToFileURL(path)}?${Date.now()}`
    ).catch((error) => error);
    const line = Number(/site\.ts\?\d+:(\d+)/.exec(stack)?.[1] ?? 1);
    throw problemsError([{ file, line, message: `${message}. ${COMPARE}` }]);
  }
}

const COMPARE = "app/site.ts shows how each setting is written.";

/** What keeps the file from being read, and the line of each setting by its path, such as `site.look.hue`. */
export async function parseSettings(siteDir: string) {
  const file = `${siteDir}site.ts`;
  const source = await readFile(join(siteFolder(siteDir), "site.ts"), "utf8");
  const { program, errors } = parseSync("site.ts", source);
  const lineAt = (offset: number) => source.slice(0, offset).split("\n").length;
  const problems = errors.map(({ message, labels }): Problem => {
    return { file, line: lineAt(labels[0]?.start ?? 0), message: `${message}. ${COMPARE}` };
  });
  const lines = new Map<string, number>();
  const visit = (path: string, node: ESTree.Node | null): void => {
    if (node?.type === "TSSatisfiesExpression" || node?.type === "TSAsExpression") {
      visit(path, node.expression);
    } else if (node?.type === "ArrayExpression") {
      for (const [index, one] of node.elements.entries()) visit(`${path}.${index}`, one);
    } else if (node?.type === "ObjectExpression") {
      for (const one of node.properties) if (one.type === "Property") visitNamed(path, one.key, one.value);
    }
    if (node && !lines.has(path)) lines.set(path, lineAt(node.start));
  };
  const visitNamed = (path: string, key: ESTree.Node, value: ESTree.Node | null) => {
    const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";
    const whole = path === "" ? name : `${path}.${name}`;
    lines.set(whole, lineAt(key.start));
    visit(whole, value);
  };
  for (const one of program.body) {
    if (one.type !== "ExportNamedDeclaration" || one.declaration?.type !== "VariableDeclaration") continue;
    for (const { id, init } of one.declaration.declarations) visitNamed("", id, init);
  }
  if (errors.length === 0 && !lines.has("site"))
    problems.push({ file, line: 1, message: `It does not export "site". ${COMPARE}` });
  return { problems, lines };
}

export interface SettingString {
  names: readonly string[];
  value: string;
  file: string;
  line: number;
}

export async function settingStrings(site: SiteSettings, siteDir: string): Promise<SettingString[]> {
  const file = shown(join(siteFolder(siteDir), "site.ts"));
  const [own, ours] = [await parseSettings(siteDir), await parseSettings("app/")];
  const read = (value: unknown, shipped: unknown, names: readonly string[]): SettingString[] => {
    if (typeof value !== "string")
      return Object.entries(Object(value)).flatMap(([name, inner]) =>
        read(inner, Object(shipped)[name], [...names, name]),
      );
    const path = ["site", ...names].join(".");
    const line = own.lines.get(path);
    // Another value without a line of its own comes from a file that site.ts imports.
    if (line !== undefined || value !== shipped) return [{ names, value, file, line: line ?? 1 }];
    return [{ names, value, file: shown(DEFAULT_SETTINGS), line: ours.lines.get(path) ?? 1 }];
  };
  return read(site, defaults, []);
}

/** Provides the module `virtual:site`, and replaces files of `app/media/` by the company's. */
export function companySettings(): Plugin {
  let siteDir: string;
  return {
    name: "company-settings",

    async config() {
      siteDir = parseBuildSettings(process.env).settings.siteDir;
      const folder = siteFolder(siteDir);
      if (folder === siteFolder(dirname(DEFAULT_SETTINGS))) return {};
      // A problem of the settings is reported later.
      const { site } = await readSettings(siteDir).catch(() => ({ site: defaults }));
      const media = await lookFiles(site, folder).catch(() => []);
      const alias = [...media].map(([name, replacement]) => ({
        find: new RegExp(`^.*/media/${RegExp.escape(name)}(?=$|\\?)`),
        replacement,
      }));
      return { resolve: { alias }, server: { fs: { allow: [resolve("."), folder] } } };
    },

    resolveId(id) {
      return id === SETTINGS ? SETTINGS_ID : undefined;
    },

    async load(id) {
      if (id !== SETTINGS_ID) return undefined;
      const { site, files } = await readSettings(siteDir);
      for (const file of files) this.addWatchFile(file);
      return `export const site = ${JSON.stringify(site)};`;
    },
  };
}

/** Checks the settings of SITE_DIR, because TypeScript does not. */
export async function settingsProblems(site: SiteSettings, siteDir: string): Promise<Problem[]> {
  const ofValues = settingProblems(site);
  const messages = ofValues.length > 0 ? ofValues : await lookProblems(site, siteFolder(siteDir));
  const { lines } = await parseSettings(siteDir);
  return messages.map((message) => {
    const [, path = "site", unknown] = /^"([^"]+)"(?: has no setting "([^"]+)")?/.exec(message) ?? [];
    // A setting that is missing is a problem of its group.
    const parts = unknown ? [...path.split("."), unknown] : path.split(".");
    const known = parts.map((_, index) => parts.slice(0, parts.length - index).join(".")).find((one) => lines.has(one));
    return { file: `${siteDir}site.ts`, line: lines.get(known ?? "site") ?? 1, message };
  });
}
