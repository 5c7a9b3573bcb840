const SECOND_PRESS_MS = 1000;

type Signals = Pick<NodeJS.Process, "on" | "kill" | "pid">;

/** One press of Ctrl-C may arrive twice, because npm forwards it. A later signal ends the process at once. */
export function onStopSignal(process: Signals, stop: () => void, nowMs = () => performance.now()): void {
  let firstAtMs: number | null = null;
  const receive = () => {
    if (firstAtMs === null) {
      firstAtMs = nowMs();
      stop();
    } else if (nowMs() - firstAtMs >= SECOND_PRESS_MS) {
      endNow(process);
    }
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, receive);
}

/** Unlike `process.exit`, this does not wait for the database's thread, which may be stuck in a call to the disk. */
export function endNow(process: Signals): void {
  process.kill(process.pid, "SIGKILL");
}
