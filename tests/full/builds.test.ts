import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { copyProject } from "../support/project-copy.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

/** Resolves to what the command prints; rejects if it fails. */
function run(cwd: string, command: string, env: Record<string, string> = {}) {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const [program = "", ...args] = command.split(" ");
  return promisify(execFile)(program, args, { cwd, env: { PATH, ...env } });
}

test("simultaneous builds in one project do not affect each other, and remove the remains of a killed build", async () => {
  const project = await copyProject("inbox", "package-lock.json", "vite.inbox.config.ts");
  const outputs = async () => (await readdir(project)).filter((name) => name.startsWith("dist"));
  // No process has this number; the largest on Linux is 4,194,304.
  await mkdir(join(project, "dist.new-4194305"));
  // Drafts, so that an unsigned sentence does not fail this test too.
  await Promise.all([1, 2].map(() => run(project, "node_modules/.bin/vite build --logLevel warn --mode draft")));
  await run(project, "node scripts/build-inbox.ts");
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
  expect((await run(project, "node scripts/build-inbox.ts", { SITE_DIR: siteDir })).stderr).toBe("");
  expect((await inboxScripts()).includes("Northwind Climate")).toBe(true);
}, 180_000);
