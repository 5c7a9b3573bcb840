import { accessSync, constants, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** The tests use about 40 MB. With little free space, the product warns of a full disk. */
const NEEDED_BYTES = 2 ** 30;

/** In memory if possible: the tests do not test the disk, and a busy disk makes them many times slower. */
export const SCRATCH_PARENT = isUsable(MEMORY) ? MEMORY : tmpdir();

/** Docker's /dev/shm is small, and programs may not run in it. */
function isUsable(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < NEEDED_BYTES) return false;
  const probeFolder = mkdtempSync(join(folder, "scratch-"));
  try {
    writeFileSync(join(probeFolder, "program"), "", { mode: 0o700 });
    accessSync(join(probeFolder, "program"), constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probeFolder, { recursive: true });
  }
}
