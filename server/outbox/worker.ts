import { errorName, type Log } from "../log.ts";
import { removeEmls } from "../mail/eml.ts";
import type { FailureKind } from "../mail/mailer.ts";
import { KINDS } from "../store/queue.ts";
import {
  type Claim,
  type DeliveryKind,
  type Listing,
  type Queue,
  type StoredMessage,
  StoreUnavailable,
} from "../store/store.ts";
import type { Clock } from "../time.ts";
import type { DeliveryOutcome, Meter } from "../watch/meter.ts";
import { createQueuePause } from "./queue-pause.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

/** Why something was not sent. */
export interface Failure {
  kind: FailureKind;
  /** Without personal data. */
  message: string;
  /** How long the receiver asks to wait before the next attempt. */
  retryAfterMs?: number;
  /** The receiver did not look at it at all. */
  isUnreachable?: boolean;
}

/** All that differs between the kinds of deliveries. */
export interface Kind {
  name: DeliveryKind;
  /** How many are sent at the same time. */
  concurrency: number;
  /** Resolves once it was sent, to `null`, or to why it was not. Never rejects. */
  send(message: StoredMessage, now: Date): Promise<Failure | null>;
  /** Resolves to whether the receiver answers again after it was unreachable. Sends nothing, and never rejects. */
  probe?(): Promise<boolean>;
  /** Decides who may get it, until `limit` may. Resolves to whether it refused some, behind which others may be due. */
  admit?(limit: number, leaseMs: number, now: Date): Promise<boolean>;
  /** It is not tried later than this after its message was accepted; not given: for the five days of the schedule. */
  triedForMs?: number;
  /** Called for each that was sent. */
  onSent?(): void;
  onPaused?(): void;
  queuesAcknowledgement?: boolean;
  /** What the log says of it. */
  log: {
    /** Starts the names of the events of a pause. */
    queue: string;
    sent: string;
    failed: string;
    /** Of whatever needs the operator: `error` if messages are affected. */
    level: "warn" | "error";
    paused(reason: string): string;
    resumed: string;
  };
}

export interface WorkerParts {
  store: Queue & Pick<Listing, "erasedReferences">;
  /** Where .eml files are. */
  dataDir: string;
  log: Log;
  meter: Meter;
  clock: Clock;
  random: () => number;
  leaseMs: number;
  pollIntervalMs: number;
}

export type Worker = ReturnType<typeof startWorker>;

/** The store is not asked again sooner than this when it returned nothing, even if something is due. */
const SHORTEST_WAIT_MS = 1000;
const LONGEST_STORE_WAIT_MS = 60_000;
/** As long as the first wait: what waits longer has failed at least twice. */
const FAILING_MS = 60_000;
const PROBE_INTERVAL_MS = 60_000;
const ALL_INTERVAL_MS = 60_000;
const FIRST_SAVE_RETRY_MS = 1000;
const LONGEST_SAVE_RETRY_MS = 30_000;

