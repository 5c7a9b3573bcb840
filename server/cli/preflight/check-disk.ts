import { existsSync } from "node:fs";
import { access, constants, open, statfs, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Finding, fail, ok, warn } from "./finding.ts";

const MEGABYTE = 2 ** 20;
const LEAST_MB = 100;
const COMFORTABLE_MB = 1024;

/** Whether the data folder can be written, and has room. Leaves nothing behind. */
export async function checkDisk(dataDir: string): Promise<Finding> {
  const folder = nearestFolder(dataDir);
  try {
    if (folder === dataDir) await writeAndRemove(join(dataDir, ".preflight"));
    else await access(folder, constants.W_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    const remedy = "make it writable for the server's user, or set DATA_DIR to another folder";
    return fail("disk", `${dataDir} cannot be written (${code})`, remedy);
  }
  const { bavail, bsize } = await statfs(folder);
  return judgeSpace(dataDir, (bavail * bsize) / MEGABYTE);
}

export function judgeSpace(dataDir: string, freeMb: number): Finding {
  const detail = `${Math.floor(freeMb)} MB free in ${dataDir}`;
  if (freeMb < LEAST_MB) return fail("disk", detail, "free some space: without it no message can be stored");
  if (freeMb < COMFORTABLE_MB) return warn("disk", detail, "free some space soon");
  return ok("disk", detail);
}

/** The server makes its folder when it starts; a check does not, since it may run as another user. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

async function writeAndRemove(file: string): Promise<void> {
  const handle = await open(file, "w", 0o600);
  try {
    await handle.writeFile("Written to see whether this folder can be written.\n");
    await handle.sync();
  } finally {
    await handle.close();
    await unlink(file);
  }
}
