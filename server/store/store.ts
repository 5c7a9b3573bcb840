import type { ContactMessage } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import type { Config, Limit } from "../config.ts";
import { OperatorError } from "../operator-error.ts";
import { DAY_MS } from "../time.ts";

/**
 * What the site sends for a message: the mail to the team, the acknowledgement to the sender, the post to HOOK_URL, and
 * an operator's reply.
 */
export const CHANNELS = ["mail", "acknowledgement", "hook", "reply"] as const;
export type Channel = (typeof CHANNELS)[number];

/**
 * `queued`: will be sent, now or at its next attempt. `delivered`: the receiver accepted it. `failed`: refused for good
 * or out of attempts, kept for the operator. `quarantined`: the message is suspected abuse and is not sent unless it is
 * released. `skipped`: a rule forbids it.
 */
export type DeliveryState = "queued" | "delivered" | "failed" | "quarantined" | "skipped";

/** The state of a message's mail. An operator must act on `failed` and `quarantined`. */
export type MessageState = Exclude<DeliveryState, "skipped">;

/**
 * `trap`: the trap field was filled. `network-limit`: many messages came from the same network. `hourly-limit`: all
 * clients together sent more in an hour than HOURLY_LIMIT allows. `looks-like-spam`: it resembles messages that
 * operators marked as spam. `marked-as-spam`: an operator marked it.
 */
export type QuarantineReason = "trap" | "network-limit" | "hourly-limit" | "looks-like-spam" | "marked-as-spam";

/** What a message teaches the spam filter. */
export type Lesson = "spam" | "good";

/**
 * Why a sender gets no acknowledgement. `too-late`: the message is more than a day old. `own-address`: an address of
 * the site itself. `not-a-person`: an address that no person reads (such as `no-reply@`), that has no public mail
 * server, or that has an unusual form. `address-limit`: the address had one within a day. `hourly-limit`: too many were
 * sent to all addresses together.
 */
export type SkipReason = "too-late" | "own-address" | "not-a-person" | "address-limit" | "hourly-limit";

/**
 * `unanswered`: neither marked as answered nor in quarantine. `waiting`: queued. `failed`: its mail, its post to
 * HOOK_URL or a reply failed. The last three exclude restricted messages, because operators cannot act on these.
 */
export const TABS = ["all", "unanswered", "answered", "waiting", "failed", "quarantined"] as const;
export type Tab = (typeof TABS)[number];
export type TabCounts = Readonly<Record<Tab, number>>;

/** `footprint`: the largest estimate first, then messages without one. */
export const SORTS = ["newest", "oldest", "footprint"] as const;
export type ListSort = (typeof SORTS)[number];

/**
 * `accepted`: the message was accepted and queued. `quarantined`: it was accepted and quarantined (`detail` is a
 * QuarantineReason). Events of a delivery, with its channel: `delivered`; `deferred`: an attempt failed, and another
 * follows; `failed`: the last attempt failed; `paused`: the receiver accepted nothing at all, so this attempt did not
 * count (the `detail` of these three is the error); `skipped` (`detail` is a SkipReason); `retried`, `released` and
 * `resent`: an operator queued it again. `marked-as-spam`: an operator marked it (`detail` is the earlier
 * QuarantineReason, if any). `viewed`: an operator opened it in quarantine. `noted`: an operator wrote a note (`detail`
 * is the note).
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
 * `retry`: send the message's failed and waiting deliveries now. `resend`: send a delivered mail once more. `release`:
 * take the message out of quarantine, and send it unless it was delivered before. `spam`: put it into quarantine.
 * `answer` and `unanswer`: mark it as answered, or remove the mark. `allowedActions` lists the actions that a message
 * allows.
 */
export const ACTIONS = ["retry", "resend", "release", "spam", "delete", "answer", "unanswer"] as const;
export type Action = (typeof ACTIONS)[number];

