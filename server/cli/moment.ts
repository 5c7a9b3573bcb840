import { parseDurationMs } from "../../contract/duration.ts";
import { UsageError } from "./command.ts";

/** A day such as 2025-01-31 (UTC), a full time, or an age such as 7d, 12h or 30m. */
export function parseMoment(text: string, now: Date): Date {
  const ageMs = parseDurationMs(text);
  if (ageMs !== undefined) return new Date(now.getTime() - ageMs);
  const moment = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? new Date(text) : null;
  // `new Date` takes the 31st of February for a day in March.
  if (!moment || Number.isNaN(moment.getTime()) || (text.length === 10 && !moment.toISOString().startsWith(text))) {
    throw new UsageError(`"${text}" is neither a day nor an age; e.g. --since 2025-01-31 or --since 7d`);
  }
  return moment;
}
