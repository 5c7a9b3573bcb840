import { mkdir } from "node:fs/promises";
import { createTransport } from "nodemailer";
import { emlFolder, removeEmls, writeEml } from "./eml-files.ts";
import { MailError, type Mailer } from "./mailer.ts";

/** Errors that stay until somebody mends the folder. */
const FOLDER_UNUSABLE = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "EISDIR"];

/** Writes each mail to `DATA_DIR/outbox/<reference>.eml`, readable by this user only. */
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
    describe: `files in ${folder}`,
    async send(mail) {
      try {
        const { message } = await transport.sendMail(mail);
        if (!Buffer.isBuffer(message)) throw new Error("the mail was not built in memory");
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeEml(folder, mail.reference, message);
      } catch (error) {
        throw fileError(error);
      }
    },
    forget: (reference) => removeEmls(dataDir, [reference]),
    async close() {},
  };
}

function fileError(error: unknown): MailError {
  const code = String((error as NodeJS.ErrnoException).code ?? "no code");
  return FOLDER_UNUSABLE.includes(code)
    ? new MailError("blocked", `the folder outbox of DATA_DIR cannot be written (${code}): check its owner and rights`)
    : new MailError("temporary", `the mail could not be written to the folder outbox of DATA_DIR (${code})`);
}