/** A message's position in a list. */
export interface MessagePlace {
  /** Counted from 1; `null` if the list does not contain the message, such as an answered one in `unanswered`. */
  position: number | null;
  total: number;
  /** References of its neighbours in the list, or of those that it would have. */
  previous: string | null;
  next: string | null;
}

/** The channels in use. */
export function channelsOf({ acknowledge, hook }: Pick<Config, "acknowledge" | "hook">): Channel[] {
  const isUsed: Partial<Record<Channel, boolean>> = { acknowledgement: acknowledge, hook: hook !== null };
  return CHANNELS.filter((channel) => isUsed[channel] ?? true);
}

/** How long after acceptance a delivery may be tried; `null` for the five days of the schedule. */
export const TRIED_FOR_MS: Readonly<Record<Channel, number | null>> = {
  mail: null,
  // A later acknowledgement would confuse more than none.
  acknowledgement: DAY_MS,
  hook: null,
  reply: null,
};

export interface Submission {
  message: ContactMessage;
  footprint?: FootprintEstimate | null;
  /** The client's key for this message, if it sent one. Keys of different clients are independent. */
  idempotencyKey: string | null;
  /** The client and its networks, from the narrowest to the widest. */
  networks: readonly Network[];
  /** The trap field was filled: store, but do not mail. */
  isTrapped: boolean;
}

/** A group of addresses that shares limits. */
export interface Network {
  hash: string;
  /** The network's limit as a multiple of a single client's. */
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
 * `stored` and `repeated` contain the reference of a message that is on disk. `repeated`: the same key and body, or the
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
  /** The visitor asked that it be kept but not used: it is neither sent nor erased. */
  isRestricted: boolean;
  answeredAt: Date | null;
  /** Why it was quarantined; kept after its release. */
  quarantineReason: QuarantineReason | null;
  taught: Lesson | null;
  /** When RETENTION erases it, if it is announced in time; `null` if never, or not in its current state. */
  expiresAt: Date | null;
  /** Changes with every change of the message or its mail; other deliveries do not count. */
  version: string;
  deliveries: Deliveries;
}

export function stateOf({ state, isRestricted, quarantineReason }: StoredMessage): string {
  const reason = state === "quarantined" && quarantineReason?.endsWith("spam") ? quarantineReason : "";
  return [state, reason.replaceAll("-", " "), isRestricted ? "restricted" : ""].filter(Boolean).join(", ");
}

/** A message's deliveries by channel. */
export type Deliveries = { readonly mail: Delivery } & { readonly [Other in Exclude<Channel, "mail">]?: Delivery };

export interface Delivery {
  state: DeliveryState;
  /** When it reached its current state. */
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
  /** Includes the current attempt. */
  attempts: number;
  /** The number of attempts without a result, because their server stopped. Each may have been sent. */
  interruptions: number;
  /** When it was queued, or queued again by an operator. */
  queuedAt: Date;
  /** Content that is not part of the message: a Reply as JSON. */
  payload: string | null;
  token: string;
}

/**
 * How an attempt ended. `paused`: the channel can send nothing at the moment, so the attempt does not count.
 * `returned`: it was not tried and leaves no trace. `skipped`: a rule forbids it for good.
 */
export type Outcome =
  | { kind: "delivered" }
  | { kind: "deferred" | "paused"; dueAt: Date; error: string }
  | { kind: "failed" | "skipped"; error: string }
  | { kind: "returned"; dueAt: Date };

/** At most `count` deliveries with the same name in any `windowMs`. */
export interface NamedLimit extends Limit {
  name: string;
}

/** Deliveries of a channel in a state that is not final or needs an operator, without those of restricted messages. */
export interface DeliveryCount {
  channel: Channel;
  state: DeliveryState;
  count: number;
  /** When the first and the last of them reached the state. */
  firstAt: Date;
  lastAt: Date;
  /** The quarantined ones that no operator has opened. */
  unseen: number;
  /** The unopened ones that look like spam. */
  unseenSpam: number;
}

