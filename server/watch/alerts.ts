import { durationInWords } from "../../contract/duration.ts";
import { programName } from "../config.ts";
import { errorName, type Log } from "../log.ts";
import {
  type AlertTopic,
  type ClockDoubt,
  type Ending,
  type KindDepth,
  type QueueDepth,
  type Store,
  StoreLost,
  StoreUnavailable,
} from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { describeDoubt, describeMachineClock } from "./clock.ts";

export interface AlertOptions {
  store: Pick<Store, "queueDepth" | "lastAlertAt" | "moveLastAlert" | "markQuarantineReported" | "ping"> &
    Pick<Store, "unreportedFailures" | "markFailuresReported" | "lastBackupAt">;
  outbox: {
    /** Why no e-mail can be sent; `null` when it can. */
    readonly pauseReason: string | null;
  };
  /** What the purge found. */
  purge?: {
    readonly clockDoubt: ClockDoubt | null;
    readonly ending: Ending | null;
    noteEndingReported(): Promise<void>;
  };
  /** The clock of servers that share a database; `null`: there is one server. */
  sharedClock?: { readonly machineAheadMs: number } | null;
  /** Messages are posted to HOOK_URL. */
  postsHook?: boolean;
  /** The first word of each alert. */
  brand: string;
  /** How an operator calls the program, e.g. `npm run messages --`. */
  program?: string;
  /** Where to post each alert; `null`: it is only logged. */
  alertUrl: string | null;
  log: Log;
  clock?: Clock;
  postTimeoutMs?: number;
}

export interface Alerts {
  /** Looks for trouble now instead of at the next check. Call it when the queue pauses or a message is held back. */
  checkNow(): void;
  stop(): Promise<void>;
}

/**
 * `overdue`: a message has waited for an hour or longer. `paused`: no e-mail can be sent. `failed`: a message failed for
 * good since the last alert. `store-away`: no message can be stored. `store-lost`: nor will be, until a restart. The
 * `hook-` kinds: the same of the post to HOOK_URL.
 */
type Trouble = "overdue" | "paused" | "failed" | "store-away" | "store-lost" | "hook-overdue" | "hook-failed";

/** `ending`: messages that nobody has answered are erased soon. `clock`: it does not fit the database. */
type OtherTrouble = "quarantined" | "ending" | "clock" | "backup-overdue";

interface Situation {
  now: Date;
  /** Why no e-mail can be sent; `null` when it can. */
  pauseReason: string | null;
  /** `null` when the store does not answer. */
  depth: QueueDepth | null;
  /** `null` also when there is no hook. */
  hook: KindDepth | null;
  /** How long no message could be stored; 0 when one can. */
  storeDownMs: number;
  /** What happened to the store, and what to do; `null` unless it is lost. */
  storeLost: string | null;
}

interface Alert {
  topic: AlertTopic;
  text: string;
  troubles: readonly (Trouble | OtherTrouble)[];
  level: "info" | "warn" | "error";
}

const CHECK_INTERVAL_MS = 30_000;
const REST_MS = 1000;
const ALERT_INTERVAL_MS = 60 * 60_000;
/** For what can wait, and comes again every day. */
const LONG_ALERT_INTERVAL_MS = 24 * 60 * 60_000;
const OVERDUE_MS = 60 * 60_000;
/** Of a backup that is made every day. */
const BACKUP_OVERDUE_MS = 48 * 60 * 60_000;
/** Restarting a database should not alert anybody. */
const STORE_DOWN_MS = 60_000;

/**
 * Alerts the operator when messages are not delivered, when some are held back, before some are erased that nobody has
 * answered, when backups fail, and when a clock is wrong: one line in the log and one post, at most one an hour on each topic, for all nodes of
 * one database together, also across restarts. A post that fails is retried at the next check. Delivery never waits for
 * any of this, and alerts are sent even when the store cannot be read or written.
 */
