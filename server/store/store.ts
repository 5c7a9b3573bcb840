import type { ContactMessage } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint.ts";
import type { Config, Limit } from "../config.ts";
import { DAY_MS } from "../time.ts";

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
export type MessageState = Exclude<DeliveryState, "skipped">;

/**
 * `trap`: the trap field was filled. `network-limit`: many messages came from the same network. `hourly-limit`: more
 * messages came in an hour, from all clients, than HOURLY_LIMIT allows. `looks-like-spam`: it resembles what operators
 * marked as spam. `marked-as-spam`: an operator did so.
 */
export type QuarantineReason = "trap" | "network-limit" | "hourly-limit" | "looks-like-spam" | "marked-as-spam";

/** What a message teaches the spam filter. */
export type Lesson = "spam" | "good";

/**
 * Why a sender gets no acknowledgement. `too-late`: the message is more than a day old. `own-address`: an address of the site itself. `not-a-person`: an address that no person reads, such as
 * `no-reply@`, that is on no public mail server, or that is not written as people write theirs. `address-limit`: the address
 * had one within a day. `hourly-limit`: too many were sent to all addresses together.
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

/**
 * `accepted`: it came in, and was queued. `quarantined`: it came in, and was quarantined (`detail` is a QuarantineReason).
 * Of a delivery, with its channel: `delivered`; `deferred`: an attempt failed, and another follows; `failed`: the last
 * attempt failed; `paused`: the receiver took nothing at all, so that this attempt did not count (the `detail` of these
 * three is the error); `skipped` (`detail` is a SkipReason); `retried`, `released` and `resent`: an operator queued it
 * again. `marked-as-spam` by an operator (`detail` is the QuarantineReason before, if any). `viewed`: an operator opened it
 * while it was in quarantine. `noted`: an operator wrote a note, the `detail`.
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
  | "marked-as-spam"
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
 * more. `release`: out of quarantine, to be sent unless it was. `spam`: into quarantine. `answer` and `unanswer`: mark, and
 * undo it. `allowedActions` says which of them a message allows.
 */
export const ACTIONS = ["retry", "resend", "release", "spam", "delete", "answer", "unanswer"] as const;
export type Action = (typeof ACTIONS)[number];

/** Where a message is in the list that the query asks for. */
export interface MessagePlace {
  /** Counted from 1; `null` when the list does not have it, such as an answered one in `unanswered`. */
  position: number | null;
  total: number;
  /** References of its neighbours in the list, or of what would be next to it. */
  previous: string | null;
  next: string | null;
}

/** By which something leaves because of a message. */
export function channelsOf({ acknowledge, hook }: Pick<Config, "acknowledge" | "hook">): Channel[] {
  const isUsed: Partial<Record<Channel, boolean>> = { acknowledgement: acknowledge, hook: hook !== null };
  return CHANNELS.filter((channel) => isUsed[channel] ?? true);
}

/** How long after the acceptance of its message a delivery may be tried; `null`: for the five days of the schedule. */
export const TRIED_FOR_MS: Readonly<Record<Channel, number | null>> = {
  mail: null,
  // One that comes later is more confusing than none.
  acknowledgement: DAY_MS,
  hook: null,
  reply: null,
};

export interface Submission {
  message: ContactMessage;
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
  hash: string;
  /** How many times the messages of a single client it may send. */
  allowance: number;
}

export interface AcceptanceRules {
  referencePrefix: string;
  rateLimits: readonly Limit[];
  hourlyLimit: number | null;
  /** Messages that look like spam are quarantined. */
  spamFilter: boolean;
  /** The deliveries that every message gets at once. */
  channels: readonly Channel[];
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
  id: number;
  footprint: FootprintEstimate | null;
  reference: string;
  state: MessageState;
  acceptedAt: Date;
  /** The visitor asked that it be kept but not used: nothing of it is sent, and it is not purged. */
  isRestricted: boolean;
  answeredAt: Date | null;
  /** Why it was quarantined; kept after its release. */
  quarantineReason: QuarantineReason | null;
  taught: Lesson | null;
  /** When RETENTION erases it, if it is announced in time; `null`: never, or not while it is in its present state. */
  expiresAt: Date | null;
  /** Differs after every change of the message; deliveries other than its mail do not count. */
  version: string;
  deliveries: Deliveries;
}

export function stateOf({ state, isRestricted, quarantineReason }: StoredMessage): string {
  const reason = state === "quarantined" && quarantineReason?.endsWith("spam") ? quarantineReason : "";
  return [state, reason.replaceAll("-", " "), isRestricted ? "restricted" : ""].filter(Boolean).join(", ");
}

