import { globSync, readFileSync } from "node:fs";
import { checkSync } from "recheck";
import { parseAst } from "vite";
import { expect, test } from "vitest";

const files = globSync("{server,contract,app,desk}/**/*.{ts,tsx}").filter((file) => !file.includes(".test."));

/** Each step ends by its own count: with the default limits of a tenth of a second, the result depends on the load. */
const STEP_MS = 20_000;
const WITHOUT_CLOCK = {
  timeout: 3 * STEP_MS,
  seedingTimeout: STEP_MS,
  incubationTimeout: STEP_MS,
  attackTimeout: STEP_MS,
  recallLimit: -1,
};

test("no regular expression takes more than linear time", () => {
  const patterns = new Map(files.flatMap((file) => patternsIn(file).map((pattern) => [pattern, file] as const)));
  expect(patterns.size).toBeGreaterThan(50);
  const slow = [...patterns].flatMap(([pattern, file]) => {
    const end = pattern.lastIndexOf("/");
    const { status } = checkSync(pattern.slice(1, end), pattern.slice(end + 1), WITHOUT_CLOCK);
    return status === "safe" ? [] : `${file}: ${pattern} is ${status}`;
  });
  expect(slow).toEqual([]);
});

/** The regular expressions in the file: literals, and those built from a template, with a letter for each of its values. */
function patternsIn(file: string): string[] {
  const found: string[] = [];
  const text = readFileSync(file, "utf8");
  JSON.stringify(parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }), (key, value) => {
    if (key === "regex") found.push(`/${value.pattern}/${value.flags}`);
    if (value?.type === "NewExpression" && value.callee.name === "RegExp") {
      const [source, flags] = value.arguments;
      const parts = source.quasis?.map(({ value: { cooked } }: { value: { cooked: string } }) => cooked);
      if (!parts) throw new Error(`${file} builds a regular expression that this test cannot read: use a template.`);
      found.push(`/${parts.join("x")}/${flags?.value ?? ""}`);
    }
    return value;
  });
  return found;
}
