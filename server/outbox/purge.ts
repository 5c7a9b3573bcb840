import { errorName } from "../errors.ts";
import { createDefectLog, type Log } from "../log.ts";
import { removeEmls } from "../mail/eml.ts";
import type { Store } from "../store/store.ts";
import { type Clock, HOUR_MS, repeat, systemClock } from "../time.ts";

interface PurgeOptions {
  store: {
    retention: Pick<Store["retention"], "purge">;
    people: Pick<Store["people"], "finishErasure">;
    queue: Pick<Store["queue"], "repairTimes">;
  };
  dataDir: string;
  log: Log;
  clock?: Clock;
}

/** Every hour: also corrects times that lie too far ahead, and finishes an erasure that an operator could not finish. */
export function startPurge(options: PurgeOptions): { stop(): Promise<void> } {
  const { store, dataDir, log, clock = systemClock } = options;
  let erased: string[] = [];
  const noteDefect = createDefectLog(log);

  async function purge(): Promise<void> {
    try {
      const testTime = options.clock?.now() ?? null;
      await store.queue.repairTimes(testTime);
      const references = await store.retention.purge(testTime);
      erased = erased.concat(references);
      if (references.length > 0) {
        log.info({ event: "purged", count: references.length }, "Erased messages past their retention");
      }
      await removeEmls(dataDir, erased);
      erased = [];
      if (await store.people.finishErasure())
        log.info({ event: "erasure-finished" }, "Removed the traces of erased messages");
    } catch (error) {
      noteDefect(error);
      log.warn(
        { event: "purge-failed", error: errorName(error) },
        "Some messages, their .eml files or traces of erased messages were not removed; retrying in an hour",
      );
    }
  }

  return repeat(purge, HOUR_MS, clock, true);
}
