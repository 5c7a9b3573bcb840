import { MailError } from "./mailer.ts";

/** What nodemailer says of a failure, all optional: it may also be any other error. */
interface SmtpFailure {
  code?: unknown;
  /** The system's or TLS library's own code, where nodemailer put its own over it. */
  originalCode?: unknown;
  responseCode?: unknown;
  command?: unknown;
}

const AUTHENTICATION_CODES = [530, 534, 535, 538];
const AUTHENTICATION_ERRORS = ["EAUTH", "ENOAUTH", "EOAUTH2"];
const TLS_ERRORS =
  /^(ETLS|EREQUIRETLS|EPROTO|CERT_.+|ERR_TLS_.+|ERR_SSL_.+|.*SELF_SIGNED.*|UNABLE_TO_.+|HOSTNAME_MISMATCH)$/;
/** The steps that judge this one mail. A refusal before them says nothing about it. */
const MAIL_COMMANDS = ["MAIL FROM", "RCPT TO", "DATA"];
/** Found wrong before a byte was sent; sending it again cannot help. */
const UNSENDABLE = ["EENVELOPE", "EMESSAGE", "ESTREAM", "EFILEACCESS", "EURLACCESS"];

/** Sorts any failure of a send. Only codes get into the text: a server's own words may hold addresses. */
export function classifySmtpError(error: unknown): MailError {
  const failure = (error instanceof Error ? error : {}) as SmtpFailure;
  const reply = typeof failure.responseCode === "number" ? failure.responseCode : 0;
  const code = plainCode(failure.code);
  const cause = plainCode(failure.originalCode) || code;
  const command = MAIL_COMMANDS.find((known) => known === failure.command);
  const step = command ? ` (${command})` : "";

  if (AUTHENTICATION_CODES.includes(reply)) return authenticationError(`${reply} `);
  if (reply >= 400 && reply < 500) return new MailError("temporary", `${reply} deferred by the mail server${step}`);
  if (AUTHENTICATION_ERRORS.includes(code)) return authenticationError(reply > 0 ? `${reply} ` : "");
  if (TLS_ERRORS.test(code) || TLS_ERRORS.test(cause)) {
    return new MailError(
      "blocked",
      `no encrypted connection to the mail server (${cause}): check the host, port and smtp:// or smtps:// of SMTP_URL, and the server's certificate`,
    );
  }
  // 503 is about the order of commands, not about the mail.
  if (command && reply >= 500 && reply !== 503) {
    const what = command === "RCPT TO" ? "mailbox" : command === "MAIL FROM" ? "sender" : "mail";
    return new MailError("permanent", `${reply} ${what} refused by the mail server${step}`);
  }
  if (reply > 0) return new MailError("temporary", `${reply} from the mail server, before it looked at the mail`);
  if (UNSENDABLE.includes(code)) return new MailError("permanent", `the mail cannot be sent as it is (${code})`);
  if (code === "EDNS") return new MailError("temporary", `the mail server's name was not found (${cause})`);
  if (code === "ETIMEDOUT") return new MailError("temporary", "no answer from the mail server in time (ETIMEDOUT)");
  return new MailError("temporary", `no connection to the mail server, or it broke (${cause || "no code"})`);
}

function authenticationError(reply: string): MailError {
  return new MailError(
    "blocked",
    `${reply}the mail server refused the sign-in: check the user name and password in SMTP_URL`,
  );
}

function plainCode(value: unknown): string {
  return typeof value === "string" && /^[A-Z0-9_]{1,60}$/.test(value) ? value : "";
}
