import type { Clock } from "../../server/time.ts";

export function createFakeClock() {
  let nowMs = Date.parse("2026-01-05T10:00:00Z");
  const timers = new Set<{ atMs: number; callback: () => void }>();
  let timerSet = Promise.withResolvers<void>();

  const clock = {
    /** The number of workers that set timers; one by default. */
    countWorkers: () => 1,
    now: () => new Date(nowMs),
    elapsedMs: () => nowMs,
    setTimer(callback: () => void, delayMs: number) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      timerSet.resolve();
      timerSet = Promise.withResolvers();
      return () => timers.delete(timer);
    },
    /**
     * Lets time pass for waiting workers: fires their timers in order, each after all workers have set their next timer.
     */
    async advanceTo(time: Date): Promise<void> {
      for (;;) {
        while (timers.size < Math.max(1, clock.countWorkers())) await timerSet.promise;
        const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
        if (next === undefined || next.atMs > time.getTime()) break;
        nowMs = Math.max(nowMs, next.atMs);
        timers.delete(next);
        next.callback();
      }
      nowMs = time.getTime();
    },
    advance: (byMs: number) => clock.advanceTo(new Date(nowMs + byMs)),
    /** Sets the date forward or back, like an administrator. No time passes, so timers are not affected. */
    set(byMs: number) {
      nowMs += byMs;
      for (const timer of timers) timer.atMs += byMs;
    },
    /** The remaining time of each timer. */
    waiting: () => [...timers].map(({ atMs }) => atMs - nowMs),
  } satisfies Clock & Record<string, unknown>;
  return clock;
}
