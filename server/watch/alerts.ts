import { durationInWords } from "../../contract/duration.ts";
import { BACKUP_OVERDUE_MS } from "../../contract/inbox.ts";
import { plural } from "../../contract/plural.ts";
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

export type Alerts = ReturnType<typeof startAlerts>;

/**
 * `overdue`: a message has waited for an hour or longer. `paused`: no e-mail can be sent. `failed`: a message failed for
 * good since the last alert. `store-away`: no message can be stored. `store-lost`: nor will be, until a restart. The
 * `hook-` kinds: the same of the post to HOOK_URL.
 */
type DeliveryTrouble = "overdue" | "paused" | "failed" | "store-away" | "store-lost" | "hook-overdue" | "hook-failed";

/** `ending`: messages that nobody has answered are erased soon. `clock`: it does not fit the database. */
type Trouble = DeliveryTrouble | "quarantined" | "ending" | "clock" | "backup-overdue";

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
  text: string;
  troubles: readonly Trouble[];
  level: "info" | "warn" | "error";
  /** At least this long after the last one on its topic; an hour by default. */
  intervalMs?: number;
  /** Called once it is sent. */
  onSent?(): Promise<unknown>;
}

const CHECK_INTERVAL_MS = 30_000;
const REST_MS = 1000;
const ALERT_INTERVAL_MS = 60 * 60_000;
/** For what can wait, and comes again every day. */
const LONG_ALERT_INTERVAL_MS = 24 * 60 * 60_000;
const OVERDUE_MS = 60 * 60_000;
/** Restarting a database should not alert anybody. */
const STORE_DOWN_MS = 60_000;

/**
 * Alerts the operator when messages are not delivered, when some are held back, before some are erased that nobody has
 * answered, when backups fail, and when a clock is wrong: one line in the log and one post, at most one an hour on each
 * topic, for all nodes of one database together, also across restarts. A post that fails is retried at the next check.
 * Delivery never waits for any of this, and alerts are sent even when the store cannot be read or written.
 */
