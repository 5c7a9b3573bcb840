import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

// In memory if possible, because these tests do not test the disk, and a busy disk slows them down.
const PARENT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** An empty folder for the test, removed after it. */
export async function makeScratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(PARENT, "scratch-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
