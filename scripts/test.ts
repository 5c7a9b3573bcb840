// Runs the tests in groups, one after another: the fast groups for `npm test`, all groups with --all, and with --rest
// the groups that `npm test` leaves out. Prints which failed.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

interface Group {
  name: string;
  /** One after another; a failed command ends the group. */
  commands: string[];
}

const BUILD: Group = {
  name: "build",
  commands: ["vite build --logLevel warn --mode draft", "node scripts/build-inbox.ts", "node scripts/warm-up.ts"],
};
const FAST: readonly Group[] = [
  { name: "types", commands: ["tsc"] },
  { name: "lint", commands: ["biome check --error-on-warnings"] },
  BUILD,
  { name: "without a browser", commands: ["vitest run --project fast"] },
  { name: "Chromium", commands: ["playwright test --project chromium"] },
];
const REST: readonly Group[] = [
  { name: "faults, nodes, deployment", commands: ["vitest run --project full --maxWorkers 3"] },
  {
    name: "Firefox, WebKit, more Chromium",
    commands: ["playwright test --project chromium-full --project engines"],
  },
];
/** Stops a command that hangs. Many times what each command needs, so that a slow machine does not reach it. */
const LIMIT_MINUTES = 15;

const { values } = parseArgs({ options: { all: { type: "boolean" }, rest: { type: "boolean" } } });
const groups = values.rest ? REST : values.all ? [...FAST, ...REST] : FAST;
const failures: string[] = [];
for (const [index, group] of groups.entries()) {
  const failed = group.commands.find((command) => !succeeds(command));
  if (failed) failures.push(`Failed: ${group.name}. Run it again alone with: npx ${failed}`);
  // All later groups use the build, and must not test an older one.
  if (failed && group === BUILD) {
    for (const later of groups.slice(index + 1)) failures.push(`Not run, because the build failed: ${later.name}`);
    break;
  }
}
if (failures.length > 0) {
  console.error(`\n${failures.join("\n")}`);
  process.exitCode = 1;
}

function succeeds(command: string): boolean {
  const [program = "", ...parameters] = command.split(" ");
  const { status, error } = spawnSync(program, parameters, { stdio: "inherit", timeout: LIMIT_MINUTES * 60_000 });
  if (error) console.error(`${command}: ${error.message}; the limit is ${LIMIT_MINUTES} minutes.`);
  return status === 0;
}
