import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createCaller } from "../../desk/operations.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { deskOf } from "../../tests/support/inbox-command.ts";
import { type MailServer, startMailServer } from "../../tests/support/mail-server.ts";
import { parseMail } from "../../tests/support/parse-mail.ts";
import { rawMail } from "../../tests/support/raw-mails.ts";
import { startDovecot } from "../../tests/support/run-dovecot.ts";
import { findFreePort, startServer } from "../../tests/support/run-server.ts";
import { SCRATCH_PARENT } from "../../tests/support/scratch-parent.ts";

const CONVERSATIONS_PER_MINUTE = 15;
const MOST_MAILS = 6;
/** After this time without progress, a conversation is lost. */
const PATIENCE_MS = 600_000;
const LOOK_MS = 200;
const FOLDERS = ["INBOX", "Sent"];

/**
 * Conversations of 1 to 6 mails both ways, 300 in 20 minutes, while website, IMAP and SMTP server are killed one after the other. Throws
 * unless each mail is once in its thread, none is lost or invented, and no flag has changed. Stays below the limit of
 * 500 stored mails an hour.
 */
export async function soakConversations(minutes: number): Promise<void> {
  const folder = await mkdtemp(join(SCRATCH_PARENT, "conversations-"));
  const place = await openPlace(folder);
  try {
    const stop = new AbortController();
    const faults = place.causeFaults(stop.signal);
    const count = Math.ceil(minutes * CONVERSATIONS_PER_MINUTE);
    const startsInMs = (minutes * 60_000 * 0.8) / count;
    const all = Array.from({ length: count }, async (_, index) => {
      await wait(index * startsInMs);
      return place.converse(index);
    });
    const conversations = await Promise.all(all).finally(() => stop.abort());
    const kills = await faults;
    console.log({ ...kills, ...(await place.check(conversations)) });
  } finally {
    await place.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Conversation {
  reference: string;
  /** What its entries contain, oldest first. */
  texts: string[];
  isAnswered: boolean;
}

async function openPlace(folder: string) {
  const dovecot = await startDovecot(join(folder, "dovecot"));
  dovecot.makeFolder("Sent");
  let mailServer: MailServer = await startMailServer();
  const servers = [mailServer];
  const { port: smtpPort } = mailServer;
  const env = {
    DATA_DIR: folder,
    PORT: String(await findFreePort()),
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    IMAP_URL: dovecot.url(FOLDERS.join()),
    MAIL_TO: "team@post.example",
    MAIL_FROM: "website@brighter.example",
    SITE_URL: "https://www.brighter.example",
    LOG_LEVEL: "error",
  };
  let server = await startServer(env);
  const store = await openStoreInProcess({ dataDir: folder, databaseUrl: null, account: "anna" });
  const desk = createCaller(deskOf({ store, dataDir: folder, account: "anna" }));
  let delivered = 0;
  const waits: number[] = [];

  function deliver(raw: Buffer, ...folders: readonly string[]): void {
    for (const one of folders) dovecot.deliver(raw, one);
    delivered += folders.length;
  }

  async function until<Found>(what: string, find: () => Found | Promise<Found>): Promise<NonNullable<Found>> {
    for (const endsAtMs = performance.now() + PATIENCE_MS; performance.now() < endsAtMs; await wait(LOOK_MS)) {
      const found = await find();
      if (found) return found;
    }
    throw new Error(`${what} did not come within ${PATIENCE_MS / 1000} s`);
  }

  const textsOf = async (reference: string) =>
    (await store.messages.history(reference)).flatMap(({ kind, detail }) =>
      ["replied", "received", "mailbox-reply"].includes(kind) ? (detail ?? "") : [],
    );
  const mailsTo = (address: string) =>
    servers.flatMap(({ mails }) => mails).filter(({ recipients }) => recipients.includes(address));

  async function post(email: string, index: number): Promise<string> {
    const key = randomUUID();
    const body = JSON.stringify({ name: "Soak", email, phone: "1", country: "", message: `message ${index}` });
    const headers = { "content-type": "application/json", "idempotency-key": key };
    return until("An acknowledgement", async () => {
      const url = `http://127.0.0.1:${env.PORT}/send-email`;
      const answer = await fetch(url, { method: "POST", headers, body }).catch(() => null);
      return answer?.ok ? String(((await answer.json()) as { reference: string }).reference) : null;
    });
  }

  return {
    /** Every mail waits for the one before it, as between people. */
    async converse(index: number): Promise<Conversation> {
      const email = `visitor${index}@example.org`;
      const reference = await post(email, index);
      const texts: string[] = [];
      const count = 1 + (index % MOST_MAILS);
      let latest = "";
      for (let number = 1; number <= count; number += 1) {
        const text = `mail ${number} of ${reference}`;
        texts.push(text);
        const isTeam = number % 2 === 1;
        const isMailbox = isTeam && number > 1 && index % 10 === 4;
        if (isTeam && !isMailbox) {
          await desk.reply({ reference, text });
          const mail = await until(`${text} to the visitor`, async () => {
            const { deliveries } = (await store.messages.find(reference)) ?? {};
            // Killed while it was sent: a person decides.
            if (deliveries?.reply?.state === "failed") await desk.sendAgain({ reference }).catch(() => {});
            const isSent = deliveries?.reply?.state === "delivered";
            return isSent ? mailsTo(email).find(({ raw }) => parseMail(raw).text.startsWith(text)) : null;
          });
          latest = parseMail(mail.raw).header("Message-ID");
          continue;
        }
        const mailId = `<${randomUUID()}@mail.example>`;
        const [From, To] = isMailbox ? ["Bob <bob@brighter.example>", email] : [email, env.MAIL_TO];
        const raw = rawMail(
          { From, To, Subject: "Re: wind", "Message-ID": mailId, "In-Reply-To": latest },
          `${text}\n`,
        );
        const startMs = performance.now();
        // Some are in both folders, and each comes with one that is about nothing.
        deliver(rawMail({ From: "a@list.example", "Message-ID": `<${randomUUID()}@list.example>` }), "INBOX");
        deliver(raw, ...(index % 7 === 0 ? FOLDERS : isMailbox ? ["Sent"] : ["INBOX"]));
        await until(`${text} in the thread`, async () => (await textsOf(reference)).some((one) => one.includes(text)));
        waits.push(performance.now() - startMs);
        latest = mailId;
      }
      return { reference, texts, isAnswered: count % 2 === 1 };
    },

    async causeFaults(signal: AbortSignal) {
      const kills = { website: 0, dovecot: 0, smtp: 0 };
      const pause = (ms: number) => wait(ms, undefined, { signal }).catch(() => {});
      for (let round = 0; !signal.aborted; round += 1) {
        await pause(4000 + ((round * 1709) % 5000));
        if (signal.aborted) break;
        if (round % 3 === 0) {
          kills.website += 1;
          server.process.kill("SIGKILL");
          await once(server.process, "exit");
          server = await startServer(env);
        } else if (round % 3 === 1) {
          kills.dovecot += 1;
          await dovecot.stop("SIGKILL");
          await pause(1000);
          await dovecot.start();
        } else {
          kills.smtp += 1;
          mailServer.behave({ kind: "drop-after-data", times: 1 });
          await pause(1000);
          await mailServer.close();
          await pause(1000);
          mailServer = await startMailServer({ port: smtpPort });
          servers.push(mailServer);
          // As an operator does after an outage, instead of waiting for the next attempts.
          const references = (await store.messages.list({ tab: "waiting" })).map(({ reference }) => reference);
          await store.actions.act("retry", { references }, await store.status.time());
        }
      }
      return kills;
    },

    async check(conversations: readonly Conversation[]) {
      const problems: string[] = [];
      const messages = await store.messages.list({});
      if (messages.length !== conversations.length) problems.push(`${messages.length} messages are stored`);
      let mails = 0;
      for (const { reference, texts, isAnswered } of conversations) {
        const stored = await textsOf(reference);
        mails += stored.length;
        const isWhole = stored.length === texts.length && texts.every((text, at) => stored[at]?.includes(text));
        if (!isWhole) problems.push(`${reference} has ${JSON.stringify(stored)} instead of ${texts}`);
        const message = messages.find((one) => one.reference === reference);
        const isMarked = message?.answeredAt !== null && message?.newAnswerAt === null;
        if (isMarked !== isAnswered) problems.push(`${reference} is ${isMarked ? "" : "not "}answered`);
      }
      const flags = FOLDERS.flatMap((name) => dovecot.flags(name));
      if (flags.some((flag) => flag !== "")) problems.push(`Flags have changed: ${[...new Set(flags)]}`);
      if (flags.length !== delivered) problems.push(`${flags.length} of ${delivered} mails are in the mailbox`);
      if (problems.length > 0) throw new Error(problems.join("\n"));
      const sorted = waits.toSorted((a, b) => a - b);
      const inMs = (part: number) => Math.round(sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
      return {
        conversations: conversations.length,
        "mails in threads": mails,
        "mails in the mailbox": delivered,
        "from the mailbox to the desk, ms": { median: inMs(0.5), "nine in ten": inMs(0.9), longest: inMs(0.999) },
      };
    },

    async close() {
      server.process.kill("SIGKILL");
      await dovecot.stop();
      await mailServer.close();
      await store.close();
    },
  };
}
