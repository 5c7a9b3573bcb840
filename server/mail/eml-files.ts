import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { REFERENCE_PATTERN } from "../../contract/send-email-answer.ts";

/** Where mails go as files when there is no mail server. */
export function emlFolder(dataDir: string): string {
  return join(dataDir, "outbox");
}

/** Resolves once the whole mail is on disk under its name; a crash leaves the file complete or not there. */
export async function writeEml(folder: string, reference: string, content: Uint8Array): Promise<void> {
  const { file, unfinished } = emlPaths(folder, reference);
  const handle = await open(unfinished, "w", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  await syncFolder(folder);
}

/** Removes the mails of these messages, and what a crash left of them. Those that are not there are fine. */
export async function removeEmls(dataDir: string, references: readonly string[]): Promise<void> {
  const folder = emlFolder(dataDir);
  for (const reference of references) {
    const { file, unfinished } = emlPaths(folder, reference);
    await rm(file, { force: true });
    await rm(unfinished, { force: true });
  }
}

function emlPaths(folder: string, reference: string): { file: string; unfinished: string } {
  if (!REFERENCE_PATTERN.test(reference)) throw new Error("not a reference, so not a file of the outbox");
  const file = join(folder, `${reference}.eml`);
  // A fixed name: removing a message finds it again after a crash.
  return { file, unfinished: `${file}.unfinished` };
}

/** A new name is on disk only once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
