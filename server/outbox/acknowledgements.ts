import { errorName, type Log } from "../log.ts";
import { type AcknowledgementSettings, composeAcknowledgement } from "../mail/acknowledgement.ts";
import type { MailIdentity } from "../mail/compose.ts";
import { type MailError, type Mailer, toMailError } from "../mail/mailer.ts";
import { ACKNOWLEDGED_WITHIN_MS } from "../store/acknowledgements.ts";
import type { AcknowledgementClaim, Store } from "../store/store.ts";
import type { Clock } from "../time.ts";
import type { AcknowledgementOutcome, Meter } from "../watch/meter.ts";
import { createQueuePause } from "./queue-pause.ts";
import { createResultSaver, removeStrayFiles } from "./result-saver.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

export interface AcknowledgementOptions extends AcknowledgementSettings {
  /** Not that of the messages: a server that is hard on mails to strangers must not be so on the team's connections. */
  mailer: Mailer;
  perHour?: number;
}

export type AcknowledgementStore = Pick<
  Store,
  | "claimAcknowledgements"
  | "markAcknowledged"
  | "rescheduleAcknowledgement"
  | "failAcknowledgement"
  | "nextAcknowledgementAt"
  | "existingReferences"
>;

interface AcknowledgerOptions extends AcknowledgementOptions {
  store: AcknowledgementStore;
  identity: MailIdentity;
  dataDir: string;
  log: Log;
  meter: Meter;
  clock: Clock;
  random: () => number;
  leaseMs: number;
  /** Called after each attempt. */
  wake(): void;
}

export interface Acknowledger {
  /** Starts what is due, as far as there is room. Resolves to the time until the next; `null`: unknown. Never rejects. */
  startDue(): Promise<number | null>;
  readonly inFlight: number;
  /** Starts no more, and resolves once those in flight have ended. */
  finish(): Promise<void>;
  /** The process is about to exit. */
  stop(): void;
}

/** Sent at the same time, beside the messages. */
const CONCURRENCY = 2;
/** More than a small company is written to in an hour; a flood to many addresses ends here. */
export const ACKNOWLEDGEMENTS_PER_HOUR = 100;

/**
 * Tells senders that their message has arrived. Nothing that happens here touches a message, delays one, or pauses their
 * queue: some servers refuse mail to strangers in words that would mean a wrong password.
 */
export function createAcknowledger(options: AcknowledgerOptions): Acknowledger {
  const { store, identity, log, meter, clock, random, leaseMs, wake } = options;
  const { text, replyTo, mailer, perHour = ACKNOWLEDGEMENTS_PER_HOUR } = options;
  const rules = { ownAddresses: [identity.mailTo, identity.mailFrom, replyTo], perHour };
  const pause = createQueuePause(clock);
  const saver = createResultSaver(options);
  const inFlight = new Set<Promise<void>>();
  let isFinishing = false;

  async function startDue(): Promise<number | null> {
    if (isFinishing || saver.hasUnsavedResults) return null;
    if (pause.state === "waiting") return pause.remainingMs;
    let room = (pause.state === "probing" ? 1 : CONCURRENCY) - inFlight.size;
    if (room <= 0) return null;
    try {
      // Again for as long as some are skipped: behind a flood to one address there may be others.
      while (room > 0) {
        const { claims, skipped, failed } = await store.claimAcknowledgements(room, leaseMs, rules, clock.now());
        room -= claims.length;
        for (const { reference, reason } of skipped) {
          meter.acknowledged("skipped");
          log.info({ event: "acknowledgement-skipped", reference, reason }, "The sender gets no acknowledgement");
        }
        for (const reference of failed) {
          meter.acknowledged("failed");
          log.warn({ event: "acknowledgement-failed", reference }, "Given up: nobody knows whether it was sent");
        }
        for (const claim of claims) {
          if (isFinishing) await unclaim(claim);
          else start(claim);
        }
        if (isFinishing || skipped.length + failed.length === 0) break;
      }
      if (room === 0) return null;
      const dueAt = await store.nextAcknowledgementAt();
      return dueAt && dueAt.getTime() - clock.now().getTime();
    } catch (error) {
      log.warn(
        { event: "acknowledgements-unavailable", error: errorName(error) },
        "The store does not answer; acknowledgements are retried later",
      );
      return null;
    }
  }

  function start(claim: AcknowledgementClaim): void {
    const attempted = attempt(claim).finally(() => {
      inFlight.delete(attempted);
      wake();
    });
    inFlight.add(attempted);
  }

  async function attempt(claim: AcknowledgementClaim): Promise<void> {
    const ticket = pause.ticket();
    const failure = await send(claim);
    updatePause(ticket, failure);
    // Saved last, as for messages: a crash before this may repeat the mail, under the same Message-ID.
    const outcome = await saveResult(claim, failure);
    meter.acknowledged(outcome ?? "unmarked");
    if (outcome === null) await removeStrayFiles(claim.reference, options);
  }

  async function send(claim: AcknowledgementClaim): Promise<MailError | null> {
    try {
      await mailer.send(composeAcknowledgement(claim, identity, { text, replyTo }, clock.now()));
      return null;
    } catch (error) {
      return toMailError(error);
    }
  }

  function updatePause(ticket: number, failure: MailError | null): void {
    if (failure?.kind === "blocked") {
      if (pause.block(ticket, failure.message) === "started") {
        log.warn(
          { event: "acknowledgements-paused", error: failure.message },
          `No acknowledgement can be sent at the moment: ${failure.message}. Messages are not affected`,
        );
      }
    } else if (failure?.kind !== "temporary" && pause.unblock(ticket)) {
      log.info({ event: "acknowledgements-resumed" }, "Acknowledgements can be sent again");
    }
  }

  /** Returns `null` when the result could not be saved. */
  async function saveResult(
    claim: AcknowledgementClaim,
    failure: MailError | null,
  ): Promise<AcknowledgementOutcome | null> {
    const { reference, attempts, acceptedAt } = claim;
    const now = clock.now();
    if (failure === null) {
      if (!(await saver.save(reference, () => store.markAcknowledged(claim, now)))) return null;
      log.info({ event: "acknowledged", reference, attempts }, "The sender was told that the message has arrived");
      return "sent";
    }
    const error = failure.message;
    // The pause says when to go on after a block.
    const dueAt = failure.kind === "blocked" ? now : nextAttemptAt(attempts, now, random);
    const isInTime = dueAt !== null && dueAt.getTime() - acceptedAt.getTime() <= ACKNOWLEDGED_WITHIN_MS;
    if (failure.kind !== "permanent" && isInTime) {
      const write = () => store.rescheduleAcknowledgement(claim, dueAt, error, now);
      if (!(await saver.save(reference, write))) return null;
      log.info({ event: "acknowledgement-deferred", reference, attempts, error, dueAt }, "Retried later");
      return "deferred";
    }
    if (!(await saver.save(reference, () => store.failAcknowledgement(claim, error, now)))) return null;
    // No error: the message itself was delivered.
    log.warn({ event: "acknowledgement-failed", reference, attempts, error }, "The sender gets no acknowledgement");
    return "failed";
  }

  async function unclaim(claim: AcknowledgementClaim): Promise<void> {
    const now = clock.now();
    await saver.save(claim.reference, () => store.rescheduleAcknowledgement(claim, now, null, now));
  }

  return {
    startDue,
    get inFlight() {
      return inFlight.size;
    },
    async finish() {
      isFinishing = true;
      await Promise.all(inFlight);
    },
    stop: saver.stop,
  };
}
