// What can happen to a message, each with its words for operators.

export const QUARANTINE_REASON = {
  trap: "A hidden field was filled in, so a program probably sent the message.",
  "network-limit": "Many messages came from the same network in a short time.",
  "hourly-limit": "More messages came in within an hour than HOURLY_LIMIT allows.",
  links: "It has a web address in the name or phone number, or at least three in the text.",
  "looks-like-spam": "Looks like spam.",
  "marked-as-spam": "Marked as spam.",
} as const;
export type QuarantineReason = keyof typeof QUARANTINE_REASON;

export const SKIP_REASON = {
  "too-late": "The message was more than a day old.",
  "own-address": "The address is one of the site's own.",
  "not-a-person": "The address is not a person's, has no public mail server, or has an unusual form.",
  "address-limit": "The address got an acknowledgement less than a day before.",
  "hourly-limit": "Too many acknowledgements were sent within the hour.",
} as const;
export type SkipReason = keyof typeof SKIP_REASON;

/**
 * `delivered` to `copy-failed` are of one delivery, with its channel. The detail of `deferred`, `failed`, `paused` and
 * `copy-failed` is the error; of `quarantined` and `marked-as-spam`, the (earlier) QuarantineReason; of `skipped`, the
 * SkipReason; of `noted`, `replied` and of mails, the text.
 */
export const EVENT_NAME = {
  accepted: "Received",
  quarantined: "Received, and quarantined",
  delivered: "Delivered",
  deferred: "Could not be delivered; will be retried",
  failed: "Failed for good",
  paused: "Not sent: nothing can be sent at the moment",
  skipped: "Not sent",
  retried: "Queued again",
  released: "Released",
  "copy-failed": "The copy for the team was not sent",
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
  received: "Answer",
  "mailbox-reply": "Reply from the mailbox",
  "came-back": "A mail came back",
  automatic: "Automatic answer",
  "unread-mail": "A mail could not be read; it is in the mailbox",
  "mails-full": "More mails came; these are in the mailbox only",
} as const;
export type EventKind = keyof typeof EVENT_NAME;
