// Brings what a command needs and nothing twice: the packages of the lock file, Node 24, and with --browser a Chromium.
// Plain JavaScript, since it must run on the host's Node before Node 24 is here.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium } from "./chromium.mjs";

const NODE_VERSION = "24.21.0";
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFile = join(root, "node_modules", ".setup-stamp");

installPackages();
if (process.argv.includes("--browser")) installBrowser();

function installPackages() {
  const lock = readFileSync(join(root, "package-lock.json"));
  const stamp = createHash("sha256")
    .update(`${process.platform} ${process.arch} ${NODE_VERSION}\n`)
    .update(lock)
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;

  say("Installing packages (first run, or the lock file changed) ...");
  run("npm", ["ci", "--loglevel=error"], "Could not install the packages. Check the connection to the npm registry.");
  if (hostNodeMajor() < 24) {
    say(`Bringing Node ${NODE_VERSION}, since this host has an older one ...`);
    const problem = `Could not bring Node ${NODE_VERSION}. Install Node 24 or newer by hand and run the command again.`;
    run("npm", ["install", "--no-save", "--loglevel=error", `node@${NODE_VERSION}`], problem);
  }
  writeFileSync(stampFile, stamp);
}

/** Asked anew, since `npm ci` removes a Node that an earlier set-up brought. */
function hostNodeMajor() {
  const { stdout } = spawnSync("node", ["--version"], { cwd: root, encoding: "utf8" });
  return Number(/^v(\d+)/.exec(stdout ?? "")?.[1] ?? 0);
}

function installBrowser() {
  if (findChromium()) return;
  const canUseApt = process.getuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;
  if (canUseApt) {
    say("Installing Chromium for the tests (apt-get) ...");
    spawnSync("apt-get", ["update", "-qq"], { stdio: ["ignore", "ignore", "inherit"] });
    spawnSync("apt-get", ["install", "-y", "-qq", "chromium"], { stdio: ["ignore", "ignore", "inherit"] });
    if (findChromium()) return;
  }
  say("Installing Playwright's own Chromium for the tests ...");
  const problem = "Could not install a Chromium. Install Chromium or Chrome, or set CHROMIUM_PATH to one.";
  run("npx", ["playwright", "install", "chromium"], problem);
}

function run(command, args, problem) {
  // Standard output is kept for the command that was asked for.
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  console.error(problem);
  process.exit(1);
}

function say(line) {
  console.error(line);
}
