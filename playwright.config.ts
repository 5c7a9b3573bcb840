import { defineConfig } from "@playwright/test";
import { chromiumOptions, findHeadlessShell } from "./tests/support/programs.ts";

/**
 * Chromium uses only one `--disable-features` switch, so this list repeats the entries of Playwright's own list
 * that matter here. The first three take half of the CPU time of tests in a Chromium with windows: two invisible
 * address-bar menus, and a spare process. The headless shell has neither.
 */
const SWITCHED_OFF = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "SpareRendererForSitePerProcess",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
];

const headlessShell = findHeadlessShell();

export default defineConfig({
  testDir: "tests/e2e",
  globalSetup: "./tests/support/build-if-stale.ts",
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [["line"]],
  use: {
    launchOptions: {
      ...chromiumOptions(`--disable-features=${SWITCHED_OFF}`),
      ...(headlessShell && { executablePath: headlessShell }),
    },
  },
  projects: [
    // The tasks of visitors and operators. `npm test` runs only these tests.
    { name: "chromium", testIgnore: ["engines.spec.ts", "full/**"], grepInvert: /@full/ },
    // Slow tests of other things (contrast on many frames, other hosts, a separate build or database), and tests with
    // the tag @full in the other files.
    { name: "chromium-full", testIgnore: "engines.spec.ts", grep: /full\/[\w-]+\.spec|@full/ },
    // Tests of behaviour that can differ in Firefox and WebKit.
    { name: "engines", testMatch: "engines.spec.ts" },
  ],
});
