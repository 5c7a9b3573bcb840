import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const readme = readFileSync("README.md", "utf8");
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted();

test("every command the README names exists, and every public command is in the README", () => {
  const named = sorted([...namesIn(readme, /npm run ([\w:-]+)/g), ...namesIn(readme, /^npm (start|test)\b/gm)]);
  const isHook = (name: string) => /^(pre|post)/.test(name) && name.replace(/^(pre|post)/, "") in scripts;
  expect(named).toEqual(sorted(Object.keys(scripts).filter((name) => !isHook(name))));
});

test("the configuration table names exactly the variables that are read", () => {
  const table = readme.slice(readme.search(/\| variable +\|/), readme.indexOf("Variables marked (build)"));
  const documented = table.split("\n").flatMap((row) => namesIn(row.split("|")[1] ?? "", /`([A-Z_]+)`/g));
  const config = readFileSync("server/config.ts", "utf8");
  const build = readFileSync("contract/build-settings.ts", "utf8");
  const read = [...namesIn(config, /(?:text|list)\("([A-Z_]+)"\)/g), ...namesIn(build, /env\.([A-Z_]+)/g)];
  expect(sorted(documented)).toEqual(sorted(read));
  const baked = table.split("\n").flatMap((row) => namesIn(row, /`([A-Z_]+)` \(build\)/g));
  expect(sorted(baked)).toEqual(sorted(namesIn(build, /env\.([A-Z_]+)/g)));
});

test("the defaults in the table are the defaults of the code", () => {
  const code = readFileSync("server/config.ts", "utf8") + readFileSync("contract/build-settings.ts", "utf8");
  for (const value of ["5/10m,20/1d", "1000", "127.0.0.1", "./data", "http://localhost:3000", "/countries.json"]) {
    expect(readme).toContain(`\`${value}\``);
    expect(code).toContain(`"${value}"`);
  }
});

test("every file and folder the README names is there", () => {
  const links = namesIn(readme, /\]\((?!http)([^)#]+)\)/g);
  const folders = namesIn(readme, /^\| `([a-z]+\/)` +\|/gm);
  for (const path of [...links, ...folders]) expect(existsSync(path), path).toBe(true);
});

test("every direct dependency is justified in docs/dependencies.md", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const text = readFileSync("docs/dependencies.md", "utf8");
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith("@types/"));
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test("the lock file names no registry", () => {
  expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved"|registry\./);
});
