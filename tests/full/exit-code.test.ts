import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("a test that fails makes the whole run fail", () => {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", "tests/fixtures/failing.vitest.config.ts"];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
  expect(stdout).toContain("1 failed");
  expect(status).toBe(1);
}, 60_000);
