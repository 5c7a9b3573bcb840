import type { Retention } from "../config.ts";
import { errorName, type Log } from "../log.ts";
import { tidyEmls } from "../mail/eml.ts";
import type { Store } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";

export interface PurgeOptions {
  store: Pick<Store, "purge" | "existingReferences" | "erasedReferences">;
  retention: Retention;
  dataDir: string;
  log: Log;
  clock?: Clock;
}

const INTERVAL_MS = 60 * 60_000;

/**
 * Erases messages past their retention, and .eml files of erased messages, now and then every hour until stopped. The
 * files of a message erased while no server was running are removed at the next start.
 */
export function startPurge(options: PurgeOptions): { stop(): Promise<void> } {
  const { store, retention, dataDir, log, clock = systemClock } = options;
  let isStopped = false;
  let cancelTimer = () => {};
  let run = Promise.resolve();

  async function purge(): Promise<void> {
    await attempt(async () => {
      const { length: count } = await store.purge(retention, clock.now());
      if (count > 0) log.info({ event: "purged", count }, "Erased messages past their retention");
    });
    await attempt(async () => {
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
    });
    if (!isStopped) cancelTimer = clock.setTimer(start, INTERVAL_MS);
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

  function start(): void {
    run = purge();
  }

  start();
  return {
    async stop() {
      isStopped = true;
      cancelTimer();
      await run;
    },
  };
}
