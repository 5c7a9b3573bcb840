import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { manifestFile, serverDir } from "../contract/build-manifest.ts";

/**
 * The folder in which this process builds until the result is complete. It is beside the result, so that it can be
 * renamed. Its name contains the process id, from which other builds see whether it is in use. A process always gets
 * the same name, because Vite loads its configuration again for each environment.
 */
export function draftDirOf(outDir: string): string {
  return `${outDir}.new-${process.pid}`;
}

/**
 * Leaves `outDir` unchanged until the draft is complete, so that a refused build removes nothing. If several builds run
 * at once, the last one wins.
 */
export async function replaceWhenBuilt(
  outDir: string,
  draftDir: string,
  buildDraft: () => Promise<void>,
): Promise<void> {
  await clearLeftovers(outDir);
  try {
    await buildDraft();
    await replace(outDir, draftDir);
  } finally {
    await Promise.all([draftDir, manifestFile(draftDir), serverDir(draftDir)].map(remove));
  }
}

async function replace(outDir: string, draftDir: string): Promise<void> {
  const previousDirs: string[] = [];
  // Repeats if another build has put its result there between the two steps.
  while (!(await renamed(draftDir, outDir, ["ENOTEMPTY", "EEXIST"]))) {
    const previousDir = `${outDir}.old-${process.pid}-${randomUUID()}`;
    if (await renamed(outDir, previousDir, ["ENOENT"])) previousDirs.push(previousDir);
  }
  await remove(serverDir(outDir));
  await renamed(serverDir(draftDir), serverDir(outDir), ["ENOENT", "ENOTEMPTY", "EEXIST"]);
  await renamed(manifestFile(draftDir), manifestFile(outDir), ["ENOENT"]);
  await Promise.all(previousDirs.map(remove));
}

/** Removes the remains of killed builds, such as the previous result after a kill between the last two steps. */
async function clearLeftovers(outDir: string): Promise<void> {
  const name = basename(outDir);
  const parent = dirname(outDir);
  for (const sibling of await readdir(parent).catch(() => [])) {
    if (!sibling.startsWith(`${name}.`)) continue;
    const [, kind, pid] = /^\.(new|old)-(\d+)(-.+|\.json)?$/.exec(sibling.slice(name.length)) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const leftover = join(parent, sibling);
    if (kind === "old" && !existsSync(outDir)) await renamed(leftover, outDir, ["ENOENT", "ENOTEMPTY", "EEXIST"]);
    await remove(leftover);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Any other error means that the process belongs to another user.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Returns false if the folder could not be renamed for one of these reasons. */
async function renamed(from: string, to: string, reasons: readonly string[]): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (!reasons.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  }
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
