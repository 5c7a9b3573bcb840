import { createTransport, type Transporter } from "nodemailer";
import { parseConnectionUrl } from "nodemailer/lib/shared";
import { withinMs } from "../time.ts";
import { classifySmtpError } from "./classify-smtp-error.ts";
import { MailError, type Mailer } from "./mailer.ts";

export interface SmtpLimits {
  connectMs: number;
  /** Longest silence of the server within an attempt. */
  silenceMs: number;
  /** A whole attempt, so that a server that trickles its answers cannot hold one for ever. */
  attemptMs: number;
}

export const SMTP_LIMITS: SmtpLimits = { connectMs: 15_000, silenceMs: 60_000, attemptMs: 120_000 };

/** Opens no connection before the first mail. Credentials are only ever sent over an encrypted connection. */
export function createSmtpMailer(smtpUrl: string, limits: SmtpLimits = SMTP_LIMITS): Mailer {
  const server = parseConnectionUrl(smtpUrl);
  const openConnection = (): Transporter =>
    createTransport({
      ...connectionOptions(server, limits),
      pool: true,
      // One connection each: a stuck one can then be cut without ending the mails that go through the others.
      maxConnections: 1,
      // Only for a connection that had gone before a byte of the mail was sent; anything else is the outbox's to retry.
      maxRequeues: 1,
      idleTimeout: 30_000,
    });

  const idle: Transporter[] = [];
  const busy = new Set<Transporter>();

  return {
    describe: `SMTP server ${server.host}:${server.port ?? (server.secure ? 465 : 587)}`,
    async send(mail) {
      const connection = idle.pop() ?? openConnection();
      busy.add(connection);
      try {
        await withinMs(limits.attemptMs, connection.sendMail(mail), outOfTime);
        idle.push(connection);
      } catch (error) {
        if (error instanceof MailError) {
          connection.close({ force: true });
          throw error;
        }
        // Refused or broken, it is of use again: the library resets it, or connects anew for the next mail.
        idle.push(connection);
        throw classifySmtpError(error);
      } finally {
        busy.delete(connection);
      }
    },
    async forget() {
      // What a mail server has taken is out of our hands.
    },
    async close() {
      for (const connection of [...idle.splice(0), ...busy]) connection.close({ force: true });
    },
  };
}

/** Resolves once the mail server has let us in, without sending anything; rejects with nothing but a MailError. */
export async function tryToSignIn(smtpUrl: string, limits: SmtpLimits = SMTP_LIMITS): Promise<void> {
  const connection = createTransport(connectionOptions(parseConnectionUrl(smtpUrl), limits));
  try {
    await withinMs(limits.attemptMs, connection.verify(), outOfTime);
  } catch (error) {
    throw error instanceof MailError ? error : classifySmtpError(error);
  } finally {
    connection.close();
  }
}

function connectionOptions(server: ReturnType<typeof parseConnectionUrl>, limits: SmtpLimits) {
  return {
    ...server,
    requireTLS: server.auth !== undefined && server.secure !== true,
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.connectMs,
    dnsTimeout: limits.connectMs,
    socketTimeout: limits.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    // The library's log holds addresses.
    logger: false,
  };
}

function outOfTime(limitMs: number): MailError {
  return new MailError("temporary", `the mail server took more than ${limitMs / 1000} s for one mail`);
}
