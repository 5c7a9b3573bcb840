// Installs what a command needs if it is missing: Node 24, and the packages that build and serve the site. --dev adds
// the packages for tests and tools, --browser a Chromium, --test-programs the programs that tests run. --keep replaces
// no packages, because a server may be using them. Plain JavaScript, because it runs on the machine's Node before Node
// 24 is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium, findHeadlessShell, HEADLESS_SHELL, isInstalled, TEST_PROGRAMS } from "./programs.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFile = join(root, "node_modules", ".setup-stamp");
/** The Node package is separate from the others: a machine with Node 24 does not need its 200 MB. */
const nodeDir = join(root, "scripts", "node-runtime");

// Runs before the packages are installed, because npm leaves out packages that do not support npm's own Node.
const ownNode = machineNodeMajor() < 24 ? installNode() : null;
installPackages();
// Checks again, because npm may just have removed the link to the Node 24 of an earlier set-up.
linkNode(ownNode ?? (machineNodeMajor() < 24 ? installNode() : null));
if (process.argv.includes("--browser")) installBrowser();
if (process.argv.includes("--test-programs")) installTestPrograms();

function installPackages() {
  const path = ownNode === null ? [] : [dirname(ownNode)];
  // An older npm, run by Node 24, would print a warning about its own code.
  const env = { ...process.env, PATH: [...path, process.env.PATH].join(delimiter), NODE_NO_WARNINGS: "1" };
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  for (const folder of [root, nodeDir]) hash.update(readFileSync(join(folder, "package-lock.json")));
  const lock = hash.digest("hex");
  const [installed, extent] = existsSync(stampFile) ? readFileSync(stampFile, "utf8").split(" ") : [];
  const isDev = process.argv.includes("--dev") || extent === "dev";
  if (installed === lock && (extent === "dev" || !isDev)) return;
  if (installed !== undefined && process.argv.includes("--keep")) {
    fail(
      "The packages in node_modules do not match package-lock.json. Stop the server, run npm run build, and start the server.",
    );
  }

  console.error(`Installing the packages ${isDev ? "for tests and tools" : "for building and serving the site"} ...`);
  const problem = "Could not install the packages. Check the connection to the npm registry.";
  // Leaves out TypeScript, a peer dependency of tRPC that only its types need.
  const extentOptions = isDev ? [] : ["--omit=dev", "--omit=peer", "--ignore-scripts"];
  run("npm", ["ci", "--loglevel=error", ...extentOptions], problem, env);
  writeFileSync(stampFile, `${lock} ${isDev ? "dev" : "site"}`);
}

/** The version of the Node that npm scripts find, which may differ from the one that runs this. */
function machineNodeMajor() {
  return Number(versionOf("node")?.split(".")[0] ?? 0);
}

/** Returns the path of the installed Node. */
function installNode() {
  const problem = "Could not install Node 24. Install Node 24 or newer yourself and run the command again.";
  const system = `${process.platform}-${process.arch}`;
  const name = `node-${system}`;
  const version = JSON.parse(readFileSync(join(nodeDir, "package.json"), "utf8")).optionalDependencies[name];
  if (version === undefined)
    fail(`Install Node 24 or newer; this command installs it on Linux only, not on ${system}.`);
  const file = join(nodeDir, "node_modules", name, "bin", "node");
  if (versionOf(file) !== version) {
    console.error(`Installing Node ${version}, because this machine has an older one ...`);
    run("npm", ["ci", "--prefix", nodeDir, "--ignore-scripts", "--loglevel=error"], problem);
    if (versionOf(file) !== version) fail(problem);
  }
  return file;
}

/** Links Node 24 where npm scripts look first, and where programs that start the server without npm find it. */
function linkNode(/** @type {string | null} */ file) {
  const binDir = join(root, "node_modules", ".bin");
  const link = join(binDir, "node");
  if (versionOf(link) !== null && file === null) return;
  const machineNode = () =>
    spawnSync("node", ["-p", "process.execPath"], { cwd: root, encoding: "utf8" }).stdout.trim();
  mkdirSync(binDir, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(file === null ? machineNode() : relative(binDir, file), link);
}

function versionOf(/** @type {string} */ node) {
  const { status, stdout } = spawnSync(node, ["--version"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim().replace(/^v/, "") : null;
}

function installBrowser() {
  if (canUseApt() && !findChromium()) {
    console.error("Installing Chromium (apt-get) ...");
    aptGet("update");
    aptGet("install", "chromium");
  }
  // Without it, the tests run in Chromium itself.
  if (canUseApt() && !findHeadlessShell() && isInDebian(HEADLESS_SHELL)) {
    console.error("Installing Chromium's headless shell (apt-get) ...");
    aptGet("install", HEADLESS_SHELL);
  }
  if (findChromium()) return;
  console.error("Installing Playwright's own Chromium ...");
  const problem = "Could not install Chromium. Install Chromium or Chrome yourself, or set CHROMIUM_PATH to its path.";
  run("npx", ["playwright", "install", "chromium"], problem);
}

function installTestPrograms() {
  const findMissing = () => Object.entries(TEST_PROGRAMS).filter(([name]) => !isInstalled(name));
  let missing = findMissing();
  if (missing.length > 0 && canUseApt()) {
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
function withoutStartingServices(/** @type {() => void} */ install) {
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

function canUseApt() {
  return process.getuid?.() === 0 && isInstalled("apt-get");
}

/** Whether the downloaded package lists of this Debian contain a package. */
function isInDebian(/** @type {string} */ name) {
  return spawnSync("apt-cache", ["show", name], { stdio: "ignore" }).status === 0;
}

/** Runs quietly and asks no questions. The caller must check what was installed. */
function aptGet(/** @type {string[]} */ ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, stderr } = spawnSync("apt-get", ["-y", "-qq", ...args], { env, encoding: "utf8" });
  if (status !== 0) console.error(`apt-get ${args.join(" ")} failed: ${stderr?.trim()}`);
}

function run(
  /** @type {string} */ command,
  /** @type {string[]} */ args,
  /** @type {string} */ problem,
  env = process.env,
) {
  // Standard output is reserved for the command that follows the set-up.
  const { status } = spawnSync(command, args, {
    cwd: root,
    env,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) fail(problem);
}

/** @returns {never} */
function fail(/** @type {string} */ problem) {
  console.error(problem);
  process.exit(1);
}