export function startAlerts(options: AlertOptions) {
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
    // A time that was noted before the clock was set back counts from now on.
    storeDownSince = depth && !storeError ? null : storeDownSince && storeDownSince < now ? storeDownSince : now;
    const storeDownMs = storeDownSince ? now.getTime() - storeDownSince.getTime() : 0;
    const hook = postsHook ? (depth?.hook ?? null) : null;
    const situation = { now, pauseReason: outbox.pauseReason, depth, hook, storeDownMs, storeLost };
    await checkDelivery(situation);
    await raise("quarantine", findQuarantined(situation), situation);
    await raise("ending", findEnding(), situation);
    await raise("clock", findClockTrouble(situation), situation);
    await raise("backup", await findBackupTrouble(situation), situation);
  }

  async function checkDelivery(situation: Situation): Promise<void> {
    const found = findDeliveryTroubles(situation, program);
    const troubles = [...found.keys()];
    // Unlike a message that failed for good, which delays no other.
    const delaysMessages = troubles.some((trouble) => trouble !== "failed" && trouble !== "hook-failed");
    if (isDeliveryStuck && situation.depth && !delaysMessages) {
      isDeliveryStuck = false;
      log.info({ event: "alert-over" }, "Messages are delivered again");
    }
    // The outbox has logged a pause and a failed message as errors already.
    const isNew = troubles.some((trouble) => !["paused", "failed", "hook-failed"].includes(trouble));
    const isHookOnly = troubles.every((trouble) => trouble.startsWith("hook-"));
    const failures = await unreportedFailures(troubles);
    const alert: Alert = {
      text: `Messages from the website are not being ${isHookOnly ? "posted to the web hook" : "delivered"}. ${[...found.values()].join(". ")}`,
      troubles,
      level: isNew ? "error" : "info",
      async onSent() {
        reportedLoss = situation.storeLost;
        for (const [kind, ids] of failures) await store.markFailuresReported(kind, ids);
      },
    };
    const isTried = await raise("delivery", troubles.length > 0 ? alert : null, situation);
    if (isTried) isDeliveryStuck = delaysMessages;
  }

  /** Those that the alert reports. Read before it is sent, so that no later failure is marked as reported. */
  async function unreportedFailures(troubles: readonly DeliveryTrouble[]): Promise<["mail" | "hook", number[]][]> {
    const failures: ["mail" | "hook", number[]][] = [];
    for (const [kind, trouble] of [["mail", "failed"] as const, ["hook", "hook-failed"] as const]) {
      if (!troubles.includes(trouble)) continue;
      failures.push([kind, (await nullIfUnavailable(() => store.unreportedFailures(kind))) ?? []]);
    }
    return failures;
  }

  function findQuarantined({ depth }: Situation): Alert | null {
    const { newlyQuarantined: count = 0, lastQuarantinedId: lastId = null } = depth ?? {};
    if (count === 0) return null;
    return {
      text:
        `${plural(count, "message")} ${count === 1 ? "was" : "were"} held back as suspected abuse, and real ones may be among them. ` +
        `See: ${program} list --state quarantined. To deliver them: ${program} release --all`,
      troubles: ["quarantined"],
      level: "warn",
      onSent: async () => lastId && store.markQuarantineReported(lastId),
    };
  }

  function findEnding(): Alert | null {
    if (!purge?.ending) return null;
    const { undelivered, held } = purge.ending;
    return {
      text: describeEnding(purge.ending, program),
      troubles: ["ending"],
      level: "warn",
      // What reached nobody is kept until it was reported, so it is reported soon.
      intervalMs: undelivered + held > 0 ? ALERT_INTERVAL_MS : LONG_ALERT_INTERVAL_MS,
      onSent: () => purge.noteEndingReported(),
    };
  }

  function findClockTrouble({ now }: Situation): Alert | null {
    const aheadMs = sharedClock?.machineAheadMs ?? 0;
    const sentences = [
      ...(purge?.clockDoubt ? [describeDoubt(purge.clockDoubt, now)] : []),
      ...(aheadMs !== 0 ? [`${describeMachineClock(aheadMs)}; set it, best by a time service such as chrony`] : []),
    ];
    if (sentences.length === 0) return null;
    return { text: sentences.join(". "), troubles: ["clock"], level: "info", intervalMs: LONG_ALERT_INTERVAL_MS };
  }

  async function findBackupTrouble({ now }: Situation): Promise<Alert | null> {
    const lastBackupAt = await nullIfUnavailable(() => store.lastBackupAt());
    const ageMs = lastBackupAt ? now.getTime() - lastBackupAt.getTime() : 0;
    if (ageMs < BACKUP_OVERDUE_MS) return null;
    return {
      text: `No backup has succeeded for ${durationInWords(ageMs)}. Make one and see what it says: ${program} backup FILE`,
      troubles: ["backup-overdue"],
      level: "error",
      intervalMs: LONG_ALERT_INTERVAL_MS,
    };
  }

  async function lastAlert(topic: AlertTopic, { depth }: Situation): Promise<Date> {
    const stored = depth && (await nullIfUnavailable(() => store.lastAlertAt(topic)));
    return stored ?? alertedAt.get(topic) ?? new Date(0);
  }

  /**
   * Sends the alert, if there is one, unless one was sent not long ago or another node sends it. Without the store nodes
   * cannot agree: each one sends its own. Returns whether this node tried.
   */
  async function raise(topic: AlertTopic, alert: Alert | null, situation: Situation): Promise<boolean> {
    if (alert === null) {
      failedPosts.delete(topic);
      return false;
    }
    const { intervalMs = ALERT_INTERVAL_MS, onSent } = alert;
    const { now } = situation;
    const lastAlertAt = await lastAlert(topic, situation);
    const isNewLoss = topic === "delivery" && situation.storeLost !== reportedLoss;
    const isAlerted = isWithin(intervalMs, lastAlertAt, now) || isWithin(intervalMs, alertedAt.get(topic), now);
    if (isAlerted && !isNewLoss) return false;
    if (isWithin(CHECK_INTERVAL_MS, failedPosts.get(topic), now)) return false;
    const isClaimed = await nullIfUnavailable(() => store.moveLastAlert(topic, lastAlertAt, now));
    if (isClaimed === false) return false;
    if (await sendAlert(topic, alert, situation)) {
      alertedAt.set(topic, now);
      await nullIfUnavailable(async () => onSent?.());
    }
    // Undone, so that any node may retry at its next check.
    else await nullIfUnavailable(() => store.moveLastAlert(topic, now, lastAlertAt));
    return true;
  }

  /** Returns false when the post failed; the alert is not logged again when it is retried. */
  async function sendAlert(topic: AlertTopic, alert: Alert, situation: Situation): Promise<boolean> {
    const { troubles, level } = alert;
    const text = `${brand}: ${alert.text}`;
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
    /** Looks for trouble now instead of at the next check. Call it when the queue pauses or a message is held back. */
    checkNow(): void {
      if (runningCheck !== null || isResting) isCheckWanted = true;
      else runCheck();
    },
    async stop(): Promise<void> {
      stopping.abort();
      cancelTimer();
      await runningCheck;
    },
  };
}

