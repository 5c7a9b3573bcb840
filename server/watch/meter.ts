export const ROUTES = ["page", "asset", "film", "message", "health"] as const;
export type Route = (typeof ROUTES)[number];

/** What happened to a valid message; `repeated`: it was stored before. */
export const ACCEPTANCES = ["queued", "quarantined", "repeated"] as const;
export type AcceptanceOutcome = (typeof ACCEPTANCES)[number];

export const REFUSALS = [
  "foreign-origin",
  "malformed",
  "too-large",
  "wrong-type",
  "bad-key",
  "invalid",
  "key-reused",
  "limited",
  "store-unavailable",
  "failure",
] as const;
export type RefusalReason = (typeof REFUSALS)[number];

/** `held-back`: the queue was paused. `unmarked`: the result could not be saved, or the lease was lost. */
export const ATTEMPTS = ["delivered", "deferred", "failed", "held-back", "unmarked"] as const;
export type AttemptOutcome = (typeof ATTEMPTS)[number];

/** Of mails to senders. `skipped`: by a rule, without an attempt. */
export const ACKNOWLEDGEMENTS = ["sent", "skipped", "deferred", "failed", "unmarked"] as const;
export type AcknowledgementOutcome = (typeof ACKNOWLEDGEMENTS)[number];

/** Counts what happens. It receives only these words and numbers, never a visitor's data. */
export interface Meter {
  answered(route: Route, status: number, durationMs: number): void;
  accepted(outcome: AcceptanceOutcome): void;
  refused(reason: RefusalReason): void;
  attempted(outcome: AttemptOutcome): void;
  acknowledged(outcome: AcknowledgementOutcome): void;
  queuePaused(isPaused: boolean): void;
}

/** Counts nothing. */
export const noMeter: Meter = {
  answered() {},
  accepted() {},
  refused() {},
  attempted() {},
  acknowledged() {},
  queuePaused() {},
};
