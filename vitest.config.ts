import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Started first, so that none of them is still running alone when all else is done. */
const LONGEST = ["three-nodes", "cli", "store-contract", "faults/database", "metrics", "restore", "two-nodes"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      LONGEST.findIndex((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
    const isLong = (file: TestSpecification) => rank(file) >= 0;
    const others = files.filter((file) => !isLong(file));
    return [...files.filter(isLong).toSorted((a, b) => rank(a) - rank(b)), ...(await super.sort(others))];
  }
}

export default defineConfig({
  test: {
    include: ["{app,contract,inbox,prerender,server}/**/*.test.{ts,tsx}", "tests/*.test.ts", "tests/faults/*.test.ts"],
    globalSetup: "tests/support/global-setup.ts",
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // One for each core of the smallest machine that the tests are meant for; a full fault test has the machine to itself.
    maxWorkers: process.env.FAULTS === "full" ? 1 : 2,
    sequence: { sequencer: LongestFirst },
    // Files share what they import: no test replaces a module, and every spy is taken back.
    isolate: false,
    restoreMocks: true,
    // The store's thread starts in half the time.
    env: { NODE_COMPILE_CACHE: "node_modules/.cache/server" },
  },
});
