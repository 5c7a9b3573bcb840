import { createDefectLog, errorName, type Log } from "../log.ts";
import { type FailureKind, MailError } from "../mail/mailer.ts";
import { eventName } from "../message-history.ts";
import type { Store } from "../store/open-store.ts";
import type { Claim, Outcome } from "../store/queue.ts";
import type { Pause } from "../store/status.ts";
import { type Channel, rulesOf, type SkipReason, type StoredMessage, StoreUnavailable } from "../store/store.ts";
import { type Clock, isWithin, MINUTE_MS, systemClock } from "../time.ts";
import type { Meter } from "../watch/metrics.ts";
import { createQueuePause } from "./queue-pause.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

/** Why something was not sent. */
export interface Failure {
  kind: FailureKind;
  /** Without personal data; also for the log. */
  message: string;
  /** For the operator, with the receiver's own text. Not for the log, because the text may contain personal data. */
  shown?: string;
  /** How long the receiver asks the site to wait before it sends anything. */
  retryAfterMs?: number;
  /** The receiver did not read the delivery. */
  isUnreachable?: boolean;
  /** The receiver read the delivery and did not answer, so it may have it. */
  isUnanswered?: boolean;
}

/** Everything that is specific to a channel. */
export interface Sender {
  channel: Channel;
  /** Where its deliveries go, for the operator. */
  destination?: string;
  /** How many deliveries are sent at the same time. */
  concurrency: number;
  /** Resolves to `null` once the receiver has the delivery, otherwise to the failure; or rejects with a MailError. */
  send(claim: Claim, now: Date): Promise<Failure | null>;
  /** Sends a copy of what was delivered, once: a failure is in the log and in the history, and repeats nothing. */
  sendCopy?(claim: Claim, now: Date): Promise<Failure | null>;
  /** Whether the receiver answers again after it was unreachable. Sends nothing, and never rejects. */
  probe?: (() => Promise<boolean>) | undefined;
  /** Why the delivery must not be sent; `null` if it may. */
  admit?(claim: Claim, now: Date): Promise<SkipReason | null>;
  /** The maximum number of attempts without a known result, because each may have arrived. */
  maxInterruptions?: number;
  /** Removes the files of a message that was erased while it was being sent. */
  undo?: ((message: StoredMessage) => Promise<void>) | undefined;
  /** Aborts all sending. */
  close?(): Promise<void>;
}

export interface OutboxOptions {
  store: Pick<Store, "messages" | "queue" | "status">;
  senders: readonly Sender[];
  log: Log;
  meter?: Pick<Meter, "attempted"> | undefined;
  clock?: Clock;
  random?: () => number;
  /** Longer than an attempt may take, so that a worker takes over only from a dead one. */
  leaseMs?: number;
  /** How often to look for due deliveries if nothing reports them, for example those of a node that died. */
  pollIntervalMs?: number;
  /** Called when a pause starts or ends. */
  onPauseChange?(): void;
}

export type Outbox = ReturnType<typeof startOutbox>;

/** The shortest wait after the store returned nothing, even if a delivery is due. */
const SHORTEST_WAIT_MS = 1000;
const LONGEST_STORE_WAIT_MS = MINUTE_MS;
/** As long as the first wait of the schedule. A delivery that waits longer has failed at least twice. */
const FAILING_MS = MINUTE_MS;
const PROBE_INTERVAL_MS = MINUTE_MS;
const GIVEN_UP = "given up: it is not known how the attempts ended, so it may have arrived";

