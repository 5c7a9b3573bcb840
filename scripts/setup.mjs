// Installs what a command needs if it is missing: Node 24, and the packages that build and serve the site. --dev adds
// the packages for tests and tools. Plain JavaScript, because it runs on the machine's Node before Node 24 is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFile = join(root, "node_modules", ".setup-stamp");
/** The Node package is separate from the others: a machine with Node 24 does not need its 200 MB. */
const nodeDir = join(root, "scripts", "node-runtime");
/** Where npm scripts look first, and where programs that start the server without npm find Node 24. */
const link = join(root, "node_modules", ".bin", "node");

// Runs before the packages are installed, because npm leaves out packages that do not support npm's own Node.
const ownNode = machineNodeMajor() < 24 ? installNode() : null;
installPackages();
// Checks again, because npm may just have removed the link to the Node 24 of an earlier set-up.
linkNode(ownNode ?? (machineNodeMajor() < 24 ? installNode() : null));

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

function installNode() {
  const problem =
    "Could not install Node 24. Check the connection to the npm registry, or install Node 24 yourself, and try again.";
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

function linkNode(/** @type {string | null} */ file) {
  if (versionOf(link) !== null && file === null) return;
  const machineNode = () =>
    spawnSync("node", ["-p", "process.execPath"], { cwd: root, encoding: "utf8" }).stdout.trim();
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(file === null ? machineNode() : relative(dirname(link), file), link);
}

function versionOf(/** @type {string} */ node) {
  const { status, stdout } = spawnSync(node, ["--version"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim().replace(/^v/, "") : null;
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
