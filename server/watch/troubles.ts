import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import type { Advice } from "../../contract/commands.ts";
import {
  type AnswerTime,
  answerTimeInWords,
  answerTimeMs,
  durationInWords,
  periodMs,
} from "../../contract/duration.ts";
import { plural } from "../../contract/text.ts";
import { errorName, OperatorError } from "../errors.ts";
import { backupsOlderThan } from "../store/backup-folder.ts";
import { inTime, UNUSABLE } from "../store/errors.ts";
import { type FolderState, HOURLY_LIMIT } from "../store/mailbox.ts";
import { type Channel, type DeliveryState, rulesOf } from "../store/model.ts";
import type { DeliveryCount } from "../store/queue.ts";
import type { Store } from "../store/store.ts";
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from "../time.ts";

// Alerts, metrics, the inbox, `stats` and preflight all use these thresholds.
const OVERDUE_MS = HOUR_MS;
/** A restart of the database should not cause an alert. */
export const STORE_AWAY_MS = 20_000;
const CLOCK_WRONG_MS = MINUTE_MS;
/** Mail servers are restarted too. */
const MAILBOX_AWAY_MS = 15 * MINUTE_MS;
/** For a daily backup. An operator who never made one may use another method. */
const BACKUP_OVERDUE_MS = 2 * DAY_MS;
export const LOW_DISK_BYTES = 500 * 2 ** 20;
export const LOW_DISK_REMEDY = "free some space: when the disk is full, no message can be stored";

/** `critical`: messages do not arrive, or may be lost. `warning`: an operator should look. */
type Severity = "critical" | "warning" | "info";
const URGENCY: readonly Severity[] = ["critical", "warning", "info"];

export interface Trouble extends Advice {
  kind: TroubleKind;
  channel: Channel | null;
  severity: Severity;
  /** The number of messages; 1 if the trouble is not about messages. */
  count: number;
  since: Date | null;
  /** When the newest of the messages joined. */
  lastAt: Date | null;
}

type Found = Advice & Partial<Omit<Trouble, "kind">>;

interface Rule {
  severity: Severity;
  /** How often an alert is repeated while the trouble lasts; hourly if left out. `new`: hourly, if messages joined. */
  repeats?: "daily" | "new" | "never";
  /** Operators end it by opening, answering or exporting messages, so nobody is told of its end. */
  endsSilently?: true;
  /** It concerns one machine, so each node sends its own alert. */
  isOfMachine?: true;
  find(seen: Seen): Found | readonly Found[] | null;
}

