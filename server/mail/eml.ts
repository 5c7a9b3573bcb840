import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { REFERENCE_PATTERN } from "../../contract/send-email-answer.ts";
import type { ComposedMail } from "./compose.ts";
import { MailError, type Mailer } from "./mailer.ts";

/** Errors that stay until somebody fixes the folder. */
const FOLDER_UNUSABLE = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "EISDIR"];
/** References that the store is asked for in one query. */
const REFERENCES_PER_QUERY = 500;

/** Writes each e-mail to `DATA_DIR/outbox/<reference>.eml`, readable by this user only. */
export function createEmlMailer(dataDir: string): Mailer {
  const folder = emlFolder(dataDir);
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: "windows",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    destination: `files in ${folder}`,
    async send(mail) {
      try {
        const { message } = await transport.sendMail(mail);
        if (!Buffer.isBuffer(message)) throw new Error("the e-mail was not built in memory");
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeEml(folder, mail, message);
      } catch (error) {
        throw classifyFileError(error);
      }
    },
    async close() {},
  };
}

/**
 * Removes the .eml files, finished or not, whose message is not in the store, and returns their number. It touches only
 * files named after a reference. A file that is being written is safe: its message was in the store before, and the
 * folder is listed before the store is asked.
 */
export async function removeStrayEmls(
  dataDir: string,
  store: { existingReferences(references: readonly string[]): Promise<string[]> },
): Promise<number> {
  const folder = emlFolder(dataDir);
  const files = await listEmls(folder);
  const strays: EmlFile[] = [];
  for (let start = 0; start < files.length; start += REFERENCES_PER_QUERY) {
    const batch = files.slice(start, start + REFERENCES_PER_QUERY);
    const existing = new Set(await store.existingReferences(batch.map(({ reference }) => reference)));
    strays.push(...batch.filter(({ reference }) => !existing.has(reference)));
  }
  return removeAll(folder, strays);
}

/** Removes the .eml files, finished or not, of these messages, and returns their number. */
export async function removeEmls(dataDir: string, references: ReadonlySet<string>): Promise<number> {
  const folder = emlFolder(dataDir);
  const files = references.size > 0 ? await listEmls(folder) : [];
  return removeAll(
    folder,
    files.filter(({ reference }) => references.has(reference)),
  );
}

/** One file that cannot be removed does not keep the others: it rejects last. */
async function removeAll(folder: string, files: readonly EmlFile[]): Promise<number> {
  const errors: unknown[] = [];
  for (const { name } of files) {
    await rm(join(folder, name), { force: true }).catch((error) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
  return files.length;
}

interface EmlFile {
  name: string;
  reference: string;
}

async function listEmls(folder: string): Promise<EmlFile[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    // Created with the first e-mail.
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.flatMap((name) => {
    const reference = /^(.+?)(\.acknowledgement)?\.eml(\.unfinished)?$/.exec(name)?.[1] ?? "";
    return REFERENCE_PATTERN.test(reference) ? { name, reference } : [];
  });
}

function emlFolder(dataDir: string): string {
  return join(dataDir, "outbox");
}

/** An acknowledgement's file is named after the reference of its message too, and so goes with it. */
type EmlName = Pick<ComposedMail, "reference" | "isAcknowledgement">;

function emlPaths(folder: string, { reference, isAcknowledgement }: EmlName): { file: string; unfinished: string } {
  if (!REFERENCE_PATTERN.test(reference)) throw new Error("not a reference, so not a file of the outbox");
  const file = join(folder, `${reference}${isAcknowledgement ? ".acknowledgement" : ""}.eml`);
  // A fixed name, so that it can be found and removed after a crash.
  return { file, unfinished: `${file}.unfinished` };
}

/** Resolves once the whole e-mail is on disk under its name; a crash leaves a complete file or none. */
async function writeEml(folder: string, name: EmlName, content: Uint8Array): Promise<void> {
  const { file, unfinished } = emlPaths(folder, name);
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

/** A new name is on disk only once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function classifyFileError(error: unknown): MailError {
  const code = String((error as NodeJS.ErrnoException).code ?? "no code");
  return FOLDER_UNUSABLE.includes(code)
    ? new MailError(
        "blocked",
        `the folder outbox of DATA_DIR cannot be written (${code}): check its owner and permissions`,
      )
    : new MailError("temporary", `the e-mail could not be written to the folder outbox of DATA_DIR (${code})`);
}
