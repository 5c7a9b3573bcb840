import { createWriteStream, fstatSync, write } from "node:fs";
import { Socket } from "node:net";
import { hostname } from "node:os";
import { pid } from "node:process";
import type { Writable } from "node:stream";
import { withinMs } from "./time.ts";

/** The most bytes that wait in memory for a slow reader or disk. */
const MAX_WAITING_BYTES = 256 * 1024;
const RETRY_MS = 1000;
/** pino's numbers. */
const [WARN_LEVEL, ERROR_LEVEL] = [40, 50];

export type LogStream = ReturnType<typeof openLogStream>;

/** Writes lines to a file descriptor of this process, such as standard output: a file, a pipe or a terminal. */
export function openLogStream(fd: number, format = (line: string) => line) {
  const status = fstatSync(fd);
  const isPipe = status.isFIFO() || status.isSocket();
  let dropped = 0;
  /** Null after a failure, until the next attempt. */
  let stream: Writable | null = open();

  /**
   * Not `process.stdout`, which blocks the process while a pipe is full and never writes again after an error. Each
   * line goes to a file in a separate call: after a failed call with several lines, the number of written lines is
   * unknown.
   */
  function open(): Writable {
    const opened = isPipe
      ? new Socket({ fd, readable: false, writable: true })
      : createWriteStream("", { fd, autoClose: false, fs: { write } });
    opened.once("error", () => {
      stream = null;
      setTimeout(retry, RETRY_MS).unref();
    });
    opened.on("drain", reportDropped);
    return opened;
  }

  function retry(): void {
    stream = open();
    // Ends a line that the failure may have cut off.
    send("\n", 0);
    reportDropped();
  }

  function reportDropped(): void {
    if (dropped === 0) return;
    const count = dropped;
    dropped = 0;
    const line = { level: ERROR_LEVEL, time: Date.now(), pid, hostname: hostname(), event: "log-dropped", count };
    const msg = "Log lines were dropped, because they could not be written";
    send(format(`${JSON.stringify({ ...line, msg })}\n`), count);
  }

  /** `lines` is how many lines are lost if this cannot be written. */
  function send(text: string, lines: number): void {
    if (stream === null || stream.writableLength > MAX_WAITING_BYTES) {
      dropped += lines;
      return;
    }
    stream.write(text, (error) => {
      if (error) dropped += lines;
    });
  }

  return {
    /** Never waits and never throws. Lines that cannot be written are dropped; their count is written later. */
    write: (line: string) => send(format(line), 1),
    /**
     * Waits at most this long for unwritten lines. "stuck" means that a thread still waits for the disk or the
     * terminal, so `process.exit` would wait too.
     */
    async close(limitMs: number): Promise<"closed" | "stuck"> {
      const written = Promise.withResolvers<void>();
      if (stream === null) return "closed";
      stream.write("", () => written.resolve());
      return withinMs(limitMs, written.promise).then(
        () => "closed",
        () => (isPipe ? "closed" : "stuck"),
      );
    },
  };
}

/** `journalStream` is the variable that systemd sets. */
export function isJournal(fd: number, journalStream: string | undefined): boolean {
  const { dev, ino } = fstatSync(fd);
  return journalStream === `${dev}:${ino}`;
}

/** With its syslog priority, which the journal removes, so that `journalctl -p warning` finds it. */
export function journalLine(line: string): string {
  const level = Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0);
  return `<${level >= ERROR_LEVEL ? 3 : level >= WARN_LEVEL ? 4 : 6}>${line}`;
}

/** The time and text of an event, without Fastify's own events. */
export function terminalLine(line: string): string {
  if (!line.startsWith("{")) return line;
  const { time, level, msg, event, pid, hostname, reqId, ...details } = JSON.parse(line) as Record<string, unknown>;
  if (event === undefined && Number(level) < ERROR_LEVEL) return "";
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const values = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${[clock, ...(Number(level) >= ERROR_LEVEL ? ["Error:"] : []), msg, ...values].join(" ")}\n`;
}
