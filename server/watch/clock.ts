import { hostname } from "node:os";
import { durationInWords } from "../../contract/duration.ts";
import { errorName, type Log } from "../log.ts";
import type { ClockDoubt, Store } from "../store/store.ts";
import { type Clock, repeat, systemClock } from "../time.ts";

interface SharedClockOptions {
  store: Pick<Store, "databaseTime">;
  log: Log;
  machineClock?: Clock;
  /** A clock of this machine that goes on evenly, in milliseconds, whatever the date is set to. */
  stopwatch?(): number;
}

const MINUTE_MS = 60_000;
const SYNC_INTERVAL_MS = MINUTE_MS / 2;
/** Beyond this, somebody should set the machine's clock. */
export const CLOCK_TOLERANCE_MS = MINUTE_MS;

/**
 * The database's clock, for servers that share one: whatever one of them writes, the others compare with the same clock.
 * Asked every half minute; between, and while the database is away, time goes on by the machine's stopwatch.
 */
export async function openSharedClock(options: SharedClockOptions) {
  const { store, log, machineClock = systemClock, stopwatch = () => performance.now() } = options;
  let [sharedMs, readAtMs] = [0, 0];
  let machineAheadMs = 0;

  async function read(): Promise<void> {
    const askedAtMs = stopwatch();
    const time = await store.databaseTime(machineClock.now());
    const [answeredAtMs, machineMs] = [stopwatch(), machineClock.now().getTime()];
    sharedMs = time.getTime() + (answeredAtMs - askedAtMs) / 2;
    readAtMs = answeredAtMs;
    const aheadMs = machineMs - sharedMs;
    const wasOff = machineAheadMs !== 0;
    machineAheadMs = Math.abs(aheadMs) > CLOCK_TOLERANCE_MS ? aheadMs : 0;
    if (machineAheadMs !== 0 && !wasOff) {
      log.warn(
        { event: "clock-off", aheadSeconds: Math.round(aheadMs / 1000) },
        `${describeMachineClock(aheadMs)}; set it`,
      );
    } else if (machineAheadMs === 0 && wasOff) {
      log.info({ event: "clock-right" }, "This machine's clock agrees with the database's again");
    }
  }

  /** An outbox that cannot reach the database says so itself. */
  function logFailure(error: unknown): void {
    log.info({ event: "clock-not-read", error: errorName(error) }, "The database did not tell its time");
  }

  await read();
  const { stop } = repeat(() => read().catch(logFailure), SYNC_INTERVAL_MS, machineClock);
  return {
    now: () => new Date(sharedMs + stopwatch() - readAtMs),
    setTimer: machineClock.setTimer,
    /** How far this machine's own clock is ahead, negative when it is behind; 0 while that is less than a minute. */
    get machineAheadMs(): number {
      return machineAheadMs;
    },
    stop,
  };
}

/** A sentence without its full stop. */
export function describeMachineClock(aheadMs: number): string {
  const direction = aheadMs > 0 ? "ahead of" : "behind";
  const offMs = Math.round(Math.abs(aheadMs) / MINUTE_MS) * MINUTE_MS;
  return `The clock of ${hostname()} is ${durationInWords(offMs)} ${direction} the database's`;
}

/** The same for a clock that does not fit what is in the database. */
export function describeDoubt({ newestChangeAt, trustedFrom }: ClockDoubt, now: Date): string {
  return (
    `Nothing is erased: the clock says ${now.toISOString()}, and the newest change in the database is of ` +
    `${newestChangeAt.toISOString()}. If the clock is wrong, set it. If it is right, do nothing: messages past their ` +
    `RETENTION are erased from ${trustedFrom.toISOString()} on`
  );
}
