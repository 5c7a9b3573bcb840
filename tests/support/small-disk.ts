import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { missing, requirePrograms, type Skip } from "./require-program.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

const SIZE_MB = 24;
const BLOCK = Buffer.alloc(4096);

export interface SmallDisk {
  folder: string;
  /** Leaves not one block free, or as many as given. */
  fill(freeBlocks?: number): Promise<void>;
  /** Frees what was filled. */
  free(): void;
}

/** A file system of its own in memory, gone after the test. Ends the test where this machine does not allow mounting. */
export async function mountSmallDisk(skip: Skip): Promise<SmallDisk> {
  requirePrograms(skip, "mount");
  const folder = await makeScratchFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MB}m`, "tmpfs", folder], { encoding: "utf8" });
  if (mounted.status !== 0) return missing(skip, `A small disk cannot be mounted here: ${mounted.stderr.trim()}`);
  onTestFinished(() => {
    // Lazily: a server that a failed test left behind must not keep it.
    spawnSync("umount", ["-l", folder]);
  });
  const ballast = join(folder, "ballast");
  return {
    folder,
    async fill(freeBlocks = 0) {
      const pour = (): Promise<void> => writeFile(ballast, BLOCK, { flag: "a" }).then(pour, expectFull);
      await pour();
      if (freeBlocks > 0) await truncate(ballast, statSync(ballast).size - freeBlocks * BLOCK.length);
    },
    free: () => rmSync(ballast),
  };
}

function expectFull(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOSPC") throw error;
}
