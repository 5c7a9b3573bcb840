import { chmodSync, closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../errors.ts";
import { storeError } from "./errors.ts";

// The files of a SQLite database: messages.db, its write-ahead log, and the log's index.

/** Creates the file if it is missing, readable only by this user. */
export function createPrivateFile(file: string): void {
  const folder = dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    // The write-ahead log gets the same mode as this file.
    chmodSync(file, 0o600);
  } catch (error) {
    const code = errorCode(error) ?? "unknown reason";
    const remedy =
      "allow the server's user to write to it (with systemd, also in ReadWritePaths=), or set DATA_DIR to another folder";
    const problem = `Messages cannot be stored in ${folder} (${code})`;
    throw storeError(code, { problem, remedy }, error);
  }
}

export function removeDatabase(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
}

/** A restore works on this copy of the backup, and removes it unless it is killed. */
export const restoringFile = (dataDir: string) => join(dataDir, "restoring.db");

/** What is left of the messages.db whose messages were moved to PostgreSQL. It holds people until somebody deletes it. */
export const movedFile = (dataDir: string) => join(dataDir, "messages.moved.db");

export function isSameFile(one: string, other: string): boolean {
  const identity = identityOf(one);
  return identity !== null && identity === identityOf(other);
}

/** A backup is complete or absent, and never overwrites another file. Removes the remains of an interrupted one. */
export async function writeNewFile(
  file: string,
  write: (temporaryFile: string) => Promise<void> | void,
): Promise<void> {
  const temporaryFile = `${file}.partial`;
  removeDatabase(temporaryFile);
  closeSync(openSync(temporaryFile, "wx", 0o600));
  try {
    await write(temporaryFile);
    const written = openSync(temporaryFile, "r");
    fsyncSync(written);
    closeSync(written);
    // Unlike a rename, this refuses a name that is taken.
    linkSync(temporaryFile, file);
  } finally {
    removeDatabase(temporaryFile);
  }
}

/**
 * SQLite writes to removed or replaced files without an error. Call it while the database is open. It only reads file
 * metadata, because opening and closing one of the files would release SQLite's locks.
 */
export function rememberFiles(file: string) {
  const companions = [`${file}-wal`, `${file}-shm`];
  const opened = new Map([file, ...companions].map((path) => [path, identityOf(path)]));
  const isSame = (path: string) => identityOf(path) === opened.get(path);
  return {
    areInPlace: () => [...opened.keys()].every(isSame),
    isOpened: () => isSame(file),
    /** `null` if the log is empty. Changes after every write by any process. */
    logVersion(): string | null {
      const stats = statSync(`${file}-wal`, { throwIfNoEntry: false });
      return stats && stats.size > 0 ? `${stats.size} ${stats.mtimeMs}` : null;
    },
    /** Call it after closing. Removes the log of a replaced database: SQLite would apply it to the replacement. */
    removeStrays(): void {
      if (identityOf(file) === null || isSame(file)) return;
      for (const path of companions) if (isSame(path)) rmSync(path, { force: true });
    },
  };
}

function identityOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev} ${stats.ino}` : null;
}
