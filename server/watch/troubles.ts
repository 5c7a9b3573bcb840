import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import type { Advice } from "../../contract/commands.ts";
import { type AnswerTime, answerTimeInWords, answerTimeMs, durationInWords } from "../../contract/duration.ts";
import { plural } from "../../contract/text.ts";
import { errorName, isDefect } from "../log.ts";
import type { Store } from "../store/open-store.ts";
import type { DeliveryCount } from "../store/queue.ts";
import { CHANNELS, type Channel, type DeliveryState, rulesOf, StoreLost, StoreUnavailable } from "../store/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, withinMs } from "../time.ts";

/**
 * Something that is wrong. Per channel: `overdue`: a delivery has waited for an hour; `paused`: nothing can be sent;
 * `failed`: deliveries failed for good.
 * `unanswered`: messages have waited for an answer longer than the site promises. `quarantined`: messages are held back.
 * `expiring`: messages will be erased soon. `store-away`: no message can be stored; `store-lost`: the same until a restart. `store-damaged`: the database's
 * file is partly unreadable. `website-down`: no server runs. `clock`: this machine's clock is wrong. `backup-overdue`:
 * no backup has succeeded for two days. `disk-low`: little space is left.
 */
export const TROUBLE_KINDS = [
  "overdue",
  "paused",
  "failed",
  "quarantined",
  "unanswered",
  "expiring",
  "store-away",
  "store-lost",
  "store-damaged",
  "website-down",
  "clock",
  "backup-overdue",
  "disk-low",
] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

/**
 * `critical`: messages do not arrive, or may be lost. `warning`: an operator should look. `info`: no action is needed.
 */
export type Severity = "critical" | "warning" | "info";

export interface Trouble extends Advice {
  kind: TroubleKind;
  channel: Channel | null;
  severity: Severity;
  /** The number of messages; 1 if the trouble is not about messages. */
  count: number;
  since: Date | null;
}

// Every threshold for a trouble. Alerts, metrics, the inbox, `stats` and preflight all use these.
const OVERDUE_MS = HOUR_MS;
/** A restart of the database should not cause an alert. */
const STORE_AWAY_MS = MINUTE_MS / 2;
/** For a daily backup. An operator who never made one may use another method. */
const BACKUP_OVERDUE_MS = 2 * DAY_MS;
const CLOCK_TOLERANCE_MS = MINUTE_MS;
/** Somebody else's clock may be less exact. */
const ANSWER_TOLERANCE_MS = 5 * MINUTE_MS;
export const LOW_DISK_BYTES = 500 * 2 ** 20;
export const LOW_DISK_REMEDY = "free some space: when the disk is full, no message can be stored";
/** For a damaged SQLite file. */
export const RESCUE = {
  remedy: "stop the website and save the readable messages, as docs/operations.md describes",
  command: "messages rescue FILE",
} as const;

/** A busy database needs less, and Prometheus waits longer. */
const ANSWER_LIMIT_MS = 5000;
const URGENCY: readonly Severity[] = ["critical", "warning", "info"];

/** The channels whose failure affects a message. */
export const WATCHED_CHANNELS = CHANNELS.filter((channel) => rulesOf(channel).trouble !== null);
export const CHANNEL_TROUBLES: readonly TroubleKind[] = ["overdue", "paused", "failed"];

interface WatchOptions {
  store: Store;
  dataDir: string;
  /** The channels in use. Deliveries left on other channels are no trouble. */
  channels: readonly Channel[];
  /** How soon the site promises to answer; without it, nothing is late. */
  answerWithin?: AnswerTime | null | undefined;
  /** Operators see at once that the store is away, and also whether a server runs. */
  askedBy: "server" | "operator";
}

interface Disk {
  freeBytes: number;
  totalBytes: number;
}

export interface Situation {
  now: Date;
  /** Most urgent first. */
  troubles: readonly Trouble[];
  /** Facts from the store; `null` if it cannot be read. */
  facts: Facts | null;
  /** Why messages cannot be stored; `null` if they can. */
  problem: StoreUnavailable | null;
  /** An error that is none of the store; `null` if there was none. The facts may be missing because of it. */
  defect: unknown;
  /** The disk of DATA_DIR; `null` if the system gives no information. */
  disk: Disk | null;
  /** When the database was found to be damaged. */
  damagedAt: Date | null;
}

type Facts = Awaited<ReturnType<typeof readFacts>>;
export type Watch = ReturnType<typeof createWatch>;

