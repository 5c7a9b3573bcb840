import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import type { FetchMessageObject, FetchQueryObject, ImapFlow, ImapFlowOptions, SearchObject } from "imapflow";
import type { Config } from "../config.ts";
import { errorCode, errorName } from "../errors.ts";
import { createDefectLog, type Log } from "../log.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { type Folder, HOURLY_LIMIT, type NewMail } from "../store/mailbox.ts";
import type { Store } from "../store/store.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";
import { cluesOf, HEADERS, isSender, judge, MAX_ID_LENGTH, readHead, readReport, type Team } from "./mail.ts";
import { attachmentsOf, storable, textOf } from "./text.ts";

// Takes less time and memory than an import.
const require = createRequire(import.meta.url);

type ImapSettings = NonNullable<Config["imap"]>;

interface MailboxOptions {
  imap: ImapSettings;
  /** Holds the lease: the same after a restart, which then reads on at once. */
  node: string;
  team: Team;
  store: Pick<Store, "mailbox">;
  log: Log;
  /** Shorter in tests. */
  waits?: Partial<typeof WAITS>;
}

const WAITS = {
  leaseMs: 3 * MINUTE_MS,
  /** A server without IDLE is asked this often. */
  lookMs: MINUTE_MS,
  retryMs: 5000,
  longestRetryMs: 5 * MINUTE_MS,
  /** So that no provider locks the account. */
  refusedMs: 5 * MINUTE_MS,
};
const CONNECT_MS = 30_000;
const SILENCE_MS = 5 * MINUTE_MS;
const FIRST_LOOK_MS = 7 * DAY_MS;
const MAILS_AT_A_TIME = 100;
/** Of a mail that belongs to a message. */
const MAX_BYTES = 2 ** 20;
/** Of headers: more than any provider accepts. The library ends the connection at more. */
const MAX_HEADER_BYTES = 64 * MAX_BYTES;
const MAX_LINE_LENGTH = 500;

export function openImap({ folders: _, ...imap }: ImapSettings, options: ImapFlowOptions = {}): ImapFlow {
  const { ImapFlow: Client }: typeof import("imapflow") = require("imapflow");
  const client = new Client({
    ...imap,
    // Its log has addresses.
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    maxLiteralSize: MAX_HEADER_BYTES,
    ...options,
  });
  // Every call rejects with it too.
  client.on("error", () => {});
  return client;
}

interface ImapError {
  authenticationFailed?: boolean;
  mailboxMissing?: boolean;
}

/** Why a mailbox cannot be read, without what the server says: that may name people. */
export function imapProblem(error: unknown): string {
  const { authenticationFailed, mailboxMissing } = Object(error) as ImapError;
  if (authenticationFailed) return "the server refuses the user name or password of IMAP_URL";
  if (mailboxMissing) return "the folder does not exist";
  return `no connection to the server, or no usable answer (${errorCode(error) ?? errorName(error)})`;
}

