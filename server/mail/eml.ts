import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { REFERENCE_PATTERN } from "../../contract/send-email-answer.ts";
import { errorName, isSystemError } from "../errors.ts";
import { compile, MailError, type Mailer } from "./mailer.ts";

const FILE_NAME = /^([^.]+)(\.[\w-]+)?\.eml(\.unfinished)?$/;

const emlFolder = (dataDir: string) => join(dataDir, "outbox");

export function createEmlMailer(dataDir: string): Mailer {
  const folder = emlFolder(dataDir);
  return {
    destination: `files in ${folder}`,
    async send(mail) {
      const name = `${mail.reference}${mail.part ? `.${mail.part}` : ""}.eml`;
      try {
        if (!REFERENCE_PATTERN.test(mail.reference)) throw new Error("not a reference, so not a file of the outbox");
        const content = await compile(mail).build();
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeWhole(folder, name, content);
      } catch (error) {
        const problem = `the email could not be written to the folder DATA_DIR/outbox (${errorName(error)})`;
        // No mail can be written until an operator has fixed the disk or the folder.
        if (isSystemError(error)) throw new MailError("blocked", `${problem}: check its disk, owner and permissions`);
        throw new MailError("temporary", problem);
      }
    },
    removeFiles: async ({ reference }) => void (await removeEmls(dataDir, [reference])),
    async close() {},
  };
}

/** Resolves once the file is on disk under its name; a crash leaves a complete file or none of that name. */
async function writeWhole(folder: string, name: string, content: Uint8Array): Promise<void> {
  const file = join(folder, name);
  // A fixed name, so that the file can be found and removed after a crash.
  const unfinished = `${file}.unfinished`;
  await writeFile(unfinished, content, { mode: 0o600, flush: true });
  await rename(unfinished, file);
  // The new name is on disk only after its folder is synced.
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** Returns the number of files. After an error it removes the rest, then rejects. */
export async function removeEmls(dataDir: string, references: Iterable<string>): Promise<number> {
  const erased = new Set(references);
  if (erased.size === 0) return 0;
  const folder = emlFolder(dataDir);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = names.filter((name) => erased.has(FILE_NAME.exec(name)?.[1] ?? ""));
  const removed = await Promise.allSettled(files.map((name) => rm(join(folder, name), { force: true })));
  const failed = removed.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
  return files.length;
}
