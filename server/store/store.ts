import type { ContactMessage } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint.ts";
import type {
  Action,
  InboxState,
  ListSort,
  MessageEvent,
  MessagePlace,
  QuarantineReason,
  SkipReason,
} from "../../contract/inbox.ts";
import type { Limit, Retention } from "../config.ts";

/**
 * `queued`: to be mailed, now or at its next attempt. `delivered`: the mail server took it. `failed`: refused for good
 * or out of attempts, kept for the operator. `quarantined`: suspected abuse, never mailed unless released.
 */
export type MessageState = InboxState;

/** What a request hands over. */
export interface Submission {
  message: ContactMessage;
  /** Most visitors send none. */
  footprint?: FootprintEstimate | null;
  /** The client's own key for this message, if it sent one. Another client's same key is another key. */
  idempotencyKey: string | null;
  /** The client, and the networks that it belongs to, from the narrowest to the widest. */
  networks: readonly Network[];
  /** The trap field was filled: store, but do not mail. */
  isTrapped: boolean;
}

/** A group of addresses that shares limits. */
export interface Network {
  /** A keyed hash of it. */
  hash: string;
  /** How many times the messages of a single client it may send. */
  allowance: number;
}

/**
 * `stored` and `repeated` carry the reference of a message that is on disk. `repeated`: the same key and body, or the
 * same text and estimate within ten minutes. `key-reused`: the same client sent the key before with another body.
 * `limited`: nothing was stored.
 */
export type Acceptance =
  | { kind: "stored"; reference: string; state: "queued" | "quarantined" }
  | { kind: "repeated"; reference: string }
  | { kind: "key-reused" }
  | { kind: "limited"; retryAfterMs: number };

export interface StoredMessage extends ContactMessage {
  /** The number of its row. */
  id: number;
  footprint: FootprintEstimate | null;
  reference: string;
  state: MessageState;
  acceptedAt: Date;
  /** When it reached its present state. */
  stateChangedAt: Date;
  /** When the next attempt is due; only while queued. */
  dueAt: Date | null;
  attempts: number;
  lastError: string | null;
  /** The visitor asked that it be kept but not used: it is neither mailed nor purged. */
  isRestricted: boolean;
  /** When the operator marked it as answered. */
  answeredAt: Date | null;
  /** When an alert told of its end, or an operator first opened it in quarantine; counts if it was since `stateChangedAt`. */
  notifiedAt: Date | null;
  /** Why it was quarantined; kept after its release. */
  quarantineReason: QuarantineReason | null;
  /** `null` unless ACKNOWLEDGE was on when it was delivered. */
  acknowledgement: Delivery | null;
  /** `null` unless HOOK_URL was set when it was accepted. Waits while the message is in quarantine or restricted. */
  hook: Delivery | null;
  /** Differs after every change of the message; its other deliveries do not count. */
  version: string;
}

/**
 * What leaves the system because of a message: the mail to the team, the mail that tells the sender of its arrival, and
 * the post to HOOK_URL.
 */
export type DeliveryKind = "mail" | "acknowledgement" | "hook";

/**
 * Of a delivery other than the team's mail. `queued`: an attempt follows. `sending`: the same for an acknowledgement that
 * was counted towards the limits. `skipped`: by a rule. `failed`: refused, or out of time. The last three are final.
 */
export type DeliveryState = "queued" | "sending" | "sent" | "skipped" | "failed";

export interface Delivery {
  state: DeliveryState;
  /** When it reached its present state. */
  changedAt: Date;
  /** Why it was skipped (a SkipReason), or the error of the last attempt. */
  reason: string | null;
}

export interface AcknowledgementRules {
  /** The site's own addresses, which are never written to. */
  ownAddresses: readonly string[];
  /** To everybody together. */
  perHour: number;
}

/** Acknowledgements that are not sent. */
export interface Refusals {
  skipped: { reference: string; reason: SkipReason }[];
  /** References of those that were given up, because nobody knows whether they were sent. */
  failed: string[];
}

/** What happened to a message after it was accepted. */
export interface StoredEvent extends Omit<MessageEvent, "at"> {
  at: Date;
}

/** What an operator has noted on a message. */
export interface Note {
  at: Date;
  author: string | null;
  text: string;
}

/** Everybody who wrote with an address, in any case of its letters. */
export interface Correspondent {
  /** As in the newest message. */
  name: string;
  email: string;
  lastAt: Date;
  messages: number;
}

