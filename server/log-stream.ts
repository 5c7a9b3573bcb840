import { fstatSync } from "node:fs";
import { destination } from "pino";

const MAX_WAITING_BYTES = 256 * 1024;
const RETRY_MS = 1000;
const [WARN_LEVEL, ERROR_LEVEL] = [40, 50];

/** `write` never waits and never throws. Lines that nothing takes are dropped; their count is written later. */
export function openLogStream(fd: number, format = (line: string) => line) {
  // Only with a minimum does `flush` write.
  const stream = destination({ fd, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES });
  let dropped = 0;
  stream.on("drop", () => {
    dropped += 1;
  });
  stream.on("error", () => void setTimeout(() => stream.flush(), RETRY_MS).unref());
  stream.on("drain", () => {
    if (dropped === 0) return;
    const line = { level: ERROR_LEVEL, time: Date.now(), event: "log-dropped", count: dropped };
    dropped = 0;
    stream.write(format(`${JSON.stringify({ ...line, msg: "Log lines were dropped, because nothing took them" })}\n`));
  });
  return {
    write: (line: string) => void stream.write(format(line)),
    /** Calls back once all lines are written. It never does while the reader or the disk takes none. */
    flush(done: () => void): void {
      stream.once("drain", done);
      stream.flush();
    },
  };
}

/** `journalStream`: the variable JOURNAL_STREAM of systemd. */
export function isJournal(fd: number, journalStream: string | undefined): boolean {
  const { dev, ino } = fstatSync(fd);
  return journalStream === `${dev}:${ino}`;
}

/** With its syslog priority, which the journal removes, so that `journalctl -p warning` finds it. */
export function journalLine(line: string): string {
  const level = Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0);
  return `<${level >= ERROR_LEVEL ? 3 : level >= WARN_LEVEL ? 4 : 6}>${line}`;
}

export function terminalLine(line: string): string {
  if (!line.startsWith("{")) return line;
  const { time, level, msg, event, pid, hostname, reqId, ...details } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const values = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${[clock, ...(Number(level) >= ERROR_LEVEL ? ["Error:"] : []), msg, ...values].join(" ")}\n`;
}
