import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{app,contract,prerender,server}/**/*.test.{ts,tsx}", "tests/*.test.ts", "tests/faults/*.test.ts"],
    globalSetup: "tests/support/global-setup.ts",
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // One for each core of a small machine; on one with more, servers under test are as slow as they ever get.
    maxWorkers: 2,
  },
});
