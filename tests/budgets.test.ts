import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import type { BuildManifest } from "../contract/build-manifest.ts";
import { totalBytes, weighPage } from "../prerender/page-weight.ts";
import budgets from "./budgets.json" with { type: "json" };

const { files } = JSON.parse(readFileSync("dist/.build.json", "utf8")) as BuildManifest;
const sizesOf = (pattern: RegExp, suffix = "") =>
  files
    .filter(({ file }) => pattern.test(file))
    .map(({ file }) => [file, statSync(`dist/${file}${suffix}`).size] as const);

/** Bytes and requests of a first view, as budgets.json grants them. A budget is a size, so it holds on any machine. */
test.each(Object.entries(budgets))("%s stays within its budget", async (path, budget) => {
  const file = files.find(({ url }) => url === path)?.file ?? "";
  const fetched = await weighPage(path, readFileSync(`dist/${file}`, "utf8"), "dist");
  const bytesOf = (kind: string) => totalBytes(fetched.filter((one) => one.kind === kind));
  expect(fetched.length).toBe(budget.requests);
  expect(bytesOf("page")).toBeLessThanOrEqual(budget.page);
  expect(bytesOf("script")).toBeLessThanOrEqual(budget.script);
  expect(totalBytes(fetched)).toBeLessThanOrEqual(budget.total);
});

test("every page has a budget", () => {
  const pages = files.filter(({ kind }) => kind === "page").map(({ file }) => readFileSync(`dist/${file}`, "utf8"));
  // Aliases show the same page.
  expect(new Set(pages).size).toBe(Object.keys(budgets).length);
});

test.each([
  ["a page with its styles fits the first round trip", /\.html$/, ".br", 14_000],
  ["a film", /^media\//, "", 400_000],
  ["the still picture", /^assets\/poster/, "", 30_000],
  ["a social card", /^assets\/social\//, "", 60_000],
])("%s stays within its budget", (_what, pattern, suffix, budgetBytes) => {
  const sizes = sizesOf(pattern, suffix);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.filter(([, bytes]) => bytes > budgetBytes)).toEqual([]);
});

test("there is one script file, and no style sheet", () => {
  expect(files.filter(({ file }) => file.endsWith(".js"))).toHaveLength(1);
  expect(files.filter(({ file }) => file.endsWith(".css"))).toEqual([]);
});
