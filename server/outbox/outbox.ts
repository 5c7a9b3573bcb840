import { createDefectLog, errorName, type Log } from "../log.ts";
import type { FailureKind } from "../mail/mailer.ts";
import { EVENT_NAME } from "../message-words.ts";
import { type Channel, rulesOf, type SkipReason, type StoredMessage, StoreUnavailable } from "../store/model.ts";
import { type Claim, GIVEN_UP, LEASE_MS, type Outcome } from "../store/queue.ts";
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
  send(claim: Claim, now: Date): Promise<Failure | null>;
  /** Sends a copy of what was delivered, once: a failure is in the log and in the history, and repeats nothing. */
  sendCopy?(claim: Claim, now: Date): Promise<Failure | null>;
  admit?(claim: Claim, given: Date | null): Promise<SkipReason | null>;
  /** Removes the files of a message that was erased while it was being sent. */
  undo?: ((message: StoredMessage) => Promise<void>) | undefined;
  close?(): Promise<void>;
}

export interface OutboxOptions {
  store: Pick<Store, "messages" | "queue">;
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
    /** Starts no more attempts, waits for those in flight for at most `deadlineMs`, and closes the senders. */
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
  const { senders, log, meter, noteDefect, onPauseChange } = options;
  const { messages, queue } = options.store;
  const { clock = systemClock, random = Math.random, pollIntervalMs = 30_000 } = options;
  const { channel } = sender;
  const { name, triedForMs, maxUnknown = Number.POSITIVE_INFINITY } = rulesOf(channel);
  const next = senders.find((other) => rulesOf(other.channel).queuedBy === channel)?.channel ?? null;
  const failureLevel = rulesOf(channel).trouble === null ? "warn" : "error";
  const time = () => options.clock?.now() ?? null;
  /** While a pause lasts, one attempt at a time is made, after a wait. */
  let pause: { reason: string; since: Date; waitMs: number; isWaiting: boolean } | null = null;
  /** Whether to make waiting deliveries due, because this server has just started or the channel can send again. */
  let isFlushWanted = true;
  /** One promise for each claimed delivery, until its result is saved. */
  const attempts = new Set<Promise<void>>();
  /** Claims whose result could not be saved yet. */
  const unsaved = new Set<Claim>();
  let isStopping = false;
  const stopping = Promise.withResolvers<void>();
  const rounds = repeat(startDue, pollIntervalMs, clock, true);

  /** Never rejects. */
  async function startDue(): Promise<void> {
    const room = (pause ? 1 : sender.concurrency) - attempts.size;
    // A delivery that was sent but not marked must not be claimed and sent again.
    if (room <= 0 || pause?.isWaiting || unsaved.size > 0) return;
    try {
      const claims = await queue.claim(channel, room, LEASE_MS, time());
      for (const claim of claims) start(claim);
      // Fails only after the claim, so that it prevents no sending.
      if (isFlushWanted) isFlushWanted = (await queue.flushBacklog(channel, time())) === null;
      const dueInMs = claims.length === room ? null : await queue.dueInMs(channel, time());
      // Another server has locked the due deliveries that were not claimed, and may release them.
      if (dueInMs !== null) rounds.soon(dueInMs > 0 ? dueInMs : SHORTEST_WAIT_MS);
    } catch (error) {
      noteStoreError(error);
    }
  }

  function start(claim: Claim): void {
    const attempt = deliver(claim).finally(() => {
      attempts.delete(attempt);
      rounds.soon();
    });
    attempts.add(attempt);
  }

  /** Never rejects. */
  async function deliver(claim: Claim): Promise<void> {
    const { message } = claim;
    const { outcome, error } = isStopping ? { outcome: { kind: "returned" as const } } : await tryToSend(claim);
    const { kind } = outcome;
    const isSaved = await save(claim, outcome);
    unsaved.delete(claim);
    if (kind === "returned") return;
    meter?.attempted(channel, isSaved ? kind : "unmarked");
    if (!isSaved) return;
    log[kind === "failed" ? failureLevel : "info"](
      {
        event: kind,
        channel,
        reference: message.reference,
        attempts: claim.attempts,
        ...(kind === "deferred" && { dueAt: new Date(clock.now().getTime() + outcome.delayMs) }),
        ...(error !== undefined && { error }),
      },
      EVENT_NAME[kind],
    );
    if (kind === "delivered") await copy(claim);
  }

