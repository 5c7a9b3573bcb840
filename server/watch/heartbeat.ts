import type { Pause, Store } from "../store/store.ts";
import { type Clock, repeat } from "../time.ts";

interface HeartbeatOptions {
  store: Pick<Store, "reportNode">;
  outbox: { readonly pauses: readonly Pause[] };
  clock: Clock;
}

const INTERVAL_MS = 60_000;

/**
 * Reports at once and every minute until stopped that this server runs, and what it cannot send, so that other servers
 * and the operator's commands know. A stop is reported too. Alerts tell of a database that cannot be written.
 */
export function startHeartbeat({ store, outbox, clock }: HeartbeatOptions) {
  const report = (pauses: readonly Pause[] | null) => store.reportNode(pauses, clock.now()).catch(() => {});
  /** Call it also when a pause begins or ends. */
  const beat = () => report(outbox.pauses);
  const beating = repeat(beat, INTERVAL_MS, clock, true);
  return {
    beat,
    async stop(): Promise<void> {
      await beating.stop();
      await report(null);
    },
  };
}
