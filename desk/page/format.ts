import { countryName as nameOf } from "../../contract/contact-message.ts";
import { formatDuration } from "../../contract/duration.ts";
import { plural as pluralOf, visible } from "../../contract/text.ts";
import { type Wait, waitText } from "../words.ts";

// How the page writes numbers and times. Times are in the operator's time zone.

const NUMBER = new Intl.NumberFormat("en-GB");
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const SHORT_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const SECONDS = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export const formatNumber = (value: number) => NUMBER.format(value);
export const formatTime = (date: Date) => TIME.format(date);
export const formatDay = (date: Date) => SHORT_DATE.format(date);
/** The time for today, `06:04`; otherwise also the date, `14 Nov, 06:04`. */
export const formatSince = (date: Date, now: Date, clock = CLOCK) =>
  date.toDateString() === now.toDateString() ? clock.format(date) : `${formatDay(date)}, ${clock.format(date)}`;
export const formatWait = (wait: Wait, now: Date, subject?: string) =>
  waitText(wait, now, (at) => formatSince(at, now, SECONDS), subject);

export const plural = (count: number, noun: string) => pluralOf(count, noun, formatNumber);

export const countryName = (code: string) => (code === "" ? "No country" : visible(nameOf(code)));

const WEEK_MS = 7 * 86_400_000;

/** A short age: `now`, `12m`, `3h`, `5d`, or the date after a week. */
export function formatAge(date: Date, now: Date): string {
  const ms = now.getTime() - date.getTime();
  if (ms < WEEK_MS) return ms < 60_000 ? "now" : formatDuration(ms);
  return (date.getFullYear() === now.getFullYear() ? SHORT_DATE : DATE).format(date);
}
