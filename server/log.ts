/**
 * One line of the log: an event and its reference, never a name, an address or text from a message. A mail server's
 * answer may contain addresses, so only its code is logged.
 */
export interface LogEvent {
  event: string;
  reference?: string;
  attempts?: number;
  dueAt?: Date;
  error?: string;
  count?: number;
  /** The delivery's channel. */
  channel?: string;
  troubles?: readonly string[];
}

/** The part of pino that is used outside requests. */
export interface Log {
  info(event: LogEvent, text: string): void;
  warn(event: LogEvent, text: string): void;
  error(event: LogEvent, text: string): void;
}

/** The code of a system error, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** The error's name or code, without data: database messages may quote a row. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return [error.name, errorCode(error)].filter(Boolean).join(" ");
}

/**
 * The loggable parts of an error: its kind and where it was thrown. Leaves out its message and properties, because they
 * may quote visitor data (a database row, a malformed body or request).
 */
export function plainError(error: Error): { type: string; message: string; stack: string } {
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return { type: error.name, message: errorCode(error) ?? "left out", stack: frames.join("\n") };
}
