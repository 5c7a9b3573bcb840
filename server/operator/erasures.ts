import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorName } from "../log.ts";
import { OperatorError } from "../operator-error.ts";
import type { Erasure } from "../store/archive.ts";

// The erased people, one line each with a keyed hash of the address, so that restoring a backup does not restore their
// messages.

const erasuresFile = (dataDir: string) => join(dataDir, "erasures");

/** Resolves once the line is on disk. Rejects with an OperatorError. */
export async function noteErasure(dataDir: string, { hash, at }: Erasure): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await using file = await open(erasuresFile(dataDir), "a", 0o600);
    await file.write(`${hash} ${at.toISOString()}\n`);
    await file.sync();
    // A new file's name is on disk only after its folder is synced.
    await using folder = await open(dataDir, "r");
    await folder.sync();
  } catch (error) {
    const problem = `The erasure cannot be recorded in ${erasuresFile(dataDir)} (${errorName(error)}), and nothing was erased`;
    throw new OperatorError({ problem, remedy: "make that file writable" }, { cause: error });
  }
}

export async function readErasures(dataDir: string): Promise<Erasure[]> {
  const text = await readFile(erasuresFile(dataDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    const problem = `${erasuresFile(dataDir)} cannot be read (${error.code}), and nothing was restored`;
    throw new OperatorError({ problem, remedy: "make that file readable" });
  });
  return text.split("\n").flatMap((line) => {
    const [hash, at] = line.split(" ");
    return hash && at ? { hash, at: new Date(at) } : [];
  });
}