/** Sends the deliveries of all channels, with one worker per channel, until stopped. */
export function startOutbox(options: OutboxOptions) {
  const { store, senders, log, clock = systemClock } = options;
  const noteDefect = createDefectLog(log);
  const workers = senders.map((sender) => startWorker(sender, { ...options, noteDefect }, wake));
  let isStopped = false;
  // Rejects if the store's thread ended, which ends the server too.
  followChanges().catch(() => {});

  /** Sends at once what operators and other nodes queue. */
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
    /** Channels whose receiver accepts nothing at the moment. Each resumes by itself. */
    get pauses(): Pause[] {
      return workers.flatMap((worker) => worker.pause ?? []);
    },
    /** Looks for due deliveries now. Call it after each accepted message. */
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

/** An attempt that has ended. */
interface Result {
  claim: Claim;
  outcome: Outcome;
  /** The reason of a failure, safe to log. */
  error?: string;
  at: Date;
}

/** `noteDefect`: see `createDefectLog`. */
type WorkerOptions = OutboxOptions & { noteDefect: (error: unknown) => boolean };

/** Sends the due deliveries of one channel, each at least once. Never delays another channel. */
function startWorker(sender: Sender, options: WorkerOptions, wakeOther: (channel: Channel) => void) {
  const { store, senders, log, meter, noteDefect, clock = systemClock, random = Math.random } = options;
  const { leaseMs = 5 * MINUTE_MS, pollIntervalMs = 30_000 } = options;
  const { queue } = store;
  const { channel } = sender;
  const next = senders.find((other) => isQueuedAfter(other.channel, channel))?.channel ?? null;
  const receiver = watchReceiver(sender, { ...options, clock }, wake);
  const { pause } = receiver;
  /** Results to save before the next claim. */
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
      const room = isStopping ? 0 : pause.limit(sender.concurrency) - inFlight;
      if (room <= 0) return pause.remainingMs || pollIntervalMs;
      receiver.probe();
      // A failed flush is retried in the next round and does not prevent sending.
      const flush = () => queue.flushBacklog(channel, clock.now(), "outbox").catch(() => null);
      if (receiver.isFlushWanted && (await flush()) !== null) receiver.isFlushWanted = false;
      const claims = await queue.claim(channel, room, leaseMs, clock.now());
      storeWaitMs = SHORTEST_WAIT_MS;
      for (const claim of claims) void attempt(claim);
      if (claims.length === room) return pollIntervalMs;
      const dueInMs = (await queue.dueInMs(channel, clock.now())) ?? pollIntervalMs;
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
    const attempted = isStopping
      ? { outcome: { kind: "returned" as const, dueAt: clock.now() } }
      : await tryToSend(claim, sender, receiver, { ...options, clock, random });
    results.add({ claim, at: clock.now(), ...attempted });
    wake();
  }

  /** Rejects if unsaved results are left: a sent but unmarked delivery must not be claimed and sent again. */
  async function saveResults(): Promise<void> {
    const saved = await Promise.allSettled([...results].map(save));
    const failed = saved.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  async function save(result: Result): Promise<void> {
    const { claim, outcome, error } = result;
    const isSaved = await settle(result, sender, next, { ...options, clock, leaseMs });
    results.delete(result);
    inFlight -= 1;
    const { kind, ...details } = outcome;
    if (kind === "delivered" && next) wakeOther(next);
    if (kind === "delivered" && isSaved) void copy(claim);
    if (kind === "returned") return;
    meter?.attempted(channel, isSaved ? kind : "unmarked");
    if (!isSaved) return;
    const { message, attempts } = claim;
    const event = { event: kind, channel, reference: message.reference, attempts, ...details, ...(error && { error }) };
    log[kind === "failed" ? failureLevelOf(channel) : "info"](event, eventName({ kind, channel }));
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
      await queue.noteCopyFailure(claim, shown, clock.now()).catch(noteDefect);
    }
    inFlight -= 1;
    wake();
  }

  const running = work();
  return {
    channel,
    get pause(): Pause | null {
      return pause.current && { channel, ...pause.current };
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

/** How an attempt ended. Never rejects. */
async function tryToSend(
  claim: Claim,
  sender: Sender,
  receiver: Receiver,
  { clock, random, noteDefect }: WorkerOptions & { clock: Clock; random: () => number },
): Promise<Pick<Result, "outcome" | "error">> {
  const { message, attempts, interruptions } = claim;
  const hasTooMany = (interruptions: number) => interruptions >= (sender.maxInterruptions ?? Number.POSITIVE_INFINITY);
  const { triedForMs } = rulesOf(claim.channel);
  const isTooLate = (at: Date) => triedForMs !== null && at.getTime() > message.acceptedAt.getTime() + triedForMs;
  if (isTooLate(clock.now())) return { outcome: { kind: "skipped", error: "too-late" satisfies SkipReason } };
  let failure: Failure | null;
  try {
    const reason = await sender.admit?.(claim, clock.now());
    if (reason) return { outcome: { kind: "skipped", error: reason } };
    if (hasTooMany(interruptions)) return { outcome: { kind: "failed", error: GIVEN_UP } };
    const ticket = receiver.pause.ticket();
    failure = await sender.send(claim, clock.now()).catch((error) => toFailure(error, noteDefect));
    receiver.noteAnswer(ticket, failure);
  } catch (error) {
    failure = toFailure(error, noteDefect);
  }
  if (failure === null) return { outcome: { kind: "delivered" } };
  const now = clock.now();
  const { kind, message: error, shown = error } = failure;
  if (kind === "blocked") return { outcome: { kind: "paused", dueAt: now, error: shown }, error };
  if (failure.isUnanswered && hasTooMany(interruptions + 1)) return { outcome: { kind: "failed", error: GIVEN_UP } };
  const dueAt = kind === "temporary" ? nextAttemptAt(attempts, now, random, failure.retryAfterMs) : null;
  const interruption = failure.isUnanswered ? { isUnanswered: true } : {};
  if (dueAt && !isTooLate(dueAt)) return { outcome: { kind: "deferred", dueAt, error: shown, ...interruption }, error };
  return { outcome: { kind: "failed", error: shown }, error };
}

type Receiver = ReturnType<typeof watchReceiver>;

/** Whether a channel's receiver answers. Starts and ends its pauses. */
function watchReceiver(sender: Sender, options: OutboxOptions & { clock: Clock }, wake: () => void) {
  const { log, clock, onPauseChange } = options;
  const { channel } = sender;
  const { name } = rulesOf(channel);
  const pause = createQueuePause(clock);
  /** The time of the first failure after the last success. */
  let failingSinceMs: number | null = null;
  let isUnreachable = false;
  let probedAtMs = 0;
  const hasPassed = (ms: number, sinceMs: number) => !isWithin(ms, sinceMs, clock.now().getTime());
  const receiver = {
    pause,
    /** Whether to make waiting deliveries due, because this server has just started or the receiver answers again. */
    isFlushWanted: true,

    /** After a period of failures, the first answer ends all waits for this receiver. */
    noteAnswer(ticket: number, failure: Failure | null): void {
      if (failure === null || failure.kind === "permanent") {
        if (failingSinceMs !== null && hasPassed(FAILING_MS, failingSinceMs)) receiver.isFlushWanted = true;
        failingSinceMs = null;
        isUnreachable = false;
        if (!pause.unblock(ticket)) return;
        log.info({ event: "queue-resumed", channel }, `${name}: can be sent again`);
        onPauseChange?.();
        return;
      }
      const { kind, message: error, retryAfterMs } = failure;
      failingSinceMs ??= clock.now().getTime();
      isUnreachable = failure.isUnreachable ?? false;
      receiver.isFlushWanted = false;
      const change = kind === "blocked" || retryAfterMs ? pause.block(ticket, error, retryAfterMs) : "none";
      if (change === "none") return;
      const nextIn = `next attempt in ${Math.round(pause.remainingMs / 1000)} s`;
      const text = `${name}: nothing can be sent: ${error}; messages are kept, ${nextIn}`;
      log[change === "started" ? failureLevelOf(channel) : "warn"]({ event: "queue-paused", channel, error }, text);
      if (change === "started") onPauseChange?.();
    },

    /** Detects that an unreachable receiver answers again even if nothing is due for hours. */
    probe(): void {
      if (!isUnreachable || !sender.probe || !hasPassed(PROBE_INTERVAL_MS, probedAtMs)) return;
      probedAtMs = clock.now().getTime();
      void sender.probe().then((isReachable) => {
        if (!isReachable || !isUnreachable) return;
        isUnreachable = false;
        receiver.isFlushWanted = true;
        wake();
      });
    },
  };
  return receiver;
}

/** Saves a result. Returns false if it was not saved, and never can be. */
async function settle(
  { claim, outcome, at }: Result,
  sender: Sender,
  next: Channel | null,
  { store, log, clock, leaseMs }: OutboxOptions & { clock: Clock; leaseMs: number },
): Promise<boolean> {
  const { channel, message } = claim;
  const { reference } = message;
  try {
    const isSaved = await store.queue.settle(claim, outcome, at, next);
    if (isSaved) return true;
    log.warn(
      { event: "lease-lost", channel, reference },
      "The result of an attempt was not saved: the message was erased, or its lease expired and another worker claimed it",
    );
    if ((await store.messages.find(reference)) === null) await sender.undo?.(message);
  } catch (error) {
    // An unavailable store will return. Any other error may be permanent and must not stop the queue forever.
    const isRecent = isWithin(leaseMs, at.getTime(), clock.now().getTime());
    if (error instanceof StoreUnavailable || isRecent) throw error;
    log.error(
      { event: "result-lost", channel, reference, error: errorName(error) },
      "The result of an attempt could not be saved; the message may be sent again, with the same id",
    );
  }
  return false;
}

/** For deliveries that failed for good, and while nothing can be sent. */
function failureLevelOf(channel: Channel): "warn" | "error" {
  return rulesOf(channel).trouble === null ? "warn" : "error";
}

function isQueuedAfter(channel: Channel, delivered: Channel): boolean {
  const { queuedBy } = rulesOf(channel);
  return typeof queuedBy === "object" && queuedBy.delivered === delivered;
}

/** An unexpected error is a temporary failure, so that the delivery is kept and retried. */
function toFailure(error: unknown, noteDefect: WorkerOptions["noteDefect"]): Failure {
  if (error instanceof MailError) return error;
  noteDefect(error);
  return { kind: "temporary", message: `unexpected error (${errorName(error)})` };
}
