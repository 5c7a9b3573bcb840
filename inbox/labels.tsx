import { isKnownCountry, countryName as nameOf } from "../contract/contact-message.ts";
import { formatDuration } from "../contract/duration.ts";
import { HIDDEN_CHARACTER, plural as pluralOf, visible } from "../contract/text.ts";

const NUMBER = new Intl.NumberFormat("en-GB");
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const SHORT_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

export const formatNumber = (value: number) => NUMBER.format(value);
/** Uses the operator's time zone, like every function here. */
export const formatTime = (date: Date) => TIME.format(date);
/** When a message will be erased: `on 16 Nov`. A message past its date waits until a server erases it. */
export const erasedWhen = (expiresAt: Date, now: Date) =>
  expiresAt > now ? `on ${SHORT_DATE.format(expiresAt)}` : "soon";
/** The time for today, `06:04`; otherwise also the date, `14 Nov, 06:04`. */
export const formatSince = (date: Date, now: Date) =>
  date.toDateString() === now.toDateString() ? CLOCK.format(date) : `${SHORT_DATE.format(date)}, ${CLOCK.format(date)}`;

/** `1 message`, `2,000 messages`, `3 countries`. */
export const plural = (count: number, noun: string) => pluralOf(count, noun, formatNumber);

export const countryName = (code: string) => (code === "" ? "No country" : visible(nameOf(code)));

/** The options of a select, sorted by name. */
export function countryOptions(codes: readonly string[]): { value: string; label: string }[] {
  const options = codes.map((value) => ({ value, label: countryName(value) }));
  return options.toSorted((one, other) => one.label.localeCompare(other.label));
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
export const ALL_COUNTRIES = LETTERS.flatMap((one) => LETTERS.map((other) => one + other)).filter(isKnownCountry);

const WEEK_MS = 7 * 86_400_000;

/** A short age: `now`, `12m`, `3h`, `5d`, or the date after a week. */
export function formatAge(date: Date, now: Date): string {
  const ms = now.getTime() - date.getTime();
  if (ms < WEEK_MS) return ms < 60_000 ? "now" : formatDuration(ms);
  return (date.getFullYear() === now.getFullYear() ? SHORT_DATE : DATE).format(date);
}

const HIDDEN_OR_NOT = new RegExp(`(${HIDDEN_CHARACTER.source})`, "u");

/**
 * Shows a visitor's text without markup. Makes hidden characters visible and marks them, also line ends unless
 * `isMultiline`. Right-to-left text does not change the direction of the text around it.
 */
export function VisitorText({ text, isMultiline = false }: { text: string; isMultiline?: boolean }) {
  const parts = text.split(HIDDEN_OR_NOT);
  return (
    <bdi dir="auto">
      {parts.map((part, index) => {
        if (index % 2 === 0 || (isMultiline && part === "\n")) return part;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <mark key={index} title="A hidden character in the text">
            {visible(part)}
          </mark>
        );
      })}
    </bdi>
  );
}

/** An age, with the exact time as its tooltip. */
export function Moment({ at, now }: { at: Date; now: Date }) {
  return (
    <time dateTime={at.toISOString()} title={formatTime(at)}>
      {formatAge(at, now)}
    </time>
  );
}