export function startAlerts(options: AlertOptions): Alerts {
  const { store, outbox, brand, alertUrl, log, clock = systemClock, postTimeoutMs = 10_000 } = options;
  const { program = programName({}), purge = null, sharedClock = null, postsHook = false } = options;
  const stopping = new AbortController();
  /** When the last post failed, if it did. */
  const failedPosts = new Map<AlertTopic, Date>();
  let isDeliveryStuck = false;
  /** The last alert of this node, for when the store does not answer. */
  const alertedAt = new Map<AlertTopic, Date>();
  let storeDownSince: Date | null = null;
  /** What the operator was told of a lost store, which does not wait for an hour to pass. */
  let reportedLoss: string | null = null;
  let runningCheck: Promise<void> | null = null;
  let isCheckWanted = false;
  let isResting = false;
  let cancelTimer = clock.setTimer(runCheck, CHECK_INTERVAL_MS);

  async function check(): Promise<void> {
    // Taken before the store is asked, so that whatever happens meanwhile counts as later than this alert.
    const now = clock.now();
    const [depth, storeError] = await Promise.all([
      nullIfUnavailable(() => store.queueDepth()),
      store.ping().then(() => null, unavailableOnly),
    ]);
    const storeLost = storeError instanceof StoreLost ? storeError.message : null;
    storeDownSince = depth && !storeError ? null : notAfter(now, storeDownSince ?? now);
    const storeDownMs = storeDownSince ? now.getTime() - storeDownSince.getTime() : 0;
    const hook = postsHook ? (depth?.hook ?? null) : null;
    const situation = { now, pauseReason: outbox.pauseReason, depth, hook, storeDownMs, storeLost };
    await checkDelivery(situation);
    await checkQuarantine(situation);
    await checkEnding(situation);
    await checkClock(situation);
    await checkBackup(situation);
  }

  async function checkDelivery(situation: Situation): Promise<void> {
    const lastAlertAt = await lastAlert("delivery", situation);
    const troubles = findTroubles(situation);
    if (isDeliveryStuck && situation.depth && !delaysMessages(troubles)) {
      isDeliveryStuck = false;
      log.info({ event: "alert-over" }, "Messages are delivered again");
    }
    if (troubles.length === 0) {
      failedPosts.delete("delivery");
      return;
    }
    // The outbox has logged a pause and a failed message as errors already.
    const isNew = troubles.some((trouble) => !["paused", "failed", "hook-failed"].includes(trouble));
    const level = isNew ? "error" : "info";
    const text = `${brand}: ${describeTroubles(troubles, situation, program)}`;
    const failures = await unreportedFailures(troubles);
    const isTried = await claimAlert({ topic: "delivery", text, troubles, level }, situation, lastAlertAt);
    if (!isTried) return;
    isDeliveryStuck = delaysMessages(troubles);
    if (failedPosts.has("delivery")) return;
    reportedLoss = situation.storeLost;
    for (const [kind, ids] of failures) await nullIfUnavailable(() => store.markFailuresReported(kind, ids));
  }

  /** Of the kinds that the alert tells of. Taken before it is sent, so that a later failure is not taken for reported. */
  async function unreportedFailures(troubles: readonly Trouble[]): Promise<["mail" | "hook", number[]][]> {
    const kinds = [
      ...(troubles.includes("failed") ? (["mail"] as const) : []),
      ...(troubles.includes("hook-failed") ? (["hook"] as const) : []),
    ];
    return Promise.all(
      kinds.map(async (kind) => [kind, (await nullIfUnavailable(() => store.unreportedFailures(kind))) ?? []]),
    );
  }

  async function checkQuarantine(situation: Situation): Promise<void> {
    const count = situation.depth?.newlyQuarantined ?? 0;
    if (count === 0) {
      failedPosts.delete("quarantine");
      return;
    }
    const text = `${brand}: ${describeQuarantine(count, program)}`;
    const lastAlertAt = await lastAlert("quarantine", situation);
    const alert: Alert = { topic: "quarantine", text, troubles: ["quarantined"], level: "warn" };
    const isTried = await claimAlert(alert, situation, lastAlertAt);
    const lastId = situation.depth?.lastQuarantinedId;
    if (isTried && !failedPosts.has("quarantine") && lastId) {
      await nullIfUnavailable(() => store.markQuarantineReported(lastId));
    }
  }

  async function checkEnding(situation: Situation): Promise<void> {
    const ending = purge?.ending ?? null;
    if (ending === null) return void failedPosts.delete("ending");
    const text = `${brand}: ${describeEnding(ending, program)}`;
    const alert: Alert = { topic: "ending", text, troubles: ["ending"], level: "warn" };
    // What reached nobody is kept until it was reported, so it is reported soon.
    const intervalMs = ending.undelivered + ending.held > 0 ? ALERT_INTERVAL_MS : LONG_ALERT_INTERVAL_MS;
    const isTried = await claimAlert(alert, situation, await lastAlert("ending", situation), intervalMs);
    if (isTried && !failedPosts.has("ending")) await nullIfUnavailable(async () => purge?.noteEndingReported());
  }

  async function checkClock(situation: Situation): Promise<void> {
    const doubt = purge?.clockDoubt ?? null;
    const aheadMs = sharedClock?.machineAheadMs ?? 0;
    const sentences = [
      ...(doubt ? [describeDoubt(doubt, situation.now)] : []),
      ...(aheadMs !== 0 ? [`${describeMachineClock(aheadMs)}; set it, best by a time service such as chrony`] : []),
    ];
    if (sentences.length === 0) return void failedPosts.delete("clock");
    const text = `${brand}: ${sentences.join(". ")}`;
    const alert: Alert = { topic: "clock", text, troubles: ["clock"], level: "info" };
    await claimAlert(alert, situation, await lastAlert("clock", situation), LONG_ALERT_INTERVAL_MS);
  }

  /** Whoever has never made a backup with this program may have another way. */
  async function checkBackup(situation: Situation): Promise<void> {
    const lastBackupAt = await nullIfUnavailable(() => store.lastBackupAt());
    const ageMs = lastBackupAt ? situation.now.getTime() - lastBackupAt.getTime() : 0;
    if (ageMs < BACKUP_OVERDUE_MS) return void failedPosts.delete("backup");
    const text = `${brand}: No backup has succeeded for ${durationInWords(ageMs)}. Make one and see what it says: ${program} backup FILE`;
    const alert: Alert = { topic: "backup", text, troubles: ["backup-overdue"], level: "error" };
    await claimAlert(alert, situation, await lastAlert("backup", situation), LONG_ALERT_INTERVAL_MS);
  }

  async function lastAlert(topic: AlertTopic, { depth }: Situation): Promise<Date> {
    const stored = depth && (await nullIfUnavailable(() => store.lastAlertAt(topic)));
    return stored ?? alertedAt.get(topic) ?? new Date(0);
  }

  /**
   * Sends the alert, unless one was sent within the hour or another node sends it. Without the store nodes cannot agree:
   * each one sends its own. Returns whether this node tried.
   */
  async function claimAlert(
    alert: Alert,
    situation: Situation,
    lastAlertAt: Date,
    intervalMs = ALERT_INTERVAL_MS,
  ): Promise<boolean> {
    const { topic } = alert;
    const { now } = situation;
    const isNewLoss = topic === "delivery" && situation.storeLost !== reportedLoss;
    const isAlerted = isWithin(intervalMs, lastAlertAt, now) || isWithin(intervalMs, alertedAt.get(topic), now);
    if (isAlerted && !isNewLoss) return false;
    if (isWithin(CHECK_INTERVAL_MS, failedPosts.get(topic), now)) return false;
    const isClaimed = await nullIfUnavailable(() => store.moveLastAlert(topic, lastAlertAt, now));
    if (isClaimed === false) return false;
    if (await sendAlert(alert, situation)) alertedAt.set(topic, now);
    // Undone, so that any node may retry at its next check.
    else await nullIfUnavailable(() => store.moveLastAlert(topic, now, lastAlertAt));
    return true;
  }

  /** Returns false when the post failed; the alert is not logged again when it is retried. */
  async function sendAlert({ topic, text, troubles, level }: Alert, situation: Situation): Promise<boolean> {
    if (!failedPosts.has(topic)) log[level]({ event: "alert", troubles }, text);
    if (alertUrl === null) return true;
    const { queued = null, failed = null, quarantined = null } = situation.depth ?? {};
    const oldestAgeSeconds = situation.depth && Math.floor(oldestAgeMs(situation.depth, situation.now) / 1000);
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(postTimeoutMs)]);
      const body = { text, troubles, queued, failed, quarantined, oldestAgeSeconds };
      const response = await postAlert(alertUrl, body, signal);
      await response.body?.cancel();
      if (!response.ok) throw new Error(`status ${response.status}`);
      failedPosts.delete(topic);
      log.info({ event: "alert-sent" }, "The alert was posted to ALERT_URL");
      return true;
    } catch (error) {
      failedPosts.set(topic, situation.now);
      log.warn(
        { event: "alert-not-sent", error: (error as Error).message },
        `The alert could not be posted to ALERT_URL; next attempt in ${CHECK_INTERVAL_MS / 1000} s`,
      );
      return false;
    }
  }

  function runCheck(): void {
    if (stopping.signal.aborted) return;
    cancelTimer();
    isCheckWanted = false;
    runningCheck = check()
      .catch((error) => {
        log.warn({ event: "alert-check-failed", error: errorName(error) }, "Could not check if messages are delivered");
      })
      .then(() => {
        runningCheck = null;
        isResting = true;
        if (!stopping.signal.aborted) cancelTimer = clock.setTimer(endRest, REST_MS);
      });
  }

  /** Between two checks there is a pause, so that a flood of messages does not become a flood of checks. */
  function endRest(): void {
    isResting = false;
    if (isCheckWanted) runCheck();
    else cancelTimer = clock.setTimer(runCheck, CHECK_INTERVAL_MS - REST_MS);
  }

  return {
    checkNow() {
      if (runningCheck !== null || isResting) isCheckWanted = true;
      else runCheck();
    },
    async stop() {
      stopping.abort();
      cancelTimer();
      await runningCheck;
    },
  };
}

