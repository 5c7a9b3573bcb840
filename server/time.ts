export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Time as an argument, so that a test can simulate five days in a second. */
export interface Clock {
  /** This machine's own clock, which may be wrong: whatever is stored has the store's time. */
  now(): Date;
  /** Since any moment, and whatever happens to the clock. */
  elapsedMs(): number;
  setTimer(callback: () => void, delayMs: number): () => void;
}

export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * Runs `work`, which must never reject, `intervalMs` after it last ended, or sooner on request: also while it runs, for
 * the next time. `stop` resolves once none is in progress.
 */
export function repeat(work: () => Promise<void>, intervalMs: number, { setTimer }: Clock, isDueNow = false) {
  let isStopped = false;
  let cancelTimer = () => {};
  let running: Promise<void> | null = null;
  let waitMs = isDueNow ? 0 : intervalMs;
  const plan = () => {
    cancelTimer();
    if (isStopped || running) return;
    if (waitMs === 0) run();
    else cancelTimer = setTimer(run, waitMs);
  };
  const run = () => {
    waitMs = intervalMs;
    running = work().then(() => {
      running = null;
      plan();
    });
  };
  plan();
  return {
    soon(delayMs = 0): void {
      if (delayMs >= waitMs) return;
      waitMs = delayMs;
      plan();
    },
    async stop(): Promise<void> {
      isStopped = true;
      cancelTimer();
      await running;
    },
  };
}

/** Rejects after the time limit. The work itself continues. */
export async function withinMs<T>(
  limitMs: number,
  work: Promise<T>,
  onTimeout: (limitMs: number) => Error,
  { setTimer } = systemClock,
): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const cancelTimer = setTimer(() => limit.reject(onTimeout(limitMs)), limitMs);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    cancelTimer();
  }
}
