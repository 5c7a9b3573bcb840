import type { Retention } from "../config.ts";
import { errorName, type Log } from "../log.ts";
import { tidyEmls } from "../mail/eml.ts";
import type { ClockDoubt, Ending, Store } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { describeDoubt } from "../watch/clock.ts";

export interface PurgeOptions {
  store: Pick<
    Store,
    "judgeClock" | "purge" | "findEnding" | "markEndingReported" | "existingReferences" | "erasedReferences"
  >;
  retention: Retention;
  dataDir: string;
  log: Log;
  /** Called when somebody has to be told of the clock, or of messages that end. */
  onTrouble?(): void;
  clock?: Clock;
}

/** What the alerts tell of it. */
export interface Purge {
  /** Why nothing is erased at the moment; `null` when it is, or was not yet tried. */
  readonly clockDoubt: ClockDoubt | null;
  /** `null` when no message ends soon, or the clock is in doubt. */
  readonly ending: Ending | null;
  /** An alert has told of `ending`. */
  noteEndingReported(): Promise<void>;
  stop(): Promise<void>;
}

/** Time for a clock to be set after the machine has started. */
const FIRST_PURGE_MS = 10 * 60_000;
const INTERVAL_MS = 60 * 60_000;

/**
 * Erases messages past their retention every hour until stopped, but not in the first minutes, nor while the clock does not
 * fit the database. Tidies the .eml files as often, and at once: those of a message erased while no server was running are
 * removed at the next start.
 */
export function startPurge(options: PurgeOptions): Purge {
  const { store, retention, dataDir, log, onTrouble, clock = systemClock } = options;
  let clockDoubt: ClockDoubt | null = null;
  let ending: Ending | null = null;
  let isStopped = false;
  let cancelTimer = () => {};
  let run = Promise.resolve();

  async function purge(): Promise<void> {
    const now = clock.now();
    const wasInDoubt = clockDoubt !== null;
    clockDoubt = await store.judgeClock(now);
    ending = null;
    if (clockDoubt) {
      if (!wasInDoubt) log.warn({ event: "purge-held" }, describeDoubt(clockDoubt, now));
      onTrouble?.();
      return;
    }
    if (wasInDoubt) log.info({ event: "purge-resumed" }, "Messages past their retention are erased again");
    const { length: count } = await store.purge(retention, now);
    if (count > 0) log.info({ event: "purged", count }, "Erased messages past their retention");
    const found = await store.findEnding(retention, now);
    if (found.count === 0) return;
    ending = found;
    onTrouble?.();
  }

  async function tidy(): Promise<void> {
    const { removed, unknown, returned } = await tidyEmls(dataDir, store);
    if (removed > 0)
      log.info({ event: "stray-files-removed", count: removed }, "Removed .eml files of erased messages");
    if (unknown > 0) {
      log.warn(
        { event: "unknown-files", count: unknown },
        "Moved .eml files to outbox/unknown in DATA_DIR: the database does not know their messages. Is it the right one?",
      );
    }
    if (returned > 0) {
      log.info({ event: "files-returned", count: returned }, "Moved .eml files back from outbox/unknown in DATA_DIR");
    }
  }

  async function attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      log.warn(
        { event: "purge-failed", error: errorName(error) },
        "Some messages or .eml files past their retention were not erased; retrying in an hour",
      );
    }
  }

  function start(steps: readonly (() => Promise<void>)[], nextMs: number): void {
    run = (async () => {
      for (const step of steps) await attempt(step);
      if (!isStopped) cancelTimer = clock.setTimer(() => start([purge, tidy], INTERVAL_MS), nextMs);
    })();
  }

  start([tidy], FIRST_PURGE_MS);
  return {
    get clockDoubt() {
      return clockDoubt;
    },
    get ending() {
      return ending;
    },
    async noteEndingReported() {
      if (ending) await store.markEndingReported(retention, ending);
      ending = null;
    },
    async stop() {
      isStopped = true;
      cancelTimer();
      await run;
    },
  };
}
