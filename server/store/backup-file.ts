import { closeSync, fsyncSync, linkSync, openSync, unlinkSync } from "node:fs";

/**
 * Lets `write` fill a private file beside `file`, then gives it its name: a backup is whole or absent, and nothing is
 * ever overwritten.
 */
export async function writeNewFile(file: string, write: (temporaryFile: string) => Promise<void>): Promise<void> {
  const temporaryFile = `${file}.partial`;
  closeSync(openSync(temporaryFile, "wx", 0o600));
  try {
    await write(temporaryFile);
    const written = openSync(temporaryFile, "r");
    fsyncSync(written);
    closeSync(written);
    linkSync(temporaryFile, file);
  } finally {
    unlinkSync(temporaryFile);
  }
}