/** What leaves because of a message, by channel. */
export type Deliveries = { readonly mail: Delivery } & { readonly [Other in Exclude<Channel, "mail">]?: Delivery };

export interface Delivery {
  state: DeliveryState;
  /** When it reached its present state. */
  changedAt: Date;
  /** When the next attempt is due; only while queued. */
  dueAt: Date | null;
  attempts: number;
  /** Why the last attempt failed, or why it was skipped (a SkipReason). */
  error: string | null;
}

/** A delivery leased to one worker. */
export interface Claim {
  channel: Channel;
  message: StoredMessage;
  /** The present one included. */
  attempts: number;
  /** How many attempts ended without a result, because their server stopped: each may have been sent. */
  interruptions: number;
  /** When it was queued, or queued again by an operator. */
  queuedAt: Date;
  /** What is sent, where that does not follow from the message: a Reply as JSON. */
  payload: string | null;
  token: string;
}

/**
 * How an attempt ended. `paused`: nothing of the channel can be sent at the moment, so the attempt does not count.
 * `returned`: it was not tried, and leaves no trace. `skipped`: a rule forbids it, for good.
 */
export type Outcome =
  | { kind: "delivered" }
  | { kind: "deferred" | "paused"; dueAt: Date; error: string }
  | { kind: "failed" | "skipped"; error: string }
  | { kind: "returned"; dueAt: Date };

/** At most `count` in any `windowMs`, of all that have the same name. */
export interface NamedLimit extends Limit {
  name: string;
}

/** Deliveries of a channel in a state that is not final or needs a person, without those of restricted messages. */
export interface DeliveryCount {
  channel: Channel;
  state: DeliveryState;
  count: number;
  /** When the first and the last of them reached the state. */
  firstAt: Date;
  lastAt: Date;
  /** Those in quarantine whose message no operator has opened. */
  unseen: number;
  /** Those of them that look like spam. */
  unseenSpam: number;
}

/** Messages that RETENTION erases within a week and a day, or within a shorter period: their erasure is announced. */
export interface Expiring {
  foundAt: Date;
  count: number;
  unanswered: number;
  /** When the first of them is erased. */
  firstAt: Date | null;
  /** Those of them that no alert has announced. */
  unannounced: number;
  /** The highest row number among them. */
  lastId: number;
}

/** Why a channel sends nothing, and since when. */
export interface Pause {
  channel: Channel;
  reason: string;
  since: Date;
}

/** What happened to a message after it was accepted. */
export interface StoredEvent {
  at: Date;
  kind: EventKind;
  /** Of a delivery's events. */
  channel: Channel | null;
  detail: string | null;
  author: string | null;
}

/** What an operator has noted on a message, or replied to it. */
export interface Note {
  kind: "noted" | "replied";
  at: Date;
  author: string | null;
  text: string;
}

/** What an operator answers to a message. */
export interface Reply {
  /** The client's own, so that the same reply sent again is known as such. */
  key: string;
  subject: string;
  text: string;
}

/** All people who wrote with an address, in upper or lower case. */
export interface Correspondent {
  /** As in the newest message. */
  name: string;
  email: string;
  lastAt: Date;
  messages: number;
}

export interface MessageFilter {
  references?: readonly string[];
  state?: MessageState | undefined;
  email?: string | undefined;
  /** Accepted at or after. */
  since?: Date | undefined;
  /** Accepted before. */
  until?: Date | undefined;
  /** A two-letter code; empty for messages without a country. */
  country?: string | undefined;
  tab?: Tab | undefined;
  /** Part of the name, address, phone number, reference or text, in any case. */
  search?: string | undefined;
  /** Only messages after this one in the list, to go on from it. */
  after?: Pick<StoredMessage, "acceptedAt" | "id">;
  limit?: number;
}

/** From acceptance to delivery. */
export interface DeliveryTimeCounts {
  count: number;
  medianMs: number | null;
  slowestMs: number | null;
  /** As many as there are bounds, and one more: how many took at most that long, and longer than the bound before. */
  buckets: readonly number[];
}

/** Messages per day (UTC, `YYYY-MM-DD`) and per country code (empty when not given). */
export interface MessageCount {
  day: string;
  country: string;
  count: number;
}

/**
 * Messages by name, or all that were accepted since a time and that wait for a retry, a release or to be resent. With
 * versions, messages that have another by now are left out.
 */
