import { defineConfig } from "vitest/config";
import { companySettings } from "./prerender/site-dir.ts";

export default defineConfig({
  plugins: [companySettings()],
  test: {
    // One per core of the smallest machine that runs the tests.
    maxWorkers: 2,
    globalSetup: "tests/support/global-setup.ts",
    diff: { expand: false, truncateThreshold: 60 },
    // Only a test that hangs reaches it: many times what a test needs, because the machine may be slow.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Ten times the default, because the machine may be slow. Only a failing test waits that long.
    expect: { poll: { timeout: 10_000 } },
    // Test files share imported modules: no test replaces a module, and every spy is restored.
    isolate: false,
    restoreMocks: true,
    // Halves the start time of the store's thread.
    env: { NODE_COMPILE_CACHE: "node_modules/.cache/server" },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["{app,contract,desk,prerender,server}/**/*.test.{ts,tsx}", "tests/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "full",
          include: ["tests/full/**/*.test.ts", "tests/faults/*.test.ts"],
          // These tests build the site, or wait for real time.
          testTimeout: 300_000,
        },
      },
    ],
  },
});