/** Sends what is due of one kind until it is finished: each at least once. Nothing it does delays another kind. */
export function startWorker(kind: Kind, parts: WorkerParts) {
  const { store, log, meter, clock, random, leaseMs, pollIntervalMs } = parts;
  const { events } = KINDS[kind.name];
  const pause = createQueuePause(clock);
  const inFlight = new Set<Promise<void>>();
  const abandoned = Promise.withResolvers<void>();
  let isFinishing = false;
  let isAbandoned = false;
  let unsavedResults = 0;
  let round: Promise<void> | null = null;
  let isWokenMeanwhile = false;
  let storeWaitMs = SHORTEST_WAIT_MS;
  /** Whatever waits is to be made due: this server has just started, or the receiver answers again. */
  let isAllWanted = true;
  let allAskedAtMs = 0;
  /** When the first attempt failed since the last that did not. */
  let failingSinceMs: number | null = null;
  let isUnreachable = false;
  let probedAtMs = 0;
  let cancelTimer = () => {};

  /** Looks for due deliveries now. */
  function wake(): void {
    if (isFinishing) return;
    if (round) {
      isWokenMeanwhile = true;
      return;
    }
    cancelTimer();
    isWokenMeanwhile = false;
    round = startDue().then((waitMs) => {
      round = null;
      if (isFinishing) return;
      cancelTimer = clock.setTimer(wake, waitMs);
      if (isWokenMeanwhile) wake();
    });
  }

  /** Returns the time until the next poll; an attempt that ends sooner calls wake. Never rejects. */
  async function startDue(): Promise<number> {
    try {
      for (;;) {
        const room = roomForMore();
        if (room <= 0) return pause.remainingMs || pollIntervalMs;
        probeIfUnreachable();
        if (isAllWanted) await makeAllDue();
        const mayBeMore = await kind.admit?.(room, leaseMs, clock.now());
        const claims = await store.claim(room, leaseMs, clock.now(), kind.name);
        storeWaitMs = SHORTEST_WAIT_MS;
        for (const claim of claims) {
          if (isFinishing) await save(claim, () => store.unclaim(claim, clock.now(), null, clock.now()));
          else start(claim);
        }
        if (isFinishing || claims.length === room) return pollIntervalMs;
        if (!mayBeMore) break;
      }
      const dueInMs = (await store.dueInMs(clock.now(), kind.name)) ?? pollIntervalMs;
      return dueInMs > 0 ? Math.min(dueInMs, pollIntervalMs) : SHORTEST_WAIT_MS;
    } catch (error) {
      log.warn(
        { event: "store-unavailable", kind: kind.name, error: errorName(error) },
        `The store does not answer; next attempt in ${storeWaitMs / 1000} s`,
      );
      const waitMs = storeWaitMs;
      storeWaitMs = Math.min(storeWaitMs * 2, LONGEST_STORE_WAIT_MS);
      return waitMs;
    }
  }

  function roomForMore(): number {
    // What was sent but not marked would be claimed and sent again once its lease ends.
    if (isFinishing || unsavedResults > 0 || pause.state === "waiting") return 0;
    return (pause.state === "probing" ? 1 : kind.concurrency) - inFlight.size;
  }

  function start(claim: Claim): void {
    const attempted = attempt(claim).finally(() => {
      inFlight.delete(attempted);
      wake();
    });
    inFlight.add(attempted);
  }

  /** Sends it, then saves the result. Never rejects. */
  async function attempt(claim: Claim): Promise<void> {
    const ticket = pause.ticket();
    const failure = await kind.send(claim.message, clock.now());
    updatePause(ticket, failure);
    noteAnswer(failure);
    // Saved last: a crash before this may repeat a delivery, never lose one.
    const outcome = await saveResult(claim, failure);
    meter.attempted(kind.name, outcome ?? "unmarked");
    if (outcome === "sent") kind.onSent?.();
    // The message may have been erased while its file was written.
    if (outcome === null) await removeFileIfErased(claim.message.reference);
  }

  function updatePause(ticket: number, failure: Failure | null): void {
    const { queue, level, paused, resumed } = kind.log;
    if (failure?.kind === "blocked" || failure?.retryAfterMs) {
      const error = failure.message;
      const change = pause.block(ticket, error, failure.retryAfterMs);
      const next = `next attempt in ${Math.round(pause.remainingMs / 1000)} s`;
      if (change === "started") {
        meter.queuePaused(kind.name, true);
        kind.onPaused?.();
        log[level]({ event: `${queue}-paused`, error }, `${paused(error)}; ${next}`);
      } else if (change === "extended") {
        log.warn({ event: `${queue}-still-paused`, error }, `Still paused: ${error}; ${next}`);
      }
    } else if (failure?.kind !== "temporary" && pause.unblock(ticket)) {
      meter.queuePaused(kind.name, false);
      log.info({ event: `${queue}-resumed` }, resumed);
    }
  }

  /** After a time of failures the first answer makes everything due: the waits were for a receiver that was away. */
  function noteAnswer(failure: Failure | null): void {
    const nowMs = clock.now().getTime();
    if (failure === null || failure.kind === "permanent") {
      if (failingSinceMs !== null && Math.abs(nowMs - failingSinceMs) >= FAILING_MS) isAllWanted = true;
      failingSinceMs = null;
      isUnreachable = false;
    } else {
      failingSinceMs ??= nowMs;
      isUnreachable = failure.isUnreachable ?? false;
      isAllWanted = false;
    }
  }

  /** Asked once a minute while another node has just done it, and not in every round of a long queue. */
  async function makeAllDue(): Promise<void> {
    const now = clock.now();
    if (Math.abs(now.getTime() - allAskedAtMs) < ALL_INTERVAL_MS) return;
    allAskedAtMs = now.getTime();
    isAllWanted = (await store.makeWaitingDue(kind.name, now, "outbox")) === null;
  }

  /** So that a receiver which answers again is noticed though nothing is due for hours. */
  function probeIfUnreachable(): void {
    const nowMs = clock.now().getTime();
    if (!isUnreachable || !kind.probe || Math.abs(nowMs - probedAtMs) < PROBE_INTERVAL_MS) return;
    probedAtMs = nowMs;
    void kind.probe().then((isReachable) => {
      if (!isReachable || !isUnreachable) return;
      isUnreachable = false;
      isAllWanted = true;
      wake();
    });
  }

  /** Returns `null` when the result could not be saved. */
  async function saveResult(claim: Claim, failure: Failure | null): Promise<DeliveryOutcome | null> {
    const { attempts, message } = claim;
    const { reference } = message;
    const now = clock.now();
    if (failure === null) {
      if (!(await save(claim, () => store.markDelivered(claim, now, kind.queuesAcknowledgement)))) return null;
      log.info({ event: events.sent, reference, attempts }, kind.log.sent);
      return "sent";
    }
    const error = failure.message;
    if (failure.kind === "blocked") {
      if (!(await save(claim, () => store.unclaim(claim, now, error, now)))) return null;
      log.info({ event: events.paused, reference, error }, "Kept in the queue until it can be sent");
      return "paused";
    }
    const dueAt = failure.kind === "temporary" ? nextAttemptAt(attempts, now, random, failure.retryAfterMs) : null;
    const { triedForMs = Number.POSITIVE_INFINITY } = kind;
    if (dueAt && dueAt.getTime() - message.acceptedAt.getTime() <= triedForMs) {
      if (!(await save(claim, () => store.reschedule(claim, dueAt, error, now)))) return null;
      log.info({ event: events.deferred, reference, attempts, error, dueAt }, "Not sent yet; retried later");
      return "deferred";
    }
    if (!(await save(claim, () => store.markFailed(claim, error, now)))) return null;
    log[kind.log.level]({ event: events.failed, reference, attempts, error }, kind.log.failed);
    return "failed";
  }

  /**
   * Saves the result of an attempt, with retries while the store is unavailable: what was sent must be marked before
   * anybody may send it again. Returns false when the lease was lost or the store never answered; never rejects.
   */
  async function save({ message: { reference } }: Claim, write: () => Promise<boolean>): Promise<boolean> {
    let isSaved: boolean | null;
    try {
      isSaved = await write();
    } catch (error) {
      log.warn(
        { event: "mark-failed", reference, error: errorName(error) },
        "The result of an attempt could not be saved; retrying",
      );
      unsavedResults += 1;
      isSaved = await retrySaving(write);
      unsavedResults -= 1;
    }
    if (isSaved === null) {
      log.error(
        { event: "mark-given-up", reference },
        "The result of an attempt could not be saved; it may be sent again, with the same id",
      );
    } else if (!isSaved) {
      log.warn(
        { event: "lease-lost", reference },
        "The result of an attempt was not saved: the message was erased, or its lease ended and another worker has it",
      );
    }
    return isSaved === true;
  }

  /** Returns what `write` returned in the end; `null` when it never did. */
  async function retrySaving(write: () => Promise<boolean>): Promise<boolean | null> {
    const startedAtMs = clock.now().getTime();
    for (let waitMs = FIRST_SAVE_RETRY_MS; !isAbandoned; waitMs = Math.min(waitMs * 2, LONGEST_SAVE_RETRY_MS)) {
      const wait = Promise.withResolvers<void>();
      const cancelWait = clock.setTimer(wait.resolve, waitMs);
      await Promise.race([wait.promise, abandoned.promise]);
      cancelWait();
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

  async function removeFileIfErased(reference: string): Promise<void> {
    try {
      await removeEmls(parts.dataDir, new Set(await store.erasedReferences([reference])));
    } catch (error) {
      log.error(
        { event: "file-not-removed", reference, error: errorName(error) },
        "The .eml file of an erased message may be left in DATA_DIR/outbox; retrying within an hour",
      );
    }
  }

  wake();
  return {
    get isPaused() {
      return pause.state !== "open";
    },
    get pauseReason() {
      return pause.reason;
    },
    get inFlight() {
      return inFlight.size;
    },
    wake,
    /** Starts no more attempts, and resolves once those in flight have ended. */
    async finish(): Promise<void> {
      isFinishing = true;
      cancelTimer();
      await Promise.all([round, ...inFlight]);
    },
    /** The process is about to exit: stops retrying to save results. */
    abandon(): void {
      isAbandoned = true;
      abandoned.resolve();
    },
  };
}
