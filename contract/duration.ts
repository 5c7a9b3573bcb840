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

/** The milliseconds of words such as `14 days`, `2 weeks` or `1 month`; undefined for any other text. */
export function periodMs(words: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,3}) (day|week|month)s?$/.exec(words.trim()) ?? [];
  return unit === undefined ? undefined : Number(count) * { day: 1, week: 7, month: 30 }[unit as "day"] * 86_400_000;
}

export interface AnswerTime {
  amount: number;
  unit: "hours" | "working days";
}

/** The end of "We will answer within …". */
export function answerTimeInWords({ amount, unit }: AnswerTime): string {
  return `${amount} ${amount === 1 ? unit.slice(0, -1) : unit}`;
}

/** The longest time that it may take: every five working days have a weekend. */
export function answerTimeMs({ amount, unit }: AnswerTime): number {
  return unit === "hours" ? amount * 3_600_000 : (amount + 2 * Math.ceil(amount / 5)) * 86_400_000;
}

/** A duration in the largest unit that fits, rounded down: `45s`, `12m`, `3h`, `5d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `1 minute`, `90 minutes`, `5 hours`. Rounds up, which suits a waiting time; pass `Math.floor` for an age. */
export function durationInWords(ms: number, round = Math.ceil): string {
  const { word, unitMs } = WORDS.find(({ unitMs }) => ms >= 2 * unitMs) ?? WORDS[2];
  const count = Math.max(1, round(ms / unitMs));
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