export type Selection = { references: readonly string[]; versions?: readonly string[] | undefined } | { since: Date };

/** What the outbox does with deliveries, the same for every channel. */
export interface Queue {
  /**
   * Leases up to `limit` due deliveries to this worker, oldest due first, each with the present attempt counted. One whose
   * last attempt has no result gets a line in the message's history: it may arrive twice.
   */
  claim(channel: Channel, limit: number, leaseMs: number, now: Date): Promise<Claim[]>;
  /**
   * Counts a claimed delivery towards the limits, once however often it is tried. Returns the name of a limit that is
   * reached already, and then counts nothing; `null` when it may be sent. Exact on any number of nodes. Rejects when the
   * lease went to another node or the message is gone.
   */
  admit(claim: Claim, limits: readonly NamedLimit[], now: Date): Promise<string | null>;
  /**
   * Records how an attempt ended. False, and nothing changes, when the lease went to another node or the message is gone.
   * A success is recorded even without the lease, because what was sent must not be sent again, unless an operator has
   * queued it again since. In the same transaction it queues the delivery of the channel `next`, once for each message.
   */
  settle(claim: Claim, outcome: Outcome, now: Date, next?: Channel | null): Promise<boolean>;
  /** Until the next delivery becomes due or its lease ends, 0 or less if one is due; `null` when none waits. */
  dueInMs(channel: Channel, now: Date): Promise<number | null>;
  /**
   * Makes everything that waits for a later attempt due within a minute, spread over it; returns the rows' numbers. The
   * attempt then does not count, unless it waits for more than five days. For the outboxes of all nodes at most once a
   * minute: `null` when it was done within the last.
   */
  flushBacklog(channel: Channel, now: Date, by: "outbox" | "operator"): Promise<number[] | null>;
  countDeliveries(): Promise<DeliveryCount[]>;
  /** Row numbers of the messages among them that no alert has reported. */
  unreported(channel: Channel, state: DeliveryState): Promise<number[]>;
  markReported(channel: Channel, state: DeliveryState, ids: readonly number[]): Promise<void>;
}

/** What servers remember of themselves and tell each other. */
export interface Status {
  /** The time: that of the database if servers share it, else this machine's. */
  time(): Promise<Date>;
  /** When the operator was last alerted of this by any node; 1970 if never. */
  lastAlertAt(kind: string): Promise<Date>;
  /** Changes `lastAlertAt` if it still is `from`; of all nodes that try, one returns true. */
  moveLastAlert(kind: string, from: Date, to: Date): Promise<boolean>;
  /** Reports that this server runs, and its blocked channels. Call it at least once a minute, and with `null` on stop. */
  reportNode(pauses: readonly Pause[] | null, now: Date): Promise<void>;
  /** Whether any server runs, when the last one did (`null`: never), and what those that run cannot send. */
  website(now: Date): Promise<{ isRunning: boolean; lastSeenAt: Date | null; pauses: Pause[] }>;
  lastBackupAt(): Promise<Date | null>;
  /** When a statement first found that the database's file is damaged; `null` if none has. Never rejects. */
  damagedAt(): Promise<Date | null>;
}

/** What operators read. */
export interface Listing {
  /** Newest first. */
  list(filter: MessageFilter): Promise<StoredMessage[]>;
  /** Messages of the filter, and how many there are of it in each tab. */
  page(
    filter: MessageFilter,
    part: { sort: ListSort; offset: number; limit: number },
  ): Promise<{ messages: StoredMessage[]; counts: TabCounts }>;
  /** `null` when there is no such message. */
  placeOf(reference: string, filter: MessageFilter, sort: ListSort): Promise<MessagePlace | null>;
  /** People with the words in their name or address, the last to write first. */
  findPeople(words: string, limit: number): Promise<Correspondent[]>;
  countTabs(filter: MessageFilter): Promise<TabCounts>;
  /** Oldest first. */
  history(reference: string): Promise<StoredEvent[]>;
  /** Notes and replies by reference, oldest first; messages without any are left out. */
  notes(references: readonly string[]): Promise<ReadonlyMap<string, readonly Note[]>>;
  /** Differs after every event of any message, and after one is deleted. */
  changeToken(): Promise<string>;
  find(reference: string): Promise<StoredMessage | null>;
  countByDayAndCountry(since: Date): Promise<MessageCount[]>;
  /** Of all messages; the most first. */
  countByCountry(): Promise<{ country: string; count: number }[]>;
  /** Of the messages accepted since then and delivered, without those that were sent once more. */
  deliveryTimes(since: Date, boundsMs: readonly number[]): Promise<DeliveryTimeCounts>;
  countChannel(channel: Channel): Promise<Readonly<Record<DeliveryState, number>>>;
}

