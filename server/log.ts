import { fstatSync } from "node:fs";
import { destination } from "pino";
import { errorCode, errorName, isSystemError, OperatorError } from "./errors.ts";

/** Never a name, an address or text from a message. A mail server's answer may contain these: only its code is logged. */
export interface LogEvent {
  event: string;
  reference?: string;
  attempts?: number;
  dueAt?: Date;
  error?: string;
  count?: number;
  channel?: string;
  troubles?: readonly string[];
  err?: Error;
}

export type Log = Record<"info" | "warn" | "error", (event: LogEvent, text: string) => void>;

/** Whether an error is a defect of this program: neither what an operator can fix nor a refusal of the operating system. */
function isDefect(error: unknown): boolean {
  return !(error instanceof OperatorError || isSystemError(error));
}

/** Logs each defect once, with its stack, and returns whether the error was one. */
export function createDefectLog(log: Pick<Log, "error">): (error: unknown) => boolean {
  const known = new Set<string>();
  return (error) => {
    if (!isDefect(error)) return false;
    const err = error instanceof Error ? error : new Error("something else was thrown");
    // By places in our own files: Node's frames, and names of receivers, depend on how a request arrived.
    const { stack } = plainError(err);
    const frames = stack.split("\n").filter((frame) => !frame.includes("node:"));
    const key = frames.map((frame) => frame.split(" ").at(-1)).join() || stack;
    if (!known.has(key)) log.error({ event: "failure", error: errorName(error), err }, "A defect of this program");
    known.add(key);
    return true;
  };
}

/** Without the message and properties, which may quote visitor data (a database row, a malformed request). */
export function plainError(error: Error): { type: string; message: string; stack: string } {
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return { type: error.name, message: errorCode(error) ?? "left out", stack: frames.join("\n") };
}

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
