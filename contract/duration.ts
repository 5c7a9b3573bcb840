const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WORDS = [
  { word: "day", unitMs: 86_400_000 },
  { word: "hour", unitMs: 3_600_000 },
  { word: "minute", unitMs: 60_000 },
] as const;

/** The milliseconds of a duration such as `30s`, `10m`, `12h` or `7d`; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  return count && unit ? Number(count) * (UNIT_MS[unit] ?? Number.NaN) : undefined;
}

const NUMBERS = ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/**
 * The milliseconds of a promise in words, such as `two working days`, `24 hours` or `a week`; `null` if it cannot be read.
 * Working days include a weekend for every five.
 */
export function parsePromiseMs(words: string): number | null {
  const [, number = "", working = "", unit = ""] =
    /^(\d{1,3}|[a-z]+) ((?:working|business) )?(hour|day|week)s?$/i.exec(words.trim()) ?? [];
  const spelled = NUMBERS.indexOf(number.toLowerCase());
  const count = Number(number) || Math.max(spelled, spelled === 0 ? 1 : 0);
  if (count === 0) return null;
  const hours = { hour: 1, day: 24, week: 168 }[unit.toLowerCase()] ?? 0;
  return (count * hours + (working === "" ? 0 : Math.ceil((count * hours) / 120) * 48)) * 3_600_000;
}

/** A duration in the largest unit that fits, rounded down: `45s`, `12m`, `3h`, `5d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/**
 * For a sentence: `1 minute`, `90 minutes`, `5 hours`, `30 days`. Never less than a minute. Rounds up, which suits a
 * waiting time; pass `Math.floor` for an age.
 */
export function durationInWords(ms: number, round = Math.ceil): string {
  const { word, unitMs } = WORDS.find(({ unitMs }) => ms >= 2 * unitMs) ?? WORDS[2];
  const count = Math.max(1, round(ms / unitMs));
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