/** What is wrong, and what to do, for a reader who knows nothing of the software. */
function findDeliveryTroubles(situation: Situation, program: string): Map<DeliveryTrouble, string> {
  const { now, pauseReason, depth, hook, storeDownMs, storeLost } = situation;
  const found = new Map<DeliveryTrouble, string>();
  const messages = (count: number) => plural(count, "message");
  const waits = (kind: KindDepth) =>
    `${messages(kind.queued)} in the queue, the oldest for ${durationInWords(oldestAgeMs(kind, now))}; see: ${program} list`;
  const isOverdue = (kind: KindDepth) => oldestAgeMs(kind, now) >= OVERDUE_MS;
  const remedy = `after fixing the cause run: ${program} retry --failed`;

  if (depth && isOverdue(depth)) found.set("overdue", waits(depth));
  if (pauseReason !== null) found.set("paused", `No e-mail can be sent until this is fixed: ${pauseReason}`);
  // Reported once, not every hour until somebody retries them.
  if (depth && depth.newlyFailed > 0) found.set("failed", `${messages(depth.failed)} failed for good; ${remedy}`);
  if (storeLost !== null) found.set("store-lost", storeLost);
  else if (storeDownMs >= STORE_DOWN_MS) {
    found.set(
      "store-away",
      `No message could be stored for ${durationInWords(storeDownMs)}, and visitors are asked to try again: check the database of DATABASE_URL, or whether the disk of DATA_DIR is full`,
    );
  }
  if (hook && isOverdue(hook))
    found.set("hook-overdue", `The receiver of HOOK_URL does not take messages: ${waits(hook)}`);
  if (hook && hook.newlyFailed > 0)
    found.set("hook-failed", `${messages(hook.failed)} could not be posted to HOOK_URL; ${remedy}`);
  return found;
}

/** What ends soon, and where to see it. */
function describeEnding({ count, undelivered, held }: Ending, program: string): string {
  const sentences: string[] = [];
  const unanswered = count - held;
  if (unanswered > 0) {
    const never =
      undelivered > 0 ? `, ${undelivered === unanswered ? "all" : undelivered} of which were never delivered` : "";
    sentences.push(
      `${plural(unanswered, "message")} that nobody has answered will be erased within 8 days${never}. ` +
        `See: ${program} list --unanswered, and list --state quarantined`,
    );
  }
  if (held > 0) {
    sentences.push(
      `${plural(held, "message")} past their RETENTION will be erased tomorrow, many more at once than usual. ` +
        "If that is not intended, set RETENTION to keep them and restart the server",
    );
  }
  return sentences.join(". ");
}

/** How long the oldest has waited; 0 without one. */
function oldestAgeMs(kind: KindDepth, now: Date): number {
  return kind.oldestQueuedAt ? Math.max(0, now.getTime() - kind.oldestQueuedAt.getTime()) : 0;
}

/** A time in the far future was noted before the clock was set back, and does not count. */
function isWithin(intervalMs: number, at: Date | undefined, now: Date): boolean {
  return at !== undefined && Math.abs(now.getTime() - at.getTime()) < intervalMs;
}

async function nullIfUnavailable<T>(query: () => Promise<T>): Promise<T | null> {
  return query().catch((error) => unavailableOnly(error) && null);
}

function unavailableOnly(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  throw error;
}

/**
 * Chat services show `text`; programs may read the rest. It contains nothing of a visitor's. Resolves to what the service
 * answers. Its errors do not contain the URL, which may be a secret, but a word such as ECONNREFUSED or TimeoutError.
 */
export async function postAlert(
  alertUrl: string,
  body: { text: string; troubles: readonly string[] },
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(alertUrl);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (url.username !== "" || url.password !== "") {
    // fetch refuses URLs that contain credentials.
    const credentials = [url.username, url.password].map(decodeURIComponent).join(":");
    headers.authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
    url.username = "";
    url.password = "";
  }
  // A redirected post would arrive as a GET, without its body.
  const options = { method: "POST", headers, body: JSON.stringify(body), redirect: "manual", signal } as const;
  return fetch(url, options).catch(({ name, cause }: Error) => {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    throw new Error(typeof code === "string" ? code : name);
  });
}
