import type { Clock } from "../time.ts";

const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 15 * 60_000;

/** Which state of the pause an attempt was started in. */
export type PauseTicket = number;

/**
 * The pause of a queue whose mail server refuses everything. After each pause mails are tried one at a time as probes;
 * only what was started since the last pause may lengthen or end it, so that attempts failing together count once.
 */
export interface QueuePause {
  /** `open`: send freely. `waiting`: send nothing. `probing`: send a single mail. */
  readonly state: "open" | "waiting" | "probing";
  /** How long to wait still; 0 unless waiting. */
  readonly remainingMs: number;
  /** Why mails were refused when the pause began or was lengthened; `null` when open. */
  readonly reason: string | null;
  ticket(): PauseTicket;
  /** Says whether this began a pause, lengthened one, or was known already. */
  block(ticket: PauseTicket, reason: string): "begun" | "lengthened" | "known";
  /** True if this ended a pause. */
  unblock(ticket: PauseTicket): boolean;
}

export function createQueuePause(clock: Clock): QueuePause {
  let pauses = 0;
  let pauseMs = 0;
  let endsAtMs = 0;
  let lastReason: string | null = null;
  const remainingMs = () => {
    const nowMs = clock.now().getTime();
    // More than the whole pause is left: the clock was set back, so it begins anew.
    if (endsAtMs - nowMs > pauseMs) endsAtMs = nowMs + pauseMs;
    return Math.max(0, endsAtMs - nowMs);
  };
  return {
    get state() {
      if (pauseMs === 0) return "open";
      return remainingMs() > 0 ? "waiting" : "probing";
    },
    get remainingMs() {
      return remainingMs();
    },
    get reason() {
      return lastReason;
    },
    ticket: () => pauses,
    block(ticket, reason) {
      if (ticket !== pauses) return "known";
      lastReason = reason;
      const isFirst = pauseMs === 0;
      pauses += 1;
      pauseMs = isFirst ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      endsAtMs = clock.now().getTime() + pauseMs;
      return isFirst ? "begun" : "lengthened";
    },
    unblock(ticket) {
      if (pauseMs === 0 || ticket !== pauses) return false;
      pauseMs = 0;
      endsAtMs = 0;
      lastReason = null;
      return true;
    },
  };
}
