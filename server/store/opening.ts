import { type Clock, repeat, systemClock } from "../time.ts";
import { inTime, isAway, type StoreUnavailable } from "./errors.ts";

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

/** Opens the store, and tries again while it is away, so that the website can run without it. */
export function createOpening<Opened>(
  open: () => Promise<Opened>,
  onAway: (error: StoreUnavailable, retryMs: number) => void,
  clock: Clock = systemClock,
) {
  const result = Promise.withResolvers<Opened>();
  let attempts: { stop(): Promise<void> } | null = null;
  let failure: StoreUnavailable | null = null;
  let store: Opened | null = null;
  let soonOpened = result.promise;

  return {
    /** Resolves once the store is open. Rejects if it must not be used. */
    start(): Promise<Opened> {
      soonOpened = inTime(result.promise);
      soonOpened.catch(() => {});
      let retryMs = FIRST_RETRY_MS;
      const repeated = repeat(
        async () => {
          try {
            store = await open();
            result.resolve(store);
          } catch (error) {
            if (!isAway(error)) return result.reject(error);
            failure = error;
            onAway(error, retryMs);
            repeated.soon(retryMs);
            retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
          }
        },
        LONGEST_RETRY_MS,
        clock,
        true,
      );
      attempts = repeated;
      const end = () => void repeated.stop();
      result.promise.then(end, end);
      return result.promise;
    },
    /** The open store. Rejects while it is away, but waits in the first seconds: an ordinary start refuses nobody. */
    openedStore: (): Promise<Opened> =>
      soonOpened.catch((error) => {
        if (store) return store;
        throw failure ?? error;
      }),
    /** Ends the attempts, and returns the store if it is open. */
    async stop(): Promise<Opened | null> {
      await attempts?.stop();
      return store;
    },
  };
}
