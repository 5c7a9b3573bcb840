import { createEmlMailer } from "./eml-mailer.ts";
import type { Mailer } from "./mailer.ts";
import { createSmtpMailer } from "./smtp-mailer.ts";

/** SMTP when there is a mail server, files otherwise. */
export function openMailer(config: { smtpUrl: string | null; dataDir: string }): Mailer {
  return config.smtpUrl === null ? createEmlMailer(config.dataDir) : createSmtpMailer(config.smtpUrl);
}
