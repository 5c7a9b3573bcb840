import type { Clock } from "../../server/time.ts";

export interface FakeClock extends Clock {
  /**
   * Lets time pass for waiting workers: fires their timers in order, each after all workers have set their next timer.
   */
  advance(byMs: number): Promise<void>;
  advanceTo(time: Date): Promise<void>;
  /** Sets the date forward or back, like an administrator. No time passes, so timers are not affected. */
  set(byMs: number): void;
  /** The number of workers that set timers; one by default. */
  countWorkers: () => number;
  /** The remaining time of each timer. */
  waiting(): number[];
}

export function createFakeClock(start = "2026-01-05T10:00:00.000Z"): FakeClock {
  let nowMs = Date.parse(start);
  const timers = new Set<{ atMs: number; callback: () => void }>();
  let timerSet = Promise.withResolvers<void>();

  async function advanceToMs(targetMs: number): Promise<void> {
    for (;;) {
      while (timers.size < Math.max(1, clock.countWorkers())) await timerSet.promise;
      const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > targetMs) break;
      nowMs = Math.max(nowMs, next.atMs);
      timers.delete(next);
      next.callback();
    }
    nowMs = targetMs;
  }

  const clock: FakeClock = {
    countWorkers: () => 1,
    now: () => new Date(nowMs),
    setTimer(callback, delayMs) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      timerSet.resolve();
      timerSet = Promise.withResolvers();
      return () => timers.delete(timer);
    },
    advance: (byMs) => advanceToMs(nowMs + byMs),
    advanceTo: (time) => advanceToMs(time.getTime()),
    set(byMs) {
      nowMs += byMs;
      for (const timer of timers) timer.atMs += byMs;
    },
    waiting: () => [...timers].map(({ atMs }) => atMs - nowMs),
  };
  return clock;
}
