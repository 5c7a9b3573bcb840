// Runs the tests in groups, one after another: the fast groups for `npm test`, all groups with --all, and with --rest
// the groups that `npm test` leaves out. Prints how long each took, and which failed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
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
const SLOWEST = 10;

interface TestFile {
  name: string;
  tests: number;
  seconds: number;
}

const { values } = parseArgs({ options: { all: { type: "boolean" }, rest: { type: "boolean" } } });
const groups = values.rest ? REST : values.all ? [...FAST, ...REST] : FAST;
const folder = mkdtempSync(join(tmpdir(), "test-times-"));
const times: { name: string; seconds: number; files: TestFile[] }[] = [];
const failures: string[] = [];
for (const [index, group] of groups.entries()) {
  const { name, commands } = group;
  const startMs = performance.now();
  const report = join(folder, `${index}.json`);
  const failed = commands.find((command) => !succeeds(command, report));
  times.push({ name, seconds: (performance.now() - startMs) / 1000, files: readReport(report) });
  if (failed) failures.push(`Failed: ${name}. Run it again alone with: npx ${failed}`);
  // All later groups use the build, and must not test an older one.
  if (failed && group === BUILD) {
    for (const later of groups.slice(index + 1)) failures.push(`Not run, because the build failed: ${later.name}`);
    break;
  }
}
rmSync(folder, { recursive: true });
printTimes();
if (failures.length > 0) {
  console.error(`\n${failures.join("\n")}`);
  process.exitCode = 1;
}

function succeeds(command: string, report: string): boolean {
  const [program = "", ...parameters] = command.split(" ");
  if (program === "vitest") parameters.push("--reporter=default", "--reporter=json", `--outputFile.json=${report}`);
  if (program === "playwright") parameters.push("--reporter=line,json");
  const { status, error } = spawnSync(program, parameters, {
    stdio: "inherit",
    env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: report },
    timeout: LIMIT_MINUTES * 60_000,
  });
  if (error) console.error(`${command}: ${error.message}; the limit is ${LIMIT_MINUTES} minutes.`);
  return status === 0;
}

interface VitestReport {
  testResults: { name: string; startTime: number; endTime: number; assertionResults: unknown[] }[];
}

interface PlaywrightSuite {
  file: string;
  suites?: PlaywrightSuite[];
  specs: { tests: { results: { duration: number }[] }[] }[];
}

/** The files in a report of vitest or Playwright; none if the group has no tests. */
function readReport(report: string): TestFile[] {
  if (!existsSync(report)) return [];
  const { testResults, suites } = JSON.parse(readFileSync(report, "utf8")) as Partial<VitestReport> & {
    suites?: PlaywrightSuite[];
  };
  const fromVitest = testResults?.map(({ name, startTime, endTime, assertionResults }) => ({
    name: relative("", name),
    tests: assertionResults.length,
    seconds: (endTime - startTime) / 1000,
  }));
  const fromPlaywright = suites?.map((suite) => {
    const durationsMs = durationsIn(suite);
    const seconds = durationsMs.reduce((sum, durationMs) => sum + durationMs, 0) / 1000;
    return { name: join("tests/e2e", suite.file), tests: durationsMs.length, seconds };
  });
  return fromVitest ?? fromPlaywright ?? [];
}

function durationsIn({ specs, suites = [] }: PlaywrightSuite): number[] {
  const own = specs.flatMap(({ tests }) => tests.flatMap(({ results }) => results.map(({ duration }) => duration)));
  return [...own, ...suites.flatMap(durationsIn)];
}

function printTimes(): void {
  const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);
  console.log("");
  row("group", "files", "tests", "seconds");
  row("---", "--:", "--:", "--:");
  for (const { name, seconds, files } of times) {
    row(
      name,
      files.length,
      files.reduce((sum, { tests }) => sum + tests, 0),
      seconds.toFixed(0),
    );
  }
  row("all", "", "", times.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(0));
  console.log("");
  row(`slowest ${SLOWEST} files`, "tests", "seconds");
  row("---", "--:", "--:");
  const files = times.flatMap((group) => group.files).toSorted((a, b) => b.seconds - a.seconds);
  for (const { name, tests, seconds } of files.slice(0, SLOWEST)) row(name, tests, seconds.toFixed(1));
}
