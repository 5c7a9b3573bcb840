import { once } from "node:events";
import { errorName } from "../errors.ts";
import { createDefectLog, type Log } from "../log.ts";
import type { FailureKind } from "../mail/mailer.ts";
import { EVENT_NAME, type SkipReason } from "../message-words.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { type Channel, GIVEN_UP, rulesOf, type StoredMessage } from "../store/model.ts";
import { type Claim, LEASE_MS, type Outcome } from "../store/queue.ts";
import type { Pause } from "../store/status.ts";
import type { Store } from "../store/store.ts";
import { type Clock, DAY_MS, MINUTE_MS, repeat, systemClock, withinMs } from "../time.ts";
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
  send(claim: Claim): Promise<Failure | null>;
  /** Sends a copy of what was delivered, once: a failure is in the log and in the history, and repeats nothing. */
  sendCopy?(claim: Claim): Promise<Failure | null>;
  admit?(claim: Claim, testTime: Date | null): Promise<SkipReason | null>;
  /** Removes the files of a message that was erased while it was being sent. */
  removeFiles?: ((message: StoredMessage) => Promise<void>) | undefined;
  close?(): Promise<void>;
}

export interface OutboxOptions {
  store: Pick<Store, "messages" | "queue">;
  senders: readonly Sender[];
  log: Log;
  meter?: Pick<Meter, "attempted"> | undefined;
  /** For a test. Otherwise deliveries follow the database's own time. */
  clock?: Clock | undefined;
  random?: () => number;
  /** Finds due deliveries that nothing reports, such as those of a node that died. */
  pollIntervalMs?: number;
  onPauseChange?(): void;
}

export type Outbox = ReturnType<typeof startOutbox>;

