import { errorName, type Log } from "../log.ts";
import { composeMail, type MailIdentity } from "../mail/compose.ts";
import { type MailError, type Mailer, toMailError } from "../mail/mailer.ts";
import type { Claim, Store } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { type AttemptOutcome, type Meter, noMeter } from "../watch/meter.ts";
import { type AcknowledgementOptions, type AcknowledgementStore, createAcknowledger } from "./acknowledgements.ts";
import { createQueuePause, type QueuePause } from "./queue-pause.ts";
import { createResultSaver, removeStrayFiles } from "./result-saver.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

export interface OutboxOptions {
  store: Pick<
    Store,
    "claim" | "markDelivered" | "reschedule" | "markFailed" | "unclaim" | "nextDueAt" | "existingReferences"
  > &
    AcknowledgementStore;
  mailer: Mailer;
  /** Senders are told that their message has arrived; `null`: they are not. */
  acknowledgement?: AcknowledgementOptions | null;
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
  const { acknowledgement = null } = options;
  const delivery = createDelivery({ ...options, meter, onPaused, clock, random, pause, leaseMs });
  const acknowledger =
    acknowledgement && createAcknowledger({ ...options, ...acknowledgement, meter, clock, random, leaseMs, wake });

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
      // More may be due, and the team's mails come before those to senders.
      if (claims.length === room) return pollIntervalMs;
      const dueAt = await store.nextDueAt();
      const untilDueMs = dueAt ? dueAt.getTime() - clock.now().getTime() : pollIntervalMs;
      const waitMs = Math.min(untilDueMs, (await acknowledger?.startDue()) ?? pollIntervalMs);
      return waitMs > 0 ? Math.min(waitMs, pollIntervalMs) : SHORTEST_WAIT_MS;
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
    await Promise.race([Promise.all([round, ...inFlight, acknowledger?.finish()]), deadline.promise]);
    cancelDeadline();
    delivery.stop();
    acknowledger?.stop();
    const count = inFlight.size + (acknowledger?.inFlight ?? 0);
    if (count > 0) {
      log.warn(
        { event: "stopped-early", count },
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
  acknowledgement?: AcknowledgementOptions | null;
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

function createDelivery(options: DeliveryOptions): Delivery {
  const { store, mailer, identity, log, meter, onPaused, clock, random, pause, acknowledgement } = options;
  const saver = createResultSaver(options);
  const { save } = saver;

  async function attempt(claim: Claim): Promise<void> {
    const ticket = pause.ticket();
    const failure = await send(claim);
    updatePause(ticket, failure);
    // Saved last: a crash before this may repeat an e-mail, never lose one.
    const outcome = await saveResult(claim, failure);
    meter.attempted(outcome ?? "unmarked");
    // The message may have been erased while its file was written.
    if (outcome === null) await removeStrayFiles(claim.message.reference, options);
  }

  async function send({ message }: Claim): Promise<MailError | null> {
    try {
      await mailer.send(composeMail(message, identity));
      return null;
    } catch (error) {
      return toMailError(error);
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
      const queuesAcknowledgement = Boolean(acknowledgement);
      if (!(await save(reference, () => store.markDelivered(claim, clock.now(), queuesAcknowledgement)))) return null;
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

  return {
    attempt,
    async unclaim(claim) {
      await save(claim.message.reference, () => store.unclaim(claim, clock.now(), null, clock.now()));
    },
    get hasUnsavedResults() {
      return saver.hasUnsavedResults;
    },
    stop: saver.stop,
  };
}