function findTroubles(situation: Situation): Trouble[] {
  const { now, pauseReason, depth, hook, storeDownMs, storeLost } = situation;
  const troubles: Trouble[] = [];
  if (oldestAgeMs(depth, now) >= OVERDUE_MS) troubles.push("overdue");
  if (pauseReason !== null) troubles.push("paused");
  // Reported once, not every hour until somebody retries them.
  if (depth && depth.newlyFailed > 0) troubles.push("failed");
  if (storeLost !== null) troubles.push("store-lost");
  else if (storeDownMs >= STORE_DOWN_MS) troubles.push("store-away");
  if (oldestAgeMs(hook, now) >= OVERDUE_MS) troubles.push("hook-overdue");
  if (hook && hook.newlyFailed > 0) troubles.push("hook-failed");
  return troubles;
}

/** What is wrong and what to do, for a reader who knows nothing of the software. */
function describeTroubles(troubles: readonly Trouble[], situation: Situation, program: string): string {
  const { now, pauseReason, depth, hook, storeDownMs, storeLost } = situation;
  const waits = (kind: KindDepth | null) =>
    `${count(kind?.queued)} in the queue, the oldest for ${durationInWords(oldestAgeMs(kind, now))}`;
  const count = (messages = 0) => (messages === 1 ? "1 message" : `${messages} messages`);
  const sentences: Record<Trouble, string> = {
    overdue: `${waits(depth)}; see: ${program} list`,
    paused: `No e-mail can be sent until this is fixed: ${pauseReason}`,
    failed: `${count(depth?.failed)} failed for good; after fixing the cause run: ${program} retry --failed`,
    "store-away": `No message could be stored for ${durationInWords(storeDownMs)}, and visitors are asked to try again: check the database of DATABASE_URL, or whether the disk of DATA_DIR is full`,
    "store-lost": `${storeLost}`,
    "hook-overdue": `The receiver of HOOK_URL does not take messages: ${waits(hook)}; see: ${program} list`,
    "hook-failed": `${count(hook?.failed)} could not be posted to HOOK_URL; after fixing the cause run: ${program} retry --failed`,
  };
  const details = troubles.map((trouble) => sentences[trouble]).join(". ");
  const isMailed = troubles.every((trouble) => trouble.startsWith("hook-"));
  return `Messages from the website are not being ${isMailed ? "posted to the web hook" : "delivered"}. ${details}`;
}

