import { countryName as nameOf } from "../contract/contact-message.ts";
import { describeWait, EXPIRY_NOTICE_MS, type Wait } from "../contract/desk.ts";
import { formatDuration } from "../contract/duration.ts";
import { asSentence, plural as pluralOf, visible } from "../contract/text.ts";
import type { MessageView } from "./api.ts";

// What the page says about times, states and texts. Times are in the operator's time zone.

const NUMBER = new Intl.NumberFormat("en-GB");
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const SHORT_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const SECONDS = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export const formatNumber = (value: number) => NUMBER.format(value);
export const formatTime = (date: Date) => TIME.format(date);
/** The time for today, `06:04`; otherwise also the date, `14 Nov, 06:04`. */
export const formatSince = (date: Date, now: Date, clock = CLOCK) =>
  date.toDateString() === now.toDateString() ? clock.format(date) : `${SHORT_DATE.format(date)}, ${clock.format(date)}`;

export const plural = (count: number, noun: string) => pluralOf(count, noun, formatNumber);

export const countryName = (code: string) => (code === "" ? "No country" : visible(nameOf(code)));

const WEEK_MS = 7 * 86_400_000;

/** A short age: `now`, `12m`, `3h`, `5d`, or the date after a week. */
export function formatAge(date: Date, now: Date): string {
  const ms = now.getTime() - date.getTime();
  if (ms < WEEK_MS) return ms < 60_000 ? "now" : formatDuration(ms);
  return (date.getFullYear() === now.getFullYear() ? SHORT_DATE : DATE).format(date);
}

/** A time that has passed is not shown as coming. */
export function waitText(wait: Wait, now: Date): string {
  const isOver = wait.until !== null && wait.until <= now;
  return asSentence(describeWait(isOver ? { ...wait, kind: "sending" } : wait, (at) => formatSince(at, now, SECONDS)));
}

export const STATE = {
  queued: ["Waiting", "gray"],
  delivered: ["Delivered", "green"],
  failed: ["Failed", "red"],
  quarantined: ["Quarantined", "yellow"],
} as const;
const HELD_AS: Readonly<Partial<Record<NonNullable<MessageView["quarantineReason"]>, string>>> = {
  "looks-like-spam": "Looks like spam",
  "marked-as-spam": "Marked as spam",
};
const NO_WAIT: Wait = { kind: "sending", until: null, reason: null };
type Mark = readonly [text: string, color: "gray" | "green" | "red" | "yellow"];
type Marked = Pick<
  MessageView,
  "hasNote" | "state" | "quarantineReason" | "waits" | "deliveryMarks" | "expiresAt" | "answeredAt" | "isRestricted"
>;

export function marksOf(message: Marked, now: Date): Mark[] {
  const { state, quarantineReason, expiresAt, answeredAt } = message;
  const until = ({ until }: Wait = NO_WAIT) => (until && until > now ? ` until ${formatSince(until, now)}` : "");
  const held = state === "quarantined" && quarantineReason && HELD_AS[quarantineReason];
  const [text, color] = held ? ([held, "yellow"] as const) : STATE[state];
  const isExpiring = expiresAt && answeredAt === null && expiresAt.getTime() - now.getTime() < EXPIRY_NOTICE_MS;
  const marks: (Mark | false | null)[] = [
    message.hasNote && ["Note", "gray"],
    state !== "delivered" && [`${text}${until(message.waits.mail)}`, color],
    ...message.deliveryMarks.map(
      ({ channel, text, isFailed }): Mark => [`${text}${until(message.waits[channel])}`, isFailed ? "red" : "gray"],
    ),
    // A message past its date waits until a server erases it.
    isExpiring && [`Erasure ${expiresAt > now ? `on ${SHORT_DATE.format(expiresAt)}` : "soon"}`, "yellow"],
    answeredAt && ["Answered", "green"],
    message.isRestricted && ["Restricted", "gray"],
  ];
  return marks.filter((mark) => !!mark);
}

/** The `{facts}` in a text that an operator wrote: nothing fills them in. */
export const unfilledFacts = (text: string) => [...new Set(text.match(/\{\w+\}/g))];
