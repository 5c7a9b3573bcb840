// Installs a Chromium for tests and tools if none is installed, and with --test-programs the programs that tests run.
// `npm test` and `npm run test:rest` start it.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { findChromium, findHeadlessShell, HEADLESS_SHELL, isInstalled, TEST_PROGRAMS } from "./programs.ts";

const canUseApt = process.getuid?.() === 0 && isInstalled("apt-get");
installChromium();
if (process.argv.includes("--test-programs")) installTestPrograms();

function installChromium(): void {
  if (canUseApt && !findChromium()) {
    console.error("Installing Chromium (apt-get) ...");
    aptGet("update");
    aptGet("install", "chromium");
  }
  // Without it, the tests run in Chromium itself. Not every Debian has it.
  const isInDebian = () => spawnSync("apt-cache", ["show", HEADLESS_SHELL], { stdio: "ignore" }).status === 0;
  if (canUseApt && !findHeadlessShell() && isInDebian()) {
    console.error("Installing Chromium's headless shell (apt-get) ...");
    aptGet("install", HEADLESS_SHELL);
  }
  if (findChromium()) return;
  console.error("Installing Playwright's own Chromium ...");
  const { status } = spawnSync("npx", ["playwright", "install", "chromium"], { stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  console.error("Could not install Chromium. Install Chromium or Chrome yourself, or set CHROMIUM_PATH to its path.");
  process.exitCode = 1;
}

function installTestPrograms(): void {
  const findMissing = () => Object.entries(TEST_PROGRAMS).filter(([name]) => !isInstalled(name));
  let missing = findMissing();
  if (missing.length > 0 && canUseApt) {
    console.error(`Installing ${missing.map(([name]) => name).join(", ")} for the tests (apt-get) ...`);
    withoutStartingServices(() => {
      aptGet("update");
      // Installs one program at a time, so that a package that this Debian lacks does not stop the others.
      for (const [, packages] of missing) aptGet("install", "--no-install-recommends", ...packages);
    });
    missing = findMissing();
  }
  if (missing.length === 0) return;
  const names = missing.map(([name, packages]) => `${name} (Debian: ${packages.join(" ")})`);
  const outcome = process.env.CI ? "will fail, because CI is set" : "will be skipped";
  console.error(`Not installed: ${names.join(", ")}. Tests that need them ${outcome}.`);
}

/** Debian starts services such as nginx and Caddy on installation and at every boot. This prevents both. */
function withoutStartingServices(install: () => void): void {
  // Debian starts a service only if this program allows it. Images often have one already.
  const policyFile = "/usr/sbin/policy-rc.d";
  const isOurs = !existsSync(policyFile);
  const services = ["nginx", "caddy"].filter((name) => !isInstalled(name));
  if (isOurs) writeFileSync(policyFile, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    install();
  } finally {
    if (isOurs) rmSync(policyFile);
  }
  const installed = services.filter((name) => isInstalled(name));
  if (installed.length > 0) spawnSync("systemctl", ["disable", "--quiet", ...installed], { stdio: "ignore" });
}

/** Runs quietly and asks no questions. The caller must check what was installed. */
function aptGet(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, stderr } = spawnSync("apt-get", ["-y", "-qq", ...args], { env, encoding: "utf8" });
  if (status !== 0) console.error(`apt-get ${args.join(" ")} failed: ${stderr?.trim()}`);
}
