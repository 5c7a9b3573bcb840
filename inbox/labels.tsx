import { isKnownCountry } from "../contract/contact-message.ts";
import { countryName as nameOf } from "../contract/country-name.ts";
import { plural as pluralOf } from "../contract/plural.ts";
import { HIDDEN_CHARACTER, visible } from "../contract/visible-text.ts";

const NUMBER = new Intl.NumberFormat("en-GB");
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const SHORT_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const UTC_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

export const formatNumber = (value: number) => NUMBER.format(value);
/** All dates but those in UTC are of the operator's own time zone. */
export const formatTime = (date: Date) => TIME.format(date);
/** When a message is erased: `on 16 Nov`. What is past its end waits for the server that erases it. */
export const erasedWhen = (expiresAt: Date, now: Date) =>
  expiresAt > now ? `on ${SHORT_DATE.format(expiresAt)}` : "any day now";
/** As short as it can be read: `06:04` today, else `14 Nov, 06:04`. */
export const formatSince = (date: Date, now: Date) =>
  date.toDateString() === now.toDateString() ? CLOCK.format(date) : `${SHORT_DATE.format(date)}, ${CLOCK.format(date)}`;
/** Of a day that is counted in UTC, `YYYY-MM-DD`. */
export const formatUtcDay = (day: string) => UTC_DAY.format(new Date(day));

/** `1 message`, `2,000 messages`, `3 countries`. */
export const plural = (count: number, noun: string) => pluralOf(count, noun, formatNumber);

export const countryName = (code: string) => (code === "" ? "No country" : visible(nameOf(code)));

/** By name, as the options of a select. */
export function countryOptions(codes: readonly string[]): { value: string; label: string }[] {
  const options = codes.map((value) => ({ value, label: countryName(value) }));
  return options.toSorted((one, other) => one.label.localeCompare(other.label));
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
export const ALL_COUNTRIES = LETTERS.flatMap((one) => LETTERS.map((other) => one + other)).filter(isKnownCountry);

/** How long ago, as short as it can be read: `now`, `12 min`, `3 h`, `5 d`, then the date. */
export function ageOf(date: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return (date.getFullYear() === now.getFullYear() ? SHORT_DATE : DATE).format(date);
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

/** For a sentence: `12 minutes`, `3 hours`, `5 days`. Rounded down. */
export function formatDuration(ms: number): string {
  const [noun, unitMs] = UNITS.find(([, unitMs]) => ms >= unitMs) ?? [];
  return noun ? plural(Math.floor(ms / unitMs), noun) : "less than a second";
}

export function formatBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${(bytes / 1000 ** power).toLocaleString("en-GB", { maximumFractionDigits: power > 1 ? 1 : 0 })} ${units[power]}`;
}

const HIDDEN_OR_NOT = new RegExp(`(${HIDDEN_CHARACTER.source})`, "u");

interface VisitorTextProps {
  text: string;
  /** Line ends are kept; else they are shown like other hidden characters. */
  isMultiline?: boolean;
}

/**
 * What a visitor wrote, as text alone. Hidden characters are shown and marked, and letters that run from right to left
 * do not turn what stands around them.
 */
export function VisitorText({ text, isMultiline = false }: VisitorTextProps) {
  const parts = text.split(HIDDEN_OR_NOT);
  return (
    <bdi dir="auto">
      {parts.map((part, index) => {
        if (index % 2 === 0 || (isMultiline && part === "\n")) return part;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <mark key={index} title="A hidden character of the text">
            {visible(part)}
          </mark>
        );
      })}
    </bdi>
  );
}

/** An age, with the exact time on demand. */
export function Moment({ at, now }: { at: Date; now: Date }) {
  return (
    <time dateTime={at.toISOString()} title={formatTime(at)}>
      {ageOf(at, now)}
    </time>
  );
}