/** Everything that can be wrong. docs/operations.md lists the kinds for operators. */
const TROUBLES = {
  "store-away": {
    severity: "critical",
    find({ problem, awayMs, askedBy, node }) {
      if (!problem || (askedBy === "server" && awayMs < STORE_AWAY_MS)) return null;
      const [{ problem: reason = "", remedy = undefined } = {}] = problem.advice;
      const where = node === undefined ? "" : ` on ${node}`;
      return { problem: `No message can be stored${where}, and visitors are asked to try again. ${reason}`, remedy };
    },
  },
  "disk-low": {
    severity: "critical",
    isOfMachine: true,
    find({ freeBytes, dataDir }) {
      if (freeBytes >= LOW_DISK_BYTES) return null;
      return { problem: `Only ${Math.floor(freeBytes / 2 ** 20)} MB are free in ${dataDir}`, remedy: LOW_DISK_REMEDY };
    },
  },
  "website-down": {
    severity: "critical",
    find({ website: { isRunning, lastSeenAt: since }, askedBy }) {
      if (askedBy === "server" || isRunning) return null;
      const remedy = "start its server: until then visitors cannot send messages, and no email is sent";
      return { problem: "The website is not running", remedy, since };
    },
  },
  paused: {
    severity: "critical",
    find: (seen) =>
      ofChannels(seen, (channel, { noun, verb }) => {
        const { since, reason } = seen.website.pauses.find((pause) => pause.channel === channel) ?? {};
        if (!since) return null;
        const remedy = `${reason}. The queue is kept and sent afterwards. Correct the setting, then restart`;
        return { problem: `No ${noun} can be ${verb}`, remedy, command: "settings", since };
      }),
  },
  overdue: {
    severity: "critical",
    find: (seen) =>
      ofChannels(seen, (channel, { noun, verb }) => {
        const queued = countOf(seen, channel, "queued");
        if (!queued || ageMs(queued.firstAt, seen.now) < OVERDUE_MS) return null;
        const { count, firstAt: since, error } = queued;
        const problem = `${plural(count, noun)} waiting to be ${verb}, the oldest for ${age(since, seen.now)}`;
        const reason = ownWords(error);
        const remedy = reason === "" ? "to see all" : `${reason}. To see all`;
        return { problem, remedy, command: "messages list --state waiting", count, since };
      }),
  },
  failed: {
    severity: "critical",
    repeats: "new",
    find: (seen) =>
      ofChannels(seen, (channel, { noun, verb }) => {
        const failed = countOf(seen, channel, "failed");
        if (!failed) return null;
        const { count, firstAt: since, lastAt, reference, error } = failed;
        const which = [reference, ownWords(error)].filter(Boolean).join(": ");
        const command = "messages list --state failed";
        if (channel === "reply") {
          const problem = `${plural(count, noun)} ${count === 1 ? "waits" : "wait"} for your Send again`;
          const remedy = `${which}. Open each message and decide. To see all`;
          return { problem, remedy, command, count, since, lastAt };
        }
        const remedy = `${which}. Fix the cause, then use retry. To see all`;
        return { problem: `${plural(count, noun)} could not be ${verb}`, remedy, command, count, since, lastAt };
      }),
  },
  mailbox: {
    severity: "warning",
    find({ now, folders }) {
      const isLong = ({ problem, failingAt }: FolderState) =>
        failingAt !== null && (problem === HOURLY_LIMIT || ageMs(failingAt, now) >= MAILBOX_AWAY_MS);
      const folder = folders.find(isLong);
      if (!folder) return null;
      const isFull = folder.problem === HOURLY_LIMIT;
      const problem = isFull
        ? `Answers wait in the mailbox: ${folder.problem}`
        : `Answers do not come into the inbox: ${folder.problem}`;
      const remedy = isFull
        ? "they follow within the hour; look for a flood of mails in the mailbox"
        : "read the mailbox itself meanwhile, and correct IMAP_URL; to test it";
      return { problem, remedy, ...(!isFull && { command: "preflight" as const }), since: folder.failingAt };
    },
  },
  "backup-overdue": {
    severity: "critical",
    repeats: "daily",
    find({ now, lastBackupAt: since, outlived }) {
      if (!since || ageMs(since, now) < BACKUP_OVERDUE_MS) return null;
      const problem = [`No backup has succeeded for ${age(since, now)}`, ...outlived].join(". ");
      return { problem, remedy: "make one and read its output", command: "messages backup FILE", since };
    },
  },
  "left-file": {
    severity: "warning",
    find({ leftFiles }) {
      const files = leftFiles?.() ?? [];
      if (files.length === 0) return null;
      const problem = `${files.join(" and ")} still ${files.length === 1 ? "holds" : "hold"} people, although the messages are elsewhere`;
      return { problem, remedy: "delete it once the database has everything: privacy erase does not change it" };
    },
  },
  "clock-wrong": {
    severity: "warning",
    repeats: "never",
    isOfMachine: true,
    find({ clockAheadMs }) {
      if (Math.abs(clockAheadMs) <= CLOCK_WRONG_MS) return null;
      const difference = `${durationInWords(Math.abs(clockAheadMs), Math.round)} ${clockAheadMs > 0 ? "ahead of" : "behind"}`;
      const remedy =
        "messages keep the database's time; correct the clock: timedatectl shows whether it is synchronized";
      return { problem: `The clock of ${hostname()} is ${difference} the database's`, remedy };
    },
  },
  quarantined: {
    severity: "warning",
    repeats: "new",
    endsSilently: true,
    find({ unseen: { count, firstAt: since, lastAt } }) {
      if (count === 0) return null;
      const problem = `${plural(count, "message")} quarantined as suspected abuse, not opened yet`;
      const remedy = "some may be real messages; to read them";
      return { problem, remedy, command: "messages list --state quarantined", count, since, lastAt };
    },
  },
  unanswered: {
    severity: "warning",
    repeats: "daily",
    endsSilently: true,
    find({ now, answerWithin, late }) {
      if (!answerWithin || !late?.firstAt) return null;
      const { count, firstAt: since } = late;
      const promise = answerTimeInWords(answerWithin);
      const problem = `${plural(count, "message")} unanswered for more than ${promise}, the oldest for ${age(since, now)}`;
      return { problem, remedy: "to read them", command: "messages list --unanswered", count, since };
    },
  },
  expiring: {
    severity: "info",
    endsSilently: true,
    find({ now, expiring: { count, unanswered, firstAt } }) {
      if (count === 0) return null;
      const first = firstAt && firstAt > now ? `, the first on ${firstAt.toISOString().slice(0, 10)}` : "";
      const problem = `${plural(count, "message")} will be erased soon${first}`;
      if (unanswered === 0) {
        return { problem: `${problem} (all answered)`, remedy: "to keep a copy", command: "messages export", count };
      }
      const remedy = "if you did not expect this, check the clock; to read the messages";
      const command = "messages list --unanswered";
      return { problem: `${problem} (${unanswered} unanswered)`, severity: "warning", remedy, command, count };
    },
  },
} satisfies Record<string, Rule>;

