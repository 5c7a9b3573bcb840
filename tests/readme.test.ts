import { execSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { site } from "../app/site.ts";
import { parseConfig } from "../server/config.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";

const readme = readFileSync("README.md", "utf8");
const configuration = readFileSync("docs/configuration.md", "utf8");
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);
/** As GitHub does. */
const idOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .replaceAll(" ", "-");
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted();

/** The rows of the configuration table: the variables, whether the build reads them, and the default text. */
const rows = configuration
  .slice(configuration.search(/\| variable +\|/), configuration.indexOf("Variables marked (build)"))
  .split("\n")
  .slice(2)
  .flatMap((row) => {
    const [, names = "", defaults = ""] = row.split("|");
    const variables = namesIn(names, /`([A-Z_]+)`/g);
    return variables.length > 0 ? { variables, isBuild: names.includes("(build)"), defaults: defaults.trim() } : [];
  });

test("the configuration table lists exactly the variables that the program reads", () => {
  const build = namesIn(readFileSync("contract/build-settings.ts", "utf8"), /env\.([A-Z_]+)/g);
  const read: string[] = [];
  // HOOK_SECRET is read only with HOOK_URL.
  const set: Record<string, string> = {
    HOOK_URL: "https://crm.example.com/",
    HOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}`,
  };
  parseConfig(new Proxy(set, { get: (env, name: string) => read.push(name) && env[name] }));
  expect(sorted(rows.flatMap(({ variables }) => variables))).toEqual(sorted(read));
  const baked = rows.filter(({ isBuild }) => isBuild).flatMap(({ variables }) => variables);
  expect(sorted(baked)).toEqual(sorted(build));
});

test.each(rows)("the table has the same defaults for $variables as the code", ({ variables, defaults }) => {
  const byDefault = parseConfig({});
  const values = defaults.startsWith("`") ? namesIn(defaults, /`([^`]+)`/g) : [];
  if (values.length > 0) {
    expect(values).toHaveLength(variables.length);
    const documented = Object.fromEntries(variables.map((name, index) => [name, values[index]]));
    expect(parseConfig(documented)).toEqual(byDefault);
    return;
  }
  expect(defaults).toMatch(/^(unset|empty|the contact email)/);
  const parsed: Readonly<Record<string, unknown>> = { ...byDefault, ...byDefault.build };
  for (const name of variables) {
    const key = name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    // Variables that are needed together become one setting, with the part of the name that they share.
    const value = key in parsed ? parsed[key] : parsed[name.split("_", 1).join("").toLowerCase()];
    expect([null, "", []], name).toContainEqual(value);
  }
});

/** README.md, CONTRIBUTING.md and everything in docs/. */
const pages = new Map(
  ["README.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md")].map((path) => [path, readFileSync(path, "utf8")]),
);
/** The number of words, without table bars. */
const lengthOf = (text = "") => text.split(/\s+/).filter((part) => /[\p{L}\d]/u.test(part)).length;

test("every file, heading and command that a document names exists", () => {
  const broken = [...pages].flatMap(([path, text]) =>
    namesIn(text, /\]\((?![a-z]+:|\/)([^)\s]+)\)/g).filter((link) => {
      // The examples in docs/writing.md name the reader's own pictures.
      if (/^(pictures\/)?turbine\.jpg$/.test(link)) return false;
      const [file = "", heading] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      if (!existsSync(target)) return true;
      const headings = namesIn(pages.get(target) ?? "", /^#+ (.+)$/gm).map(idOf);
      return heading !== undefined && !headings.includes(heading);
    }),
  );
  expect(broken).toEqual([]);
  const commands = [...pages.values()].flatMap((text) => namesIn(text, /npm run ([\w:-]+)/g));
  expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  const files = [...pages.values()].flatMap((text) =>
    namesIn(text, /`((?:deploy|tests|app|tools|server|contract|prerender|scripts)\/[\w./-]*\w)`/g),
  );
  expect(files.length).toBeGreaterThan(60);
  expect(files.filter((path) => !existsSync(path))).toEqual([]);
});

test("the documented command deletes each backup before it is as old as the privacy policy says", async () => {
  const [command = ""] = namesIn(pages.get("docs/operations.md") ?? "", /^45 3 \* \* \* (find .+)$/gm);
  const folder = await makeScratchFolder();
  const [recent, old] = [12 * 24 + 23, 13 * 24 + 1];
  // A killed backup leaves three files.
  const remains = { "old.db.partial": old, "old.db.partial-wal": old, "old.db.partial-shm": old };
  const HOURS = { "new.db.partial": 1, "kept.db": recent, "old.db": old, ...remains };
  for (const [name, hours] of Object.entries(HOURS)) {
    writeFileSync(join(folder, name), "");
    const at = Date.now() / 1000 - hours * 3600;
    utimesSync(join(folder, name), at, at);
  }
  execSync(command.replace("/var/backups/brighter-carbon", `'${folder}'`));
  // A day later, the next run deletes the older one of these, which is then less than 14 days old.
  expect(readdirSync(folder).sort()).toEqual(["kept.db", "new.db.partial"]);
  expect(site.policyFacts.backupsKept).toBe("14 days");
});

/** A row of the table of promises: the promise, a file, and part of the title of one of its tests. */
const PROMISE = /^\| (.+?) \| `([\w/.-]+\.tsx?)` \| (.+) \|$/gm;
const promises = [...(pages.get("docs/testing.md") ?? "").matchAll(PROMISE)].map(
  ([, promise = "", file = "", title = ""]) => ({ promise, file, title }),
);

test("each promise names one test that exists", () => {
  expect(promises.length).toBeGreaterThan(100);
  const problems = promises.flatMap(({ promise, file, title }) => {
    const source = existsSync(file) ? readFileSync(file, "utf8") : "";
    const titles = namesIn(source, /\(\s*((["'`])(?:\\.|(?!\2).)*\2),/g);
    const count = titles.filter((one) => one.includes(title)).length;
    // `-t` and `-g` read it as a pattern, and see no placeholders.
    if (/[%$()[\]{}*+?^|\\]/.test(title)) return `${promise}: "${title}" is not plain text`;
    return count === 1 ? [] : `${promise}: ${count} tests in ${file} are called "${title}"`;
  });
  // If a test went because its promise went, remove the row. Otherwise name the test that proves the promise now.
  expect(problems).toEqual([]);
});

test("documents stay short", () => {
  expect(lengthOf(readme)).toBeLessThanOrEqual(700);
  // The table of promises grows with the product, and nobody reads it from top to bottom.
  const documents = [...pages].flatMap(([path, text]) =>
    path.startsWith("docs/") ? text.replaceAll(PROMISE, "") : [],
  );
  expect(documents.reduce((sum, text) => sum + lengthOf(text), 0)).toBeLessThanOrEqual(10_200);
});

test("every direct dependency is justified in docs/dependencies.md", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith("@types/"));
  expect(names.filter((name) => !pages.get("docs/dependencies.md")?.includes(`\`${name}\``))).toEqual([]);
});
