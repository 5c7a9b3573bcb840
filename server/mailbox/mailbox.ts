import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import type { FetchMessageObject, FetchQueryObject, ImapFlow, ImapFlowOptions, SearchObject } from "imapflow";
import type { Config } from "../config.ts";
import { connectionProblem, errorCode, errorName } from "../errors.ts";
import { createDefectLog, type Log } from "../log.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { type Folder, HOURLY_LIMIT, type NewMail } from "../store/mailbox.ts";
import type { Store } from "../store/store.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";
import { attachmentsOf, cluesOf, HEADERS, isSender, judge, storable, type Team } from "./mail.ts";
import { createParser, NoThread, type Parser } from "./parser.ts";

// Takes less time and memory than an import.
const require = createRequire(import.meta.url);

type ImapSettings = NonNullable<Config["imap"]>;

interface MailboxOptions {
  imap: ImapSettings;
  /** Holds the lease: the same after a restart, which then reads on at once. */
  node: string;
  team: Team;
  store: Pick<Store, "mailbox" | "status">;
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
/** Then a mail is passed that the server refuses, or ends the connection for. */
const MAX_TRIES = 3;
/** Of the headers of a mail, and of a mail that belongs to a message: the rest is not parsed. */
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
  /** What the server answered to a command that failed. */
  responseStatus?: string;
}

/** A mail that is no longer in the folder. */
const GONE = Object.assign(new Error("The mail is gone"), { responseStatus: "NO" });

const isRefusal = (error: unknown) => (Object(error) as ImapError).responseStatus === "NO";

/** Why a mailbox cannot be read, without what the server says: that may name people. */
export function imapProblem(error: unknown): string {
  const { authenticationFailed, mailboxMissing } = Object(error) as ImapError;
  if (authenticationFailed) return "the server refuses the user name or password of IMAP_URL";
  if (mailboxMissing) return "the folder does not exist";
  if (isRefusal(error)) return "the server refuses to hand out its mails";
  const code = errorCode(error) ?? errorName(error);
  const what = connectionProblem(code, "IMAP_URL");
  return what ? `the server ${what}` : `no connection to the server, or no usable answer (${code})`;
}