  /** Never rejects. `error` is for the log. */
  async function tryToSend(claim: Claim): Promise<{ outcome: Outcome; error?: string }> {
    const { message, attempts } = claim;
    const skipped = (error: SkipReason) => ({ outcome: { kind: "skipped", error }, error }) as const;
    const isLate = triedForMs !== undefined && clock.now().getTime() > message.acceptedAt.getTime() + triedForMs;
    if (isLate) return skipped("too-late");
    let failure: Failure | null;
    try {
      const reason = await sender.admit?.(claim, time());
      if (reason) return skipped(reason);
      failure = await sender.send(claim, clock.now());
    } catch (error) {
      failure = toFailure(error);
    }
    noteAnswer(failure);
    if (failure === null) return { outcome: { kind: "delivered" } };
    const { kind, message: error, shown = error, isUnanswered = false } = failure;
    if (kind === "blocked") return { outcome: { kind: "paused", error: shown }, error };
    if (isUnanswered && attempts >= maxUnknown)
      return { outcome: { kind: "failed", error: GIVEN_UP }, error: GIVEN_UP };
    const delayMs = kind === "temporary" ? retryDelayMs(attempts, random) : null;
    if (delayMs === null) return { outcome: { kind: "failed", error: shown }, error };
    return { outcome: { kind: "deferred", delayMs, error: shown }, error };
  }

  function noteAnswer(failure: Failure | null): void {
    if (failure?.kind === "blocked") {
      // It started before the pause.
      if (pause?.isWaiting) return;
      const { message: error } = failure;
      const isFirst = pause === null;
      const waitMs = pause ? Math.min(pause.waitMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
      const paused = { reason: error, since: pause?.since ?? clock.now(), waitMs, isWaiting: true };
      pause = paused;
      clock.setTimer(() => {
        paused.isWaiting = false;
        rounds.soon();
      }, waitMs);
      const text = `${name}: nothing can be sent: ${error}; messages are kept, next attempt in ${waitMs / 1000} s`;
      log[isFirst ? failureLevel : "warn"]({ event: "queue-paused", channel, error }, text);
      if (isFirst) onPauseChange?.();
    } else if (pause && failure?.kind !== "temporary") {
      pause = null;
      isFlushWanted = true;
      log.info({ event: "queue-resumed", channel }, `${name}: can be sent again`);
      onPauseChange?.();
    }
  }

  /** Tries again until the store answers, and once more if the outbox stops. False if the result is not saved. */
  async function save(claim: Claim, outcome: Outcome): Promise<boolean> {
    const { reference } = claim.message;
    let isLast = false;
    for (let waitMs = SHORTEST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, pollIntervalMs)) {
      try {
        if (await queue.settle(claim, outcome, time(), next)) return true;
        log.warn(
          { event: "lease-lost", channel, reference },
          "The result of an attempt was not saved: the message was erased, or its lease expired and another worker claimed it",
        );
        await removeIfErased(claim);
        return false;
      } catch (error) {
        unsaved.add(claim);
        noteStoreError(error, waitMs);
        if (!(error instanceof StoreUnavailable)) {
          log.error(
            { event: "result-lost", channel, reference, error: errorName(error) },
            "The result of an attempt could not be saved; the message may be sent again, with the same id",
          );
          return false;
        }
      }
      if (isLast) return false;
      await Promise.race([stopping.promise, new Promise<void>((resolve) => clock.setTimer(resolve, waitMs))]);
      isLast = isStopping;
    }
  }

  async function removeIfErased({ message }: Claim): Promise<void> {
    if ((await messages.find(message.reference)) === null) await sender.undo?.(message);
  }

  function noteStoreError(error: unknown, waitMs = pollIntervalMs): void {
    if (noteDefect(error)) return;
    const text = `The database does not answer; next attempt in ${waitMs / 1000} s (count = unsaved results)`;
    log.warn({ event: "store-unavailable", channel, error: errorName(error), count: unsaved.size }, text);
  }

  /** Never rejects. */
  async function copy(claim: Claim): Promise<void> {
    const failure = await sender.sendCopy?.(claim, clock.now()).catch(toFailure);
    if (failure === null) await removeIfErased(claim).catch(noteDefect);
    if (!failure) return;
    const { message: error, shown = error } = failure;
    const { reference } = claim.message;
    log.warn({ event: "copy-failed", channel, reference, error }, EVENT_NAME["copy-failed"]);
    await queue.noteCopyFailure(claim, shown, time()).catch(noteDefect);
  }

  /** An unexpected error is a temporary failure, so that the delivery is kept and retried. */
  function toFailure(error: unknown): Failure {
    noteDefect(error);
    return { kind: "temporary", message: `unexpected error (${errorName(error)})` };
  }

  return {
    get pause(): Pause | null {
      return pause && { channel, reason: pause.reason, since: pause.since };
    },
    attempts,
    wake: () => rounds.soon(),
    /** Starts no more attempts, and waits for those in flight. */
    async stop(): Promise<void> {
      isStopping = true;
      stopping.resolve();
      await rounds.stop();
      await Promise.all(attempts);
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
