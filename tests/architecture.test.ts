import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const text = readFileSync("docs/architecture.md", "utf8");
const pathsIn = (markdown: string) => [...markdown.matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(([, path = ""]) => path);

/** The rows of the table "Who may import whom": a folder, and what its files may import; `null` for everything. */
const allowed = new Map(
  [...text.matchAll(/^\|((?: `[\w/.-]+\/[\w.-]*`,?)+) +\|([^|]*)\|/gm)].flatMap(([, names = "", others = ""]) =>
    pathsIn(names).map((name) => [name, others.trim() === "what they need" ? null : pathsIn(others)] as const),
  ),
);
/** The row for a file is the one with the longest matching path. */
const rowOf = (path: string) =>
  [...allowed.keys()].filter((name) => path.startsWith(name)).toSorted((a, b) => b.length - a.length)[0];

function mayImport(file: string, imported: string): boolean {
  const [from, to] = [rowOf(file), rowOf(imported)];
  if (from === undefined || to === undefined) return false;
  if (to.startsWith(from)) return true;
  const others = allowed.get(from);
  if (!others) return others === null;
  return others.some((name) =>
    allowed.has(name) ? name === to : imported.startsWith(name) && (name.endsWith("/") || name === imported),
  );
}

test("the table allows every import between folders", () => {
  // Builds and packages are not ours.
  const isOther = (path: string) => /^(tests|dist)$|(^|\/)node_modules$|\.test\./.test(path);
  const files = globSync("*/**/*.{ts,tsx,mjs}", { exclude: isOther });
  const found = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^(import type\b)?.*(?:\bfrom|\bimport\(?)\s*"(\.[^"]+)"/gm)].map(
      ([, type, target = ""]) => ({ file, imported: join(dirname(file), target), isType: type !== undefined }),
    ),
  );
  expect(found.length).toBeGreaterThan(300);
  const forbidden = found.filter(
    ({ file, imported, isType }) =>
      !mayImport(file, imported) ||
      // The page runs in a browser: of the rest it gets types.
      (/^desk\/(page\/|words)/.test(file) && !/^(contract\/|app\/|desk\/(page\/|words))/.test(imported) && !isType),
  );
  expect(forbidden.map(({ file, imported }) => `${file} imports ${imported}`)).toEqual([]);
});

test("only the plugin imports site.ts, because a company's settings take its place", () => {
  const files = globSync("{app,contract,desk,inbox,prerender,scripts,server}/**/*.{ts,tsx}");
  const importers = files.filter((file) => /(from|import\(?) *"[^"]*\/site\.ts"/.test(readFileSync(file, "utf8")));
  expect(importers.toSorted()).toEqual(["app/site-schema.test.ts", "prerender/site-dir.ts"]);
});
