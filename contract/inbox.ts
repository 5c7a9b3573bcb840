/**
 * The ways in which something leaves because of a message: the mail to the team, the mail that tells the sender of its
 * arrival, the post to HOOK_URL, and an operator's reply.
 */
export const CHANNELS = ["mail", "acknowledgement", "hook", "reply"] as const;
export type Channel = (typeof CHANNELS)[number];

/**
 * `queued`: to be sent, now or at its next attempt. `delivered`: the receiver took it. `failed`: refused for good or out of
 * attempts, kept for the operator. `quarantined`: the message is suspected abuse, and nothing of it is sent unless it is
 * released. `skipped`: a rule forbids it.
 */
export type DeliveryState = "queued" | "delivered" | "failed" | "quarantined" | "skipped";

/** Of a message: that of its mail. A person needs to act on `failed` and `quarantined`. */
export type InboxState = Exclude<DeliveryState, "skipped">;

/**
 * `trap`: the trap field was filled. `network-limit`: many messages came from the same network. `hourly-limit`: more
 * messages came in an hour, from everybody together, than HOURLY_LIMIT allows.
 */
export type QuarantineReason = "trap" | "network-limit" | "hourly-limit";

/**
 * Why a sender gets no acknowledgement. `too-late`: the message is more than a day old. `own-address`: an address of the site itself. `not-a-person`: an address that no person reads, such as
 * `no-reply@`, that is on no public mail server, or that is not written as people write theirs. `address-limit`: the address
 * had one within a day. `hourly-limit`: too many went out to everybody together.
 */
export type SkipReason = "too-late" | "own-address" | "not-a-person" | "address-limit" | "hourly-limit";

/**
 * `unanswered`: neither marked as answered nor in quarantine. `waiting`: queued. `failed`: its mail, its post to HOOK_URL or
 * a reply. The last three are without messages that their sender asked to restrict: nothing can be done about these.
 */
export const TABS = ["all", "unanswered", "answered", "waiting", "failed", "quarantined"] as const;
export type Tab = (typeof TABS)[number];
export type TabCounts = Readonly<Record<Tab, number>>;

/** `footprint`: the largest total of an estimate first, then messages without one. */
export const SORTS = ["newest", "oldest", "footprint"] as const;
export type ListSort = (typeof SORTS)[number];

/** Where a message is in the list that the query asks for. */
export interface MessagePlace {
  /** Counted from 1; `null` when the list does not have it, such as an answered one in `unanswered`. */
  position: number | null;
  total: number;
  /** References of its neighbours in the list, or of what would be next to it. */
  previous: string | null;
  next: string | null;
}

/**
 * `accepted`: it came in, and was queued. `quarantined`: it came in, and was quarantined (`detail` is a QuarantineReason).
 * Of a delivery, with its channel: `delivered`; `deferred`: an attempt failed, and another follows; `failed`: the last
 * attempt failed; `paused`: the receiver took nothing at all, so that this attempt did not count (the `detail` of these
 * three is the error); `skipped` (`detail` is a SkipReason); `retried`, `released` and `resent`: an operator queued it
 * again. `viewed`: an operator opened it while it was in quarantine. `noted`: an operator wrote a note, the `detail`.
 */
export type EventKind =
  | "accepted"
  | "quarantined"
  | "delivered"
  | "deferred"
  | "failed"
  | "paused"
  | "skipped"
  | "retried"
  | "released"
  | "resent"
  | "viewed"
  | "answered"
  | "unanswered"
  | "corrected"
  | "restricted"
  | "unrestricted"
  | "noted"
  | "replied";

/**
 * `retry`: send it now, and what else of it failed: its acknowledgement, its post to HOOK_URL. `resend`: send it once
 * more. `release`: out of quarantine, to be sent. `answer` and `unanswer`: mark, and undo it. A message's `refusals` say
 * which of them it does not allow.
 */
export const ACTIONS = ["retry", "resend", "release", "delete", "answer", "unanswer"] as const;
export type Action = (typeof ACTIONS)[number];

/**
 * Something that is wrong. Of a channel: `overdue`: a delivery has waited for an hour; `paused`: nothing can be sent;
 * `failed`: deliveries failed for good. `quarantined`: messages are held back. `expiring`: messages are erased soon.
 * `store-away`: no message can be stored; `store-lost`: nor will be, until a restart. `website-down`: no server runs.
 * `clock`: this machine's is wrong. `backup-overdue`: none has succeeded for two days. `disk-low`: little space is left.
 */
export const TROUBLE_KINDS = [
  "overdue",
  "paused",
  "failed",
  "quarantined",
  "expiring",
  "store-away",
  "store-lost",
  "website-down",
  "clock",
  "backup-overdue",
  "disk-low",
] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

/** So long before its end a message is announced; with a shorter period, half of it. */
export const EXPIRY_NOTICE_DAYS = 7;

/** `critical`: messages do not arrive, or may be lost. `warning`: somebody has to look. `info`: nobody has to act. */
export type Severity = "critical" | "warning" | "info";

export interface Trouble<Time = string> {
  kind: TroubleKind;
  channel: Channel | null;
  severity: Severity;
  /** How many messages; 1 where it is not about messages. */
  count: number;
  since: Time | null;
  /** What is wrong, as a sentence without its full stop. */
  what: string;
  /** What to do, as a sentence without its full stop. */
  remedy: string;
}

export interface Overview {
  /** Where DATA_DIR lies; `null` when the system does not say. */
  disk: { freeBytes: number; totalBytes: number } | null;
}
