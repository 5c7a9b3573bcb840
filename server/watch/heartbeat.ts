import { createDefectLog, type Log } from "../log.ts";
import type { Pause, Status } from "../store/status.ts";
import { type Clock, repeat } from "../time.ts";

interface HeartbeatOptions {
  status: Pick<Status, "reportNode">;
  outbox: { readonly pauses: readonly Pause[] };
  log: Pick<Log, "error">;
  clock: Clock;
}

const INTERVAL_MS = 60_000;

/**
 * Tells other servers and the operator's commands that this server runs and which channels are paused: at once, every
 * minute, and when it stops. Logs only defects, because alerts report a database that cannot be written.
 */
export function startHeartbeat({ status, outbox, log, clock }: HeartbeatOptions) {
  const noteDefect = createDefectLog(log);
  const report = async (pauses: readonly Pause[] | null): Promise<void> => {
    await status.reportNode(pauses, clock.now()).catch(noteDefect);
  };
  /** Also call it when a pause starts or ends. */
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
