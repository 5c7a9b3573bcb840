import { type Store, StoreUnavailable } from "../store/store.ts";
import { type Clock, repeat } from "../time.ts";

const INTERVAL_MS = 60_000;

/**
 * Leaves a sign of life in the database at once and every minute until stopped, so that the operator's commands can tell
 * that the website runs. A stop is a sign too. A database that cannot be written is reported by the alerts.
 */
export function startHeartbeat(store: Pick<Store, "markRunning" | "markStopped">, clock: Clock) {
  const beat = () => store.markRunning(clock.now()).catch(ignoreUnavailable);
  const beating = repeat(beat, INTERVAL_MS, clock, true);
  return {
    async stop(): Promise<void> {
      await beating.stop();
      await store.markStopped(clock.now()).catch(ignoreUnavailable);
    },
  };
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
}
