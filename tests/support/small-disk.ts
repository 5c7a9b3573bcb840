import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeScratchFolder } from "./scratch-folder.ts";

const SIZE_MB = 24;
const BLOCK = Buffer.alloc(4096);

export interface SmallDisk {
  folder: string;
  /** Leaves not one block free. */
  fill(): Promise<void>;
  /** Frees what was filled. */
  free(): void;
}

/** A file system of its own in memory, gone after the test; or a plain reason why this machine has none to give. */
export async function mountSmallDisk(): Promise<SmallDisk | string> {
  const folder = await makeScratchFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MB}m`, "tmpfs", folder], { encoding: "utf8" });
  if (mounted.error || mounted.status !== 0)
    return `a small disk cannot be mounted: ${mounted.stderr?.trim() ?? "no mount"}`;
  onTestFinished(() => {
    // Lazily: a server that a failed test left behind must not keep it.
    spawnSync("umount", ["-l", folder]);
  });
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill() {
      const pour = (): Promise<void> => writeFile(ballast, BLOCK, { flag: "a" }).then(pour, expectFull);
      return pour();
    },
    free: () => rmSync(ballast),
  };
}

function expectFull(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOSPC") throw error;
}