/** Reads the folders, of one node at a time, and changes nothing in them. */
export function startMailbox({ imap, node, team, store: { mailbox }, log, waits }: MailboxOptions) {
  const { leaseMs, lookMs, retryMs, longestRetryMs, refusedMs } = { ...WAITS, ...waits };
  const noteDefect = createDefectLog(log);
  const stopping = new AbortController();
  const { signal } = stopping;
  const names = imap.folders.map((folder) => `${imap.auth.user}@${imap.host}/${folder}`);
  let clients: ImapFlow[] = [];
  let retryInMs = retryMs;

  const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let waitMs = lookMs;
      try {
        if (await mailbox.lease(names, node, leaseMs)) {
          await readAll();
          waitMs = retryMs;
        }
      } catch (error) {
        const isRefused = (Object(error) as ImapError).authenticationFailed;
        waitMs = isRefused ? refusedMs : retryInMs;
        retryInMs = Math.min(2 * retryInMs, longestRetryMs);
        await noteAway(error, waitMs).catch(noteDefect);
      }
      await wait(waitMs);
    }
  }

  /** Keeps the lease, so that no other node tries meanwhile. */
  async function noteAway(error: unknown, waitMs: number): Promise<void> {
    if (signal.aborted || error instanceof StoreUnavailable) return;
    await mailbox.lease(names, node, waitMs + leaseMs);
    for (const name of names) await report(name, imapProblem(error));
  }

  async function report(name: string, problem: string | null): Promise<void> {
    if ((await mailbox.report(name, node, problem)) && problem !== null)
      log.warn({ event: "mailbox-away" }, `A folder of the mailbox cannot be read: ${problem}`);
  }

  /** Returns when a connection or the lease ends. */
  async function readAll(): Promise<void> {
    let reading: Promise<void>[] = [];
    try {
      for (const _ of names) {
        if (signal.aborted) return;
        const client = openImap(imap);
        clients.push(client);
        // One after the other, so that a wrong password is tried once.
        await client.connect();
      }
      reading = clients.map((client, index) => readFolder(client, imap.folders[index] ?? "", names[index] ?? ""));
      await Promise.race(reading);
    } finally {
      for (const client of clients) client.close();
      await Promise.allSettled(reading);
      clients = [];
    }
  }

  async function readFolder(client: ImapFlow, path: string, name: string): Promise<void> {
    let hasNews = false;
    /** Ends IDLE. */
    const look = () => {
      hasNews = true;
      client.noop().catch(() => {});
    };
    client.on("exists", look);
    while (client.usable) {
      const folder = (await mailbox.lease(names, node, leaseMs))?.find((one) => one.name === name);
      if (!folder) return;
      hasNews = false;
      try {
        if (!client.mailbox) await client.mailboxOpen(path, { readOnly: true });
        if (await readNext(client, folder)) continue;
      } catch (error) {
        if (!(Object(error) as ImapError).mailboxMissing) throw error;
        await report(name, imapProblem(error));
      }
      retryInMs = retryMs;
      if (hasNews) continue;
      const timer = setTimeout(look, lookMs);
      await (client.mailbox ? client.idle() : wait(lookMs));
      clearTimeout(timer);
    }
  }

  /** Returns whether there are more mails. */
  async function readNext(client: ImapFlow, { name, ...folder }: Folder): Promise<boolean> {
    if (!client.mailbox) return false;
    const uidValidity = Number(client.mailbox.uidValidity);
    const search = async (query: SearchObject) => {
      const found = await client.search(query, { uid: true });
      if (!found) throw new Error("The server does not search");
      return found;
    };
    let { lastUid } = folder;
    if (folder.uidValidity !== uidValidity) {
      const [first = client.mailbox.uidNext] = await search({ since: new Date(Date.now() - FIRST_LOOK_MS) });
      lastUid = first - 1;
      await mailbox.begin({ name, uidValidity, lastUid }, node);
    }
    const newer = await search({ uid: `${lastUid + 1}:*` });
    // The server names its last mail for a range that begins behind it.
    const uids = newer.filter((uid) => uid > lastUid).slice(0, MAILS_AT_A_TIME);
    const query: FetchQueryObject = { uid: true, internalDate: true, headers: [...HEADERS] };
    const heads = uids.length > 0 ? await client.fetchAll(uids.join(), query, { uid: true }) : [];
    for (const head of heads.sort((a, b) => a.uid - b.uid)) {
      const mail = await readMail(client, head);
      if (mail && (await store(name, head.uid, mail)) === "full") {
        await report(name, HOURLY_LIMIT);
        return false;
      }
    }
    // Without a connection, the library finds nothing.
    if (!client.usable) return false;
    await mailbox.record(name, node, uids.at(-1) ?? lastUid, null);
    await report(name, null);
    return newer.length > uids.length;
  }

  /** Only a store that is away holds the position: what fails by its content becomes one line. */
  async function store(name: string, uid: number, mail: NewMail) {
    try {
      return await mailbox.record(name, node, uid, mail);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      noteDefect(error);
      return mailbox.record(name, node, uid, unread(mail));
    }
  }

  /** `null` if it is about no message. Rejects if the connection or the store fails. */
  async function readMail(client: ImapFlow, fetched: FetchMessageObject): Promise<NewMail | null> {
    const { uid, headers = Buffer.alloc(0), internalDate } = fetched;
    const fetchOne = (query: FetchQueryObject) => client.fetchOne(String(uid), query, { uid: true });
    const fetchContent = () => fetchOne({ source: { start: 0, maxLength: MAX_BYTES }, size: true });
    const head = await readHead(headers);
    let content = head.program === "report" ? await fetchContent() : null;
    const report = content ? await readReport(content.source ?? Buffer.alloc(0)) : null;
    const { kind, thread, part = "" } = judge(head, report, await mailbox.find(cluesOf(head, report)), team);
    if (thread === null) return null;
    content ??= await fetchContent();
    if (!content) {
      if (client.usable) return null; // It was deleted meanwhile.
      throw new Error("The connection ended");
    }
    const { source = Buffer.alloc(0), size = 0 } = content;
    const sentAt = internalDate ? new Date(internalDate) : new Date();
    const { name, address } = head.sender;
    const text = report ? storable(report.reason, MAX_LINE_LENGTH) : await textOf(source, size);
    const mail: NewMail = {
      id: thread.id,
      reference: thread.reference,
      kind: KIND[kind],
      // With its angle brackets.
      mailId: storable(head.messageId ?? `uid ${sentAt.getTime()} ${address} ${head.subject}`, MAX_ID_LENGTH + 2),
      sender: storable(address),
      senderName: storable(name),
      subject: storable(head.subject),
      text: text ?? "",
      attachments: [],
      sentAt,
      isOfSender: kind === "reply" || isSender(head, thread),
      returned:
        report && kind === "returned" && part.startsWith("reply-")
          ? { key: part.slice("reply-".length), reason: storable(report.reason, MAX_LINE_LENGTH) }
          : undefined,
    };
    if (text === null) return unread(mail);
    if (kind === "automatic" || kind === "returned") return { ...mail, text: storable(text, MAX_LINE_LENGTH) };
    // Fails for a structure that is nested too deep.
    const { bodyStructure } = (await fetchOne({ bodyStructure: true })) || {};
    return { ...mail, attachments: bodyStructure ? attachmentsOf(bodyStructure) : [] };
  }

  const running = run();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      for (const client of clients) client.close();
      await running;
      await mailbox.release(node).catch(noteDefect);
    },
  };
}

const KIND = {
  answer: "received",
  reply: "mailbox-reply",
  returned: "came-back",
  automatic: "automatic",
} as const;

function unread(mail: NewMail): NewMail {
  return { ...mail, kind: "unread-mail", text: "", subject: "", attachments: [], returned: undefined };
}
