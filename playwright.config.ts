import { defineConfig } from "@playwright/test";
import { chromiumOptions } from "./scripts/programs.mjs";

/**
 * A switch given twice counts once, so this repeats what of Playwright's own list matters here. The first three make up
 * more than half of the time that Chromium takes to open a window: invisible menus of the address bar, and a
 * process in reserve.
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

export default defineConfig({
  testDir: "tests/e2e",
  globalSetup: "./tests/e2e/global-setup.ts",
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [["line"]],
  use: { launchOptions: chromiumOptions(`--disable-features=${SWITCHED_OFF}`) },
  projects: [
    // What visitors and operators do. `npm test` runs these alone.
    { name: "chromium", testIgnore: ["engines.spec.ts", "full/**"], grepInvert: /@full/ },
    // Slow tests that are not a user's journey: contrast on many frames, other hosts, a separate build or database; and
    // the tests of the journeys' files that are tagged.
    { name: "chromium-full", testIgnore: "engines.spec.ts", grep: /full\/[\w-]+\.spec|@full/ },
    // What can differ in Firefox and WebKit.
    { name: "engines", testMatch: "engines.spec.ts" },
  ],
});