/** Reads the folders, of one node at a time, and changes nothing in them. */
export function startMailbox({ imap, node, team, store: { mailbox, status }, log, waits }: MailboxOptions) {
  const { leaseMs, lookMs, retryMs, longestRetryMs, refusedMs } = { ...WAITS, ...waits };
  const noteDefect = createDefectLog(log);
  const stopping = new AbortController();
  const { signal } = stopping;
  const names = imap.folders.map((folder) => `${imap.auth.user}@${imap.host}/${folder}`);
  let clients: ImapFlow[] = [];
  let retryInMs = retryMs;
  /** Where reading a folder failed: from there on, mails are read one by one. */
  const failures = new Map<string, { uid: number; tries: number }>();

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
      const opened = clients;
      clients = [];
      for (const client of opened) client.close();
      await Promise.allSettled(reading);
    }
  }

  async function readFolder(client: ImapFlow, path: string, name: string): Promise<void> {
    const parser = createParser();
    let hasNews = false;
    /** Ends IDLE. */
    const look = () => {
      hasNews = true;
      client.noop().catch(() => {});
    };
    client.on("exists", look);
    try {
      while (client.usable) {
        const folder = (await mailbox.lease(names, node, leaseMs))?.find((one) => one.name === name);
        if (!folder) return;
        hasNews = false;
        try {
          if (!client.mailbox) await client.mailboxOpen(path, { readOnly: true });
          if (await readNext(client, parser, folder)) continue;
        } catch (error) {
          // A folder that goes, or a mail that the server refuses, stops no other folder.
          if (!isRefusal(error)) throw error;
          await report(name, imapProblem(error));
        }
        await parser.close();
        retryInMs = retryMs;
        if (hasNews) continue;
        const timer = setTimeout(look, lookMs);
        await (client.mailbox ? client.idle() : wait(lookMs));
        clearTimeout(timer);
      }
    } finally {
      await parser.close();
    }
  }

  /** Returns whether there are more mails. */
  async function readNext(client: ImapFlow, parser: Parser, { name, ...folder }: Folder): Promise<boolean> {
    if (!client.mailbox) return false;
    const uidValidity = Number(client.mailbox.uidValidity);
    const search = async (query: SearchObject) => {
      const found = await client.search(query, { uid: true });
      if (!found) throw new Error("The server does not search");
      return found;
    };
    let { lastUid } = folder;
    if (folder.uidValidity !== uidValidity) {
      const since = new Date((await status.time()).getTime() - FIRST_LOOK_MS);
      const [first = client.mailbox.uidNext] = await search({ since });
      lastUid = first - 1;
      await mailbox.begin({ name, uidValidity, lastUid }, node);
    }
    // The server names its last mail for a range that begins behind it.
    const newer = (await search({ uid: `${lastUid + 1}:*` })).filter((uid) => uid > lastUid);
    const failure = failures.get(name);
    const uids = newer.slice(0, failure ? 1 : MAILS_AT_A_TIME);
    const [uid = lastUid] = uids;
    const tries = failure?.uid === uid ? failure.tries : 0;
    /** Whether a failure is this mail's: a server in trouble hands out no other one either. */
    let isProof = uids.length === 1 && tries === 0;
    try {
      if (tries > 0 && newer.length > 1) {
        await fetchHeads(client, newer.slice(-1));
        isProof = true;
      }
      if (tries >= MAX_TRIES) {
        noteUnread();
        failures.delete(name);
      } else if ((await readMails(client, parser, name, uids)) === "full") return false;
    } catch (error) {
      // Not if this program has closed the connection.
      if (clients.includes(client) && !(error instanceof StoreUnavailable || error instanceof NoThread))
        failures.set(name, { uid, tries: tries + Number(isProof) });
      throw error;
    }
    // Without a connection, the library finds nothing.
    if (!client.usable) return false;
    await mailbox.record(name, node, uids.at(-1) ?? lastUid, null);
    await report(name, null);
    if (newer.length === uids.length) failures.delete(name);
    return newer.length > uids.length;
  }

  async function fetchHeads(client: ImapFlow, uids: readonly number[]): Promise<FetchMessageObject[]> {
    const query: FetchQueryObject = { uid: true, internalDate: true, headers: [...HEADERS] };
    const heads = uids.length > 0 ? await client.fetchAll(uids.join(), query, { uid: true }) : [];
    return heads.sort((a, b) => a.uid - b.uid);
  }

  /** `full` if one of them has to wait. */
  async function readMails(client: ImapFlow, parser: Parser, name: string, uids: readonly number[]) {
    for (const head of await fetchHeads(client, uids)) {
      // The position stays, and a stop does not wait for the rest.
      if (!client.usable) return "read";
      // Before the mail, so that it is not passed if there can be no thread.
      await parser.start();
      const mail = await readMail(client, parser, head).catch((error) => pass(client, error));
      if (mail && (await store(client, head.uid, name, mail)) === "full") {
        await report(name, HOURLY_LIMIT);
        return "full";
      }
    }
    return "read";
  }

  /** Only a store that is away, or a server that does not answer, holds the position: not what a mail contains. */
  function pass(client: ImapFlow, error: unknown): null {
    const { responseStatus = "NO" } = Object(error) as ImapError;
    if (error instanceof StoreUnavailable || error instanceof NoThread || !client.usable || responseStatus !== "NO")
      throw error;
    if (!isRefusal(error)) noteDefect(error);
    return null;
  }

  function noteUnread(): void {
    log.warn({ event: "mail-unread" }, "A mail of the mailbox cannot be read, and is passed over");
  }

  /** What the database refuses becomes one line. */
  async function store(client: ImapFlow, uid: number, name: string, mail: NewMail) {
    const stored = await mailbox.record(name, node, uid, mail).catch((error) => pass(client, error));
    return stored ?? mailbox.record(name, node, uid, unread(mail));
  }

  /** `null` if it is about no message. */
  async function readMail(client: ImapFlow, parser: Parser, fetched: FetchMessageObject): Promise<NewMail | null> {
    const { uid, headers = Buffer.alloc(0), internalDate } = fetched;
    /** `null` if the server refuses it. */
    const fetchOne = async (query: FetchQueryObject): Promise<Partial<FetchMessageObject> | null> => {
      const found = await client.fetchOne(String(uid), query, { uid: true }).catch((error) => pass(client, error));
      if (!client.usable) throw new Error("The connection ended");
      return found === null ? null : found || {};
    };
    const parseContent = async () => {
      const found = await fetchOne({ source: { start: 0, maxLength: MAX_BYTES }, size: true });
      if (found === null) return null;
      // Perhaps it is now in another folder that is read.
      if (!found.source) throw GONE;
      return parser.parse(found.source, found.size);
    };
    const { head } = (await parser.parse(headers.subarray(0, MAX_BYTES))) ?? {};
    if (!head) {
      noteUnread();
      return null;
    }
    let content = head.program === "report" ? await parseContent() : undefined;
    const report = content?.report ?? null;
    const { kind, thread, part = "" } = judge(head, report, await mailbox.find(cluesOf(head, report)), team);
    if (thread === null) return null;
    if (content === undefined) content = await parseContent();
    const sentAt = internalDate ? new Date(internalDate) : new Date();
    const { name, address } = head.sender;
    const isLine = kind === "automatic" || kind === "returned";
    const text = report?.reason ?? content?.text ?? "";
    const mail: NewMail = {
      id: thread.id,
      reference: thread.reference,
      kind: KIND[kind],
      mailId: head.messageId ?? storable(`uid ${sentAt.getTime()} ${address} ${head.subject}`),
      sender: address,
      senderName: name,
      subject: head.subject,
      text: isLine ? storable(text, MAX_LINE_LENGTH) : text,
      attachments: [],
      sentAt,
      isOfSender: kind === "reply" || isSender(head, thread),
      returned:
        report && kind === "returned" && part.startsWith("reply-")
          ? { key: part.slice("reply-".length), reason: report.reason }
          : undefined,
    };
    if (!content) return unread(mail);
    if (isLine) return mail;
    const { bodyStructure } = (await fetchOne({ bodyStructure: true })) ?? {};
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
  const isOfSender = mail.isOfSender && mail.kind === "received";
  return { ...mail, kind: "unread-mail", isOfSender, text: "", subject: "", attachments: [], returned: undefined };
}
