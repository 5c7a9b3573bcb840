import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time.ts";

const FIRST_DELAYS_MS = [1, 5, 15, 30, 60, 120].map((minutes) => minutes * MINUTE_MS);
const LATER_DELAY_MS = 4 * HOUR_MS;
const GIVE_UP_AFTER_MS = 5 * DAY_MS;
/** Spreads the retries of messages that failed together. */
const JITTER = 0.1;

/**
 * When to try again after `attempts` failed attempts, including the last one; `null` if the next attempt would be more
 * than five days after the first.
 *
 * The five days are the sum of the scheduled delays. Time without attempts (the server was off, the queue was paused)
 * does not count, and a message that the operator retries gets five new days.
 *
 * @param random returns a number from 0 up to 1
 * @param atLeastMs the delay that the receiver asked for
 */
export function nextAttemptAt(attempts: number, now: Date, random: () => number, atLeastMs = 0): Date | null {
  const delaysMs = Array.from({ length: attempts }, (_, index) => FIRST_DELAYS_MS[index] ?? LATER_DELAY_MS);
  const sinceFirstMs = delaysMs.reduce((sum, delayMs) => sum + delayMs, 0);
  if (sinceFirstMs > GIVE_UP_AFTER_MS) return null;
  const delayMs = delaysMs.at(-1) ?? 0;
  return new Date(now.getTime() + Math.max(atLeastMs, delayMs * (1 - JITTER + 2 * JITTER * random())));
}
