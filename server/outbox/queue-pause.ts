import type { Pause } from "../store/status.ts";
import { type Clock, MINUTE_MS } from "../time.ts";

const FIRST_PAUSE_MS = MINUTE_MS;
const LONGEST_PAUSE_MS = 15 * MINUTE_MS;

/**
 * Pauses a queue whose receiver accepts nothing. After each pause, the queue tries one delivery at a time as a probe.
 * Each attempt takes a ticket when it starts. Only attempts that started after the last pause may extend or end it, so
 * that attempts that fail together count once.
 */
export function createQueuePause(clock: Clock) {
  let current: Omit<Pause, "channel"> | null = null;
  let pauses = 0;
  let pauseMs = 0;
  let endsAtMs = 0;

  function remainingMs(): number {
    const nowMs = clock.now().getTime();
    // If more than the whole pause is left, the clock was set back, so the pause starts again.
    if (endsAtMs - nowMs > pauseMs) endsAtMs = nowMs + pauseMs;
    return Math.max(0, endsAtMs - nowMs);
  }

  return {
    /** How many deliveries may be sent at the same time: none during the pause, then one until a probe succeeds. */
    limit(concurrency: number): number {
      if (current === null) return concurrency;
      return remainingMs() > 0 ? 0 : 1;
    },
    get remainingMs() {
      return remainingMs();
    },
    /** The latest reason and the start of the pause; `null` if there is none. */
    get current() {
      return current;
    },
    ticket: () => pauses,
    /** Starts or extends the pause. Returns `none` if another attempt of the same period has already done so. */
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
