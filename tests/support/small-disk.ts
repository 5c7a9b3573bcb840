import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { missing, requirePrograms, type Skip } from "./require-program.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

const SIZE_MB = 24;
const BLOCK = Buffer.alloc(4096);

/** A separate file system in memory, removed after the test. Ends the test if this machine does not allow mounting. */
export async function mountSmallDisk(skip: Skip) {
  requirePrograms(skip, "mount");
  const folder = await makeScratchFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MB}m`, "tmpfs", folder], { encoding: "utf8" });
  if (mounted.status !== 0) return missing(skip, `A small disk cannot be mounted here: ${mounted.stderr.trim()}`);
  onTestFinished(() => {
    // A lazy unmount works even if a failed test left a server on it.
    spawnSync("umount", ["-l", folder]);
  });
  const ballast = join(folder, "ballast");
  return {
    folder,
    /** Leaves no free block. */
    async fill(): Promise<void> {
      const pour = (): Promise<void> => writeFile(ballast, BLOCK, { flag: "a" }).then(pour, expectFull);
      await pour();
    },
    /** Frees the filled blocks. */
    free: () => rmSync(ballast),
  };
}

function expectFull(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOSPC") throw error;
}
