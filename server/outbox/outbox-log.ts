/**
 * One line of the log: what happened and to which reference, never a name, an address or a word of a message. A mail
 * server's own words may hold addresses, so only its code gets here.
 */
export interface OutboxEvent {
  event: string;
  reference?: string;
  attempts?: number;
  dueAt?: Date;
  error?: string;
  count?: number;
  troubles?: readonly string[];
}

/** What pino and its like offer. */
export interface OutboxLog {
  info(event: OutboxEvent, text: string): void;
  warn(event: OutboxEvent, text: string): void;
  error(event: OutboxEvent, text: string): void;
}

/** An error as a word that holds no data: database messages may quote a row. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}
