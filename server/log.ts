/**
 * One line of the log: what happened and to which reference, never a name, an address or a word of a message. A mail
 * server's own words may hold addresses, so only its code gets here.
 */
export interface LogEvent {
  event: string;
  reference?: string;
  attempts?: number;
  dueAt?: Date;
  error?: string;
  count?: number;
  /** Of a delivery. */
  channel?: string;
  troubles?: readonly string[];
}

/** The part of pino that is used outside requests. */
export interface Log {
  info(event: LogEvent, text: string): void;
  warn(event: LogEvent, text: string): void;
  error(event: LogEvent, text: string): void;
}

/** The operator can fix it: the message says how, one line for each problem. Any other error is a defect. */
export class OperatorError extends Error {
  override readonly name: string = "OperatorError";
}

/** The error's name or code, without data: database messages may quote a row. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}

/**
 * The loggable parts of an error: its kind and where it was thrown. Its message and properties are left out, because they
 * may quote what a visitor sent (a row of the database, a body that is no JSON, a request that is no HTTP).
 */
export function plainError(error: Error): { type: string; message: string; stack: string } {
  const { code } = error as NodeJS.ErrnoException;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return { type: error.name, message: typeof code === "string" ? code : "left out", stack: frames.join("\n") };
}
