import type { Config } from "../../config.ts";
import { MailError } from "../../mail/mailer.ts";
import { type SmtpLimits, tryToSignIn } from "../../mail/smtp-mailer.ts";
import { type Finding, fail, ok } from "./finding.ts";
import { domainOf, isReservedDomain } from "./reserved-domain.ts";

const LIMITS: SmtpLimits = { connectMs: 5000, silenceMs: 5000, attemptMs: 10_000 };

/** Whether the mail server lets us in. Sends nothing. */
export async function checkSmtp(smtpUrl: string | null, limits: SmtpLimits = LIMITS): Promise<Finding> {
  if (smtpUrl === null) {
    return fail(
      "mail server",
      "none is set: messages are kept, but nobody is mailed",
      "set SMTP_URL, e.g. smtp://user:password@mail.your-provider.com:587",
    );
  }
  const { hostname, port, username } = new URL(smtpUrl);
  const where = port ? `${hostname}:${port}` : hostname;
  try {
    await tryToSignIn(smtpUrl, limits);
    return ok("mail server", `${where} ${username ? "accepts the sign-in" : "answers, without a sign-in"}`);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return fail("mail server", `${where}: ${error.message}`, "correct SMTP_URL, or ask the mail provider");
  }
}

/** Whether the addresses that mails go to and come from can be real ones. */
export function checkMailboxes({ mailTo, mailFrom }: Record<keyof Pick<Config, "mailTo" | "mailFrom">, string>) {
  return Object.entries({ MAIL_TO: mailTo, MAIL_FROM: mailFrom }).map(
    ([name, address]): Finding =>
      isReservedDomain(domainOf(address))
        ? fail(name, `${address} is a placeholder`, `set ${name}, e.g. ${name}=team@your-company.com`)
        : ok(name, address),
  );
}