function describeQuarantine(count: number, program: string): string {
  const messages = count === 1 ? "1 message was" : `${count} messages were`;
  return (
    `${messages} held back as suspected abuse, and real ones may be among them. ` +
    `See: ${program} list --state quarantined. To deliver them: ${program} release --all`
  );
}

/** What ends soon, and where to see it. */
function describeEnding({ count, undelivered, held }: Ending, program: string): string {
  const messages = (number: number) => (number === 1 ? "1 message" : `${number} messages`);
  const sentences: string[] = [];
  const unanswered = count - held;
  if (unanswered > 0) {
    const never =
      undelivered > 0 ? `, ${undelivered === unanswered ? "all" : undelivered} of which were never delivered` : "";
    sentences.push(
      `${messages(unanswered)} that nobody has answered will be erased within 8 days${never}. ` +
        `See: ${program} list --unanswered, and list --state quarantined`,
    );
  }
  if (held > 0) {
    sentences.push(
      `${messages(held)} past their RETENTION will be erased tomorrow, many more at once than usual. ` +
        "If that is not intended, set RETENTION to keep them and restart the server",
    );
  }
  return sentences.join(". ");
}

/** How long the oldest has waited; 0 without one. */
function oldestAgeMs(kind: KindDepth | null, now: Date): number {
  return kind?.oldestQueuedAt ? Math.max(0, now.getTime() - kind.oldestQueuedAt.getTime()) : 0;
}

