import { readdirSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { BuildManifest } from "../contract/build-manifest.ts";
import budgets from "./budgets.json" with { type: "json" };
import { WRITTEN_PATHS } from "./support/screens.ts";

const { files } = JSON.parse(readFileSync("dist/manifest.json", "utf8")) as BuildManifest;
const sizesOf = (pattern: RegExp, suffix = "") =>
  files
    .filter(({ file }) => pattern.test(file))
    .map(({ file }) => [file, statSync(`dist/site/${file}${suffix}`).size] as const);

const { pages } = JSON.parse(readFileSync("dist/site/carbon.json", "utf8")) as {
  pages: { page: string; screen?: string; bytes: number }[];
};

/**
 * The bytes of a first view, as in budgets.json. A budget is a size, so it is the same on every machine. A new budget
 * leaves 2 % of room: a change of a few words must not need a change of its budget.
 */
test.each(Object.entries(budgets))("%s stays within its budget", (name, budget) => {
  const [path = "", view] = name.split(" ");
  const counted = { "/404.html": "coming-soon", "/500.html": "error" }[path] ?? path;
  // tests/e2e/full/navigation.spec.ts checks that a browser fetches as many bytes as the build has counted.
  expect(pages.find(({ page, screen }) => page === counted && screen === view)?.bytes).toBeLessThanOrEqual(
    budget.total,
  );
  const file = files.find(({ url }) => url === path)?.file ?? "";
  expect(statSync(`dist/site/${file}.br`).size).toBeLessThanOrEqual(budget.page);
});

test("every page has a budget", () => {
  // The build checks pages from files against the limit in app/explanations/carbon.md.
  const isWritten = (url: string) => WRITTEN_PATHS.includes(url);
  const built = files.filter(({ file, url }) => file.endsWith(".html") && !isWritten(url));
  // Aliases show the same page.
  const different = new Set(built.map(({ file }) => readFileSync(`dist/site/${file}`, "utf8")));
  expect(different.size).toBe(new Set(Object.keys(budgets).map((name) => name.split(" ")[0])).size);
});

test.each([
  ["a page with its styles fits the first round trip", /\.html$/, ".br", 14_000],
  ["the film of phones", /^media\/first-light\.phone\./, "", 156_000],
  ["the film of other screens", /^media\/first-light\.(av1|h264)-/, "", 261_000],
  ["the still picture", /^assets\/poster/, "", 30_000],
  ["a social card", /^assets\/social.*\.jpg/, "", 36_000],
  ["the script of the form", /^assets\/contact-.*\.js$/, ".br", 68_200],
  ["the script of the estimate with its figures", /^assets\/estimate-result/, ".br", 8630],
])("%s stays within its budget", (_what, pattern, suffix, budgetBytes) => {
  const sizes = sizesOf(pattern, suffix);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.filter(([, bytes]) => bytes > budgetBytes)).toEqual([]);
});

test("the inbox's script stays within its budget, and is in a folder that the public server does not serve", () => {
  const scripts = readdirSync("dist/inbox/assets").filter((name) => name.endsWith(".js"));
  const sizes = scripts.map((name) => gzipSync(readFileSync(`dist/inbox/assets/${name}`)).length);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(234_000);
  expect(files.filter(({ file }) => scripts.some((name) => file.endsWith(name)))).toEqual([]);
});
