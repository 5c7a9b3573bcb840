import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { REFERENCE_PATTERN } from "../../contract/send-email-answer.ts";
import type { ComposedMail } from "./compose.ts";
import { MailError, type Mailer } from "./mailer.ts";

/** Errors that stay until somebody fixes the folder. */
const FOLDER_UNUSABLE = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "EISDIR"];
/** Files whose references the store is asked for in one query. */
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

/** What became of .eml files that were not where they belong. */
export interface TidiedEmls {
  /** Of messages that are known to be erased. */
  removed: number;
  /** Moved to `outbox/unknown/`: this database has never heard of their messages. */
  unknown: number;
  /** Moved back from there, because their messages are in the database again. */
  returned: number;
}

/**
 * Puts every .eml file, finished or not, where it belongs. Only files of messages that are known to be erased are removed:
 * a missing row alone may also mean another database, or an older one. It touches only files named after a reference. A
 * file that is being written is safe: its message was in the store before, and the folder is listed before the store is
 * asked. One file that fails does not keep the others: it rejects last.
 */
export async function tidyEmls(
  dataDir: string,
  store: Record<"existingReferences" | "erasedReferences", (references: readonly string[]) => Promise<string[]>>,
): Promise<TidiedEmls> {
  const folder = emlFolder(dataDir);
  const files = await listEmls(folder);
  const tidied: TidiedEmls = { removed: 0, unknown: 0, returned: 0 };
  const errors: unknown[] = [];
  const move = async (file: EmlFile, to: string) => {
    await mkdir(join(folder, UNKNOWN), { recursive: true, mode: 0o700 });
    await rename(join(folder, file.name), join(folder, to));
  };
  const names = new Set(files.map(({ name }) => name));
  for (let start = 0; start < files.length; start += REFERENCES_PER_QUERY) {
    const batch = files.slice(start, start + REFERENCES_PER_QUERY);
    const references = [...new Set(batch.map(({ reference }) => reference))];
    // In this order: what is erased between the two is found by the second.
    const existing = new Set(await store.existingReferences(references));
    const erased = new Set(await store.erasedReferences(references.filter((reference) => !existing.has(reference))));
    for (const file of batch) {
      const { name, reference, isUnknown } = file;
      try {
        if (existing.has(reference)) {
          const to = name.replace(`${UNKNOWN}/`, "").replace(COPY_NUMBER, "");
          if (!isUnknown || names.has(to)) continue;
          await move(file, to);
          names.add(to);
          tidied.returned += 1;
        } else if (erased.has(reference)) {
          await rm(join(folder, name), { force: true });
          tidied.removed += 1;
        } else if (!isUnknown) {
          const to = freeName(`${UNKNOWN}/${name}`, names);
          await move(file, to);
          names.add(to);
          tidied.unknown += 1;
        }
      } catch (error) {
        errors.push(error);
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return tidied;
}

/** Removes the .eml files, finished or not, of these messages, and returns their number. */
export async function removeEmls(dataDir: string, references: ReadonlySet<string>): Promise<number> {
  const folder = emlFolder(dataDir);
  const files = references.size > 0 ? await listEmls(folder) : [];
  const errors: unknown[] = [];
  const theirs = files.filter(({ reference }) => references.has(reference));
  for (const { name } of theirs) await rm(join(folder, name), { force: true }).catch((error) => errors.push(error));
  if (errors.length > 0) throw errors[0];
  return theirs.length;
}

interface EmlFile {
  /** Within the folder, `unknown/` included. */
  name: string;
  reference: string;
  isUnknown: boolean;
}

/** The folder within the outbox for files whose message the database does not know. */
const UNKNOWN = "unknown";
/** Ends the name of a second file of the same name. */
const COPY_NUMBER = /\.\d+$/;

async function listEmls(folder: string): Promise<EmlFile[]> {
  const read = (subfolder: string) =>
    readdir(join(folder, subfolder)).catch((error: NodeJS.ErrnoException) => {
      // Created with the first e-mail, and with the first that is unknown.
      if (error.code === "ENOENT") return [];
      throw error;
    });
  const list = (names: readonly string[], isUnknown: boolean) =>
    names.flatMap((name) => {
      const pattern = isUnknown ? name.replace(COPY_NUMBER, "") : name;
      const reference = /^(.+?)(\.acknowledgement)?\.eml(\.unfinished)?$/.exec(pattern)?.[1] ?? "";
      if (!REFERENCE_PATTERN.test(reference)) return [];
      return { name: isUnknown ? `${UNKNOWN}/${name}` : name, reference, isUnknown };
    });
  return [...list(await read(""), false), ...list(await read(UNKNOWN), true)];
}

/** The name, with a number behind it if it is taken. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let candidate = name;
  for (let number = 1; taken.has(candidate); number += 1) candidate = `${name}.${number}`;
  return candidate;
}

function emlFolder(dataDir: string): string {
  return join(dataDir, "outbox");
}

/**
 * Resolves once the whole e-mail is on disk under its name; a crash leaves a complete file or none. An acknowledgement's
 * file is named after the reference of its message too, and so goes with it.
 */
async function writeEml(
  folder: string,
  { reference, isAcknowledgement }: ComposedMail,
  content: Uint8Array,
): Promise<void> {
  if (!REFERENCE_PATTERN.test(reference)) throw new Error("not a reference, so not a file of the outbox");
  const file = join(folder, `${reference}${isAcknowledgement ? ".acknowledgement" : ""}.eml`);
  // A fixed name, so that it can be found and removed after a crash.
  const unfinished = `${file}.unfinished`;
  await writeFile(unfinished, content, { mode: 0o600, flush: true });
  await rename(unfinished, file);
  // A new name is on disk only once its folder is.
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
