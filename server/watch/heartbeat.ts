import { type Store, StoreUnavailable } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";

const INTERVAL_MS = 60_000;

/**
 * Leaves a sign of life in the database, now and then once a minute until stopped, so that the operator's commands can
 * tell that the website runs. A stop is a sign too. A database that cannot be written is reported by the alerts.
 */
export function startHeartbeat(
  store: Pick<Store, "markRunning" | "markStopped">,
  clock: Clock = systemClock,
): { stop(): Promise<void> } {
  let cancelTimer = () => {};
  let isStopped = false;
  let beating = Promise.resolve();

  async function beat(): Promise<void> {
    await store.markRunning(clock.now()).catch(ignoreUnavailable);
    if (!isStopped) cancelTimer = clock.setTimer(start, INTERVAL_MS);
  }

  function start(): void {
    beating = beat();
  }

  start();
  return {
    async stop() {
      isStopped = true;
      cancelTimer();
      await beating;
      await store.markStopped(clock.now()).catch(ignoreUnavailable);
    },
  };
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
}
