import { UsageError } from "./command.ts";

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A day such as 2025-01-31 (UTC), a full time, or an age such as 7d, 12h or 30m. */
export function parseMoment(text: string, now: Date): Date {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count && unit) return new Date(now.getTime() - Number(count) * (UNIT_MS[unit] ?? 0));
  const moment = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? new Date(text) : null;
  // `new Date` takes the 31st of February for a day in March.
  if (!moment || Number.isNaN(moment.getTime()) || (text.length === 10 && !moment.toISOString().startsWith(text))) {
    throw new UsageError(`"${text}" is neither a day nor an age; e.g. --since 2025-01-31 or --since 7d`);
  }
  return moment;
}

/** The largest unit that fits: 45s, 12m, 3h, 5d. */
export function ageOf(moment: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - moment.getTime()) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