/** Unlike a message that failed for good, which delays no other. */
function delaysMessages(troubles: readonly Trouble[]): boolean {
  return troubles.some((trouble) => trouble !== "failed" && trouble !== "hook-failed");
}

/** Something of the far future was noted before the clock was set back: it is ignored. */
function isWithin(intervalMs: number, at: Date | undefined, now: Date): boolean {
  return at !== undefined && Math.abs(now.getTime() - at.getTime()) < intervalMs;
}

/** A time that was noted before the clock was set back counts from now on. */
function notAfter(now: Date, since: Date): Date {
  return since > now ? now : since;
}

async function nullIfUnavailable<T>(query: () => Promise<T>): Promise<T | null> {
  return query().catch((error) => unavailableOnly(error) && null);
}

function unavailableOnly(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  throw error;
}

/** The body of a post. Chat services show `text`; programs may read the rest. It contains nothing of a visitor's. */
interface AlertBody {
  text: string;
  troubles: Alert["troubles"];
  /** These are `null` when the store does not answer. */
  queued: number | null;
  oldestAgeSeconds: number | null;
  failed: number | null;
  quarantined: number | null;
}

/** Resolves to what the service answers. Its errors do not contain the URL, which may be a secret. */
export async function postAlert(
  alertUrl: string,
  body: Partial<AlertBody> & { text: string },
  signal: AbortSignal,
): Promise<Response> {
  const { url, authorization } = splitCredentials(alertUrl);
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(authorization && { authorization }) },
    body: JSON.stringify(body),
    // A redirected post would arrive as a GET, without its body.
    redirect: "manual",
    signal,
  }).catch((error: Error) => {
    throw new Error(failureCode(error));
  });
}

/** fetch refuses URLs that contain credentials. */
function splitCredentials(address: string): { url: URL; authorization: string | null } {
  const url = new URL(address);
  if (url.username === "" && url.password === "") return { url, authorization: null };
  const credentials = [url.username, url.password].map(decodeURIComponent).join(":");
  url.username = "";
  url.password = "";
  return { url, authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** A word such as ECONNREFUSED or TimeoutError. */
function failureCode({ name, cause }: Error): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : name;
}
