import { readdirSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { PageFetch } from "../app/screen.ts";
import type { BuildManifest } from "../contract/build-manifest.ts";
import { totalBytes, weighPage } from "../prerender/carbon.ts";
import budgets from "./budgets.json" with { type: "json" };
import { WRITTEN_PATHS } from "./support/screens.ts";

const { files } = JSON.parse(readFileSync("dist/.build.json", "utf8")) as BuildManifest;
const sizesOf = (pattern: RegExp, suffix = "") =>
  files
    .filter(({ file }) => pattern.test(file))
    .map(({ file }) => [file, statSync(`dist/${file}${suffix}`).size] as const);

/**
 * What a browser finds in a page's HTML and fetches for a first view, the first format of each. The build counts what
 * the screens declare instead, so that one can be checked against the other.
 */
const NAMED_BY: readonly [PageFetch["kind"], RegExp][] = [
  ["font", /<link rel="preload" href="([^"]+)" as="font"/],
  ["picture", /<link rel="icon" href="([^"]+)" type="image\/svg\+xml"/],
  ["picture", /<picture><source type="image\/avif" srcset="([^"]+)"/i],
  ["script", /\.src="([^"]+)";document\.head/],
  ["data", /<link rel="manifest" href="([^"]+)"/],
  ["data", /data-countries-url="([^"]+)"/],
  ["film", /<template id="film-sources"><source src="([^"]+)"/],
];

function weighBuilt(path: string) {
  const file = files.find(({ url }) => url === path)?.file ?? "";
  const html = readFileSync(`dist/${file}`, "utf8");
  const fetches = NAMED_BY.flatMap(([kind, pattern]) => {
    const url = pattern.exec(html)?.[1];
    return url ? [{ kind, urls: [url] }] : [];
  });
  return weighPage({ name: path, html, fetches }, (url) => readFileSync(`dist${url}`));
}

const weighed = await Promise.all(
  Object.entries(budgets).map(async ([path, budget]) => ({ path, budget, fetched: await weighBuilt(path) })),
);

/** Bytes and requests of a first view, as budgets.json grants them. A budget is a size, so it holds on any machine. */
test.each(weighed)("$path stays within its budget", ({ budget, fetched }) => {
  const bytesOf = (kind: string) => totalBytes(fetched.filter((one) => one.kind === kind));
  expect(fetched.length).toBe(budget.requests);
  expect(bytesOf("page")).toBeLessThanOrEqual(budget.page);
  expect(bytesOf("script")).toBeLessThanOrEqual(budget.script);
  expect(totalBytes(fetched)).toBeLessThanOrEqual(budget.total);
});

test.each(weighed)("the build counted every file that $path fetches", ({ path, fetched }) => {
  const { pages } = JSON.parse(readFileSync("dist/carbon.json", "utf8")) as {
    pages: { page: string; bytes: number }[];
  };
  const name = { "/404.html": "coming-soon", "/500.html": "error" }[path] ?? path;
  expect(totalBytes(fetched)).toBe(pages.find(({ page }) => page === name)?.bytes);
});

test("every page has a budget", () => {
  // The build itself holds those to the limit that docs/carbon.md states.
  const isWritten = (url: string) => WRITTEN_PATHS.includes(url);
  const pages = files
    .filter(({ kind, url }) => kind === "page" && !isWritten(url))
    .map(({ file }) => readFileSync(`dist/${file}`, "utf8"));
  // Aliases show the same page.
  expect(new Set(pages).size).toBe(Object.keys(budgets).length);
});

test.each([
  ["a page with its styles fits the first round trip", /\.html$/, ".br", 14_000],
  ["a film", /^media\//, "", 400_000],
  ["the still picture", /^assets\/poster/, "", 30_000],
  ["a social card", /^assets\/social\//, "", 60_000],
  ["the figures for electricity", /^assets\/electricity/, ".br", 4000],
  ["the script of the estimate", /^assets\/footprint-estimate/, ".br", 9000],
])("%s stays within its budget", (_what, pattern, suffix, budgetBytes) => {
  const sizes = sizesOf(pattern, suffix);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.filter(([, bytes]) => bytes > budgetBytes)).toEqual([]);
});

test("the inbox's script stays within its budget, and is in a folder that the public server does not serve", () => {
  const scripts = readdirSync("dist-inbox/assets").filter((name) => name.endsWith(".js"));
  const sizes = scripts.map((name) => gzipSync(readFileSync(`dist-inbox/assets/${name}`)).length);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(225_000);
  expect(files.filter(({ file }) => scripts.some((name) => file.endsWith(name)))).toEqual([]);
});

test("there is one script file, another one that is loaded with the estimate, and no style sheet", () => {
  const scripts = files.filter(({ file }) => file.endsWith(".js")).map(({ file }) => file.replace(/-[\w-]{8}\./, "."));
  expect(scripts.toSorted()).toEqual(["assets/contact.js", "assets/footprint-estimate.js"]);
  expect(files.filter(({ file }) => file.endsWith(".css"))).toEqual([]);
});
