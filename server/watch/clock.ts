import type { Status } from "../store/status.ts";
import { type Clock, repeat, systemClock } from "../time.ts";

interface SharedClockOptions {
  status: Pick<Status, "time">;
  machineClock?: Clock;
  /** A monotonic clock of this machine, in milliseconds. */
  stopwatch?(): number;
}

const SYNC_INTERVAL_MS = 30_000;

/**
 * The database's clock, so that all servers of one database use the same time. It is read every half minute. In
 * between, and while the database is away, this machine's stopwatch continues it.
 */
export async function openSharedClock(options: SharedClockOptions): Promise<Clock & { stop(): Promise<void> }> {
  const { status, machineClock = systemClock, stopwatch = () => performance.now() } = options;
  let aheadOfStopwatchMs = 0;
  async function read(): Promise<void> {
    const askedAtMs = stopwatch();
    const time = await status.time();
    aheadOfStopwatchMs = time.getTime() - (askedAtMs + stopwatch()) / 2;
  }
  await read();
  // The outbox logs that the database is away.
  const { stop } = repeat(() => read().catch(() => {}), SYNC_INTERVAL_MS, machineClock);
  return { now: () => new Date(stopwatch() + aheadOfStopwatchMs), setTimer: machineClock.setTimer, stop };
}
