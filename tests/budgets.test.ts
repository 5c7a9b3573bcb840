import { readdirSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type PageFetch, VIEW_MEDIA, type View } from "../app/screen.ts";
import type { BuildManifest } from "../contract/build-manifest.ts";
import { totalBytes, weighPage } from "../prerender/carbon.ts";
import budgets from "./budgets.json" with { type: "json" };
import { WRITTEN_PATHS } from "./support/screens.ts";

const { files } = JSON.parse(readFileSync("dist.json", "utf8")) as BuildManifest;
const sizesOf = (pattern: RegExp, suffix = "") =>
  files
    .filter(({ file }) => pattern.test(file))
    .map(({ file }) => [file, statSync(`dist/${file}${suffix}`).size] as const);

/**
 * What a browser finds in a page's HTML and fetches for a first view, the first format of each, and of several sizes the
 * one for this screen. The build counts what the screens declare instead, so that one can be checked against the other.
 */
const namedBy = (media: string): readonly [PageFetch["kind"], RegExp][] => [
  ["font", /<link rel="preload" href="([^"]+)" as="font"/],
  ["picture", /<link rel="icon" href="([^"]+)" type="image\/svg\+xml"/],
  ["picture", new RegExp(`<picture>.*?<source type="image/avif" srcset="([^"]+)"${media}/>`, "i")],
  ["script", /\.src="([^"]+)";document\.head/],
  ["data", /<link rel="manifest" href="([^"]+)"/],
  ["data", /data-countries-url="([^"]+)"/],
  ["film", new RegExp(`<template id="film-sources">.*?<source src="([^"]+)" type="[^"]+av01[^"]+"${media}/>`)],
];

function weighBuilt(path: string, view: View) {
  const media = VIEW_MEDIA[view] ? ` media="${RegExp.escape(VIEW_MEDIA[view])}"` : "";
  const file = files.find(({ url }) => url === path)?.file ?? "";
  const html = readFileSync(`dist/${file}`, "utf8");
  const fetches = namedBy(media).flatMap(([kind, pattern]) => {
    const url = pattern.exec(html)?.[1];
    return url ? [{ kind, urls: [url] }] : [];
  });
  return weighPage({ name: path, html, fetches }, (url) => readFileSync(`dist${url}`));
}

const weighed = await Promise.all(
  Object.entries(budgets).map(async ([name, budget]) => {
    const [path = "", view] = name.split(" ") as [string, View?];
    return { name, path, view, budget, fetched: await weighBuilt(path, view ?? "between") };
  }),
);

/** Bytes and requests of a first view, as budgets.json grants them. A budget is a size, so it holds on any machine. */
test.each(weighed)("$name stays within its budget", ({ budget, fetched }) => {
  const bytesOf = (kind: string) => totalBytes(fetched.filter((one) => one.kind === kind));
  expect(fetched.length).toBe(budget.requests);
  expect(bytesOf("page")).toBeLessThanOrEqual(budget.page);
  expect(bytesOf("script")).toBeLessThanOrEqual(budget.script);
  expect(totalBytes(fetched)).toBeLessThanOrEqual(budget.total);
});

test.each(weighed)("the build counted every file that $name fetches", ({ path, view, fetched }) => {
  const { pages } = JSON.parse(readFileSync("dist/carbon.json", "utf8")) as {
    pages: { page: string; screen?: View; bytes: number }[];
  };
  const name = { "/404.html": "coming-soon", "/500.html": "error" }[path] ?? path;
  expect(totalBytes(fetched)).toBe(pages.find(({ page, screen }) => page === name && screen === view)?.bytes);
});

test("every page has a budget", () => {
  // The build itself holds those to the limit that docs/carbon.md states.
  const isWritten = (url: string) => WRITTEN_PATHS.includes(url);
  const pages = files
    .filter(({ kind, url }) => kind === "page" && !isWritten(url))
    .map(({ file }) => readFileSync(`dist/${file}`, "utf8"));
  // Aliases show the same page.
  expect(new Set(pages).size).toBe(new Set(weighed.map(({ path }) => path)).size);
});

test.each([
  ["a page with its styles fits the first round trip", /\.html$/, ".br", 14_000],
  ["the film of phones", /^media\/first-light\.phone\./, "", 160_000],
  ["the film of large screens", /^media\/first-light\.large\./, "", 850_000],
  ["the film between", /^media\/first-light\.(av1|h264)-/, "", 400_000],
  ["the still picture", /^assets\/poster/, "", 30_000],
  ["a social card", /^assets\/social\//, "", 60_000],
  ["the figures for electricity", /^assets\/electricity/, ".br", 4000],
  ["the script of the estimate", /^assets\/footprint-estimate/, ".br", 10_500],
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
