export const ROUTES = ["page", "asset", "film", "message", "health"] as const;
export type Route = (typeof ROUTES)[number];

/** What became of a good message: `repeated` is one that was there already. */
export const ACCEPTANCES = ["queued", "quarantined", "repeated"] as const;
export type AcceptanceOutcome = (typeof ACCEPTANCES)[number];

export const REFUSALS = [
  ...([
    "foreign-origin",
    "malformed",
    "too-large",
    "wrong-type",
    "bad-key",
    "invalid",
    "key-reused",
    "limited",
  ] as const),
  ...(["store-unavailable", "failure"] as const),
] as const;
export type RefusalReason = (typeof REFUSALS)[number];

/** `held-back`: the queue was paused. `unmarked`: what came of the attempt could not be stored, or was no longer asked. */
export const ATTEMPTS = ["delivered", "deferred", "failed", "held-back", "unmarked"] as const;
export type AttemptOutcome = (typeof ATTEMPTS)[number];

/** Counts what happens. All it is told are these few words and numbers, never anything of a visitor's. */
export interface Meter {
  answered(route: Route, status: number, durationMs: number): void;
  accepted(outcome: AcceptanceOutcome): void;
  refused(reason: RefusalReason): void;
  attempted(outcome: AttemptOutcome): void;
  queuePaused(isPaused: boolean): void;
}

/** For whoever does not count. */
export const noMeter: Meter = {
  answered() {},
  accepted() {},
  refused() {},
  attempted() {},
  queuePaused() {},
};
