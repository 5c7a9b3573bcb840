import { globSync, readFileSync } from "node:fs";
import { checkSync } from "recheck";
import { parseAst } from "vite";
import { expect, test } from "vitest";

const files = globSync("{server,contract,app}/**/*.{ts,tsx}").filter((file) => !file.includes(".test."));

test("no regular expression takes more than linear time", () => {
  const patterns = new Map(files.flatMap((file) => patternsIn(file).map((pattern) => [pattern, file] as const)));
  expect(patterns.size).toBeGreaterThan(50);
  const slow = [...patterns].flatMap(([pattern, file]) => {
    const end = pattern.lastIndexOf("/");
    const { status } = checkSync(pattern.slice(1, end), pattern.slice(end + 1), { timeout: 20_000 });
    return status === "safe" ? [] : `${file}: ${pattern} is ${status}`;
  });
  expect(slow).toEqual([]);
});

/** The regular expression literals in the file. */
function patternsIn(file: string): string[] {
  const found: string[] = [];
  JSON.stringify(parseAst(readFileSync(file, "utf8"), { lang: file.endsWith("x") ? "tsx" : "ts" }), (key, value) => {
    if (key === "regex") found.push(`/${value.pattern}/${value.flags}`);
    return value;
  });
  return found;
}
