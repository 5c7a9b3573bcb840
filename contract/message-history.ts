import type { EventKind, QuarantineReason, SkipReason } from "./inbox.ts";
import { asSentence } from "./visible-text.ts";

// What the inbox and the command line say of a message's history.

export const QUARANTINE_REASON: Readonly<Record<QuarantineReason, string>> = {
  trap: "A field that no visitor sees was filled in, so a program probably sent it.",
  "network-limit": "Many messages came from the same network in a short time.",
  "hourly-limit": "More messages came in within an hour than HOURLY_LIMIT allows.",
};

const SKIP_REASON: Readonly<Record<SkipReason, string>> = {
  restricted: "The message is restricted.",
  "too-late": "The message was more than a day old by then.",
  "own-address": "The address is one of the site's own.",
  "not-a-person":
    "No person reads mail at this address, it is on no public mail server, or it is not written as people write theirs.",
  "address-limit": "The address had one less than a day before.",
  "hourly-limit": "Too many acknowledgements went out within the hour.",
};

export const EVENT_NAME: Readonly<Record<EventKind, string>> = {
  accepted: "Received",
  quarantined: "Received, and quarantined",
  delivered: "Delivered to the mail server",
  deferred: "Could not be delivered; tried again later",
  failed: "Failed for good",
  paused: "Not sent: the mail server takes no mail at all",
  retried: "Queued again by an operator",
  released: "Released by an operator",
  resent: "Sent once more by an operator",
  viewed: "Looked at by an operator",
  answered: "Marked as answered",
  unanswered: "Marked as not answered",
  corrected: "Corrected by an operator",
  restricted: "Restricted: kept, but not used",
  unrestricted: "Restriction lifted",
  acknowledged: "Acknowledgement sent",
  "acknowledgement-deferred": "Acknowledgement not sent yet; tried again later",
  "acknowledgement-failed": "Acknowledgement failed for good",
  "acknowledgement-skipped": "No acknowledgement sent",
  "acknowledgement-retried": "Acknowledgement queued again by an operator",
  "hook-sent": "Posted to the web hook",
  "hook-deferred": "Could not be posted to the web hook; tried again later",
  "hook-failed": "Post to the web hook failed for good",
  "hook-retried": "Post to the web hook queued again by an operator",
  noted: "Note",
};

/** Kinds whose detail is a code. */
const REASONS: Readonly<Partial<Record<EventKind, Readonly<Record<string, string>>>>> = {
  quarantined: QUARANTINE_REASON,
  "acknowledgement-skipped": SKIP_REASON,
};

/** The detail of an event as a sentence; a note as it was written. */
export function eventDetail(kind: EventKind, detail: string): string {
  if (kind === "noted") return detail;
  return REASONS[kind]?.[detail] ?? asSentence(detail);
}