/** The only code that finds troubles. */
export function createWatch(options: WatchOptions) {
  const { store, dataDir, answerWithin = null } = options;
  const promisedMs = answerWithin && answerTimeMs(answerWithin);
  let awaySince: Date | null = null;
  /** How far this machine's clock is ahead of the clock of the last server that answered it. */
  let answeredAheadMs = 0;

  /** Resolves within seconds, even if the store does not answer. */
  async function find(now: Date): Promise<Situation> {
    let defect: unknown = null;
    const noteDefect = (error: unknown) => {
      if (isDefect(error)) defect ??= error;
      return null;
    };
    const [facts, refusal, disk, damagedAt] = await Promise.all([
      inTime(readFacts(store, now, promisedMs)).catch(noteDefect),
      // `ping` writes, because a full disk can still be read.
      inTime(store.status.ping()).then(
        () => null,
        (error) => {
          noteDefect(error);
          return toUnavailable(error);
        },
      ),
      diskOf(dataDir),
      inTime(store.status.damagedAt()).catch(noteDefect),
    ]);
    const isUnread = facts === null && defect === null;
    const problem =
      refusal ?? (isUnread ? new StoreUnavailable({ problem: "The message database cannot be read" }) : null);
    // A time from before the clock was set back is replaced by the current time.
    awaySince = problem === null ? null : awaySince && awaySince < now ? awaySince : now;
    const situation = { now, facts, problem, defect, disk, damagedAt };
    const urgencyOf = ({ severity }: Trouble) => URGENCY.indexOf(severity);
    return {
      ...situation,
      troubles: listTroubles(situation, { ...options, awaySince, answeredAheadMs }).sort(
        (one, other) => urgencyOf(one) - urgencyOf(other),
      ),
    };
  }

  return {
    find,
    /** Call it with the headers of an answer from another machine: their date shows whether this clock is wrong. */
    compareClock(headers: Headers): void {
      const dateMs = Date.parse(headers.get("date") ?? "");
      if (!Number.isNaN(dateMs)) answeredAheadMs = Date.now() - dateMs;
    },
  };
}

/** `awaySince`: since when messages cannot be stored. */
function listTroubles(
  { now, facts, problem, disk, damagedAt }: Omit<Situation, "troubles">,
  options: WatchOptions & { awaySince: Date | null; answeredAheadMs: number },
): Trouble[] {
  const { dataDir, channels, answerWithin, askedBy, awaySince, answeredAheadMs } = options;
  const troubles: Trouble[] = [];
  const ageMs = (since: Date) => now.getTime() - since.getTime();
  const age = (since: Date) => durationInWords(ageMs(since), Math.floor);
  const add = (
    kind: TroubleKind,
    severity: Severity,
    advice: Advice,
    { channel = null, count = 1, since = null }: Partial<Trouble> = {},
  ) => troubles.push({ kind, channel, severity, count, since, ...advice });

  if (problem instanceof StoreLost) {
    for (const advice of problem.advice) add("store-lost", "critical", advice, { since: awaySince });
  } else if (awaySince && (askedBy === "operator" || ageMs(awaySince) >= STORE_AWAY_MS)) {
    const [{ problem: reason = "", remedy = undefined } = {}] = problem?.advice ?? [];
    const away = { problem: `No message can be stored, and visitors are asked to try again. ${reason}`, remedy };
    if (!damagedAt) add("store-away", "critical", away, { since: awaySince });
  }
  if (damagedAt) {
    const problem = "The message database is damaged: some messages cannot be read or sent";
    add("store-damaged", "critical", { problem, ...RESCUE }, { since: damagedAt });
  }
  if (disk && disk.freeBytes < LOW_DISK_BYTES) {
    const problem = `Only ${Math.floor(disk.freeBytes / 2 ** 20)} MB are free in ${dataDir}`;
    add("disk-low", "critical", { problem, remedy: LOW_DISK_REMEDY });
  }
  if (facts === null) return troubles;

  const { website, lastBackupAt, expiring } = facts;
  if (askedBy === "operator" && !website.isRunning) {
    const since = website.lastSeenAt;
    const problem = since ? `The website has been down for ${age(since)}` : "The website is not running";
    const remedy = "start its server: until then visitors cannot send messages, and no email is sent";
    add("website-down", "critical", { problem, remedy }, { since });
  }
  for (const channel of channels) {
    const { trouble } = rulesOf(channel);
    if (trouble === null) continue;
    const { noun, verb, severity, pausedMs } = trouble;
    const pause = website.pauses.find((pause) => pause.channel === channel);
    if (pause && ageMs(pause.since) >= pausedMs) {
      const remedy = `${pause.reason}. The queue is kept and sent afterwards. Correct the setting, then restart`;
      const advice: Advice = { problem: `No ${noun} can be ${verb}`, remedy, command: "settings" };
      add("paused", severity, advice, { channel, since: pause.since });
    }
    const queued = countOf(facts, channel, "queued");
    if (queued && ageMs(queued.firstAt) >= OVERDUE_MS) {
      const { count, firstAt: since } = queued;
      const problem = `${plural(count, noun)} waiting to be ${verb}, the oldest for ${age(since)}`;
      const reason = ownWords(queued.error);
      const remedy = reason === "" ? "to see all" : `${reason}. To see all`;
      const advice: Advice = { problem, remedy, command: "messages list --state queued" };
      add("overdue", severity, advice, { channel, count, since });
    }
    const failed = countOf(facts, channel, "failed");
    if (failed) {
      const { count, firstAt: since, reference } = failed;
      const problem = `${plural(count, noun)} could not be ${verb}`;
      const which = [reference, ownWords(failed.error)].filter(Boolean).join(": ");
      const remedy = `${which}. Fix the cause, then use retry. To see all`;
      const advice: Advice = { problem, remedy, command: "messages list --state failed" };
      add("failed", severity, advice, { channel, count, since });
    }
  }
  if (lastBackupAt && ageMs(lastBackupAt) >= BACKUP_OVERDUE_MS) {
    const problem = `No backup has succeeded for ${age(lastBackupAt)}`;
    const advice: Advice = { problem, remedy: "make one and read its output", command: "messages backup FILE" };
    add("backup-overdue", "critical", advice, { since: lastBackupAt });
  }
  const clock =
    describeClock(facts.machineAheadMs) ??
    describeClock(answeredAheadMs, "that of the servers which answer this site", ANSWER_TOLERANCE_MS) ??
    describeClock(facts.newestAt ? Math.min(0, ageMs(facts.newestAt)) : 0, "the newest entry of the database");
  if (clock) add("clock", "warning", { problem: clock, remedy: CLOCK_REMEDY });
  const quarantined = countOf(facts, "mail", "quarantined");
  if (quarantined && quarantined.unseen > 0) {
    const { unseen: count, unseenSpam, unseenSinceAt: since } = quarantined;
    const spam = unseenSpam > 0 ? ` (looks like spam: ${unseenSpam})` : "";
    const problem = `${plural(count, "message")} quarantined as suspected abuse, not opened yet${spam}`;
    const remedy = "some may be real messages; to read them";
    add("quarantined", "warning", { problem, remedy, command: "messages list --state quarantined" }, { count, since });
  }
  if (answerWithin && facts.late?.firstAt) {
    const { count, firstAt: since } = facts.late;
    const problem = `${plural(count, "message")} unanswered for more than ${answerTimeInWords(answerWithin)}, the oldest for ${age(since)}`;
    const advice: Advice = { problem, remedy: "to read them", command: "messages list --unanswered" };
    add("unanswered", "warning", advice, { count, since });
  }
  const { count, unanswered, firstAt } = expiring;
  if (count > 0) {
    const first = firstAt && firstAt > now ? `, the first on ${firstAt.toISOString().slice(0, 10)}` : "";
    const open = unanswered > 0 ? `${unanswered} unanswered` : "all answered";
    const problem = `${plural(count, "message")} will be erased soon${first} (${open})`;
    const advice: Advice =
      unanswered > 0
        ? {
            problem,
            remedy: "if you did not expect this, check the clock; to read the messages",
            command: "messages list --unanswered",
          }
        : { problem, remedy: "to keep a copy", command: "messages export" };
    add("expiring", unanswered > 0 ? "warning" : "info", advice, { count });
  }
  return troubles;
}