/**
 * Messages that RETENTION erases within a week and a day, or sooner with a short period. Their erasure is announced.
 */
export interface Expiring {
  foundAt: Date;
  count: number;
  unanswered: number;
  /** When the first message will be erased. */
  firstAt: Date | null;
  /** The messages that no alert has announced. */
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

/** An event in a message's history. */
export interface StoredEvent {
  at: Date;
  kind: EventKind;
  /** Set for events of a delivery. */
  channel: Channel | null;
  detail: string | null;
  author: string | null;
}

/** An operator's note or reply. */
export interface Note {
  kind: "noted" | "replied";
  at: Date;
  author: string | null;
  text: string;
}

/** An operator's reply to a message. */
export interface Reply {
  /** Chosen by the client, so that a repeated reply is recognised. */
  key: string;
  subject: string;
  text: string;
}

/** All senders with the same address, ignoring case. */
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
  /** Part of the name, address, phone number, reference or text, ignoring case. */
  search?: string | undefined;
  /** Continues the list after this message. */
  after?: Pick<StoredMessage, "acceptedAt" | "id">;
  limit?: number;
}

/** From acceptance to delivery. */
export interface DeliveryTimeCounts {
  count: number;
  medianMs: number | null;
  slowestMs: number | null;
  /** One count per bound, for deliveries above the previous bound and up to this one; the last is above all bounds. */
  buckets: readonly number[];
}

/** Messages per day (UTC, `YYYY-MM-DD`) and per country code (empty when not given). */
export interface MessageCount {
  day: string;
  country: string;
  count: number;
}

/**
 * Messages by reference, or all that were accepted since a time and can be retried, released or resent. If versions are
 * given, messages that have changed since are left out.
 */
export type Selection = { references: readonly string[]; versions?: readonly string[] | undefined } | { since: Date };

/** What the outbox does with deliveries, the same for every channel. */
export interface Queue {
  /**
   * Leases up to `limit` due deliveries to this worker, oldest due first, and counts the new attempt. If the last
   * attempt has no result, adds a line to the message's history, because the delivery may arrive twice.
   */
  claim(channel: Channel, limit: number, leaseMs: number, now: Date): Promise<Claim[]>;
  /**
   * Counts a claimed delivery towards the limits, only once for all of its attempts. If a limit is already reached,
   * returns its name and counts nothing; `null` if the delivery may be sent. Exact on any number of nodes. Rejects if
   * the lease went to another node or the message is gone.
   */
  admit(claim: Claim, limits: readonly NamedLimit[], now: Date): Promise<string | null>;
  /**
   * Records how an attempt ended. Returns false and changes nothing if the lease went to another node or the message is
   * gone. Records a success even without the lease, because a sent delivery must not be sent again, unless an operator
   * has queued it again since. In the same transaction, queues the delivery of the channel `next`, once per message.
   */
  settle(claim: Claim, outcome: Outcome, now: Date, next?: Channel | null): Promise<boolean>;
  /** The time until the next delivery is due or its lease ends; 0 or less if one is due; `null` if none waits. */
  dueInMs(channel: Channel, now: Date): Promise<number | null>;
  /**
   * Spreads all deliveries that wait for a later attempt over the next minute, and returns their row numbers. That
   * attempt does not count, unless the delivery has waited for more than five days. The outboxes of all nodes together
   * do this at most once a minute: returns `null` if it was done within the last minute.
   */
  flushBacklog(channel: Channel, now: Date, by: "outbox" | "operator"): Promise<number[] | null>;
  countDeliveries(): Promise<DeliveryCount[]>;
  /** Row numbers of the messages in this state that no alert has reported. */
  unreported(channel: Channel, state: DeliveryState): Promise<number[]>;
  markReported(channel: Channel, state: DeliveryState, ids: readonly number[]): Promise<void>;
}

