import { createDefectLog, errorName, type Log } from "../log.ts";
import type { FailureKind } from "../mail/mailer.ts";
import { eventName } from "../message-history.ts";
import type { Store } from "../store/open-store.ts";
import { type Claim, GIVEN_UP, LEASE_MS, type Outcome } from "../store/queue.ts";
import type { Pause } from "../store/status.ts";
import { type Channel, rulesOf, type SkipReason, type StoredMessage, StoreUnavailable } from "../store/store.ts";
import { type Clock, DAY_MS, MINUTE_MS, systemClock } from "../time.ts";
import type { Meter } from "../watch/metrics.ts";

export interface Failure {
  kind: FailureKind;
  /** Without personal data; also for the log. */
  message: string;
  /** For the operator, with the receiver's own text. Not for the log, because the text may contain personal data. */
  shown?: string;
  /** The receiver read the delivery and did not answer, so it may have it. */
  isUnanswered?: boolean;
}

export interface Sender {
  channel: Channel;
  /** Where its deliveries go, for the operator. */
  destination?: string;
  concurrency: number;
  /** Resolves to `null` once the receiver has the delivery, otherwise to the failure. */
  send(claim: Claim, now: Date): Promise<Failure | null>;
  /** Sends a copy of what was delivered, once: a failure is in the log and in the history, and repeats nothing. */
  sendCopy?(claim: Claim, now: Date): Promise<Failure | null>;
  admit?(claim: Claim, given: Date | null): Promise<SkipReason | null>;
  /** Removes the files of a message that was erased while it was being sent. */
  undo?: ((message: StoredMessage) => Promise<void>) | undefined;
  close?(): Promise<void>;
}

export interface OutboxOptions {
  store: Pick<Store, "messages" | "queue" | "status">;
  senders: readonly Sender[];
  log: Log;
  meter?: Pick<Meter, "attempted"> | undefined;
  /** For a test. Otherwise deliveries follow the database's own time. */
  clock?: Clock;
  random?: () => number;
  /** Finds due deliveries that nothing reports, such as those of a node that died. */
  pollIntervalMs?: number;
  onPauseChange?(): void;
}

export type Outbox = ReturnType<typeof startOutbox>;

/** The shortest wait after the store returned nothing, even if a delivery is due. */
const SHORTEST_WAIT_MS = 1000;
const LONGEST_STORE_WAIT_MS = MINUTE_MS;
const FIRST_DELAYS_MS = [1, 5, 15, 30].map((minutes) => minutes * MINUTE_MS);
const LATER_DELAY_MS = 60 * MINUTE_MS;
const TRIED_FOR_MS = 5 * DAY_MS;
/** Spreads the retries of messages that failed together. */
const JITTER = 0.1;
const FIRST_PAUSE_MS = MINUTE_MS;
const LONGEST_PAUSE_MS = 15 * MINUTE_MS;

export function startOutbox(options: OutboxOptions) {
  const { store, senders, log, clock = systemClock } = options;
  const noteDefect = createDefectLog(log);
  const workers = senders.map((sender) => startWorker(sender, { ...options, noteDefect }, wake));
  let isStopped = false;
  // Rejects if the store's thread ended, which ends the server too.
  followChanges().catch(() => {});

  async function followChanges(): Promise<void> {
    for (;;) {
      await store.status.nextChange();
      if (isStopped) return;
      wake();
    }
  }

  function wake(channel?: Channel): void {
    for (const worker of workers) if (channel === undefined || worker.channel === channel) worker.wake();
  }

  return {
    get pauses(): Pause[] {
      return workers.flatMap((worker) => worker.pause ?? []);
    },
    wake: () => wake(),
    /** Starts no more attempts, waits for those in flight for at most `deadlineMs`, and closes the senders. */
    async stop(deadlineMs = 10_000): Promise<void> {
      isStopped = true;
      const deadline = Promise.withResolvers<void>();
      const cancelDeadline = clock.setTimer(deadline.resolve, deadlineMs);
      const unfinished = await Promise.all(workers.map((worker) => worker.stop(deadline.promise)));
      cancelDeadline();
      const count = unfinished.reduce((sum, one) => sum + one, 0);
      if (count > 0) {
        log.warn(
          { event: "stopped-early", count },
          "Stopped during attempts; they are repeated at the next start, or by another server when their lease expires",
        );
      }
      await Promise.all(senders.map((sender) => sender.close?.()));
    },
  };
}

interface Result {
  claim: Claim;
  outcome: Outcome;
  error?: string;
  at: Date;
}

type WorkerOptions = OutboxOptions & { noteDefect: (error: unknown) => boolean };

