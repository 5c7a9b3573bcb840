import { type ContactMessage, EMPTY_MESSAGE } from "../../contract/contact-message.ts";
import { estimateFootprint, type FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import type { FootprintInputs } from "../../contract/footprint/fields.ts";
import { parseFootprint } from "../../contract/footprint/parsing.ts";
import type { Acceptance, AcceptanceRules, Submission } from "../../server/store/intake.ts";
import type { Action, Channel, MessageState, StoredMessage } from "../../server/store/model.ts";
import type { Claim } from "../../server/store/queue.ts";
import type { Store } from "../../server/store/store.ts";
import { DAY_MS, MINUTE_MS } from "../../server/time.ts";

export const NOON = new Date("2025-06-15T12:00:00Z");

export function later(ms: number, from: Date = NOON): Date {
  return new Date(from.getTime() + ms);
}

export const NO_LIMITS: AcceptanceRules = {
  referencePrefix: "BC",
  rateLimits: [],
  hourlyLimit: null,
  spamFilter: true,
  channels: ["mail"],
};

export function withChannels(...channels: readonly Channel[]): AcceptanceRules {
  return { ...NO_LIMITS, channels };
}

export const LIMITED: AcceptanceRules = {
  ...NO_LIMITS,
  rateLimits: [
    { count: 2, windowMs: 10 * MINUTE_MS },
    { count: 3, windowMs: DAY_MS },
  ],
};

let serial = 0;

/** A unique message, except for the given fields. */
export function messageWith(fields: Partial<ContactMessage> = {}): ContactMessage {
  serial += 1;
  return {
    ...EMPTY_MESSAGE,
    name: "Ada Lovelace",
    email: "ada@example.com",
    phone: "+44 20 7946 0000",
    country: "GB",
    message: `Question number ${serial}`,
    ...fields,
  };
}

/** A message as the store returns it after acceptance. */
export function storedWith(fields: Partial<StoredMessage> = {}): StoredMessage {
  return {
    ...messageWith(),
    id: 17,
    reference: "BC-7K3Q-9M",
    state: "queued",
    acceptedAt: NOON,
    isRestricted: false,
    answeredAt: null,
    newAnswerAt: null,
    quarantineReason: null,
    taught: null,
    footprint: null,
    expiresAt: null,
    version: "1",
    deliveries: {
      mail: { state: "queued", changedAt: NOON, dueAt: NOON, attempts: 0, unknownOutcomes: 0, error: null },
    },
    ...fields,
  };
}

export function submissionOf(message = messageWith(), rest: Partial<Submission> = {}): Submission {
  return { message, idempotencyKey: null, networks: [], isTrapped: false, ...rest };
}

/** A message that will be quarantined. */
export function trapped(email = "ada@example.com"): Submission {
  return submissionOf(messageWith({ email }), { isTrapped: true });
}

/** The object `footprint` of a request body. */
export type Footprint = Readonly<Record<string, unknown>>;

export function inputsOf(footprint: Footprint): FootprintInputs {
  const { inputs, errors } = parseFootprint({ footprint });
  if (inputs === null || Object.keys(errors).length > 0) throw new Error(JSON.stringify(errors));
  return inputs;
}

/** The estimate that a visitor in this country gets for these inputs. */
export function estimateOf(footprint: Footprint, country = "GB"): FootprintEstimate {
  return estimateFootprint(inputsOf(footprint), country);
}

/** A client without wider networks. */
export function client(hash: string): Submission["networks"] {
  return [{ hash, allowance: 1 }];
}

/** Stores a new message, and returns its reference. */
export async function store(node: Store, submission = submissionOf(), now: Date | null = NOON): Promise<string> {
  return referenceOf(await node.intake.accept(submission, now));
}

export function referenceOf(acceptance: Acceptance): string {
  if (acceptance.kind !== "stored" && acceptance.kind !== "repeated") throw new Error(`It was ${acceptance.kind}`);
  return acceptance.reference;
}

/** Leases the delivery that is due first, for a minute. */
export async function claimOne(node: Store, now = NOON, channel: Channel = "mail"): Promise<Claim> {
  const [claim] = await node.queue.claim(channel, 1, MINUTE_MS, now);
  if (!claim) throw new Error("Nothing was claimed");
  return claim;
}

/** Applies the action to these messages; returns the references of those that allowed it. */
export function act(node: Store, action: Action | "again", references: readonly string[], now = NOON, step?: string) {
  return node.actions.act(action, { references }, now, step);
}

/** Brings the mail that is due first to a final state. */
export async function finish(node: Store, outcome: "delivered" | "failed", now = NOON): Promise<void> {
  const claim = await claimOne(node, now);
  const error = "550 no such user";
  await node.queue.settle(claim, outcome === "failed" ? { kind: outcome, error } : { kind: outcome }, now);
}

/** Stores a message that reaches the state at this time. No other mail must be due. */
export async function storeAs(
  node: Store,
  state: MessageState,
  { now = NOON, email = "ada@example.com" }: { now?: Date; email?: string } = {},
): Promise<string> {
  const submission = state === "quarantined" ? trapped(email) : submissionOf(messageWith({ email }));
  const reference = await store(node, submission, now);
  if (state === "delivered" || state === "failed") await finish(node, state, now);
  return reference;
}
