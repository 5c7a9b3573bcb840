import { chmodSync, closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { StoreUnavailable } from "./store.ts";

// The files of a SQLite database: messages.db, its write-ahead log, and the log's index.

/** Makes the file, if it is missing, and lets no other user read it. */
export function createPrivateFile(file: string): void {
  const folder = dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    // The write-ahead log takes its mode from this file.
    chmodSync(file, 0o600);
  } catch (error) {
    const code = errorCode(error);
    // A unit with ProtectSystem=strict sees every other folder as read-only.
    const remedy =
      code === "EROFS"
        ? "under systemd, name the folder in ReadWritePaths= of the unit; else make the disk writable"
        : "let the user of the server write to it, or set DATA_DIR to a folder that this user may write to";
    throw new StoreUnavailable(`The messages cannot be kept in ${folder} (${code}); ${remedy}`, { cause: error });
  }
}

/**
 * Lets `write` fill a private file beside `file`, then gives it its name: a backup is whole or absent, and no other file is ever
 * overwritten. What an interrupted backup left is removed.
 */
export async function writeNewFile(
  file: string,
  write: (temporaryFile: string) => Promise<void> | void,
): Promise<void> {
  const temporaryFile = `${file}.partial`;
  rmSync(temporaryFile, { force: true });
  closeSync(openSync(temporaryFile, "wx", 0o600));
  try {
    await write(temporaryFile);
    const written = openSync(temporaryFile, "r");
    fsyncSync(written);
    closeSync(written);
    // Unlike a rename, this refuses a name that is taken.
    linkSync(temporaryFile, file);
  } finally {
    rmSync(temporaryFile, { force: true });
  }
}

/**
 * Call it while the database is open: SQLite continues to write to removed or replaced files without an error.
 * It only asks the file system, because opening and closing one of the files would release SQLite's locks.
 */
export function rememberFiles(file: string) {
  const companions = [`${file}-wal`, `${file}-shm`];
  const opened = new Map([file, ...companions].map((path) => [path, identityOf(path)]));
  const isSame = (path: string) => identityOf(path) === opened.get(path);
  return {
    /** Whether the files at their paths are still those that are open. */
    areInPlace: () => [...opened.keys()].every(isSame),
    /** Of the write-ahead log; `null` when it is empty. Differs after every write, of this process or another. */
    logVersion(): string | null {
      const stats = statSync(`${file}-wal`, { throwIfNoEntry: false });
      return stats && stats.size > 0 ? `${stats.size} ${stats.mtimeMs}` : null;
    },
    /** Removes what belongs to a database that is gone, and would be read with another that took its place. */
    removeStrays(): void {
      if (isSame(file)) return;
      for (const path of companions) if (isSame(path)) rmSync(path, { force: true });
    },
  };
}

/** A new name beside the file. */
export function savedFile(file: string, now: Date): string {
  const time = now.toISOString().replaceAll(/[:.]/g, "-");
  return join(dirname(file), `messages-saved-${time}.db`);
}

function identityOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev} ${stats.ino}` : null;
}

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
