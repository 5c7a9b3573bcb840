import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { MANIFEST_FILE } from "../../contract/build-manifest.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const SOURCES = [
  ...["app", "contract", "docs", "inbox", "prerender", "scripts", "server"],
  ...["package.json", "package-lock.json", "vite.config.ts", "vite.inbox.config.ts"],
];

/** A copy of the project without a build. */
async function copyProject(): Promise<string> {
  const copy = await makeScratchFolder();
  const isSource = (path: string) => !path.includes("node_modules");
  for (const name of SOURCES) await cp(name, join(copy, name), { recursive: true, filter: isSource });
  await mkdir(join(copy, "node_modules"));
  for (const name of await readdir("node_modules")) {
    // Each project has caches of its own.
    if (![".cache", ".vite-temp"].includes(name)) {
      await symlink(resolve("node_modules", name), join(copy, "node_modules", name));
    }
  }
  return copy;
}

/** Runs `npm run build` without the set-up that comes before it. */
function startBuild(cwd: string): ChildProcess {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const child = spawn("npm", ["run", "build", "--ignore-scripts"], {
    ...{ cwd, env: { PATH, PORT: "0" }, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  });
  onTestFinished(() => killGroup(child));
  return child;
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of its processes have ended.
  }
}

async function outcomeOf(child: ChildProcess): Promise<{ code: number; errors: string }> {
  const { stdout, stderr } = child;
  stdout?.resume();
  const [[code], errors] = await Promise.all([once(child, "exit"), stderr === null ? "" : text(stderr)]);
  return { code, errors };
}

test("builds at once in one project do not disturb each other, and remove what a killed build left", {
  timeout: 180_000,
}, async () => {
  const project = await copyProject();
  const outputs = async () => (await readdir(project)).filter((name) => name.startsWith("dist"));
  const killed = startBuild(project);
  await expect.poll(outputs, { timeout: 60_000, interval: 20 }).toEqual([expect.stringMatching(/^dist\.new-\d+$/)]);
  killGroup(killed);
  await once(killed, "exit");
  expect(await outputs()).toHaveLength(1);

  const builds = [1, 2, 3].map(() => outcomeOf(startBuild(project)));
  for (const { code, errors } of await Promise.all(builds)) expect(code, errors).toBe(0);
  expect(await outputs()).toEqual(["dist", "dist-inbox"]);
  expect(await readdir(join(project, "dist"))).toContain(MANIFEST_FILE);
  expect(await readdir(join(project, "dist-inbox"))).toContain("index.html");
});