/** What operators do. */
export interface Changes {
  /** Does it to the messages that allow it (`refusalOf` in rules.ts); returns their references. */
  act(action: Action, which: Selection, now: Date): Promise<string[]>;
  /** An operator has opened a message in quarantine. */
  markSeen(reference: string, now: Date): Promise<void>;
  /** False when there is no such message. */
  addNote(reference: string, text: string, author: string | null, now: Date): Promise<boolean>;
  /**
   * Queues the reply and empties the draft. False when the message does not allow one, or has another version by now. The
   * same reply once more is `true`, and is not sent again.
   */
  reply(reference: string, reply: Reply, author: string | null, now: Date, version?: string): Promise<boolean>;
  /** What an operator has written so far; empty for none. */
  saveDraft(reference: string, draft: string): Promise<void>;
  readDraft(reference: string): Promise<string>;
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
   * Erases the messages; returns their references. `finishErasure` then has to remove their traces. Without any message it
   * changes nothing.
   */
  erase(email: string, versions?: readonly string[] | undefined): Promise<string[]>;
  /** Leaves no readable copy of what was erased in the database's own files; false when nothing was. */
  finishErasure(): Promise<boolean>;
}

/** What it learned: from operators' marks alone. */
export interface SpamFilter {
  /** How many messages were taught, how many of each kind it needs, and what it held and operators released this month. */
  readSpamFilter(now: Date): Promise<{
    taught: Readonly<Record<Lesson, number>>;
    needed: number;
    isDeciding: boolean;
    held: number;
    released: number;
  }>;
  /** The parts of the message that say most that it is spam, by what was learned up to now; at most five. */
  spamSigns(message: ContactMessage): Promise<string[]>;
  forgetSpam(): Promise<void>;
}

/** An erasure of a person's messages: a hash of the address. */
export interface Erasure {
  hash: string;
  at: Date;
}

/** What a backup is for. */
export interface Restoring {
  /** Of an email address, for an Erasure. */
  hashAddress(email: string): Promise<string>;
  /**
   * Reads all rows of a backup, or none of them, but for messages of people who were erased after these were accepted.
   * Rejects with StoreRefused where a website runs, where there are messages that are not to be replaced, or where the file
   * is no backup of this version. `waiting`: how many messages are to be sent.
   */
  restore(
    file: string,
    isReplacing: boolean,
    erasures: readonly Erasure[],
  ): Promise<{ messages: number; waiting: number; erased: number }>;
}

/** How long messages are kept: announced, then erased. */
export interface Expiry {
  /** Erases the messages that have expired, and client hashes older than a day; returns references. */
  purge(now: Date): Promise<string[]>;
  findExpiring(now: Date): Promise<Expiring>;
  markAnnounced(expiring: Pick<Expiring, "foundAt" | "lastId">): Promise<void>;
}

/**
 * Where messages live. Every promise that resolves means that its change is committed to disk; a store that cannot be
 * written rejects with StoreUnavailable and has changed nothing, or nothing that was acknowledged.
 */
export interface Store extends Queue, Status, Listing, Changes, SpamFilter, Restoring, Expiry {
  /** A secret of this database for hashing client addresses; the same on every node. */
  readonly clientKey: Uint8Array;
  accept(submission: Submission, rules: AcceptanceRules, now: Date): Promise<Acceptance>;
  /** Writes a consistent copy while others go on writing, and remembers when. */
  backup(file: string, now: Date): Promise<void>;
  /**
   * Rejects when a message could not be written, with StoreLost at once when the database's files are gone. Writing is tried
   * at most once in ten seconds for all callers together; after a failure once a second.
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

/** Parts of the database's file cannot be read. What is in the others can be used, and saved by `rescue`. */
export class StoreDamaged extends StoreUnavailable {
  override readonly name = "StoreDamaged";
}

/** The store must not be used: another program's file, a newer schema, an unsafe database version, another server's. */
export class StoreRefused extends Error {
  override readonly name = "StoreRefused";
}

/** The error of another thread, where it has lost its class. */
export function restoreError({ name, message }: Pick<Error, "name" | "message">): Error {
  const kind = [StoreLost, StoreDamaged, StoreUnavailable, StoreRefused].find((known) => known.name === name);
  return kind ? new kind(message) : Object.assign(new Error(message), { name });
}
