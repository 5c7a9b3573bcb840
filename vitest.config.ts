import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // One for each core of the smallest machine that the tests are meant for.
    maxWorkers: 2,
    globalSetup: "tests/support/global-setup.ts",
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Ten times the usual one: only a test that fails waits that long, and the machine may be slow.
    expect: { poll: { timeout: 10_000 } },
    // Files share what they import: no test replaces a module, and every spy is restored.
    isolate: false,
    restoreMocks: true,
    // The store's thread starts in half the time.
    env: { NODE_COMPILE_CACHE: "node_modules/.cache/server" },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["{app,contract,inbox,prerender,server}/**/*.test.{ts,tsx}", "tests/*.test.ts"],
        },
      },
      { extends: true, test: { name: "full", include: ["tests/full/**/*.test.ts", "tests/faults/*.test.ts"] } },
    ],
  },
});
