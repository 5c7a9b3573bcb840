import { OperatorError } from "./operator-error.ts";

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

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

export function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && errorCode(error) !== undefined;
}

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

/** The error's name or code, without data: database messages may quote a row. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return [error.name, errorCode(error)].filter(Boolean).join(" ");
}

/** Without the message and properties, which may quote visitor data (a database row, a malformed request). */
export function plainError(error: Error): { type: string; message: string; stack: string } {
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return { type: error.name, message: errorCode(error) ?? "left out", stack: frames.join("\n") };
}
