import { durationInWords } from "../../contract/duration.ts";
import { errorName, type Log } from "../log.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { type QueueDepth, type Store, StoreUnavailable } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";

export interface AlertOptions {
  store: Pick<Store, "queueDepth" | "lastAlertAt" | "moveLastAlert">;
  outbox: Pick<Outbox, "pauseReason">;
  /** The first word of each alert. */
  brand: string;
  /** Where to post each alert; `null`: it is only logged. */
  alertUrl: string | null;
  log: Log;
  clock?: Clock;
  postTimeoutMs?: number;
}

export interface Alerts {
  /** Looks for trouble now instead of at the next check. Call it when the queue pauses. */
  checkNow(): void;
  stop(): Promise<void>;
}

/**
 * `overdue`: a message has waited for an hour or longer. `paused`: no e-mail can be sent. `failed`: a message failed for
 * good since the last alert. `store-away`: the store does not answer.
 */
type Trouble = "overdue" | "paused" | "failed" | "store-away";

interface Situation {
  now: Date;
  /** Why no e-mail can be sent; `null` when it can. */
  pauseReason: string | null;
  /** `null` when the store does not answer. */
  depth: QueueDepth | null;
  /** How long the store has not answered; 0 when it does. */
  storeDownMs: number;
}

const CHECK_INTERVAL_MS = 30_000;
const ALERT_INTERVAL_MS = 60 * 60_000;
const OVERDUE_MS = 60 * 60_000;
/** Restarting a database should not alert anybody. */
const STORE_DOWN_MS = 5 * 60_000;

/**
 * Alerts the operator when messages are not delivered: one line in the log and one post, at most one an hour for all
 * nodes of one database together, also across restarts. A post that fails is retried at the next check. Delivery never
 * waits for any of this, and alerts are sent even when the store cannot be read or written.
 */
export function startAlerts(options: AlertOptions): Alerts {
  const { store, outbox, brand, alertUrl, log, clock = systemClock, postTimeoutMs = 10_000 } = options;
  const stopping = new AbortController();
  let hasPostFailed = false;
  let isDeliveryStuck = false;
  /** The last alert of this node, for when the store does not answer. */
  let alertedAt = new Date(0);
  let storeDownSince: Date | null = null;
  let runningCheck: Promise<void> | null = null;
  let cancelTimer = clock.setTimer(checkNow, CHECK_INTERVAL_MS);

  async function check(): Promise<void> {
    // Taken before the store is asked, so that whatever fails meanwhile counts as later than this alert.
    const now = clock.now();
    const depth = await nullIfUnavailable(() => store.queueDepth());
    const lastAlertAt = (depth && (await nullIfUnavailable(() => store.lastAlertAt()))) ?? alertedAt;
    storeDownSince = depth ? null : (storeDownSince ?? now);
    const storeDownMs = storeDownSince ? now.getTime() - storeDownSince.getTime() : 0;
    const situation = { now, pauseReason: outbox.pauseReason, depth, storeDownMs };
    const troubles = findTroubles(situation, lastAlertAt);
    if (isDeliveryStuck && depth && !delaysMessages(troubles)) {
      isDeliveryStuck = false;
      log.info({ event: "alert-over" }, "Messages are delivered again");
    }
    if (troubles.length === 0) hasPostFailed = false;
    else if (!isRecent(lastAlertAt, now) && !isRecent(alertedAt, now))
      await claimAlert(situation, troubles, lastAlertAt);
  }

  /** Sends the alert unless another node does. Without the store nodes cannot agree: each one sends its own. */
  async function claimAlert(situation: Situation, troubles: readonly Trouble[], lastAlertAt: Date): Promise<void> {
    const { now } = situation;
    const isClaimed = await nullIfUnavailable(() => store.moveLastAlert(lastAlertAt, now));
    if (isClaimed === false) return;
    if (await sendAlert(troubles, situation)) alertedAt = now;
    // Undone, so that any node may retry at its next check.
    else await nullIfUnavailable(() => store.moveLastAlert(now, lastAlertAt));
  }

  /** Returns false when the post failed; the alert is not logged again when it is retried. */
  async function sendAlert(troubles: readonly Trouble[], situation: Situation): Promise<boolean> {
    const text = `${brand}: ${describeTroubles(troubles, situation)}`;
    // The outbox has logged a pause and a failed message as errors already.
    const level = troubles.includes("overdue") || troubles.includes("store-away") ? "error" : "info";
    if (!hasPostFailed) log[level]({ event: "alert", troubles }, text);
    isDeliveryStuck = delaysMessages(troubles);
    if (alertUrl === null) return true;
    const { queued = null, failed = null } = situation.depth ?? {};
    const oldestAgeSeconds = situation.depth && Math.floor(oldestAgeMs(situation) / 1000);
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(postTimeoutMs)]);
      await postAlert(alertUrl, { text, troubles, queued, failed, oldestAgeSeconds }, signal);
      hasPostFailed = false;
      log.info({ event: "alert-sent" }, "The alert was posted to ALERT_URL");
    } catch (error) {
      hasPostFailed = true;
      log.warn(
        { event: "alert-not-sent", error: (error as Error).message },
        `The alert could not be posted to ALERT_URL; next attempt in ${CHECK_INTERVAL_MS / 1000} s`,
      );
    }
    return !hasPostFailed;
  }

  function checkNow(): void {
    if (runningCheck !== null || stopping.signal.aborted) return;
    cancelTimer();
    runningCheck = check()
      .catch((error) => {
        log.warn({ event: "alert-check-failed", error: errorName(error) }, "Could not check if messages are delivered");
      })
      .then(() => {
        runningCheck = null;
        if (!stopping.signal.aborted) cancelTimer = clock.setTimer(checkNow, CHECK_INTERVAL_MS);
      });
  }

  return {
    checkNow,
    async stop() {
      stopping.abort();
      cancelTimer();
      await runningCheck;
    },
  };
}

