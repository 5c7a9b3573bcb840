import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorName, OperatorError } from "../log.ts";
import type { Erasure } from "../store/store.ts";

// Who was erased, so that a restored backup does not bring them back: a line each, with a keyed hash of the address.

const erasuresFile = (dataDir: string) => join(dataDir, "erasures");

/** Resolves once it is on disk. Rejects with OperatorError. */
export async function noteErasure(dataDir: string, { hash, at }: Erasure): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await using file = await open(erasuresFile(dataDir), "a", 0o600);
    await file.write(`${hash} ${at.toISOString()}\n`);
    await file.sync();
    // A new name is on disk only once its folder is.
    await using folder = await open(dataDir, "r");
    await folder.sync();
  } catch (error) {
    throw new OperatorError(
      `The erasure cannot be noted in ${erasuresFile(dataDir)} (${errorName(error)}), and nothing was erased; make that file writable`,
      { cause: error },
    );
  }
}

export async function readErasures(dataDir: string): Promise<Erasure[]> {
  const text = await readFile(erasuresFile(dataDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new OperatorError(`${erasuresFile(dataDir)} cannot be read (${error.code}); nothing was restored`);
  });
  return text.split("\n").flatMap((line) => {
    const [hash, at] = line.split(" ");
    return hash && at ? { hash, at: new Date(at) } : [];
  });
}
