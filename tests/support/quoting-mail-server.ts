import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

/** What it says to a mail; `sign-in` refuses one before its content, for want of a sign-in. */
export type Reply = 250 | 451 | 550 | "sign-in";

export interface QuotingMailServer {
  port: number;
  /** Its replies, in the order of the mails; after the last one it takes everything. */
  replies: Reply[];
  close(): Promise<void>;
}

/** A real SMTP server that repeats all it was told in its refusals, as some do: password, addresses and content. */
export async function startQuotingMailServer(): Promise<QuotingMailServer> {
  const replies: Reply[] = [];
  // By connection: mails may be on their way together.
  const chosen = new Map<string, number>();
  let password = "";
  const refusal = (responseCode: number, words: string) => Object.assign(new Error(words), { responseCode });
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 1,
    onAuth(auth, _session, callback) {
      password = auth.password ?? "";
      callback(null, { user: auth.username ?? "" });
    },
    onMailFrom({ address }, session, callback) {
      const reply = replies.shift() ?? 250;
      if (reply === "sign-in") return callback(refusal(530, `${address} must sign in, and not with ${password}`));
      chosen.set(session.id, reply);
      callback();
    },
    onData(stream, session, callback) {
      let content = "";
      stream.on("data", (chunk) => {
        content += chunk;
      });
      stream.on("end", () => {
        const reply = chosen.get(session.id) ?? 250;
        const quoted = `${JSON.stringify(session.envelope)} ${content.replaceAll(/\s+/g, " ")}`;
        callback(reply === 250 ? null : refusal(reply, quoted));
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    port: (server.server.address() as AddressInfo).port,
    replies,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
