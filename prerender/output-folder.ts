import { rename, rm } from "node:fs/promises";
import { manifestFile, serverDir } from "../contract/build-manifest.ts";

/** The folder that a build writes until it is complete. It is beside the result, so that it can be renamed. */
export function draftDirOf(outDir: string): string {
  return `${outDir}.new`;
}

/**
 * Leaves `outDir` unchanged until the draft is complete, so that a refused build removes nothing. One build at a time:
 * the next one replaces what a killed build has left.
 */
export async function replaceWhenBuilt(outDir: string, buildDraft: () => Promise<void>): Promise<void> {
  const remove = (path: string) => rm(path, { recursive: true, force: true });
  const parts = [serverDir, (dir: string) => dir, manifestFile];
  const draftDir = draftDirOf(outDir);
  try {
    await buildDraft();
    for (const partOf of parts) {
      await remove(partOf(outDir));
      // The inbox is a folder alone.
      await rename(partOf(draftDir), partOf(outDir)).catch((error) => {
        if (error.code !== "ENOENT" || partOf(outDir) === outDir) throw error;
      });
    }
  } finally {
    for (const partOf of parts) await remove(partOf(draftDir));
  }
}
