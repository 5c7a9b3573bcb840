import { errorName, type Log } from "../log.ts";
import { composeMail, type MailIdentity } from "../mail/compose.ts";
import { MailError, type Mailer } from "../mail/mailer.ts";
import type { Claim, Store } from "../store/store.ts";
import type { Clock } from "../time.ts";
import type { AttemptOutcome, Meter } from "../watch/meter.ts";
import type { Marker } from "./persistent-mark.ts";
import type { QueuePause } from "./queue-pause.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

export interface DeliveryParts {
  store: Pick<Store, "markDelivered" | "reschedule" | "markFailed" | "unclaim" | "find">;
  mailer: Mailer;
  identity: MailIdentity;
  log: Log;
  meter: Meter;
  onPaused(): void;
  clock: Clock;
  random: () => number;
  pause: QueuePause;
  marker: Marker;
}

/** One attempt at a claimed message: sends it, then stores what came of it. Never rejects. */
export async function deliver(claim: Claim, parts: DeliveryParts): Promise<void> {
  const ticket = parts.pause.ticket();
  const failure = await trySending(claim, parts);
  if (failure?.kind === "blocked") {
    announcePause(parts.pause.block(ticket, failure.message), failure, parts);
  } else if (failure?.kind !== "temporary" && parts.pause.unblock(ticket)) {
    parts.meter.queuePaused(false);
    parts.log.info({ event: "queue-resumed" }, "Mails can be sent again; the queue goes on");
  }
  // Marked last: a crash before this may repeat a mail, never lose one.
  const outcome = await storeResult(claim, failure, parts);
  parts.meter.attempted(outcome ?? "unmarked");
}

async function trySending(claim: Claim, { mailer, identity }: DeliveryParts): Promise<MailError | null> {
  try {
    await mailer.send(composeMail(claim.message, identity));
    return null;
  } catch (error) {
    // Unforeseen: tried again and set aside in the end, which loses nothing.
    return error instanceof MailError ? error : new MailError("temporary", `unexpected error (${errorName(error)})`);
  }
}

function announcePause(change: "begun" | "lengthened" | "known", failure: MailError, parts: DeliveryParts) {
  const { log, meter, pause, onPaused } = parts;
  const seconds = Math.round(pause.remainingMs / 1000);
  if (change === "begun") {
    meter.queuePaused(true);
    onPaused();
    log.error(
      { event: "queue-paused", error: failure.message },
      `No mail is sent until this is mended: ${failure.message}. Messages are kept; the next try is in ${seconds} s`,
    );
  } else if (change === "lengthened") {
    log.warn({ event: "queue-still-paused", error: failure.message }, `Still no mail; the next try is in ${seconds} s`);
  }
}

/** What came of the attempt, or `null` when that could not be stored. */
async function storeResult(
  claim: Claim,
  failure: MailError | null,
  parts: DeliveryParts,
): Promise<AttemptOutcome | null> {
  const { store, log, clock, marker } = parts;
  const { reference, attempts } = claim.message;

  if (failure === null) {
    const isStored = await marker.mark(reference, () => store.markDelivered(claim, clock.now()));
    if (isStored) log.info({ event: "delivered", reference, attempts }, "Delivered");
    else await forgetIfErased(reference, parts);
    return isStored ? "delivered" : null;
  }
  const error = failure.message;
  if (failure.kind === "blocked") {
    const isStored = await marker.mark(reference, () => store.unclaim(claim, clock.now(), error, clock.now()));
    if (isStored) log.info({ event: "held-back", reference }, "Held back until mails can be sent again");
    return isStored ? "held-back" : null;
  }
  const dueAt = failure.kind === "temporary" ? nextAttemptAt(attempts, clock.now(), parts.random) : null;
  if (dueAt) {
    const isStored = await marker.mark(reference, () => store.reschedule(claim, dueAt, error, clock.now()));
    if (isStored) log.info({ event: "deferred", reference, attempts, error, dueAt }, "Not delivered yet; tried again");
    return isStored ? "deferred" : null;
  }
  const isStored = await marker.mark(reference, () => store.markFailed(claim, error, clock.now()));
  if (isStored) {
    log.error({ event: "set-aside", reference, attempts, error }, "Not deliverable; kept for the operator to retry");
  }
  return isStored ? "failed" : null;
}

/** The visitor's message may have been erased while its mail was written; then no file of it may stay either. */
async function forgetIfErased(reference: string, { store, mailer, log }: DeliveryParts): Promise<void> {
  try {
    if ((await store.find(reference)) === null) await mailer.forget(reference);
  } catch (error) {
    log.error(
      { event: "not-forgotten", reference, error: errorName(error) },
      "A mail may be left of an erased message; erase it again with: npm run messages -- privacy erase",
    );
  }
}
