import { defineConfig } from "@playwright/test";
import { chromiumOptions } from "./scripts/programs.mjs";

export default defineConfig({
  testDir: "tests/e2e",
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [["line"]],
  use: { launchOptions: chromiumOptions() },
});
