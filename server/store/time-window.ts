/** The times strictly between two moments. */
export interface Window {
  afterMs: number;
  beforeMs: number;
}

/**
 * Looks ahead as far as back: another node's clock may be a little ahead, so what it accepted counts, but what a clock
 * that was a day wrong has left behind does not.
 */
export function windowAround(nowMs: number, spanMs: number): Window {
  return { afterMs: nowMs - spanMs, beforeMs: nowMs + spanMs };
}

/** How long until a message of this time leaves the window behind now; never longer than the window. */
export function msUntilItLeaves(atMs: number, windowMs: number, nowMs: number): number {
  return Math.min(atMs + windowMs - nowMs, windowMs);
}