/** A delivery leased to one worker. */
export interface Claim {
  kind: DeliveryKind;
  message: StoredMessage;
  /** The present one included. */
  attempts: number;
  /** When it was queued, or queued again by an operator. */
  queuedAt: Date;
  token: string;
}

/** What a tab of the inbox asks for. */
export type TabCondition = Pick<MessageFilter, "state" | "unanswered">;

export interface MessageFilter {
  references?: readonly string[];
  state?: MessageState;
  email?: string;
  /** Accepted at or after. */
  since?: Date;
  /** Accepted before. */
  until?: Date;
  /** A two-letter code; empty for messages without a country. */
  country?: string;
  /** Only those that are neither marked as answered nor in quarantine. */
  unanswered?: boolean;
  /** Part of the name, address, phone number, reference or text, in any case. */
  search?: string;
  /** Only messages after this one in the list, to go on from it. */
  after?: Pick<StoredMessage, "acceptedAt" | "id">;
  limit?: number;
}

/** How many messages are in each state, and how many of them are marked as answered. */
export type StateCounts = Readonly<Record<MessageState, { count: number; answered: number }>>;

/** From acceptance to delivery. */
export interface DeliveryTimeCounts {
  count: number;
  medianMs: number | null;
  slowestMs: number | null;
  /** As many as there are bounds, and one more: how many took at most that long, and longer than the bound before. */
  buckets: readonly number[];
}

export interface QueueTrouble {
  /** The mail server took no mail at all at the last attempt; `null` when it did, or nothing waits. */
  pause: { reason: string; since: Date; lastAt: Date } | null;
  /** When the message that should have been tried the longest ago was due; `null` when none is, or one is being sent. */
  dueSince: Date | null;
}

/** Messages per day (UTC, `YYYY-MM-DD`) and per country code (empty when not given). */
export interface MessageCount {
  day: string;
  country: string;
  count: number;
}

/** What waits to be sent, and what failed for good. */
export interface KindDepth {
  queued: number;
  /** When the oldest of them was accepted, or queued again. */
  oldestQueuedAt: Date | null;
  failed: number;
  lastFailedAt: Date | null;
  /** Those whose failure no alert has reported yet. */
  newlyFailed: number;
}

/** Of the mail to the team, of the hook, and of the quarantine, without what a visitor asked not to be used. */
export interface QueueDepth extends KindDepth {
  hook: KindDepth;
  quarantined: number;
  /** Those that no alert has reported yet. */
  newlyQuarantined: number;
  /** The row number of the newest of them. */
  lastQuarantinedId: number | null;
}

/** What alerts are about, each with a last time of its own. */
export type AlertTopic = "delivery" | "quarantine" | "ending" | "clock" | "backup";

/** Messages that end soon, or would have ended, and that no alert has told of. */
export interface Ending {
  foundAt: Date;
  count: number;
  /** Those of them that reached nobody: they are kept until a week after the alert. */
  undelivered: number;
  /** Those of them that are past their end, and not erased because they are too many at once. */
  held: number;
  /** The highest row number among them. */
  lastId: number;
}

/** The clock does not fit the database, so nothing must be erased by it. */
export interface ClockDoubt {
  /** The newest time in the database that counts. */
  newestChangeAt: Date;
  /** If the clock goes on like this until then, it is taken to be right. */
  trustedFrom: Date;
}

/** Messages by name, or all that were accepted since a time. With versions, those that have another by now are left out. */
export type Selection = { references: readonly string[]; versions?: readonly string[] | undefined } | { since: Date };

export interface AcceptanceRules {
  /** The letters every reference starts with. */
  referencePrefix: string;
  rateLimits: readonly Limit[];
  hourlyLimit: number | null;
  /** Every message is posted to HOOK_URL as well. */
  postsHook?: boolean;
}