/** The mail server's own words are not for alerts, because they may contain personal data. */
function ownWords(error: string | null): string {
  const [code = ""] = /^\d{3} /.exec(error ?? "") ?? [];
  const last = error?.split("; ").at(-1) ?? "";
  return last.startsWith(code) ? last : code + last;
}

async function readFacts(store: Store, now: Date, promisedMs: number | null) {
  const [late, counts, expiring, website, lastBackupAt, newestAt, time] = await Promise.all([
    promisedMs === null ? null : store.messages.countUnanswered(new Date(now.getTime() - promisedMs)),
    store.queue.countDeliveries(),
    store.archive.findExpiring(now),
    store.status.website(now),
    store.status.lastBackupAt(),
    store.status.newestAt(),
    store.status.time(),
  ]);
  return {
    late,
    counts,
    expiring,
    website,
    lastBackupAt,
    newestAt,
    machineAheadMs: Date.now() - time.getTime(),
  };
}

export function countOf({ counts }: Facts, channel: Channel, state: DeliveryState): DeliveryCount | undefined {
  return counts.find((count) => count.channel === channel && count.state === state);
}

export const CLOCK_REMEDY = "check the clock, and set it, preferably with a time service such as chrony";

/** What is wrong with this machine's clock; `null` when it agrees with the other one. */
export function describeClock(
  aheadMs: number,
  other = "the database's",
  toleranceMs = CLOCK_TOLERANCE_MS,
): string | null {
  if (Math.abs(aheadMs) <= toleranceMs) return null;
  const offMs = Math.round(Math.abs(aheadMs) / MINUTE_MS) * MINUTE_MS;
  return `The clock of ${hostname()} is ${durationInWords(offMs)} ${aheadMs > 0 ? "ahead of" : "behind"} ${other}`;
}

/** Resolves to `null` if the system gives no information or the folder does not exist yet. */
async function diskOf(dataDir: string): Promise<Disk | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}

/** Rejects with StoreUnavailable if the store does not answer in time. */
export function inTime<T>(answer: Promise<T>): Promise<T> {
  return withinMs(
    ANSWER_LIMIT_MS,
    answer,
    () => new StoreUnavailable({ problem: "The message database does not answer" }),
  );
}

function toUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  if (isDefect(error)) {
    const problem = `This program has a defect (${errorName(error)})`;
    return new StoreUnavailable({ problem, remedy: "report it with its stack, which is in the log" });
  }
  return new StoreUnavailable({ problem: `The message database cannot be used (${errorName(error)})` });
}