/** Sends the due deliveries of one channel, each at least once. Never delays another channel. */
function startWorker(sender: Sender, options: WorkerOptions, wakeOther: (channel: Channel) => void) {
  const { store, senders, log, meter, noteDefect, onPauseChange } = options;
  const { clock = systemClock, random = Math.random, pollIntervalMs = 30_000 } = options;
  const { queue } = store;
  const { channel } = sender;
  const next = senders.find((other) => isQueuedAfter(other.channel, channel))?.channel ?? null;
  const time = () => options.clock?.now() ?? null;
  let pause: Omit<Pause, "channel"> | null = null;
  let pauseMs = 0;
  /** While a pause lasts, one attempt at a time is made, after a wait. */
  let isWaiting = false;
  /** Whether to make waiting deliveries due, because this server has just started or the channel can send again. */
  let isFlushWanted = true;
  const results = new Set<Result>();
  /** Claimed deliveries whose result is not saved yet. */
  let inFlight = 0;
  let isStopping = false;
  let isAbandoned = false;
  let isWoken = true;
  let endSleep = () => {};
  let storeWaitMs = SHORTEST_WAIT_MS;

  function wake(): void {
    isWoken = true;
    endSleep();
  }

  async function work(): Promise<void> {
    let waitMs = 0;
    while (!isAbandoned && !(isStopping && inFlight === 0)) {
      if (!isWoken) await sleep(waitMs);
      // Reset before the query, so that a delivery that arrives during the query causes another round.
      isWoken = false;
      waitMs = await startDue();
    }
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = clock.setTimer(resolve, ms);
      endSleep = () => {
        cancelTimer();
        resolve();
      };
    });
  }

  /** Returns the time until the next round; an attempt that ends sooner calls wake. Never rejects. */
  async function startDue(): Promise<number> {
    try {
      await saveResults();
      const room = isStopping || isWaiting ? 0 : (pause ? 1 : sender.concurrency) - inFlight;
      if (room <= 0) return pollIntervalMs;
      // A failed flush is retried in the next round and does not prevent sending.
      const flush = () => queue.flushBacklog(channel, time()).catch(() => null);
      if (isFlushWanted && (await flush()) !== null) isFlushWanted = false;
      const claims = await queue.claim(channel, room, LEASE_MS, time());
      storeWaitMs = SHORTEST_WAIT_MS;
      for (const claim of claims) void attempt(claim);
      if (claims.length === room) return pollIntervalMs;
      const dueInMs = (await queue.dueInMs(channel, time())) ?? pollIntervalMs;
      // Another server has locked the due deliveries that were not claimed, and may release them.
      return dueInMs > 0 ? Math.min(dueInMs, pollIntervalMs) : SHORTEST_WAIT_MS;
    } catch (error) {
      const waitMs = storeWaitMs;
      storeWaitMs = Math.min(storeWaitMs * 2, LONGEST_STORE_WAIT_MS);
      if (!noteDefect(error)) {
        log.warn(
          { event: "store-unavailable", channel, error: errorName(error), count: results.size },
          `The database does not answer; next attempt in ${waitMs / 1000} s (count = unsaved results)`,
        );
      }
      return waitMs;
    }
  }

  async function attempt(claim: Claim): Promise<void> {
    inFlight += 1;
    const attempted = isStopping ? { outcome: { kind: "returned" as const } } : await tryToSend(claim);
    results.add({ claim, at: clock.now(), ...attempted });
    wake();
  }

  /** Never rejects. */
  async function tryToSend(claim: Claim): Promise<Pick<Result, "outcome" | "error">> {
    const { message, attempts } = claim;
    const { triedForMs, maxUnknown } = rulesOf(channel);
    if (triedForMs !== undefined && clock.now().getTime() > message.acceptedAt.getTime() + triedForMs) {
      return { outcome: { kind: "skipped", error: "too-late" satisfies SkipReason } };
    }
    let failure: Failure | null;
    try {
      const reason = await sender.admit?.(claim, time());
      if (reason) return { outcome: { kind: "skipped", error: reason } };
      failure = await sender.send(claim, clock.now()).catch((error) => toFailure(error, noteDefect));
      noteAnswer(failure);
    } catch (error) {
      failure = toFailure(error, noteDefect);
    }
    if (failure === null) return { outcome: { kind: "delivered" } };
    const { kind, message: error, shown = error, isUnanswered = false } = failure;
    if (kind === "blocked") return { outcome: { kind: "paused", error: shown }, error };
    if (isUnanswered && maxUnknown !== undefined && attempts >= maxUnknown) {
      return { outcome: { kind: "failed", error: GIVEN_UP } };
    }
    const delayMs = kind === "temporary" ? retryDelayMs(attempts, random) : null;
    if (delayMs === null) return { outcome: { kind: "failed", error: shown }, error };
    return { outcome: { kind: "deferred", delayMs, error: shown }, error };
  }

  function noteAnswer(failure: Failure | null): void {
    const { name } = rulesOf(channel);
    if (failure?.kind === "blocked") {
      if (isWaiting) return;
      const { message: error } = failure;
      const isFirst = pause === null;
      pauseMs = isFirst ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      pause = { reason: error, since: pause?.since ?? clock.now() };
      isWaiting = true;
      clock.setTimer(endWait, pauseMs);
      const text = `${name}: nothing can be sent: ${error}; messages are kept, next attempt in ${pauseMs / 1000} s`;
      log[isFirst ? failureLevelOf(channel) : "warn"]({ event: "queue-paused", channel, error }, text);
      if (isFirst) onPauseChange?.();
    } else if (pause && failure?.kind !== "temporary") {
      pause = null;
      isFlushWanted = true;
      log.info({ event: "queue-resumed", channel }, `${name}: can be sent again`);
      onPauseChange?.();
    }
  }

  function endWait(): void {
    isWaiting = false;
    wake();
  }

  /** Rejects if unsaved results are left: a sent but unmarked delivery must not be claimed and sent again. */
  async function saveResults(): Promise<void> {
    const saved = await Promise.allSettled([...results].map(save));
    const failed = saved.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  async function save(result: Result): Promise<void> {
    const { claim, outcome, at } = result;
    const isSaved = await settle(result);
    results.delete(result);
    inFlight -= 1;
    const { kind } = outcome;
    if (kind === "delivered" && next) wakeOther(next);
    if (kind === "delivered" && isSaved) void copy(claim);
    if (kind === "returned") return;
    meter?.attempted(channel, isSaved ? kind : "unmarked");
    if (!isSaved) return;
    const { message, attempts } = claim;
    const error = result.error ?? ("error" in outcome ? outcome.error : null);
    log[kind === "failed" ? failureLevelOf(channel) : "info"](
      {
        event: kind,
        channel,
        reference: message.reference,
        attempts,
        ...(kind === "deferred" && { dueAt: new Date(at.getTime() + outcome.delayMs) }),
        ...(error !== null && { error }),
      },
      eventName({ kind, channel }),
    );
  }

  /** False if the result can never be saved. */
  async function settle({ claim, outcome, at }: Result): Promise<boolean> {
    const { message } = claim;
    const { reference } = message;
    try {
      if (await queue.settle(claim, outcome, time(), next)) return true;
      log.warn(
        { event: "lease-lost", channel, reference },
        "The result of an attempt was not saved: the message was erased, or its lease expired and another worker claimed it",
      );
      if ((await store.messages.find(reference)) === null) await sender.undo?.(message);
    } catch (error) {
      // An unavailable store will return. Any other error may be permanent and must not stop the queue forever.
      if (error instanceof StoreUnavailable || clock.now().getTime() - at.getTime() < LEASE_MS) throw error;
      log.error(
        { event: "result-lost", channel, reference, error: errorName(error) },
        "The result of an attempt could not be saved; the message may be sent again, with the same id",
      );
    }
    return false;
  }

  /** Never rejects, and delays no delivery. */
  async function copy(claim: Claim): Promise<void> {
    if (!sender.sendCopy) return;
    inFlight += 1;
    const failure = await sender.sendCopy(claim, clock.now()).catch((error) => toFailure(error, noteDefect));
    if (failure) {
      const { message: error, shown = error } = failure;
      const { reference } = claim.message;
      log.warn({ event: "copy-failed", channel, reference, error }, eventName({ kind: "copy-failed", channel }));
      await queue.noteCopyFailure(claim, shown, time()).catch(noteDefect);
    }
    inFlight -= 1;
    wake();
  }

  const running = work();
  return {
    channel,
    get pause(): Pause | null {
      return pause && { channel, ...pause };
    },
    wake,
    /** Starts no more attempts. Resolves to the number of unsaved attempts, once that is 0 or at the deadline. */
    async stop(deadline: Promise<void>): Promise<number> {
      isStopping = true;
      wake();
      await Promise.race([running, deadline]);
      isAbandoned = true;
      wake();
      return inFlight;
    },
  };
}

/**
 * `null` after five days. These are the sum of the waits: time without attempts (the server was off, the channel was
 * paused) does not count, and a message that the operator retries gets five new days.
 */
function retryDelayMs(attempts: number, random: () => number): number | null {
  const delaysMs = Array.from({ length: attempts }, (_, index) => FIRST_DELAYS_MS[index] ?? LATER_DELAY_MS);
  if (delaysMs.reduce((sum, delayMs) => sum + delayMs, 0) > TRIED_FOR_MS) return null;
  return Math.round((delaysMs.at(-1) ?? 0) * (1 - JITTER + 2 * JITTER * random()));
}

function failureLevelOf(channel: Channel): "warn" | "error" {
  return rulesOf(channel).trouble === null ? "warn" : "error";
}

function isQueuedAfter(channel: Channel, delivered: Channel): boolean {
  const { queuedBy } = rulesOf(channel);
  return typeof queuedBy === "object" && queuedBy.delivered === delivered;
}

/** An unexpected error is a temporary failure, so that the delivery is kept and retried. */
function toFailure(error: unknown, noteDefect: WorkerOptions["noteDefect"]): Failure {
  noteDefect(error);
  return { kind: "temporary", message: `unexpected error (${errorName(error)})` };
}