/** What the outbox does with deliveries of every kind, and what alerts need to know of them. */
export interface Queue {
  /**
   * Leases up to `limit` due deliveries of a kind to this worker, oldest due first, each with the present attempt counted.
   * Leases go by the database's clock, so that no node takes another's because their clocks differ.
   */
  claim(limit: number, leaseMs: number, now: Date, kind?: DeliveryKind): Promise<Claim[]>;
  /**
   * Records a success, even if another worker has the lease by now: what was sent must not be sent again. False when that
   * was recorded before, the message is gone, or an operator has queued it again since. A message that is delivered once
   * more gets no second acknowledgement.
   */
  markDelivered(claim: Claim, now: Date, queuesAcknowledgement?: boolean): Promise<boolean>;
  /** These three return false, and change nothing, when the lease went to somebody else or the message is gone. */
  reschedule(claim: Claim, dueAt: Date, error: string, now: Date): Promise<boolean>;
  markFailed(claim: Claim, error: string, now: Date): Promise<boolean>;
  /** Returns the lease without counting the attempt. The error is why nothing could be sent at all; `null`: not tried. */
  unclaim(claim: Claim, dueAt: Date, error: string | null, now: Date): Promise<boolean>;
  /** Until the next delivery of the kind becomes due or its lease ends, 0 or less if one is due; `null` when none waits. */
  dueInMs(now: Date, kind?: DeliveryKind): Promise<number | null>;
  /**
   * Makes all deliveries of the kind that wait for a later attempt due within a minute, spread over it, and returns their
   * references. The attempt then does not count, unless it waits for more than five days. For the outboxes of all nodes at
   * most once a minute: `null` when it was done within the last.
   */
  makeWaitingDue(kind: DeliveryKind, now: Date, by: "outbox" | "operator"): Promise<string[] | null>;
  /** The time of the database if servers share it, else the time given. */
  databaseTime(now: Date): Promise<Date>;
  queueDepth(): Promise<QueueDepth>;
  /** Of the messages accepted since then. */
  countDeliveries(kind: Exclude<DeliveryKind, "mail">, since: Date): Promise<Readonly<Record<DeliveryState, number>>>;
  /**
   * Makes what a server that died had leased due at once. Only for a database with one server: with several, the leases
   * may be another's, and nothing happens.
   */
  clearLeases(): Promise<void>;
  /** Row numbers of those whose failure no alert has reported yet. */
  unreportedFailures(kind: "mail" | "hook"): Promise<number[]>;
  markFailuresReported(kind: "mail" | "hook", ids: readonly number[]): Promise<void>;
  /** An alert has reported all messages in quarantine up to this row number. */
  markQuarantineReported(lastId: number): Promise<void>;
}

/** What the program remembers of itself. */
export interface Status {
  /** When the operator was last alerted by any node; 1970 if never. */
  lastAlertAt(topic: AlertTopic): Promise<Date>;
  /** Changes `lastAlertAt` if it still is `from`; of all nodes that try, one returns true. */
  moveLastAlert(topic: AlertTopic, from: Date, to: Date): Promise<boolean>;
  /** A server that takes messages runs, or stops. `markRunning` is to be called at least once a minute. */
  markRunning(now: Date): Promise<void>;
  markStopped(now: Date): Promise<void>;
  /** Whether any server runs, and when the last one did; `null` if none ever did. */
  websiteStatus(now: Date): Promise<{ isRunning: boolean; lastSeenAt: Date | null }>;
  /** When the last backup was finished; `null` if there was none. */
  lastBackupAt(): Promise<Date | null>;
}

/** What operators read. */
export interface Listing {
  /** Newest first. */
  list(filter: MessageFilter): Promise<StoredMessage[]>;
  /** Messages of the filter that are in the tab as well, and counts of all messages of the filter. */
  page(
    filter: MessageFilter,
    tab: TabCondition,
    part: { sort: ListSort; offset: number; limit: number },
  ): Promise<{ messages: StoredMessage[]; counts: StateCounts }>;
  /** `null` when there is no such message. */
  placeOf(reference: string, filter: MessageFilter, sort: ListSort): Promise<MessagePlace | null>;
  /** People with the words in their name or address, the last to write first. */
  findPeople(words: string, limit: number): Promise<Correspondent[]>;
  countStates(filter: Pick<MessageFilter, "since" | "until">): Promise<StateCounts>;
  /** Oldest first. Changes made by a node of the version before are missing. */
  history(reference: string): Promise<StoredEvent[]>;
  /** By reference, oldest first; messages without notes are left out. */
  notes(references: readonly string[]): Promise<ReadonlyMap<string, readonly Note[]>>;
  /** Differs after every change of any message, but not when an attempt begins. */
  changeToken(): Promise<string>;
  find(reference: string): Promise<StoredMessage | null>;
  /** Those of the references that a message has. */
  existingReferences(references: readonly string[]): Promise<string[]>;
  /** Those of the references whose message was erased, purged or deleted in the last 400 days. */
  erasedReferences(references: readonly string[]): Promise<string[]>;
  countByDayAndCountry(since: Date): Promise<MessageCount[]>;
  /** Of all messages; the most first. */
  countByCountry(): Promise<{ country: string; count: number }[]>;
  /** Of the messages accepted since then and delivered, without those that were sent once more. */
  deliveryTimes(since: Date, boundsMs: readonly number[]): Promise<DeliveryTimeCounts>;
  queueTrouble(now: Date): Promise<QueueTrouble>;
  /** Messages in quarantine that no operator has opened, without what a visitor asked not to be used. */
  countUnseen(): Promise<number>;
}