type TroubleKind = keyof typeof TROUBLES;
export const ruleOf = (kind: TroubleKind): Rule => TROUBLES[kind];
export const SILENT = Object.keys(TROUBLES).filter((kind) => ruleOf(kind as TroubleKind).endsSilently);

interface WatchOptions {
  /** Rejects with StoreUnavailable while the store has not been opened. */
  openedStore(): Promise<Store>;
  dataDir: string;
  /** For operators. */
  leftFiles?: () => readonly string[];
  /** The channels in use. Deliveries left on other channels are no trouble. */
  channels: readonly Channel[];
  /** How soon the site promises to answer; without it, nothing is late. */
  answerWithin?: AnswerTime | null | undefined;
  /** How long the privacy policy says that backups are kept. */
  backupsKept?: string | undefined;
  /** Operators see at once that the store is away, and also whether a server runs. */
  askedBy: "server" | "operator";
  /** What tells this server from others of the same database. */
  node?: string | undefined;
  clock?: Clock;
}

interface Situation {
  /** For how long this process has not been able to store; `null` if it is. */
  awayMs: number | null;
  troubles: readonly Trouble[];
  /** With the store's time. `null` if any of them cannot be read. */
  facts: Facts | null;
  /** Why facts are missing, or why nothing can be stored; `null` otherwise. */
  error: unknown;
}

/** Facts that cannot be read are empty, so that they cause no trouble. */
interface Seen extends Facts, WatchOptions {
  now: Date;
  problem: OperatorError | null;
  awayMs: number;
  freeBytes: number;
}

type Facts = Awaited<ReturnType<typeof readFacts>>;
const UNREAD: Facts = {
  now: new Date(0),
  clockAheadMs: 0,
  late: null,
  counts: [],
  unseen: { count: 0, firstAt: null, lastAt: null },
  expiring: { foundAt: new Date(0), count: 0, unanswered: 0, firstAt: null, unannounced: 0 },
  website: { isRunning: true, lastSeenAt: null, pauses: [] },
  lastBackupAt: null,
  outlived: [],
  folders: [],
};

export type Watch = ReturnType<typeof createWatch>;

