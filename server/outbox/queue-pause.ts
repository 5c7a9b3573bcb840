import type { Pause } from "../store/store.ts";
import { type Clock, MINUTE_MS } from "../time.ts";

const FIRST_PAUSE_MS = MINUTE_MS;
const LONGEST_PAUSE_MS = 15 * MINUTE_MS;

/**
 * The pause of a queue whose receiver takes nothing. After each pause deliveries are tried one at a time as probes.
 * Each attempt takes a ticket when it starts: only attempts started since the last pause may extend or end it, so that
 * attempts that fail together count once.
 */
export function createQueuePause(clock: Clock) {
  let current: Omit<Pause, "channel"> | null = null;
  let pauses = 0;
  let pauseMs = 0;
  let endsAtMs = 0;

  function remainingMs(): number {
    const nowMs = clock.now().getTime();
    // More than the whole pause is left: the clock was set back, so the pause starts over.
    if (endsAtMs - nowMs > pauseMs) endsAtMs = nowMs + pauseMs;
    return Math.max(0, endsAtMs - nowMs);
  }

  return {
    /** How many may be sent at the same time: none while the pause lasts, then one until it is over. */
    limit(concurrency: number): number {
      if (current === null) return concurrency;
      return remainingMs() > 0 ? 0 : 1;
    },
    get remainingMs() {
      return remainingMs();
    },
    /** The latest reason, and since when; `null` when open. */
    get current() {
      return current;
    },
    ticket: () => pauses,
    /** Starts or extends the pause, for the time given; `none` when another attempt of the same time has done so. */
    block(ticket: number, reason: string, forMs?: number): "started" | "extended" | "none" {
      if (ticket !== pauses) return "none";
      const isFirst = current === null;
      pauses += 1;
      pauseMs = forMs ?? (isFirst ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
      endsAtMs = clock.now().getTime() + pauseMs;
      current = { reason, since: current?.since ?? clock.now() };
      return isFirst ? "started" : "extended";
    },
    /** Returns whether this ended a pause. */
    unblock(ticket: number): boolean {
      if (current === null || ticket !== pauses) return false;
      current = null;
      endsAtMs = 0;
      return true;
    },
  };
}
