import { isKnownCountry } from "../contract/contact-message.ts";
import { countryName as nameOf } from "../contract/country-name.ts";
import type { Action, InboxState, MessageItem, Tab } from "../contract/inbox.ts";
import { plural as pluralOf } from "../contract/plural.ts";
import { HIDDEN_CHARACTER, visible } from "../contract/visible-text.ts";

export const TAB_NAME: Readonly<Record<Tab, string>> = {
  all: "All",
  unanswered: "Unanswered",
  waiting: "Waiting",
  failed: "Failed",
  quarantined: "Quarantined",
};

export const STATE_NAME: Readonly<Record<InboxState, string>> = {
  queued: "Waiting",
  delivered: "Delivered",
  failed: "Failed",
  quarantined: "Quarantined",
};

interface ActionLabels {
  label: string;
  /** What it is called while it runs. */
  running: string;
  /** What happened to `3 messages`. */
  done: string;
}

export const ACTION_LABELS: Readonly<Record<Action, ActionLabels>> = {
  retry: { label: "Retry", running: "Retrying", done: "queued again" },
  resend: { label: "Resend", running: "Resending", done: "queued to be sent once more" },
  release: { label: "Release", running: "Releasing", done: "released and queued" },
  delete: { label: "Delete", running: "Deleting", done: "deleted" },
  answer: { label: "Mark answered", running: "Marking as answered", done: "marked as answered" },
  unanswer: { label: "Mark unanswered", running: "Marking as unanswered", done: "marked as unanswered" },
};

/** Whether the message allows it; the store decides again itself. */
export function isAllowed(action: Action, { refusals }: MessageItem): boolean {
  return refusals[action] === undefined;
}

const NUMBER = new Intl.NumberFormat("en-GB");
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const SHORT_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const UTC_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

export const formatNumber = (value: number) => NUMBER.format(value);
/** Of the operator's own time zone: `16 Nov`. */
const formatDay = (moment: string) => SHORT_DATE.format(new Date(moment));
export const formatTime = (moment: string) => TIME.format(new Date(moment));
/** When a message is erased: `on 16 Nov`. What is past its end waits for the server that erases it. */
export const erasedWhen = (keptUntil: string, now: Date) =>
  new Date(keptUntil) > now ? `on ${formatDay(keptUntil)}` : "any day now";
/** As short as it can be read: `06:04` today, else `14 Nov, 06:04`. */
export function formatSince(moment: string, now: Date): string {
  const date = new Date(moment);
  const clock = CLOCK.format(date);
  return date.toDateString() === now.toDateString() ? clock : `${SHORT_DATE.format(date)}, ${clock}`;
}
/** Of a day that is counted in UTC, `YYYY-MM-DD`. */
export const formatUtcDay = (day: string) => UTC_DAY.format(new Date(day));

/** `1 message`, `2,000 messages`, `3 countries`. */
export const plural = (count: number, noun: string) => pluralOf(count, noun, formatNumber);

export function countryName(code: string): string {
  return code === "" ? "No country" : visible(nameOf(code));
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const byName = ([, one]: readonly [string, string], [, other]: readonly [string, string]) => one.localeCompare(other);

export function namedCountries(codes: readonly string[]): (readonly [code: string, name: string])[] {
  return codes.map((code) => [code, countryName(code)] as const).toSorted(byName);
}

export function allCountries(): (readonly [code: string, name: string])[] {
  return namedCountries(LETTERS.flatMap((one) => LETTERS.map((other) => one + other)).filter(isKnownCountry));
}

/** How long ago, as short as it can be read: `now`, `12 min`, `3 h`, `5 d`, then the date. */
export function ageOf(moment: string, now: Date): string {
  const date = new Date(moment);
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return (date.getFullYear() === now.getFullYear() ? SHORT_DATE : DATE).format(date);
}

/** For a sentence: `12 minutes`, `3 hours`, `5 days`. Rounded down. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return "less than a second";
  const units = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const;
  const [noun, unitMs] = units.find(([, unitMs]) => ms >= unitMs) ?? units[3];
  return plural(Math.floor(ms / unitMs), noun);
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
          <span key={index} className="hidden-character" title="A hidden character of the text">
            {visible(part)}
          </span>
        );
      })}
    </bdi>
  );
}

interface MomentProps {
  at: string;
  now: Date;
}

/** An age, with the exact time on demand. */
export function Moment({ at, now }: MomentProps) {
  return (
    <time dateTime={at} title={formatTime(at)}>
      {ageOf(at, now)}
    </time>
  );
}
