import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { site } from "virtual:site";
import { expect, test } from "vitest";
import { parseConfig } from "../server/config.ts";

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
      const headings = namesIn(target.endsWith(".md") ? readFileSync(target, "utf8") : "", /^#+ (.+)$/gm).map(idOf);
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

test("the documented nightly backups are deleted before they are as old as the privacy policy says", () => {
  const documents = [
    pages.get("docs/operations.md"),
    readFileSync("deploy/systemd/brighter-carbon-backup.service", "utf8"),
  ];
  for (const text of documents) {
    // A file that is a little younger than that at night is deleted a night later.
    const [days = ""] = namesIn(text ?? "", /messages backup --keep (\d+)d \/var\/backups\/brighter-carbon$/gm);
    expect(`${Number(days) + 2} days`).toBe(site.policyFacts.backupsKept);
  }
});

/** A row of the table of promises: the promise, a file, and part of the title of one of its tests. */
const PROMISE = /^\| (.+?) \| `([\w/.-]+\.tsx?)` \| (.+) \|$/gm;
const promises = [...readFileSync("tests/promises.md", "utf8").matchAll(PROMISE)].map(
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
  const documents = [...pages].flatMap(([path, text]) => (path.startsWith("docs/") ? text : []));
  expect(documents.reduce((sum, text) => sum + lengthOf(text), 0)).toBeLessThanOrEqual(10_200);
});

test("every direct dependency is justified in docs/dependencies.md", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith("@types/"));
  expect(names.filter((name) => !pages.get("docs/dependencies.md")?.includes(`\`${name}\``))).toEqual([]);
});
