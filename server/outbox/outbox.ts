import { errorName, type Log } from "../log.ts";
import type { MailIdentity } from "../mail/compose.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Claim, Store } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { type Meter, noMeter } from "../watch/meter.ts";
import { createDelivery } from "./delivery.ts";
import { createQueuePause } from "./queue-pause.ts";

export interface OutboxOptions {
  store: Pick<
    Store,
    "claim" | "markDelivered" | "reschedule" | "markFailed" | "unclaim" | "nextDueAt" | "existingReferences"
  >;
  mailer: Mailer;
  identity: MailIdentity;
  /** Where .eml files are. */
  dataDir: string;
  log: Log;
  meter?: Meter | undefined;
  /** Called when the mail server starts to refuse everything. */
  onPaused?(): void;
  clock?: Clock;
  random?: () => number;
  /** E-mails sent at the same time. */
  concurrency?: number;
  /** Longer than an attempt may take, so that another worker only takes over from a dead one. */
  leaseMs?: number;
  /** How often to look for messages without a wake: those of other nodes, or retried by the operator. */
  pollIntervalMs?: number;
}

export interface Outbox {
  /** `paused`: the mail server refuses everything, see the log; resumes by itself. */
  readonly state: "running" | "paused" | "stopped";
  /** Why it is paused, without personal data; `null` when it is not. */
  readonly pauseReason: string | null;
  /** Looks for due messages now. Call it after each accepted message. */
  wake(): void;
  /** Starts no more attempts and waits for those in flight, for at most `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

/** The store is not asked again sooner than this when it returned nothing, even if a message is due. */
const SHORTEST_WAIT_MS = 1000;
const LONGEST_STORE_WAIT_MS = 60_000;

/** Sends queued messages until stopped: each at least once, and repeats only with the same Message-ID. */
export function startOutbox(options: OutboxOptions): Outbox {
  const { store, log, meter = noMeter, onPaused = () => {}, clock = systemClock, random = Math.random } = options;
  const { concurrency = 5, leaseMs = 5 * 60_000, pollIntervalMs = 30_000 } = options;
  const pause = createQueuePause(clock);
  const delivery = createDelivery({ ...options, meter, onPaused, clock, random, pause, leaseMs });

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

  /** Returns the time until the next poll; an attempt that ends sooner calls wake. Never rejects. */
  async function startDueMessages(): Promise<number> {
    const room = roomForMore();
    if (room <= 0) return pause.remainingMs || pollIntervalMs;
    try {
      const claims = await store.claim(room, leaseMs, clock.now());
      storeWaitMs = SHORTEST_WAIT_MS;
      for (const claim of claims) {
        if (isStopped) await delivery.unclaim(claim);
        else start(claim);
      }
      if (claims.length === room) return pollIntervalMs;
      const dueAt = await store.nextDueAt();
      const untilDueMs = dueAt ? dueAt.getTime() - clock.now().getTime() : pollIntervalMs;
      return untilDueMs > 0 ? Math.min(untilDueMs, pollIntervalMs) : SHORTEST_WAIT_MS;
    } catch (error) {
      log.warn(
        { event: "store-unavailable", error: errorName(error) },
        `The store does not answer; next attempt in ${storeWaitMs / 1000} s`,
      );
      const waitMs = storeWaitMs;
      storeWaitMs = Math.min(storeWaitMs * 2, LONGEST_STORE_WAIT_MS);
      return waitMs;
    }
  }

  function roomForMore(): number {
    // A message that was sent but not marked would be claimed and sent again once its lease ends.
    if (delivery.hasUnsavedResults || pause.state === "waiting") return 0;
    return (pause.state === "probing" ? 1 : concurrency) - inFlight.size;
  }

  function start(claim: Claim): void {
    const attempt = delivery.attempt(claim).finally(() => {
      inFlight.delete(attempt);
      wake();
    });
    inFlight.add(attempt);
  }

  async function stop(deadlineMs = 10_000): Promise<void> {
    isStopped = true;
    cancelTimer();
    const deadline = Promise.withResolvers<void>();
    const cancelDeadline = clock.setTimer(deadline.resolve, deadlineMs);
    await Promise.race([Promise.all([round, ...inFlight]), deadline.promise]);
    cancelDeadline();
    delivery.stop();
    if (inFlight.size > 0) {
      log.warn(
        { event: "stopped-early", count: inFlight.size },
        "Stopped while e-mails were being sent; they are retried once their lease has ended",
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
