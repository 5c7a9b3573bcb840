import { errorName, type Log } from "../log.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { postAlert } from "./post-alert.ts";
import { describeTroubles, findTroubles, oldestAgeMs, type Situation, type Trouble } from "./trouble.ts";

export interface AlertOptions {
  store: Pick<Store, "queueDepth" | "lastAlertAt" | "moveLastAlert">;
  outbox: Pick<Outbox, "pauseReason">;
  /** Whose messages they are. */
  brand: string;
  /** Where to post each alert; `null`: it is only logged. */
  alertUrl: string | null;
  log: Log;
  clock?: Clock;
  postTimeoutMs?: number;
}

export interface Alerts {
  /** Looks for trouble now and not only at the next check; to be called when the queue pauses. */
  checkNow(): void;
  stop(): Promise<void>;
}

const CHECK_MS = 30_000;
const QUIET_MS = 60 * 60_000;

/**
 * Tells a person when messages do not get through: one line in the log and one post, at most one an hour for all nodes
 * of one database together, also across restarts. A post that fails is tried again at the next check. Delivery never
 * waits for any of this, and a store that is away or cannot be written keeps nobody from being told.
 */
export function startAlerts(options: AlertOptions): Alerts {
  const { store, outbox, brand, alertUrl, log, clock = systemClock, postTimeoutMs = 10_000 } = options;
  const stopping = new AbortController();
  let isUnsent = false;
  let isStuck = false;
  /** By this node, for when the store cannot say. */
  let toldAt = new Date(0);
  let awaySince: Date | null = null;
  let check: Promise<void> | null = null;
  let cancelTimer = clock.setTimer(checkNow, CHECK_MS);

  async function look(): Promise<void> {
    // The time before the store is asked, so that whatever fails meanwhile counts as later than this alert.
    const now = clock.now();
    const depth = await unlessAway(() => store.queueDepth());
    const lastAlertAt = (depth && (await unlessAway(() => store.lastAlertAt()))) ?? toldAt;
    awaySince = depth ? null : (awaySince ?? now);
    const storeAwayMs = awaySince ? now.getTime() - awaySince.getTime() : 0;
    const situation = { now, pauseReason: outbox.pauseReason, depth, storeAwayMs };
    const troubles = findTroubles(situation, lastAlertAt);
    if (isStuck && depth && !keepsMessagesBack(troubles)) {
      isStuck = false;
      log.info({ event: "alert-over" }, "Messages get through again");
    }
    if (troubles.length === 0) isUnsent = false;
    else if (!isQuietTime(lastAlertAt, now) && !isQuietTime(toldAt, now))
      await takeTurn(situation, troubles, lastAlertAt);
  }

  /** Tells, unless another node does. While the store is away there is no way to agree: each node speaks for itself. */
  async function takeTurn(situation: Situation, troubles: readonly Trouble[], lastAlertAt: Date): Promise<void> {
    const { now } = situation;
    const isMine = await unlessAway(() => store.moveLastAlert(lastAlertAt, now));
    if (isMine === false) return;
    if (await tell(troubles, situation)) toldAt = now;
    // As if it had not been tried, so that any node may do so at its next check.
    else await unlessAway(() => store.moveLastAlert(now, lastAlertAt));
  }

  /** False when the post failed; its line in the log is not repeated then. */
  async function tell(troubles: readonly Trouble[], situation: Situation): Promise<boolean> {
    const text = `${brand}: ${describeTroubles(troubles, situation)}`;
    // What paused the queue and what was set aside have their own line at error, written where it happened.
    const level = troubles.includes("overdue") || troubles.includes("store-away") ? "error" : "info";
    if (!isUnsent) log[level]({ event: "alert", troubles }, text);
    isStuck = keepsMessagesBack(troubles);
    if (alertUrl === null) return true;
    const { queued = null, failed = null } = situation.depth ?? {};
    const oldestAgeSeconds = situation.depth && Math.floor(oldestAgeMs(situation) / 1000);
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(postTimeoutMs)]);
      await postAlert(alertUrl, { text, troubles, queued, failed, oldestAgeSeconds }, signal);
      isUnsent = false;
      log.info({ event: "alert-sent" }, "ALERT_URL took the alert");
    } catch (error) {
      isUnsent = true;
      log.warn(
        { event: "alert-not-sent", error: (error as Error).message },
        `ALERT_URL did not take the alert; trying again in ${CHECK_MS / 1000} s`,
      );
    }
    return !isUnsent;
  }

  function checkNow(): void {
    if (check !== null || stopping.signal.aborted) return;
    cancelTimer();
    check = look()
      .catch((error) => {
        log.warn({ event: "alert-check-failed", error: errorName(error) }, "Unknown whether messages get through");
      })
      .then(() => {
        check = null;
        if (!stopping.signal.aborted) cancelTimer = clock.setTimer(checkNow, CHECK_MS);
      });
  }

  return {
    checkNow,
    async stop() {
      stopping.abort();
      cancelTimer();
      await check;
    },
  };
}

function keepsMessagesBack(troubles: readonly Trouble[]): boolean {
  return troubles.some((trouble) => trouble !== "failed");
}

function isQuietTime(lastAlertAt: Date, now: Date): boolean {
  // An alert from the far future was stored before the clock was set back: it is no longer believed.
  return Math.abs(now.getTime() - lastAlertAt.getTime()) < QUIET_MS;
}

/** `null` when the store does not answer. */
async function unlessAway<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}