/** What operators change, and what the privacy policy promises. */
export interface Changes {
  /** Remembers that an operator has opened a message in quarantine. */
  markSeen(reference: string, now: Date): Promise<void>;
  /**
   * Does what an operator asks with those of the messages that ACTION_RULES allow, and returns their references. `retry`
   * queues what failed with all attempts before it, and makes what is queued due now.
   */
  act(action: Action, which: Selection, now: Date): Promise<string[]>;
  /** Adds to the message's history; false when there is no such message. Its version stays. */
  addNote(reference: string, text: string, author: string | null, now: Date): Promise<boolean>;
  /** These three change nothing when versions are given and the messages from the address have others by now. */
  rectify(
    email: string,
    changes: Partial<ContactMessage>,
    now: Date,
    versions?: readonly string[] | undefined,
    /** By reference, the estimates of all these messages after the correction; absent when they stay as they are. */
    footprints?: ReadonlyMap<string, FootprintEstimate | null> | null,
  ): Promise<number>;
  restrict(email: string, isRestricted: boolean, now: Date, versions?: readonly string[] | undefined): Promise<number>;
  /**
   * Erases the messages and leaves no readable copy in the database's own files; returns their references. Without any
   * message it changes nothing.
   */
  erase(email: string, versions?: readonly string[] | undefined): Promise<string[]>;
  /** Finishes an erasure that was interrupted; false when there was none. */
  finishErasure(): Promise<boolean>;
}

/** How long messages are kept. */
export interface Expiry {
  /**
   * Erases what is past its retention, and client hashes older than a day; returns references. Never a queued or
   * restricted message, nor one that reached nobody before an alert has told of its end a week ago. Of what no alert has
   * told, all or none: none when that is more than a tenth of all messages.
   */
  purge(retention: Retention, now: Date): Promise<string[]>;
  /** Unanswered messages that end within eight days, and all that should have ended; only those that no alert has told of. */
  findEnding(retention: Retention, now: Date): Promise<Ending>;
  /** An alert has told of them. */
  markEndingReported(retention: Retention, ending: Ending): Promise<void>;
  /** Unanswered messages that have been in the state since then or longer, without what a visitor asked not to be used. */
  findUnanswered(state: MessageState, changedBy: Date): Promise<{ count: number; firstChangedAt: Date | null }>;
  /**
   * Compares the clock with the newest change in the database, and with the time noted here the last time. `null`: it
   * fits, and is noted. To be called every hour.
   */
  judgeClock(now: Date): Promise<ClockDoubt | null>;
}

/**
 * Where messages live. Every promise that resolves means that its change is committed to disk; a store that cannot be
 * written rejects with StoreUnavailable and has changed nothing, or nothing that was acknowledged.
 */
export interface Store extends Queue, Status, Listing, Changes, Expiry {
  /** A secret of this database for hashing client addresses; the same on every node. */
  readonly clientKey: Uint8Array;
  accept(submission: Submission, rules: AcceptanceRules, now: Date): Promise<Acceptance>;
  /**
   * Decides who of the due may get an acknowledgement, until `limit` may: only these can be claimed. However many nodes
   * ask, an address gets at most one a day.
   */
  admitAcknowledgements(limit: number, leaseMs: number, rules: AcknowledgementRules, now: Date): Promise<Refusals>;
  /** Writes a consistent copy while others go on writing, and remembers when. */
  backup(file: string, now: Date): Promise<void>;
  /**
   * Rejects when a message could not be written, with StoreLost at once when the database's files are gone. Writing is tried
   * at most once in ten seconds, however many ask; after a failure once a second.
   */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The store cannot be used just now; asking again later is right. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The database's files were removed or replaced while they were open. The message says where the messages were saved. */
export class StoreLost extends StoreUnavailable {
  override readonly name = "StoreLost";
}

/** The store must not be used: another program's file, a newer schema, an unsafe database version. */
export class StoreRefused extends Error {
  override readonly name = "StoreRefused";
}
