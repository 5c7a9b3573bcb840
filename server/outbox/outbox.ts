import type { Log } from "../log.ts";
import { type AcknowledgementSettings, composeAcknowledgement } from "../mail/acknowledgement.ts";
import { type ComposedMail, composeMail, type MailIdentity } from "../mail/compose.ts";
import { type MailError, type Mailer, toMailError } from "../mail/mailer.ts";
import { ACKNOWLEDGED_WITHIN_MS } from "../store/acknowledgements.ts";
import type { Store } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { type Meter, noMeter } from "../watch/meter.ts";
import { failureOf, type HookSettings, isAnswering, messageAccepted, postEvent } from "./hook.ts";
import { type Kind, startWorker, type Worker, type WorkerParts } from "./worker.ts";

export interface AcknowledgementOptions extends AcknowledgementSettings {
  /** Not that of the messages: a server that is hard on mails to strangers must not be so on the team's connections. */
  mailer: Mailer;
  perHour?: number;
}

export interface OutboxOptions {
  store: WorkerParts["store"] & Pick<Store, "admitAcknowledgements">;
  mailer: Mailer;
  /** Senders are told that their message has arrived; `null`: they are not. */
  acknowledgement?: AcknowledgementOptions | null;
  /** Each message is posted there; `null`: none is. */
  hook?: HookSettings | null;
  identity: MailIdentity;
  /** Where .eml files are. */
  dataDir: string;
  log: Log;
  meter?: Meter | undefined;
  /** Called when the mail server starts to refuse everything. */
  onPaused?(): void;
  clock?: Clock;
  random?: () => number;
  /** E-mails sent to the team at the same time. */
  concurrency?: number;
  /** Longer than an attempt may take, so that another worker only takes over from a dead one. */
  leaseMs?: number;
  /** How often to look for deliveries without a wake: those of other nodes, or retried by the operator. */
  pollIntervalMs?: number;
}

export interface Outbox {
  /** `paused`: the mail server refuses everything, see the log; resumes by itself. */
  readonly state: "running" | "paused" | "stopped";
  /** Why it is paused, without personal data; `null` when it is not. */
  readonly pauseReason: string | null;
  /** Looks for due deliveries now. Call it after each accepted message. */
  wake(): void;
  /** Starts no more attempts and waits for those in flight, for at most `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

/** More than a small company is written to in an hour; a flood to many addresses ends here. */
export const ACKNOWLEDGEMENTS_PER_HOUR = 100;

/** Sends everything that leaves because of a message, by a worker for each kind, until stopped. */
export function startOutbox(options: OutboxOptions): Outbox {
  const { log, meter = noMeter, clock = systemClock, random = Math.random } = options;
  const { leaseMs = 5 * 60_000, pollIntervalMs = 30_000 } = options;
  const parts = { ...options, meter, clock, random, leaseMs, pollIntervalMs };
  const acknowledgements = options.acknowledgement
    ? startWorker(acknowledgementKind(options.acknowledgement, { ...options, meter }), parts)
    : null;
  const mail = startWorker(mailKind(options, acknowledgements), parts);
  const hook = options.hook ? startWorker(hookKind(options.hook), parts) : null;
  const workers = [mail, acknowledgements, hook].filter((worker) => worker !== null);
  let isStopped = false;

  return {
    get state() {
      if (isStopped) return "stopped";
      return mail.isPaused ? "paused" : "running";
    },
    get pauseReason() {
      return mail.pauseReason;
    },
    wake() {
      for (const worker of workers) worker.wake();
    },
    async stop(deadlineMs = 10_000) {
      isStopped = true;
      const deadline = Promise.withResolvers<void>();
      const cancelDeadline = clock.setTimer(deadline.resolve, deadlineMs);
      await Promise.race([Promise.all(workers.map((worker) => worker.finish())), deadline.promise]);
      cancelDeadline();
      for (const worker of workers) worker.abandon();
      const count = workers.reduce((sum, worker) => sum + worker.inFlight, 0);
      if (count > 0) {
        log.warn(
          { event: "stopped-early", count },
          "Stopped during attempts; they are repeated at the next start, or by another server after their lease",
        );
      }
    },
  };
}

/** The message itself, to the team, under the same Message-ID each time. */
function mailKind(options: OutboxOptions, acknowledgements: Worker | null): Kind {
  const { mailer, identity, onPaused, concurrency = 5 } = options;
  return {
    name: "mail",
    concurrency,
    send: (message) => sendBy(mailer, () => composeMail(message, identity)),
    ...(mailer.isReachable && { probe: mailer.isReachable }),
    queuesAcknowledgement: acknowledgements !== null,
    onSent: () => acknowledgements?.wake(),
    onPaused: () => onPaused?.(),
    log: {
      queue: "queue",
      sent: "Delivered",
      failed: "Failed for good; kept for the operator to retry",
      level: "error",
      paused: (reason) => `No e-mail can be sent until this is fixed: ${reason}. Messages are kept`,
      resumed: "E-mail can be sent again; the queue continues",
    },
  };
}

/** Tells senders that their message has arrived, for a day after it was accepted. */
function acknowledgementKind(
  { mailer, text, replyTo, perHour = ACKNOWLEDGEMENTS_PER_HOUR }: AcknowledgementOptions,
  { store, identity, log, meter }: Pick<OutboxOptions, "store" | "identity" | "log"> & { meter: Meter },
): Kind {
  const rules = { ownAddresses: [identity.mailTo, identity.mailFrom, replyTo], perHour };
  return {
    name: "acknowledgement",
    concurrency: 2,
    send: (message, now) => sendBy(mailer, () => composeAcknowledgement(message, identity, { text, replyTo }, now)),
    ...(mailer.isReachable && { probe: mailer.isReachable }),
    async admit(limit, leaseMs, now) {
      const { skipped, failed } = await store.admitAcknowledgements(limit, leaseMs, rules, now);
      for (const { reference, reason } of skipped) {
        meter.attempted("acknowledgement", "skipped");
        log.info({ event: "acknowledgement-skipped", reference, reason }, "The sender gets no acknowledgement");
      }
      for (const reference of failed) {
        meter.attempted("acknowledgement", "failed");
        log.warn({ event: "acknowledgement-failed", reference }, "Given up: nobody knows whether it was sent");
      }
      return skipped.length + failed.length > 0;
    },
    triedForMs: ACKNOWLEDGED_WITHIN_MS,
    log: {
      queue: "acknowledgements",
      sent: "The sender was told that the message has arrived",
      failed: "The sender gets no acknowledgement",
      // No error: the message itself was delivered.
      level: "warn",
      paused: (reason) => `No acknowledgement can be sent at the moment: ${reason}. Messages are not affected`,
      resumed: "Acknowledgements can be sent again",
    },
  };
}

/** The message as JSON, to the company's own program. */
function hookKind(settings: HookSettings): Kind {
  return {
    name: "hook",
    concurrency: 3,
    send: async (message, now) => failureOf(await postEvent(settings, messageAccepted(message), now)),
    probe: () => isAnswering(settings),
    log: {
      queue: "hook",
      sent: "Posted to HOOK_URL",
      failed: "Not posted to HOOK_URL, for good; kept for the operator to retry",
      level: "error",
      paused: (reason) => `The receiver of HOOK_URL asks to wait: ${reason}. E-mail is not affected`,
      resumed: "The receiver of HOOK_URL takes messages again",
    },
  };
}

async function sendBy(mailer: Mailer, compose: () => ComposedMail): Promise<MailError | null> {
  try {
    await mailer.send(compose());
    return null;
  } catch (error) {
    return toMailError(error);
  }
}