/** The servers' shared state. */
export interface Status {
  /** The database's time if servers share it, otherwise this machine's. */
  time(): Promise<Date>;
  /** When any node last sent this alert; 1970 if never. */
  lastAlertAt(kind: string): Promise<Date>;
  /** Changes `lastAlertAt` if it is still `from`. Only one of the nodes that try gets true. */
  moveLastAlert(kind: string, from: Date, to: Date): Promise<boolean>;
  /**
   * Reports that this server runs, and its paused channels. Call it at least once a minute, and with `null` on stop.
   */
  reportNode(pauses: readonly Pause[] | null, now: Date): Promise<void>;
  /** Whether any server runs, when the last one ran (`null` if never), and the paused channels of running servers. */
  website(now: Date): Promise<{ isRunning: boolean; lastSeenAt: Date | null; pauses: Pause[] }>;
  lastBackupAt(): Promise<Date | null>;
  /** When a statement first found damage in the database's file; `null` if none has. Never rejects. */
  damagedAt(): Promise<Date | null>;
}

/** What operators read. */
export interface Listing {
  /** Newest first. */
  list(filter: MessageFilter): Promise<StoredMessage[]>;
  /** The messages that match the filter, and their number in each tab. */
  page(
    filter: MessageFilter,
    part: { sort: ListSort; offset: number; limit: number },
  ): Promise<{ messages: StoredMessage[]; counts: TabCounts }>;
  /** `null` if there is no such message. */
  placeOf(reference: string, filter: MessageFilter, sort: ListSort): Promise<MessagePlace | null>;
  /** People whose name or address contains the words, most recent first. */
  findPeople(words: string, limit: number): Promise<Correspondent[]>;
  countTabs(filter: MessageFilter): Promise<TabCounts>;
  /** Oldest first. */
  history(reference: string): Promise<StoredEvent[]>;
  /** Notes and replies by reference, oldest first; messages without any are left out. */
  notes(references: readonly string[]): Promise<ReadonlyMap<string, readonly Note[]>>;
  /** Changes after every event of any message and after a deletion. */
  changeToken(): Promise<string>;
  find(reference: string): Promise<StoredMessage | null>;
  countByDayAndCountry(since: Date): Promise<MessageCount[]>;
  /** Counts all messages, largest count first. */
  countByCountry(): Promise<{ country: string; count: number }[]>;
  /** For messages accepted since then and delivered, except those that were resent. */
  deliveryTimes(since: Date, boundsMs: readonly number[]): Promise<DeliveryTimeCounts>;
  countChannel(channel: Channel): Promise<Readonly<Record<DeliveryState, number>>>;
}

/** What operators do. */
export interface Changes {
  /** Applies the action to the messages that allow it (`actionProblem` in rules.ts); returns their references. */
  act(action: Action, which: Selection, now: Date): Promise<string[]>;
  /** Records that an operator has opened a message in quarantine. */
  markSeen(reference: string, now: Date): Promise<void>;
  /** Returns false if there is no such message. */
  addNote(reference: string, text: string, author: string | null, now: Date): Promise<boolean>;
  /**
   * Queues the reply and empties the draft. Returns false if the message does not allow a reply or has changed since.
   * For a repeated reply, returns true and does not send it again.
   */
  reply(reference: string, reply: Reply, author: string | null, now: Date, version?: string): Promise<boolean>;
  /** Saves an unfinished reply; an empty text removes it. */
  saveDraft(reference: string, draft: string): Promise<void>;
  readDraft(reference: string): Promise<string>;
  /** If versions are given and the person's messages have changed since, these three change nothing. */
  rectify(
    email: string,
    changes: Partial<ContactMessage>,
    now: Date,
    versions?: readonly string[] | undefined,
    /** The corrected estimates of all these messages by reference; absent if they do not change. */
    footprints?: ReadonlyMap<string, FootprintEstimate | null> | null,
  ): Promise<number>;
  restrict(email: string, isRestricted: boolean, now: Date, versions?: readonly string[] | undefined): Promise<number>;
  /**
   * Erases the messages and returns their references. Call `finishErasure` afterwards to remove their traces. Changes
   * nothing if there is no message.
   */
  erase(email: string, versions?: readonly string[] | undefined): Promise<string[]>;
  /** Removes all readable copies of erased messages from the database's own files. Returns false if there were none. */
  finishErasure(): Promise<boolean>;
}

