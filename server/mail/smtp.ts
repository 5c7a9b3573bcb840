import { createRequire } from "node:module";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { needsSmtpUtf8 } from "../../contract/email-address.ts";
import { connectionProblem } from "../errors.ts";
import { systemClock, withinMs } from "../time.ts";
import { compile, MailError, type Mailer } from "./mailer.ts";

// Takes less time and memory than an import: see http/limits.ts.
const require = createRequire(import.meta.url);
const { parseConnectionUrl }: typeof import("nodemailer/lib/shared") = require("nodemailer/lib/shared");
const Connection: typeof SMTPConnection = require("nodemailer/lib/smtp-connection");

export const SMTP_LIMITS = {
  connectMs: 15_000,
  /** The longest silence of the server during an attempt. */
  silenceMs: 60_000,
  /** For a whole attempt: a server may answer in small pieces. */
  attemptMs: 120_000,
};
export type SmtpLimits = typeof SMTP_LIMITS;

type Server = ReturnType<typeof parseConnectionUrl>;

/** Each email has a connection of its own. Sends credentials only over an encrypted connection. */
export function createSmtpMailer(smtpUrl: string, clock = systemClock, limits = SMTP_LIMITS) {
  const server = parseConnectionUrl(smtpUrl);
  const place = `${server.host}:${server.port ?? (server.secure ? 465 : 587)}`;
  const open = new Set<SMTPConnection>();
  let isClosed = false;

  /** Rejects only with a MailError. */
  async function connected(work: (connection: SMTPConnection) => Promise<void>): Promise<void> {
    // After a stop, nobody could save that the mail was sent.
    if (isClosed) throw new MailError("temporary", "the website stops");
    const connection = new Connection(connectionOptions(server, limits));
    const failed = Promise.withResolvers<never>();
    connection.on("error", failed.reject);
    connection.on("end", () => failed.reject(new Error("closed")));
    const attempt = async () => {
      await promised((done) => connection.connect(done));
      await work(connection);
      connection.quit();
    };
    open.add(connection);
    try {
      await withinMs(limits.attemptMs, Promise.race([attempt(), failed.promise]), outOfTime, clock);
    } catch (error) {
      throw classifySmtpError(error, place);
    } finally {
      connection.close();
      open.delete(connection);
    }
  }

  return {
    destination: `SMTP server ${place}`,
    async send(mail) {
      let isContentSent = false;
      await connected(async (connection) => {
        // The library sends such an address to any server, even to one that cannot deliver the mail and accepts it.
        // This is the answer to EHLO.
        const isUtf8 = /[ -]SMTPUTF8\b/i.test(String(connection.lastServerResponse));
        if (!isUtf8 && mail.envelope.to.some(needsSmtpUtf8)) throw new MailError("permanent", NO_SMTPUTF8);
        await signIn(connection, server);
        const composed = compile(mail);
        const content = composed.createReadStream();
        // Once the connection has taken the last byte. The library's errors do not say how far it came.
        content.once("end", () => (isContentSent = true));
        await promised((done) => connection.send(composed.getEnvelope(), content, done));
      }).catch((failure: MailError) => {
        failure.isUnanswered = isContentSent && !REFUSAL.test(failure.response);
        throw failure;
      });
    },
    /** Sends nothing. */
    tryToSignIn: () => connected((connection) => signIn(connection, server)),
    async close() {
      isClosed = true;
      for (const connection of open) connection.close();
    },
  } satisfies Mailer & { tryToSignIn(): Promise<void> };
}

async function signIn(connection: SMTPConnection, { auth }: Server): Promise<void> {
  if (!auth || !connection.allowsAuth) return;
  const { user = "", pass = "" } = auth;
  await promised((done) => connection.login({ user, credentials: { user, pass } }, done));
}

function promised(call: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())));
}

function connectionOptions(server: Server, limits: SmtpLimits) {
  return {
    ...server,
    requireTLS: server.auth !== undefined && server.secure !== true,
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.connectMs,
    dnsTimeout: limits.connectMs,
    socketTimeout: limits.silenceMs,
    // The library's log contains addresses.
    logger: false,
  };
}

function outOfTime(limitMs: number): MailError {
  return new MailError("temporary", `the mail server took more than ${limitMs / 1000} s for one email`);
}

const AUTHENTICATION_CODES = [530, 534, 535, 538];
const AUTHENTICATION_ERRORS = ["EAUTH", "ENOAUTH", "EOAUTH2"];
const TLS_ERRORS = /^(ETLS$|EREQUIRETLS$|EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|HOSTNAME_MISMATCH$)|SELF_SIGNED/;
/** The commands that are about this email. A refusal of an earlier command says nothing about it. */
const MAIL_COMMANDS = ["MAIL FROM", "RCPT TO", "DATA"];
/** Any other answer after the content leaves open whether the mail server has the mail. */
const REFUSAL = /^[45]\d\d/;
/** The library rejected the mail before sending a byte; a retry cannot help. */
const UNSENDABLE = ["EENVELOPE", "EMESSAGE", "ESTREAM"];

const NO_SMTPUTF8 = "the mail server does not support addresses with letters such as é (SMTPUTF8)";

/** The message contains only codes, because a server's text may contain addresses. `place`: the server's host and port. */
export function classifySmtpError(error: unknown, place: string): MailError {
  if (error instanceof MailError) return error;
  const details = Object(error) as Readonly<Record<string, unknown>>;
  const failure = classify(details, place);
  failure.response = String(details.response ?? "");
  return failure;
}

function classify(error: Readonly<Record<string, unknown>>, place: string): MailError {
  const reply = typeof error.responseCode === "number" && error.responseCode >= 400 ? error.responseCode : 0;
  const code = plainCode(error.code);
  // The system's or TLS library's code, if nodemailer replaced it with its own.
  const cause = plainCode(error.originalCode) || code;
  const command = MAIL_COMMANDS.find((known) => known === error.command);
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
  // 503 is about the order of commands, not about the email.
  if (command && reply >= 500 && reply !== 503) {
    const what = command === "RCPT TO" ? "mailbox" : command === "MAIL FROM" ? "sender" : "mail";
    return new MailError("permanent", `${reply} ${what} refused by the mail server${step}`);
  }
  if (reply > 0) return new MailError("temporary", `${reply} from the mail server, before it received the mail`);
  if (UNSENDABLE.includes(code) && !error.response) {
    return new MailError("permanent", `the email is not valid (${code})`);
  }
  const what =
    connectionProblem(cause, "SMTP_URL") ?? `broke the connection, or gave no usable answer (${cause || "no code"})`;
  return new MailError("temporary", `the mail server at ${place} ${what}`);
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