function findTroubles(situation: Situation, lastAlertAt: Date): Trouble[] {
  const { pauseReason, depth, storeDownMs } = situation;
  const troubles: Trouble[] = [];
  if (oldestAgeMs(situation) >= OVERDUE_MS) troubles.push("overdue");
  if (pauseReason !== null) troubles.push("paused");
  // Reported once, not every hour until somebody retries them.
  if (depth?.lastFailedAt && depth.lastFailedAt > lastAlertAt) troubles.push("failed");
  if (storeDownMs >= STORE_DOWN_MS) troubles.push("store-away");
  return troubles;
}

/** What is wrong and what to do, for a reader who knows nothing of the software. */
function describeTroubles(troubles: readonly Trouble[], situation: Situation): string {
  const { pauseReason, depth, storeDownMs } = situation;
  const count = (messages = 0) => (messages === 1 ? "1 message" : `${messages} messages`);
  const sentences: Record<Trouble, string> = {
    overdue: `${count(depth?.queued)} in the queue, the oldest for ${durationInWords(oldestAgeMs(situation))}; see: npm run messages -- list`,
    paused: `No e-mail can be sent until this is fixed: ${pauseReason}`,
    failed: `${count(depth?.failed)} failed for good; after fixing the cause run: npm run messages -- retry --failed`,
    "store-away": `The message database has not answered for ${durationInWords(storeDownMs)}, and visitors are asked to try again: check DATABASE_URL, or the disk of DATA_DIR`,
  };
  const details = troubles.map((trouble) => sentences[trouble]).join(". ");
  return `Messages from the website are not being delivered. ${details}`;
}

/** How long the oldest undelivered message has waited; 0 without one. */
function oldestAgeMs({ now, depth }: Situation): number {
  return depth?.oldestQueuedAt ? Math.max(0, now.getTime() - depth.oldestQueuedAt.getTime()) : 0;
}

/** Unlike a message that failed for good, which delays no other. */
function delaysMessages(troubles: readonly Trouble[]): boolean {
  return troubles.some((trouble) => trouble !== "failed");
}

function isRecent(alertAt: Date, now: Date): boolean {
  // An alert from the far future was stored before the clock was set back: it is ignored.
  return Math.abs(now.getTime() - alertAt.getTime()) < ALERT_INTERVAL_MS;
}

async function nullIfUnavailable<T>(query: () => Promise<T>): Promise<T | null> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}

/** The body of a post. Chat services show `text`; programs may read the rest. It contains nothing of a visitor's. */
interface AlertBody {
  text: string;
  troubles: readonly Trouble[];
  /** These three are `null` when the store does not answer. */
  queued: number | null;
  oldestAgeSeconds: number | null;
  failed: number | null;
}

/** Resolves once the service took the alert. Its errors do not contain the URL, which may be a secret. */
async function postAlert(alertUrl: string, body: AlertBody, signal: AbortSignal): Promise<void> {
  const { url, authorization } = splitCredentials(alertUrl);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(authorization && { authorization }) },
    body: JSON.stringify(body),
    // A redirected post would arrive as a GET, without its body.
    redirect: "manual",
    signal,
  }).catch((error: Error) => {
    throw new Error(failureCode(error));
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`status ${response.status}`);
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
