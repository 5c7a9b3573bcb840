import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorName } from "../log.ts";
import { OperatorError } from "../operator-error.ts";
import type { Erasure } from "../store/people.ts";

// The erased people, so that restoring a backup does not restore their messages. Each line has a keyed hash of an
// address, a space and a time.

const LINE = /^([\w-]{43}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

const erasuresFile = (dataDir: string) => join(dataDir, "erasures");

/** Resolves once all lines are on disk. Rejects with an OperatorError, and then records none of them. */
export async function noteErasures(dataDir: string, erasures: readonly Erasure[]): Promise<void> {
  const path = erasuresFile(dataDir);
  // A new line after an unreadable one would make both unreadable.
  await readErasures(dataDir, "nothing was erased");
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await using file = await open(path, "a", 0o600);
    const { size } = await file.stat();
    try {
      await file.writeFile(erasures.map(({ hash, at }) => `${hash} ${at.toISOString()}\n`).join(""));
      await file.sync();
    } catch (error) {
      // A full disk may have taken a part of a line.
      await file.truncate(size);
      throw error;
    }
    // A new file's name is on disk only after its folder is synced.
    await using folder = await open(dataDir, "r");
    await folder.sync();
  } catch (error) {
    const problem = `The erasure cannot be recorded in ${path} (${errorName(error)}), and nothing was erased`;
    throw new OperatorError({ problem, remedy: "make that file writable" }, { cause: error });
  }
}

/** Rejects with an OperatorError if a line is not a complete record, because a person could be missing. */
export async function readErasures(dataDir: string, consequence = "nothing was restored"): Promise<Erasure[]> {
  const path = erasuresFile(dataDir);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    const problem = `${path} cannot be read (${error.code}), and ${consequence}`;
    throw new OperatorError({ problem, remedy: "make that file readable" });
  });
  const lines = text.split("\n");
  const last = lines.pop();
  const records = lines.map((line) => {
    const [, hash, time] = LINE.exec(line) ?? [];
    const at = new Date(time ?? "");
    return hash && !Number.isNaN(at.getTime()) ? { hash, at } : null;
  });
  const unreadable =
    [...records.keys()].find((index) => records[index] === null) ?? (last === "" ? null : lines.length);
  if (unreadable !== null) {
    const problem = `Line ${unreadable + 1} of ${path} is not a complete record, and ${consequence}`;
    const remedy = "correct the line (43 characters, a space, a time such as 2026-01-31T09:00:00.000Z, and a line end)";
    throw new OperatorError({ problem, remedy: `${remedy}, or delete it if its erasure was interrupted` });
  }
  return records.flatMap((record) => record ?? []);
}
