import { errorName, type Log } from "../log.ts";
import { composeMail, type MailIdentity } from "../mail/compose.ts";
import { removeStrayEmls } from "../mail/eml.ts";
import { MailError, type Mailer } from "../mail/mailer.ts";
import { type Claim, type Store, StoreUnavailable } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { type AttemptOutcome, type Meter, noMeter } from "../watch/meter.ts";
import { createQueuePause, type QueuePause } from "./queue-pause.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

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
        "Stopped while e-mails were being sent; they are sent again at the next start, or by another server after their lease",
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

interface DeliveryOptions {
  store: Pick<Store, "markDelivered" | "reschedule" | "markFailed" | "unclaim" | "existingReferences">;
  mailer: Mailer;
  identity: MailIdentity;
  dataDir: string;
  log: Log;
  meter: Meter;
  onPaused(): void;
  clock: Clock;
  random: () => number;
  pause: QueuePause;
  leaseMs: number;
}

interface Delivery {
  /** One attempt at a claimed message: sends it, then saves the result. Never rejects. */
  attempt(claim: Claim): Promise<void>;
  /** Ends the lease of a message that was not tried. Never rejects. */
  unclaim(claim: Claim): Promise<void>;
  /** The store does not take results at the moment, so nothing new should be started. */
  readonly hasUnsavedResults: boolean;
  /** The process is about to exit: stops retrying to save results. */
  stop(): void;
}

const FIRST_SAVE_RETRY_MS = 1000;
const LONGEST_SAVE_RETRY_MS = 30_000;

function createDelivery(options: DeliveryOptions): Delivery {
  const { store, mailer, identity, dataDir, log, meter, onPaused, clock, random, pause, leaseMs } = options;
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let unsavedResults = 0;

  async function attempt(claim: Claim): Promise<void> {
    const ticket = pause.ticket();
    const failure = await send(claim);
    updatePause(ticket, failure);
    // Saved last: a crash before this may repeat an e-mail, never lose one.
    const outcome = await saveResult(claim, failure);
    meter.attempted(outcome ?? "unmarked");
    // The message may have been erased while its file was written.
    if (outcome === null) await removeStrayFiles(claim.message.reference);
  }

  async function send({ message }: Claim): Promise<MailError | null> {
    try {
      await mailer.send(composeMail(message, identity));
      return null;
    } catch (error) {
      // An unexpected error is retried like any other; the message is kept even when the attempts run out.
      return error instanceof MailError ? error : new MailError("temporary", `unexpected error (${errorName(error)})`);
    }
  }

  function updatePause(ticket: number, failure: MailError | null): void {
    if (failure?.kind === "blocked") {
      const error = failure.message;
      const change = pause.block(ticket, error);
      const seconds = Math.round(pause.remainingMs / 1000);
      if (change === "started") {
        meter.queuePaused(true);
        onPaused();
        log.error(
          { event: "queue-paused", error },
          `No e-mail can be sent until this is fixed: ${error}. Messages are kept; next attempt in ${seconds} s`,
        );
      } else if (change === "extended") {
        log.warn({ event: "queue-still-paused", error }, `E-mail still cannot be sent; next attempt in ${seconds} s`);
      }
    } else if (failure?.kind !== "temporary" && pause.unblock(ticket)) {
      meter.queuePaused(false);
      log.info({ event: "queue-resumed" }, "E-mail can be sent again; the queue continues");
    }
  }

  /** Returns `null` when the result could not be saved. */
  async function saveResult(claim: Claim, failure: MailError | null): Promise<AttemptOutcome | null> {
    const { reference, attempts } = claim.message;
    if (failure === null) {
      if (!(await save(reference, () => store.markDelivered(claim, clock.now())))) return null;
      log.info({ event: "delivered", reference, attempts }, "Delivered");
      return "delivered";
    }
    const error = failure.message;
    if (failure.kind === "blocked") {
      if (!(await save(reference, () => store.unclaim(claim, clock.now(), error, clock.now())))) return null;
      log.info({ event: "held-back", reference }, "Kept in the queue until e-mail can be sent again");
      return "held-back";
    }
    const dueAt = failure.kind === "temporary" ? nextAttemptAt(attempts, clock.now(), random) : null;
    if (dueAt) {
      if (!(await save(reference, () => store.reschedule(claim, dueAt, error, clock.now())))) return null;
      log.info({ event: "deferred", reference, attempts, error, dueAt }, "Not delivered yet; retried later");
      return "deferred";
    }
    if (!(await save(reference, () => store.markFailed(claim, error, clock.now())))) return null;
    log.error({ event: "failed", reference, attempts, error }, "Failed for good; kept for the operator to retry");
    return "failed";
  }

  /**
   * Saves the result of an attempt, with retries while the store is unavailable: a sent e-mail must be marked before
   * anybody may send it again. Returns false when the lease was lost or the store never answered; never rejects.
   */
  async function save(reference: string, write: () => Promise<boolean>): Promise<boolean> {
    let hasLease: boolean | null;
    try {
      hasLease = await write();
    } catch (error) {
      log.warn(
        { event: "mark-failed", reference, error: errorName(error) },
        "The result of an attempt could not be saved; retrying",
      );
      unsavedResults += 1;
      hasLease = await retrySaving(write);
      unsavedResults -= 1;
    }
    if (hasLease === null) {
      log.error(
        { event: "mark-given-up", reference },
        "The result of an attempt could not be saved; the e-mail may be sent again, with the same Message-ID",
      );
    } else if (!hasLease) {
      log.warn(
        { event: "lease-lost", reference },
        "The result of an attempt was not saved: the message was erased, or its lease ended and another worker has it",
      );
    }
    return hasLease === true;
  }

  /** Returns what `write` returned in the end; `null` when it never did. */
  async function retrySaving(write: () => Promise<boolean>): Promise<boolean | null> {
    const startedAtMs = clock.now().getTime();
    for (let waitMs = FIRST_SAVE_RETRY_MS; !isStopped; waitMs = Math.min(waitMs * 2, LONGEST_SAVE_RETRY_MS)) {
      const wait = Promise.withResolvers<void>();
      const cancelTimer = clock.setTimer(wait.resolve, waitMs);
      await Promise.race([wait.promise, stopped.promise]);
      cancelTimer();
      try {
        return await write();
      } catch (error) {
        // An unavailable store comes back; any other error may be permanent and must not stop the queue for ever.
        const isLeaseOver = clock.now().getTime() - startedAtMs > leaseMs;
        if (!(error instanceof StoreUnavailable) && isLeaseOver) break;
      }
    }
    return null;
  }

  async function removeStrayFiles(reference: string): Promise<void> {
    try {
      await removeStrayEmls(dataDir, store);
    } catch (error) {
      log.error(
        { event: "not-forgotten", reference, error: errorName(error) },
        "The .eml file of an erased message may be left in DATA_DIR/outbox; retrying within an hour",
      );
    }
  }

  return {
    attempt,
    async unclaim(claim) {
      await save(claim.message.reference, () => store.unclaim(claim, clock.now(), null, clock.now()));
    },
    get hasUnsavedResults() {
      return unsavedResults > 0;
    },
    stop() {
      isStopped = true;
      stopped.resolve();
    },
  };
}
