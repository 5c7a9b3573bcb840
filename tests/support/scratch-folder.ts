import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { SCRATCH_PARENT } from "./scratch-parent.ts";

/** An empty folder for the test, removed after it. */
export async function makeScratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(SCRATCH_PARENT, "scratch-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
