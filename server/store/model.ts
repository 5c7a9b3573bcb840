import type { ContactMessage } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import type { Config } from "../config.ts";
import type { EVENT_NAME, QUARANTINE_REASON, SKIP_REASON } from "../message-words.ts";
import { OperatorError } from "../operator-error.ts";
import { DAY_MS, withinMs } from "../time.ts";

/** Everything about a channel except how it sends, which is in outbox/senders.ts. */
interface ChannelRules {
  name: string;
  isUsed(config: Config): boolean;
  /** What queues a delivery: the acceptance of a message, an operator, or the delivery on another channel. */
  queuedBy: "message" | "operator" | "mail";
  /** Whether a queued delivery keeps its message from being erased. Others end with their message. */
  keepsMessage: boolean;
  /** How long after acceptance a delivery may be tried, if not for the five days of the schedule. */
  triedForMs?: number;
  /** The attempt from which on an unknown outcome is a failure, because each may have arrived. */
  maxUnknown?: number;
  /** Its troubles, as in `No reply can be sent`. `null` if a failure does not affect a message. */
  trouble: {
    noun: "message" | "reply";
    verb: string;
    severity: "critical" | "warning";
  } | null;
  /** What exports call the time of its delivery. `null` for the mail, whose facts are those of the message. */
  deliveredAtName: string | null;
}

/**
 * What the site sends for a message: the mail to the team, the acknowledgement to the sender, the post to HOOK_URL, an
 * operator's reply. What differs between them is in this table, except that the mail's state is the message's.
 */
export const CHANNEL_RULES = {
  mail: {
    name: "Email",
    isUsed: () => true,
    queuedBy: "message",
    keepsMessage: true,
    // More would only fill the mailbox.
    maxUnknown: 5,
    trouble: { noun: "message", verb: "emailed", severity: "critical" },
    deliveredAtName: null,
  },
  acknowledgement: {
    name: "Acknowledgement",
    isUsed: ({ acknowledge }) => acknowledge,
    queuedBy: "mail",
    keepsMessage: false,
    // A later acknowledgement would confuse more than none.
    triedForMs: DAY_MS,
    maxUnknown: 1,
    trouble: null,
    deliveredAtName: "acknowledgedAt",
  },
  hook: {
    name: "Web hook",
    isUsed: ({ hook }) => hook !== null,
    queuedBy: "message",
    keepsMessage: false,
    trouble: { noun: "message", verb: "posted to HOOK_URL", severity: "warning" },
    deliveredAtName: "hookSentAt",
  },
  reply: {
    name: "Reply",
    isUsed: () => true,
    queuedBy: "operator",
    keepsMessage: true,
    // An operator decides whether it is sent again.
    maxUnknown: 1,
    trouble: { noun: "reply", verb: "sent", severity: "critical" },
    deliveredAtName: "repliedAt",
  },
} as const satisfies Readonly<Record<string, ChannelRules>>;

export type Channel = keyof typeof CHANNEL_RULES;
export const CHANNELS = Object.keys(CHANNEL_RULES) as readonly Channel[];
export const rulesOf: (channel: Channel) => ChannelRules = (channel) => CHANNEL_RULES[channel];

export function channelsOf(config: Config): Channel[] {
  return CHANNELS.filter((channel) => rulesOf(channel).isUsed(config));
}

/**
 * `queued`: will be sent, now or at its next attempt. `delivered`: the receiver accepted it. `failed`: refused for good
 * or out of attempts, kept for the operator. `quarantined`: the message is suspected abuse and is not sent unless it is
 * released. `skipped`: a rule forbids it.
 */
export type DeliveryState = "queued" | "delivered" | "failed" | "quarantined" | "skipped";

/** The state of a message's mail. An operator must act on `failed` and `quarantined`. */
export type MessageState = Exclude<DeliveryState, "skipped">;

export type QuarantineReason = keyof typeof QUARANTINE_REASON;
export type SkipReason = keyof typeof SKIP_REASON;
export type EventKind = keyof typeof EVENT_NAME;

export type Lesson = "spam" | "good";

/**
 * `retry`: send its failed and waiting deliveries now. `release`: take it out of quarantine, and send it unless it was
 * delivered before. `spam`: put it into quarantine. `answer`, `unanswer`: mark it as answered, or not.
 */
export const ACTIONS = ["retry", "release", "spam", "delete", "answer", "unanswer"] as const;
export type Action = (typeof ACTIONS)[number];

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

export type Deliveries = { readonly mail: Delivery } & { readonly [Other in Exclude<Channel, "mail">]?: Delivery };

export interface Delivery {
  state: DeliveryState;
  changedAt: Date;
  dueAt: Date | null;
  attempts: number;
  /** Why the last attempt failed, or why it was skipped (a SkipReason). */
  error: string | null;
}

export class StoreUnavailable extends OperatorError {
  override readonly name = "StoreUnavailable";
}

const ANSWER_LIMIT_MS = 8000;

/** For who cannot wait while e.g. a disk hangs. The call itself may still complete. */
export function inTime<T>(answer: Promise<T>): Promise<T> {
  const problem = `The message database has not answered for ${ANSWER_LIMIT_MS / 1000} s`;
  return withinMs(ANSWER_LIMIT_MS, answer, () => new StoreUnavailable({ problem, remedy: "check its disk" }));
}

/** The store must not be used, because of e.g. another program's file or a newer schema. */
export class StoreRefused extends OperatorError {
  override readonly name: string = "StoreRefused";
}

/** The website has not yet created the database, or upgraded it to this version. */
export class StoreNotReady extends StoreRefused {
  override readonly name = "StoreNotReady";
}

export function restoreError({ name, message, stack, code, advice }: PlainError): Error {
  const kind = [StoreUnavailable, StoreRefused].find((known) => known.name === name);
  // With the stack of its thread, which shows where the defect is.
  return kind && advice ? new kind(advice) : Object.assign(new Error(message), { name, stack }, code ? { code } : {});
}

export function toPlainError({ name, message, stack, code, advice }: PlainError): PlainError {
  return { name, message, stack, code, ...(advice && { advice }) };
}

export type PlainError = Pick<Error, "name" | "message"> &
  Partial<Pick<OperatorError, "advice">> & { stack?: string | undefined; code?: string | undefined };
