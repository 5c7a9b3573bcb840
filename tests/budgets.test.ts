import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import type { BuildManifest } from "../contract/build-manifest.ts";

const { files } = JSON.parse(readFileSync("dist/.build.json", "utf8")) as BuildManifest;
const sizesOf = (pattern: RegExp, suffix = "") =>
  files
    .filter(({ file }) => pattern.test(file))
    .map(({ file }) => [file, statSync(`dist/${file}${suffix}`).size] as const);

/** Bytes as they travel: brotli where that is sent, the file itself elsewhere. */
test.each([
  ["a page with its styles fits the first round trip", /\.html$/, ".br", 14_000],
  ["the contact form's script", /^assets\/.*\.js$/, ".br", 62_000],
  ["the display face", /\.woff2$/, "", 25_000],
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
