import type { ContactMessage } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import type { Config } from "../config.ts";
import type { QuarantineReason } from "../message-words.ts";
import { DAY_MS } from "../time.ts";

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
  /** A delivery fails after this number of attempts with an unknown outcome, because each may have arrived. */
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
  /** When the last answer came that nobody has answered or marked since. */
  newAnswerAt: Date | null;
  /** Why it was quarantined; kept after its release. */
  quarantineReason: QuarantineReason | null;
  taught: Lesson | null;
  /** When RETENTION erases it, if it is announced in time; `null` if never, or not in its current state. */
  expiresAt: Date | null;
  /** Changes with every change of the message or its mail; other deliveries do not count. */
  version: string;
  deliveries: Deliveries;
}

export type Deliveries = { readonly mail: Delivery } & { readonly [Other in Exclude<Channel, "mail">]?: Delivery };

export interface Delivery {
  state: DeliveryState;
  changedAt: Date;
  dueAt: Date | null;
  attempts: number;
  /** How many attempts may have arrived, with one that runs. */
  unknownOutcomes: number;
  /** Why the last attempt failed, or why it was skipped (a SkipReason). */
  error: string | null;
}

/** The errors of a delivery that may have arrived. */
export const GIVEN_UP = "given up: it is not known how the last attempt ended, so it may have arrived";
export const AFTER_BACKUP = "may have been sent after the backup";
/** Ends the error of a reply that came back. */
export const CAME_BACK = "the reply came back as undeliverable";
export const STOPPED = "stopped; an earlier attempt may have arrived";

/** The visitor may have it. Only an operator who looks at this reply sends it again, and nobody an acknowledgement. */
export function mayHaveBeenSent(channel: Channel, delivery: Delivery | undefined): boolean {
  return rulesOf(channel).maxUnknown === 1 && (delivery?.unknownOutcomes ?? 0) > 0;
}