/** The shortest wait after nothing could be claimed, even if a delivery is due. */
const SHORTEST_WAIT_MS = 1000;
const FOLLOW_INTERVAL_MS = 1000;
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
  const workers = senders.map((sender) => startWorker(sender, { ...options, noteDefect }));
  let lastChange: string | null = null;
  const following = repeat(followChanges, FOLLOW_INTERVAL_MS, systemClock);

  /** Another channel, another node or an operator's command may have queued deliveries. */
  async function followChanges(): Promise<void> {
    const change = await store.messages.changeToken().catch(noteDefect);
    if (typeof change !== "string" || change === lastChange) return;
    lastChange = change;
    wake();
  }

  function wake(): void {
    for (const worker of workers) worker.wake();
  }

  return {
    get pauses(): Pause[] {
      return workers.flatMap((worker) => worker.pause ?? []);
    },
    wake,
    /** Claims no more deliveries, waits for the attempts in flight for at most `deadlineMs`, and closes the senders. */
    async stop(deadlineMs = 10_000): Promise<void> {
      void following.stop();
      const ended = Promise.all(workers.map((worker) => worker.stop()));
      await withinMs(deadlineMs, ended, () => new Error("deadline"), clock).catch(() => {});
      const count = workers.reduce((sum, { attempts }) => sum + attempts.size, 0);
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

type WorkerOptions = OutboxOptions & { noteDefect: (error: unknown) => boolean };

/** Sends the due deliveries of one channel, each at least once. Never delays another channel. */
function startWorker(sender: Sender, options: WorkerOptions) {
  const { senders, store, log, meter, noteDefect } = options;
  const { clock = systemClock, pollIntervalMs = 30_000 } = options;
  const { channel } = sender;
  const testTime = () => options.clock?.now() ?? null;
  /** Whether to make waiting deliveries due, because this server has just started or the channel can send again. */
  let isFlushWanted = true;
  /** One promise for each claimed delivery, until its result is saved. */
  const attempts = new Set<Promise<void>>();
  /** Claims whose result could not be saved yet. */
  const unsaved = new Set<Claim>();
  const stop = new AbortController();
  const pause = createPause(channel, { ...options, clock }, () => rounds.soon());
  const next = senders.find((other) => rulesOf(other.channel).queuedBy === channel)?.channel ?? null;
  const stopping = stop.signal;
  const stopped = once(stopping, "abort");
  const line: Line = { ...options, sender, clock, testTime, next, pollIntervalMs, noteStoreError, stopping, stopped };
  // Last, because the first round starts at once.
  const rounds = repeat(startDue, pollIntervalMs, clock, true);

  /** Never rejects. */
  async function startDue(): Promise<void> {
    const room = (pause.current ? 1 : sender.concurrency) - attempts.size;
    // A delivery that was sent but not marked must not be claimed and sent again.
    if (room <= 0 || unsaved.size > 0) return;
    try {
      // An operator who has repaired the cause ends the wait by a retry.
      if (pause.isWaiting()) {
        if (!(await store.queue.isRetriedSince(pause.beganAt()))) return;
        pause.stopWaiting();
      }
      const claims = await store.queue.claim(channel, room, LEASE_MS, testTime());
      for (const claim of claims) start(claim);
      // Fails only after the claim, so that it prevents no sending.
      if (isFlushWanted) await store.queue.flushBacklog(channel, testTime());
      isFlushWanted = false;
      const dueInMs = claims.length === room ? null : await store.queue.dueInMs(channel, testTime());
      // Another server has locked the due deliveries that were not claimed, and may release them.
      if (dueInMs !== null) rounds.soon(dueInMs > 0 ? dueInMs : SHORTEST_WAIT_MS);
    } catch (error) {
      noteStoreError(null, error);
    }
  }

  function start(claim: Claim): void {
    const attempt = deliver(claim).finally(() => {
      attempts.delete(attempt);
      rounds.soon();
    });
    attempts.add(attempt);
  }

  /** The life of a claimed delivery. Never rejects. */
  async function deliver(claim: Claim): Promise<void> {
    const startedAtMs = clock.elapsedMs();
    const { outcome, error, answer } = await tryToSend(claim, line);
    if (answer !== undefined && pause.note(answer, claim.claimedAt) === "ended") isFlushWanted = true;
    const isSaved = await save(claim, outcome, line);
    unsaved.delete(claim);
    meter?.attempted(channel, isSaved ? outcome.kind : "unmarked");
    if (!isSaved) return;
    const nowMs = claim.claimedAt.getTime() + clock.elapsedMs() - startedAtMs;
    log[outcome.kind === "failed" ? failureLevel(channel) : "info"](
      {
        event: outcome.kind,
        channel,
        reference: claim.message.reference,
        attempts: claim.attempts,
        ...(outcome.kind === "deferred" && { dueAt: new Date(nowMs + outcome.delayMs) }),
        ...(error !== undefined && { error }),
      },
      EVENT_NAME[outcome.kind],
    );
    if (outcome.kind === "delivered") await sendCopy(claim, line);
  }

  function noteStoreError(claim: Claim | null, error: unknown, waitMs = pollIntervalMs): void {
    if (claim) unsaved.add(claim);
    if (noteDefect(error)) return;
    const text = `The database does not answer; next attempt in ${waitMs / 1000} s (count = unsaved results)`;
    log.warn({ event: "store-unavailable", channel, error: errorName(error), count: unsaved.size }, text);
  }

  return {
    get pause(): Pause | null {
      return pause.current;
    },
    attempts,
    wake: () => rounds.soon(),
    /** Claims no more deliveries, and waits for the attempts in flight. */
    async stop(): Promise<void> {
      stop.abort();
      await rounds.stop();
      await Promise.all(attempts);
    },
  };
}

/** What the steps of a delivery need to know of their channel and its worker. */
interface Line extends WorkerOptions {
  sender: Sender;
  clock: Clock;
  testTime(): Date | null;
  /** The channel that a delivery on this one queues. */
  next: Channel | null;
  pollIntervalMs: number;
  noteStoreError(claim: Claim | null, error: unknown, waitMs: number): void;
  stopping: AbortSignal;
  stopped: Promise<unknown>;
}

/** `error` is for the log. `answer` is what the receiver said, if it was asked: a failure, or `null` for a success. */
interface Attempt {
  outcome: Outcome;
  error?: string;
  answer?: Failure | null;
}

/** Never rejects. */
async function tryToSend(claim: Claim, line: Line): Promise<Attempt> {
  const { sender, testTime, noteDefect, random = Math.random } = line;
  const { triedForMs } = rulesOf(sender.channel);
  const skipped = (error: SkipReason): Attempt => ({ outcome: { kind: "skipped", error }, error });
  const ageMs = claim.claimedAt.getTime() - claim.message.acceptedAt.getTime();
  if (triedForMs !== undefined && ageMs > triedForMs) return skipped("too-late");
  try {
    const reason = await sender.admit?.(claim, testTime());
    if (reason) return skipped(reason);
    return attemptOf(claim, await sender.send(claim), random);
  } catch (error) {
    return attemptOf(claim, toFailure(error, noteDefect), random);
  }
}

function attemptOf(
  { channel, attempts, unknownOutcomes }: Claim,
  answer: Failure | null,
  random: () => number,
): Attempt {
  if (answer === null) return { outcome: { kind: "delivered" }, answer };
  const { kind, message: error, shown = error, isUnanswered: isUnknown = false } = answer;
  const { maxUnknown = Number.POSITIVE_INFINITY } = rulesOf(channel);
  if (isUnknown && unknownOutcomes >= maxUnknown)
    return { outcome: { kind: "failed", error: GIVEN_UP, isUnknown }, error: GIVEN_UP, answer };
  if (kind === "blocked") return { outcome: { kind: "paused", error: shown, isUnknown }, error, answer };
  const delayMs = kind === "temporary" ? retryDelayMs(attempts, random) : null;
  if (delayMs === null) return { outcome: { kind: "failed", error: shown, isUnknown }, error, answer };
  return { outcome: { kind: "deferred", delayMs, error: shown, isUnknown }, error, answer };
}

/** An unexpected error is a temporary failure, so that the delivery is kept and retried. */
function toFailure(error: unknown, noteDefect: WorkerOptions["noteDefect"]): Failure {
  noteDefect(error);
  return { kind: "temporary", message: `unexpected error (${errorName(error)})` };
}

/** Tries again until the store answers, and once more if the outbox stops. False if the result is not saved. */
async function save(claim: Claim, outcome: Outcome, line: Line): Promise<boolean> {
  const { store, testTime, next, clock, pollIntervalMs, log, stopping, stopped } = line;
  const { channel, message } = claim;
  let isLast = false;
  for (let waitMs = SHORTEST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, pollIntervalMs)) {
    try {
      if (await store.queue.settle(claim, outcome, testTime(), next)) return true;
      log.warn(
        { event: "lease-lost", channel, reference: message.reference },
        "The result of an attempt was not saved: the message was erased, or its lease expired and another worker claimed it",
      );
      await removeIfErased(claim, line);
      return false;
    } catch (error) {
      line.noteStoreError(claim, error, waitMs);
      if (!(error instanceof StoreUnavailable)) {
        log.error(
          { event: "result-lost", channel, reference: message.reference, error: errorName(error) },
          "The result of an attempt could not be saved; the message may be sent again, with the same id",
        );
        return false;
      }
    }
    if (isLast) return false;
    await Promise.race([stopped, new Promise<void>((resolve) => clock.setTimer(resolve, waitMs))]);
    isLast = stopping.aborted;
  }
}

async function removeIfErased({ message }: Claim, { store, sender }: Line): Promise<void> {
  if ((await store.messages.find(message.reference)) === null) await sender.removeFiles?.(message);
}

/** Never rejects. */
async function sendCopy(claim: Claim, line: Line): Promise<void> {
  const { sender, store, testTime, log, noteDefect } = line;
  const { channel, message } = claim;
  const failure = await sender.sendCopy?.(claim).catch((error) => toFailure(error, noteDefect));
  if (failure === null) await removeIfErased(claim, line).catch(noteDefect);
  if (!failure) return;
  const { message: error, shown = error } = failure;
  log.warn({ event: "copy-failed", channel, reference: message.reference, error }, EVENT_NAME["copy-failed"]);
  await store.queue.noteCopyFailure(claim, shown, testTime()).catch(noteDefect);
}

/** While a pause lasts, one attempt at a time is made, after a wait. */
function createPause(
  channel: Channel,
  { log, clock, onPauseChange }: Pick<OutboxOptions, "log" | "onPauseChange"> & { clock: Clock },
  onWaited: () => void,
) {
  const { name } = rulesOf(channel);
  let pause: { reason: string; since: Date; nextAt: Date; waitMs: number; isWaiting: boolean } | null = null;

  function begin({ message: error }: Failure, now: Date): void {
    const isFirst = pause === null;
    const waitMs = pause ? Math.min(pause.waitMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    const nextAt = new Date(now.getTime() + waitMs);
    const paused = { reason: error, since: pause?.since ?? now, nextAt, waitMs, isWaiting: true };
    pause = paused;
    clock.setTimer(() => {
      paused.isWaiting = false;
      onWaited();
    }, waitMs);
    const text = `${name}: nothing can be sent: ${error}; messages are kept, next attempt in ${waitMs / 1000} s`;
    log[isFirst ? failureLevel(channel) : "warn"]({ event: "queue-paused", channel, error }, text);
    onPauseChange?.();
  }

  return {
    get current(): Pause | null {
      return pause && { channel, reason: pause.reason, since: pause.since, nextAt: pause.nextAt };
    },
    isWaiting: () => pause?.isWaiting ?? false,
    stopWaiting: () => {
      if (pause) pause.isWaiting = false;
    },
    /** When its present wait began. */
    beganAt: () => (pause ? new Date(pause.nextAt.getTime() - pause.waitMs) : new Date(0)),
    /** Begins, prolongs or ends the pause by what the receiver said. */
    note(answer: Failure | null, now: Date): "ended" | null {
      // An attempt that is blocked now may have started before the pause.
      if (answer?.kind === "blocked" && !pause?.isWaiting) begin(answer, now);
      if (pause === null || answer?.kind === "blocked" || answer?.kind === "temporary") return null;
      pause = null;
      log.info({ event: "queue-resumed", channel }, `${name}: can be sent again`);
      onPauseChange?.();
      return "ended";
    },
  };
}

function failureLevel(channel: Channel): "warn" | "error" {
  return rulesOf(channel).trouble === null ? "warn" : "error";
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
