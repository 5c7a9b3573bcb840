import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { copyProject } from "../support/project-copy.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

/** Runs `npm run build` without its set-up step. */
function startBuild(cwd: string): ChildProcess {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const child = spawn("npm", ["run", "build", "--ignore-scripts"], {
    cwd,
    env: { PATH },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
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

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function outcomeOf(child: ChildProcess): Promise<{ code: number; errors: string }> {
  const { stdout, stderr } = child;
  stdout?.resume();
  const [[code], errors] = await Promise.all([once(child, "exit"), stderr === null ? "" : text(stderr)]);
  return { code, errors };
}

test("simultaneous builds in one project do not affect each other, and remove the remains of a killed build", {
  timeout: 180_000,
}, async () => {
  const project = await copyProject("inbox", "package-lock.json", "vite.inbox.config.ts");
  const outputs = async () => (await readdir(project)).filter((name) => name.startsWith("dist"));
  const killed = startBuild(project);
  await expect.poll(outputs, { timeout: 60_000, interval: 20 }).toEqual([expect.stringMatching(/^dist\.new-\d+$/)]);
  killGroup(killed);
  await once(killed, "exit");
  const [leftover = ""] = await outputs();
  // npm starts the build as a child process, which may end shortly after npm.
  await expect.poll(() => isRunning(Number(leftover.replace(/^.*-/, ""))), { timeout: 20_000 }).toBe(false);

  const builds = [1, 2].map(() => outcomeOf(startBuild(project)));
  for (const { code, errors } of await Promise.all(builds)) expect(code, errors).toBe(0);
  expect(await outputs()).toEqual(["dist", "dist-inbox", "dist.json"]);
  const uploaded = await readdir(join(project, "dist"), { recursive: true });
  expect(uploaded).toContain("index.html");
  expect(uploaded.filter((name) => /(^|\/)\.(?!well-known)|claims|manifest\.json/.test(name))).toEqual([]);
  expect(await readdir(join(project, "dist-inbox"))).toContain("index.html");
  const inboxScripts = async () => {
    const folder = join(project, "dist-inbox/assets");
    const names = (await readdir(folder)).filter((name) => name.endsWith(".js"));
    return (await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")))).join("");
  };
  expect((await inboxScripts()).includes("Brighter Carbon")).toBe(true);

  // Another company's settings cause a new inbox build, even if they are older than the existing build.
  const siteDir = await makeScratchFolder();
  const settings = join(siteDir, "site.ts");
  await writeFile(settings, 'export const site = { brand: "Northwind Climate" };');
  for (const path of [settings, siteDir]) await utimes(path, 0, 0);
  const rebuilt = spawn("node", ["scripts/build-inbox.ts"], {
    cwd: project,
    env: { PATH: dirname(process.execPath), SITE_DIR: siteDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await outcomeOf(rebuilt)).toEqual({ code: 0, errors: "" });
  expect((await inboxScripts()).includes("Northwind Climate")).toBe(true);
});
