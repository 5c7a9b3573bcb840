import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const text = readFileSync("docs/architecture.md", "utf8");
const named = [...new Set([...text.matchAll(/`([a-z]+\/[\w./-]+)`/g)].map(([, path = ""]) => path))];

test.each(named)("docs/architecture.md names %s, which exists", (path) => {
  expect(existsSync(path)).toBe(true);
});

test("a message passes through at most eight files of the server", () => {
  const steps = text.match(/^\d+\. `server\/[^`]+`/gm) ?? [];
  expect(steps.length).toBeGreaterThan(4);
  expect(steps.length).toBeLessThanOrEqual(8);
});

test("it fits on a screen", () => {
  expect(text.split("\n").length).toBeLessThanOrEqual(60);
});
