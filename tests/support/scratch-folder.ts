import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

// In memory where there is such a folder: these tests are not about the disk, and a busy one makes them slow.
const PARENT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** An empty folder of the test's own, gone after it. */
export async function makeScratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(PARENT, "scratch-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
