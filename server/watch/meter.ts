import type { Channel } from "../store/store.ts";

export const ROUTES = ["page", "asset", "film", "message", "health"] as const;
export type Route = (typeof ROUTES)[number];

/** What happened to a valid message; `repeated`: it was stored before. */
export const ACCEPTANCES = ["queued", "quarantined", "repeated"] as const;

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

/**
 * How an attempt ended. `paused`: the channel can send nothing at the moment. `skipped`: a rule forbids the delivery,
 * so nothing was tried. `unmarked`: the result could not be saved, or the lease was lost.
 */
export const DELIVERY_OUTCOMES = ["delivered", "deferred", "failed", "paused", "skipped", "unmarked"] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Counts what happens. It receives only these words and numbers, never a visitor's data. */
export interface Meter {
  answered(route: Route, status: number, durationMs: number): void;
  accepted(outcome: (typeof ACCEPTANCES)[number]): void;
  refused(reason: RefusalReason): void;
  attempted(channel: Channel, outcome: DeliveryOutcome): void;
}
