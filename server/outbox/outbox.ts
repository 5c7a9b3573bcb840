import { errorName, type Log } from "../log.ts";
import type { MailIdentity } from "../mail/compose.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Claim, Store } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { type Meter, noMeter } from "../watch/meter.ts";
import { deliver } from "./delivery.ts";
import { createMarker } from "./persistent-mark.ts";
import { createQueuePause } from "./queue-pause.ts";

export interface OutboxOptions {
  store: Pick<Store, "claim" | "markDelivered" | "reschedule" | "markFailed" | "unclaim" | "nextDueAt" | "find">;
  mailer: Mailer;
  identity: MailIdentity;
  log: Log;
  meter?: Meter | undefined;
  /** Called when the mail server has begun to refuse everything. */
  onPaused?(): void;
  clock?: Clock;
  random?: () => number;
  /** Mails under way at once. */
  concurrency?: number;
  /** Longer than an attempt may take, so that only a dead worker's messages go to another. */
  leaseMs?: number;
  /** How often to look for messages that nobody woke us for: of other nodes, or retried by the operator. */
  pollMs?: number;
}

export interface Outbox {
  /** `paused`: the mail server refuses us altogether, see the log; goes on by itself. */
  readonly state: "running" | "paused" | "stopped";
  /** Why it is paused, without anybody's data; `null` when it is not. */
  readonly pauseReason: string | null;
  /** Looks for due messages now. To be called after each accepted message. */
  wake(): void;
  /** Starts nothing more and waits for what is under way, for at most `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

/** When the store gives nothing though something is due, it is not asked again sooner than this. */
const SHORTEST_WAIT_MS = 1000;
const LONGEST_STORE_WAIT_MS = 60_000;

/** Mails queued messages until stopped: each at least once, and again only with the same Message-ID. */
export function startOutbox(options: OutboxOptions): Outbox {
  const { store, log, meter = noMeter, onPaused = () => {}, clock = systemClock, random = Math.random } = options;
  const { concurrency = 5, leaseMs = 5 * 60_000, pollMs = 30_000 } = options;
  const pause = createQueuePause(clock);
  const marker = createMarker({ clock, log, leaseMs });
  const parts = { ...options, meter, onPaused, clock, random, pause, marker };

  const inFlight = new Set<Promise<void>>();
  let isStopped = false;
  let round: Promise<void> | null = null;
  let isWokenMeanwhile = false;
  let storeWaitMs = SHORTEST_WAIT_MS;
  let cancelTimer = () => {};

  function wake(): void {
    if (isStopped) return;
    if (round) {
      isWokenMeanwhile = true;
      return;
    }
    cancelTimer();
    isWokenMeanwhile = false;
    round = startDueMessages().then((waitMs) => {
      round = null;
      if (isStopped) return;
      cancelTimer = clock.setTimer(wake, waitMs);
      if (isWokenMeanwhile) wake();
    });
  }

  /** Gives the time until the next look; the end of an attempt comes before it by calling wake. Never rejects. */
  async function startDueMessages(): Promise<number> {
    const room = roomForMore();
    if (room <= 0) return pause.remainingMs || pollMs;
    try {
      const claims = await store.claim(room, leaseMs, clock.now());
      storeWaitMs = SHORTEST_WAIT_MS;
      for (const claim of claims) {
        if (isStopped) await giveBack(claim);
        else start(claim);
      }
      if (claims.length === room) return pollMs;
      const dueAt = await store.nextDueAt();
      const untilDueMs = dueAt ? dueAt.getTime() - clock.now().getTime() : pollMs;
      return untilDueMs > 0 ? Math.min(untilDueMs, pollMs) : SHORTEST_WAIT_MS;
    } catch (error) {
      log.warn(
        { event: "store-unavailable", error: errorName(error) },
        `The store gives no messages; asking again in ${storeWaitMs / 1000} s`,
      );
      const waitMs = storeWaitMs;
      storeWaitMs = Math.min(storeWaitMs * 2, LONGEST_STORE_WAIT_MS);
      return waitMs;
    }
  }

  function roomForMore(): number {
    // What is sent but not marked could be claimed again by ourselves once its lease ends.
    if (marker.isBehind || pause.state === "waiting") return 0;
    return (pause.state === "probing" ? 1 : concurrency) - inFlight.size;
  }

  function start(claim: Claim): void {
    const attempt = deliver(claim, parts).finally(() => {
      inFlight.delete(attempt);
      wake();
    });
    inFlight.add(attempt);
  }

  async function giveBack(claim: Claim): Promise<void> {
    const { reference, lastError } = claim.message;
    await marker.mark(reference, () => store.unclaim(claim, clock.now(), lastError, clock.now()));
  }

  async function stop(deadlineMs = 10_000): Promise<void> {
    isStopped = true;
    cancelTimer();
    const deadline = Promise.withResolvers<void>();
    const cancelDeadline = clock.setTimer(deadline.resolve, deadlineMs);
    await Promise.race([Promise.all([round, ...inFlight]), deadline.promise]);
    cancelDeadline();
    marker.abandon();
    if (inFlight.size > 0) {
      log.warn(
        { event: "stopped-early", count: inFlight.size },
        "Stopped while mails were under way; they are tried again once their lease has ended",
      );
    }
  }

  wake();
  return {
    get state() {
      if (isStopped) return "stopped";
      return pause.state === "open" ? "running" : "paused";
    },
    get pauseReason() {
      return pause.reason;
    },
    wake,
    stop,
  };
}
