import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{app,contract,prerender,server}/**/*.test.{ts,tsx}", "tests/*.test.ts", "tests/faults/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
