import type { Retention } from "../config.ts";
import { errorName, type Log } from "../log.ts";
import { removeEmls } from "../mail/eml-files.ts";
import type { Store } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";

export interface PurgeOptions {
  store: Pick<Store, "purge">;
  retention: Retention;
  dataDir: string;
  log: Log;
  clock?: Clock;
}

const INTERVAL_MS = 60 * 60_000;

/** Erases what is past its retention, at once and then every hour, in the store and as files, until stopped. */
export function startPurge(options: PurgeOptions): { stop(): Promise<void> } {
  const { store, retention, dataDir, log, clock = systemClock } = options;
  /** Erased from the store; their files may still be there. */
  const unremoved = new Set<string>();
  let isStopped = false;
  let cancelTimer = () => {};
  let run = Promise.resolve();

  async function purge(): Promise<void> {
    await tryTo(async () => {
      const references = await store.purge(retention, clock.now());
      for (const reference of references) unremoved.add(reference);
      const count = references.length;
      if (count > 0) log.info({ event: "purged", count }, "Erased what is past its retention");
    });
    for (const reference of unremoved) {
      await tryTo(async () => {
        await removeEmls(dataDir, [reference]);
        unremoved.delete(reference);
      });
    }
    if (!isStopped) cancelTimer = clock.setTimer(start, INTERVAL_MS);
  }

  async function tryTo(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      log.warn(
        { event: "purge-failed", error: errorName(error) },
        "Something past its retention was not erased; trying again in an hour",
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