export function createWatch(options: WatchOptions) {
  const { openedStore, dataDir, answerWithin, backupsKept, clock = systemClock } = options;
  const promisedMs = answerWithin ? answerTimeMs(answerWithin) : null;
  let awaySinceMs: number | null = null;

  /** Resolves within seconds, even if the store does not answer. */
  async function find(testTime: Date | null = null): Promise<Situation> {
    // While the store is away, nobody else knows the time.
    const startedAtMs = testTime?.getTime() ?? clock.elapsedMs();
    const [read, written] = await Promise.allSettled([
      inTime(openedStore().then((store) => readFacts(store, clock, testTime, promisedMs, backupsKept))),
      // It writes, because a full disk can still be read.
      inTime(openedStore().then(({ status }) => status.ping())),
    ]);
    const facts = read.status === "fulfilled" ? read.value : null;
    const [error = null] = [written, read].flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    const isWritable = written.status === "fulfilled" && !(error instanceof OperatorError);
    const problem = isWritable ? null : toProblem(error);
    awaySinceMs = problem && (awaySinceMs ?? startedAtMs);
    const awayMs = awaySinceMs === null ? null : (testTime?.getTime() ?? clock.elapsedMs()) - awaySinceMs;

    const freeBytes = await freeBytesOf(dataDir);
    const seen = { ...options, problem, awayMs: awayMs ?? 0, freeBytes, ...(facts ?? UNREAD) };
    const troubles = Object.entries<Rule>(TROUBLES).flatMap(([kind, { severity, find }]) => {
      const usual = { kind: kind as TroubleKind, channel: null, severity, count: 1, since: null, lastAt: null };
      return [find(seen) ?? []].flat().map((found): Trouble => ({ ...usual, ...found }));
    });
    const urgencyOf = ({ severity }: Trouble) => URGENCY.indexOf(severity);
    return { awayMs, facts, error, troubles: troubles.sort((a, b) => urgencyOf(a) - urgencyOf(b)) };
  }

  return { find };
}

function toProblem(error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  return new OperatorError({ problem: `${UNUSABLE} (${errorName(error)})` });
}

async function readFacts(
  store: Store,
  clock: Clock,
  testTime: Date | null,
  promisedMs: number | null,
  backupsKept: string | undefined,
) {
  const askedAtMs = clock.now().getTime();
  const now = testTime ?? (await store.status.time());
  // At least: the store read its clock at some moment between these two of ours.
  const tooEarlyMs = Math.max(0, now.getTime() - clock.now().getTime());
  const clockAheadMs = testTime ? 0 : Math.max(0, askedAtMs - now.getTime()) - tooEarlyMs;
  const [late, counts, unseen, expiring, website, lastBackupAt, outlived, folders] = await Promise.all([
    promisedMs === null ? null : store.messages.countUnanswered(new Date(now.getTime() - promisedMs)),
    store.queue.countDeliveries(),
    store.messages.countUnseen(),
    store.retention.findExpiring(testTime),
    store.status.website(testTime),
    store.status.lastBackupAt(),
    outlivedBackups(store, now, backupsKept),
    store.mailbox.folders(testTime),
  ]);
  return { now, clockAheadMs, late, counts, unseen, expiring, website, lastBackupAt, outlived, folders };
}

/** Names the backups that are older than the privacy policy says. */
export async function outlivedBackups(store: Store, now: Date, backupsKept = ""): Promise<string[]> {
  const [folder, keptMs] = [await store.status.backupFolder(), periodMs(backupsKept)];
  if (folder === null || keptMs === undefined) return [];
  const names = await backupsOlderThan(folder, keptMs, now);
  return names.length === 0 ? [] : [`Older than the ${backupsKept} of the privacy policy: ${names.join(", ")}`];
}

function countOf({ counts }: Pick<Facts, "counts">, channel: Channel, state: DeliveryState): DeliveryCount | undefined {
  return counts.find((count) => count.channel === channel && count.state === state);
}

function ofChannels(
  { channels }: Seen,
  find: (channel: Channel, words: NonNullable<ReturnType<typeof rulesOf>["trouble"]>) => Found | null,
): Found[] {
  return channels.flatMap((channel) => {
    const words = rulesOf(channel).trouble;
    const found = words && find(channel, words);
    return found ? { channel, severity: words.severity, ...found } : [];
  });
}

function ageMs(since: Date, now: Date): number {
  return now.getTime() - since.getTime();
}

function age(since: Date, now: Date): string {
  return durationInWords(ageMs(since, now), Math.floor);
}

/** The mail server's own words are not for alerts, because they may contain personal data. */
function ownWords(error: string | null): string {
  const [code = ""] = /^\d{3} /.exec(error ?? "") ?? [];
  const last = error?.split("; ").at(-1) ?? "";
  return last.startsWith(code) ? last : code + last;
}

/** Infinite if the system gives no information or the folder does not exist yet. */
async function freeBytesOf(dataDir: string): Promise<number> {
  const disk = await statfs(dataDir).catch(() => null);
  return disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
}
