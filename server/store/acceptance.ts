import type { ContactMessage } from "../../contract/contact-message.ts";
import type { Acceptance, AcceptanceRules, Submission } from "./store.ts";
import { msUntilItLeaves, type Window, windowAround } from "./time-window.ts";

export const REPEAT_WINDOW_MS = 10 * 60_000;
export const HOUR_MS = 3_600_000;
const COUNT_IS_FRESH_MS = 1000;

export interface Entry {
  submission: Submission;
  fingerprint: string;
  rules: AcceptanceRules;
  nowMs: number;
}

export interface NewMessage {
  reference: string;
  idempotencyKey: string | null;
  fingerprint: string;
  message: ContactMessage;
  state: "queued" | "quarantined";
  acceptedAtMs: number;
}

/** What was accepted before, as one transaction sees it and adds to it. No other transaction may add meanwhile. */
export interface Ledger {
  findByKey(idempotencyKey: string): { reference: string; fingerprint: string } | undefined;
  /** The reference of a message with these words accepted within the window. */
  findRepeat(fingerprint: string, window: Window): string | undefined;
  /** When this client sent its nth newest message within the window; the newest is the first. */
  nthNewestHitMs(clientHash: string, window: Window, n: number): number | undefined;
  /** How many messages were accepted to be mailed, counted no further than `atMost`. */
  countMailed(window: Window, atMost: number): number;
  freeReference(prefix: string): string;
  addMessage(message: NewMessage): void;
  addHit(clientHash: string, atMs: number): void;
}

/** Decides on submissions, one after the other, by the rules every store shares; adds the new ones to the ledger. */
export function acceptAll(entries: readonly Entry[], ledger: Ledger): Acceptance[] {
  const lastHour = new HourlyCount(ledger);
  return entries.map((entry) => {
    const acceptance = accept(entry, ledger, lastHour);
    if (acceptance.kind === "stored" && acceptance.state === "queued") lastHour.addOne();
    return acceptance;
  });
}

function accept(entry: Entry, ledger: Ledger, lastHour: HourlyCount): Acceptance {
  const { submission, fingerprint, rules, nowMs } = entry;
  const { message, idempotencyKey, clientHash, isTrapped } = submission;
  const first = idempotencyKey === null ? undefined : ledger.findByKey(idempotencyKey);
  if (first) {
    return first.fingerprint === fingerprint
      ? { kind: "repeated", reference: first.reference }
      : { kind: "key-reused" };
  }
  const repeated = ledger.findRepeat(fingerprint, windowAround(nowMs, REPEAT_WINDOW_MS));
  if (repeated !== undefined) return { kind: "repeated", reference: repeated };

  const retryAfterMs = clientHash === null ? 0 : waitForLimitsMs(clientHash, rules, nowMs, ledger);
  if (retryAfterMs > 0) return { kind: "limited", retryAfterMs };

  const isFlood = rules.hourlyLimit !== null && lastHour.hasReached(rules.hourlyLimit, nowMs);
  const state = isTrapped || isFlood ? "quarantined" : "queued";
  const reference = ledger.freeReference(rules.referencePrefix);
  ledger.addMessage({ reference, idempotencyKey, fingerprint, message, state, acceptedAtMs: nowMs });
  // The hit names no message: what is kept about an address must not lead to what its owner wrote.
  if (clientHash !== null) ledger.addHit(clientHash, nowMs);
  return { kind: "stored", reference, state };
}

/** How long until every limit lets the client send one more message; 0 when it may send now. */
function waitForLimitsMs(clientHash: string, { rateLimits }: AcceptanceRules, nowMs: number, ledger: Ledger): number {
  const waits = rateLimits.map(({ count, windowMs }) => {
    const blockingMs = ledger.nthNewestHitMs(clientHash, windowAround(nowMs, windowMs), count);
    return blockingMs === undefined ? 0 : msUntilItLeaves(blockingMs, windowMs, nowMs);
  });
  return Math.max(0, ...waits);
}

/**
 * Counts the last hour's messages once for submissions that arrive together: it is the one question whose answer takes
 * long. What is held in quarantine does not count, so that a flood of trapped spam holds back nobody's message.
 */
class HourlyCount {
  readonly #ledger: Ledger;
  #count = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  hasReached(limit: number, nowMs: number): boolean {
    if (Math.abs(nowMs - this.#countedAtMs) > COUNT_IS_FRESH_MS) {
      this.#count = this.#ledger.countMailed(windowAround(nowMs, HOUR_MS), limit);
      this.#countedAtMs = nowMs;
    }
    return this.#count >= limit;
  }

  addOne(): void {
    this.#count += 1;
  }
}
