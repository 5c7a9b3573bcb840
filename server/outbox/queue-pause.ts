import type { Clock } from "../time.ts";

const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 15 * 60_000;

/**
 * The pause of a queue whose receiver takes nothing. After each pause deliveries are tried one at a time as probes.
 * Each attempt takes a ticket when it starts: only attempts started since the last pause may extend or end it, so that
 * attempts that fail together count once.
 */
export function createQueuePause(clock: Clock) {
  let pauses = 0;
  let pauseMs = 0;
  let endsAtMs = 0;
  let lastReason: string | null = null;
  const remainingMs = () => {
    const nowMs = clock.now().getTime();
    // More than the whole pause is left: the clock was set back, so the pause starts over.
    if (endsAtMs - nowMs > pauseMs) endsAtMs = nowMs + pauseMs;
    return Math.max(0, endsAtMs - nowMs);
  };
  return {
    /** `open`: send freely. `waiting`: send nothing. `probing`: send one at a time. */
    get state(): "open" | "waiting" | "probing" {
      if (pauseMs === 0) return "open";
      return remainingMs() > 0 ? "waiting" : "probing";
    },
    /** 0 unless waiting. */
    get remainingMs() {
      return remainingMs();
    },
    /** The latest reason of the refusal; `null` when open. */
    get reason() {
      return lastReason;
    },
    ticket: () => pauses,
    /** Starts or extends the pause, for the time given; `known` when another attempt of the same time has done so. */
    block(ticket: number, reason: string, forMs?: number): "started" | "extended" | "known" {
      if (ticket !== pauses) return "known";
      lastReason = reason;
      const isFirst = pauseMs === 0;
      pauses += 1;
      pauseMs = forMs ?? (isFirst ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
      endsAtMs = clock.now().getTime() + pauseMs;
      return isFirst ? "started" : "extended";
    },
    /** Returns whether this ended a pause. */
    unblock(ticket: number): boolean {
      if (pauseMs === 0 || ticket !== pauses) return false;
      pauseMs = 0;
      endsAtMs = 0;
      lastReason = null;
      return true;
    },
  };
}
