import { asSentence, visible } from "../contract/visible-text.ts";
import { type Channel, type EventKind, type QuarantineReason, rulesOf, type SkipReason } from "./store/store.ts";

// The texts of a message's history in the inbox and on the command line.

export const QUARANTINE_REASON: Readonly<Record<QuarantineReason, string>> = {
  trap: "A hidden field was filled in, so a program probably sent the message.",
  "network-limit": "Many messages came from the same network in a short time.",
  "hourly-limit": "More messages came in within an hour than HOURLY_LIMIT allows.",
  "looks-like-spam": "Looks like spam.",
  "marked-as-spam": "Marked as spam.",
};

const SKIP_REASON: Readonly<Record<SkipReason, string>> = {
  "too-late": "The message was more than a day old.",
  "own-address": "The address is one of the site's own.",
  "not-a-person": "The address is not a person's, has no public mail server, or has an unusual form.",
  "address-limit": "The address got an acknowledgement less than a day before.",
  "hourly-limit": "Too many acknowledgements were sent within the hour.",
};

const EVENT_NAME: Readonly<Record<EventKind, string>> = {
  accepted: "Received",
  quarantined: "Received, and quarantined",
  delivered: "Delivered",
  deferred: "Could not be delivered; will be retried",
  failed: "Failed for good",
  paused: "Not sent: nothing can be sent at the moment",
  skipped: "Not sent",
  retried: "Queued again",
  released: "Released",
  resent: "Resent",
  "marked-as-spam": "Marked as spam",
  viewed: "Opened",
  answered: "Marked as answered",
  unanswered: "Marked as unanswered",
  undone: "Undone",
  corrected: "Corrected",
  restricted: "Restricted: kept, but not used",
  unrestricted: "Restriction lifted",
  noted: "Note",
  replied: "Reply",
};

/** With the channel, unless it is the mail, and the operator who caused it, if known: `Web hook: queued again by anna`. */
export function eventName({ kind, channel, author = null }: NamedEvent): string {
  const event = EVENT_NAME[kind];
  const isOfMessage = channel === null || channel === "mail";
  const name = isOfMessage ? event : `${rulesOf(channel).name}: ${event.charAt(0).toLowerCase()}${event.slice(1)}`;
  return author === null ? name : `${name} by ${visible(author)}`;
}

interface NamedEvent {
  kind: EventKind;
  channel: Channel | null;
  author?: string | null;
}

/** Kinds whose detail is a code. */
const REASONS: Readonly<Partial<Record<EventKind, Readonly<Record<string, string>>>>> = {
  quarantined: QUARANTINE_REASON,
  skipped: SKIP_REASON,
};

/** The detail of an event as a sentence, if it has any; a note or a reply as it was written. */
export function eventDetail(kind: EventKind, detail: string): string | null {
  if (kind === "marked-as-spam") return null;
  if (kind === "noted" || kind === "replied") return detail;
  return REASONS[kind]?.[detail] ?? asSentence(detail);
}