/** The spam filter learns only from operators. */
export interface SpamFilter {
  /** The number of lessons, the number needed of each kind, and this month's quarantined and released messages. */
  readSpamFilter(now: Date): Promise<{
    taught: Readonly<Record<Lesson, number>>;
    needed: number;
    isDeciding: boolean;
    held: number;
    released: number;
  }>;
  /** The parts of the message with the highest spam weights, at most five. */
  spamSigns(message: ContactMessage): Promise<string[]>;
  forgetSpam(): Promise<void>;
}

/** An erasure of a person's messages: a hash of the address. */
export interface Erasure {
  hash: string;
  at: Date;
}

/** Restores a backup. */
export interface Restoring {
  /** Hashes an email address for an Erasure. */
  hashAddress(email: string): Promise<string>;
  /**
   * Reads all rows of a backup, or none. Leaves out messages of people who were erased after the messages were
   * accepted. Rejects with StoreRefused if a website runs, if there are messages and they must not be replaced, or if
   * the file is not a backup of this version. `waiting` is the number of messages that will be sent.
   */
  restore(
    file: string,
    isReplacing: boolean,
    erasures: readonly Erasure[],
  ): Promise<{ messages: number; waiting: number; erased: number }>;
}

/** Announces expiring messages, then erases them. */
export interface Expiry {
  /** Erases the messages that have expired, and client hashes older than a day; returns references. */
  purge(now: Date): Promise<string[]>;
  findExpiring(now: Date): Promise<Expiring>;
  markAnnounced(expiring: Pick<Expiring, "foundAt" | "lastId">): Promise<void>;
}

/**
 * Stores messages. When a promise resolves, its change is committed to disk. A store that cannot be written rejects
 * with StoreUnavailable; then nothing changed, or the change was never confirmed.
 */
export interface Store extends Queue, Status, Listing, Changes, SpamFilter, Restoring, Expiry {
  /** A secret of this database for hashing client addresses; the same on every node. */
  readonly clientKey: Uint8Array;
  accept(submission: Submission, rules: AcceptanceRules, now: Date): Promise<Acceptance>;
  /** Writes a consistent copy while other processes write, and records the time. */
  backup(file: string, now: Date): Promise<void>;
  /**
   * Rejects if a message could not be written, and with StoreLost at once if the database's files are gone. All callers
   * share one write per ten seconds, or one per second after a failure.
   */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The store is unavailable for now; a later attempt may succeed. */
export class StoreUnavailable extends OperatorError {
  override readonly name: string = "StoreUnavailable";
}

/**
 * The database's files were removed or replaced while they were open. The advice says where the messages were saved.
 */
export class StoreLost extends StoreUnavailable {
  override readonly name = "StoreLost";
}

/** Parts of the database's file cannot be read. The other parts can be used, and `rescue` can save them. */
export class StoreDamaged extends StoreUnavailable {
  override readonly name = "StoreDamaged";
}

/**
 * The store must not be used: another program's file, a newer schema, an unsafe database version, or a folder that
 * another server uses.
 */
export class StoreRefused extends OperatorError {
  override readonly name = "StoreRefused";
}

/** Restores the class of an error from another thread. */
export function restoreError({ name, message, advice }: PlainError): Error {
  const kind = [StoreLost, StoreDamaged, StoreUnavailable, StoreRefused].find((known) => known.name === name);
  return kind && advice ? new kind(advice) : Object.assign(new Error(message), { name });
}

/** What an error keeps on its way between threads. */
export type PlainError = Pick<Error, "name" | "message"> & Partial<Pick<OperatorError, "advice">>;
