import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  raw: Buffer;
  sender: string;
  recipients: string[];
  /** The client asked for SMTPUTF8. */
  isUtf8: boolean;
}

/** The server's behaviour from now on. `times` limits a fault, after which the server accepts mails. */
export type Behaviour =
  | { kind: "accept"; afterMs?: number }
  | { kind: "refuse"; at: "greeting" | "sender" | "recipient" | "data"; code: number; times?: number }
  | { kind: "drop-after-data"; times?: number }
  | { kind: "garble-after-data" }
  | { kind: "hold-after-data"; times?: number }
  | { kind: "hang-after-data" }
  | { kind: "hang-before-greeting" };

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** A real SMTP server on the loopback interface. Its STARTTLS certificate is self-signed. */
export async function startMailServer(options: { hasTls?: boolean; hasSmtpUtf8?: boolean; port?: number } = {}) {
  /** Every mail whose content arrived completely, including those that were not acknowledged. */
  const mails: ReceivedMail[] = [];
  /** The passwords that clients sent. */
  const passwords: string[] = [];
  let behaviour: Behaviour = { kind: "accept" };
  let timesLeft = Number.POSITIVE_INFINITY;
  let rightPassword: string | null = null;
  const held: (() => void)[] = [];

  const isTime = (kind: Behaviour["kind"], at?: string): boolean => {
    if (behaviour.kind !== kind || (behaviour.kind === "refuse" && behaviour.at !== at) || timesLeft === 0)
      return false;
    timesLeft -= 1;
    return true;
  };
  // Quotes the client's input, like some servers, so that tests can check that it is not passed on.
  const refusal = (quoted: string) =>
    Object.assign(new Error(`<team@example.test> ${quoted}is not welcome`), {
      responseCode: behaviour.kind === "refuse" ? behaviour.code : 550,
    });
  const answer = (at: string, callback: (error?: Error | null) => void, quoted = "") =>
    isTime("refuse", at) ? callback(refusal(quoted)) : callback();

  const socketOf = ({ id }: { id: string }) => {
    const own = [...server.connections].find(({ session }) => session.id === id);
    if (!own) throw new Error("The connection is closed");
    return own._socket;
  };
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    authOptional: true,
    closeTimeout: 1,
    hideSMTPUTF8: options.hasSmtpUtf8 === false,
    ...(options.hasTls ? {} : { disabledCommands: ["STARTTLS", "AUTH"] }),
    onConnect(_session, callback) {
      if (!isTime("hang-before-greeting")) answer("greeting", callback);
    },
    onAuth(auth, _session, callback) {
      passwords.push(auth.password ?? "");
      callback(null, auth.password === rightPassword ? { user: "website" } : {});
    },
    onMailFrom(_address, session, callback) {
      if (rightPassword !== null && !session.user) callback(Object.assign(new Error("sign in"), { responseCode: 530 }));
      else answer("sender", callback, passwords.join(" "));
    },
    onRcptTo(_address, _session, callback) {
      answer("recipient", callback);
    },
    async onData(stream, session, callback) {
      const raw = await buffer(stream).catch(() => null);
      // The client disconnected before the end of the mail.
      if (raw === null) return;
      const { mailFrom, rcptTo, smtpUtf8 } = session.envelope;
      const recipients = rcptTo.map(({ address }) => address);
      mails.push({ raw, sender: mailFrom ? mailFrom.address : "", recipients, isUtf8: smtpUtf8 === true });
      if (isTime("hang-after-data")) return;
      if (isTime("hold-after-data")) held.push(callback);
      else if (isTime("garble-after-data")) socketOf(session).end("zzz\r\n");
      else if (isTime("drop-after-data")) socketOf(session).destroy();
      else if (behaviour.kind === "accept") setTimeout(callback, behaviour.afterMs ?? 0);
      else answer("data", callback, `${JSON.stringify(session.envelope)} ${String(raw).replaceAll(/\s+/g, " ")}`);
    },
  });
  // Some tests disconnect a client on purpose.
  server.on("error", () => {});
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server.server, "listening");

  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    passwords,
    behave(next: Behaviour) {
      behaviour = next;
      timesLeft = ("times" in next ? next.times : undefined) ?? Number.POSITIVE_INFINITY;
    },
    /** Accepts the mails that `hold-after-data` has held so far. */
    release() {
      for (const take of held.splice(0)) take();
    },
    /** From now on only this password is accepted. */
    expectPassword(password: string) {
      rightPassword = password;
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
