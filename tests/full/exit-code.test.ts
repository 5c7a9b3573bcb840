import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test.each([
  ["a test that fails", {}, "1 failed"],
  ["a build that fails before the tests", { SITE_URL: "nonsense" }, "SITE_URL"],
])(
  "%s makes the whole run fail",
  (_what, env, words) => {
    const args = ["node_modules/vitest/vitest.mjs", "run", "--config", "tests/fixtures/failing.vitest.config.ts"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: { ...process.env, ...env },
      timeout: 60_000,
    });
    expect(stdout + stderr).toContain(words);
    expect(status).toBe(1);
  },
  60_000,
);
