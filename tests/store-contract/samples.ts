import type { ContactMessage } from "../../contract/contact-message.ts";
import { estimateFootprint, type FootprintEstimate, parseFootprint } from "../../contract/footprint.ts";
import { electricityTable } from "../../prerender/electricity.ts";
import type { Retention } from "../../server/config.ts";
import type {
  Acceptance,
  AcceptanceRules,
  AcknowledgementRules,
  Ending,
  Store,
  StoredMessage,
  Submission,
} from "../../server/store/store.ts";

/** One empty database; every `open` is another node on it. All nodes are closed after the test. */
export interface Place {
  /** Several servers may work on it. */
  isShared: boolean;
  open(options?: { drawReference?: (prefix: string) => string }): Promise<Store>;
  /** Runs SQL behind the store's back. */
  sql(statement: string): Promise<unknown[]>;
  /** Fills the empty database with what the version of the program with this schema left. */
  loadSchema(version: 1 | 2 | 3 | 4): Promise<void>;
}

export type NewPlace = () => Promise<Place>;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const NOON = new Date("2025-06-15T12:00:00Z");

export function later(ms: number, from: Date = NOON): Date {
  return new Date(from.getTime() + ms);
}

export const NO_LIMITS: AcceptanceRules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null };

export const LIMITED: AcceptanceRules = {
  ...NO_LIMITS,
  rateLimits: [
    { count: 2, windowMs: 10 * MINUTE_MS },
    { count: 3, windowMs: DAY_MS },
  ],
};

let serial = 0;

/** A message unlike any other, but for what is given. */
export function messageWith(fields: Partial<ContactMessage> = {}): ContactMessage {
  serial += 1;
  return {
    name: "Ada Lovelace",
    email: "ada@example.com",
    phone: "+44 20 7946 0000",
    country: "GB",
    message: `Question number ${serial}`,
    ...fields,
  };
}

/** As the store gives it back before anything was done with it. */
export function storedWith(fields: Partial<StoredMessage> = {}): StoredMessage {
  return {
    ...messageWith(),
    id: 17,
    reference: "BC-7K3Q-9M",
    state: "queued",
    acceptedAt: NOON,
    stateChangedAt: NOON,
    dueAt: null,
    attempts: 0,
    lastError: null,
    isRestricted: false,
    answeredAt: null,
    notifiedAt: null,
    quarantineReason: null,
    footprint: null,
    acknowledgement: null,
    hook: null,
    version: "1",
    ...fields,
  };
}

export function submissionOf(message = messageWith(), rest: Partial<Submission> = {}): Submission {
  return { message, idempotencyKey: null, networks: [], isTrapped: false, ...rest };
}

/** The estimate that a visitor in this country gets for these inputs. */
export function estimateOf(footprint: Readonly<Record<string, unknown>>, country = "GB"): FootprintEstimate {
  const parsed = parseFootprint({ footprint });
  if (!parsed.ok || parsed.inputs === null) throw new Error(JSON.stringify(parsed));
  return estimateFootprint(parsed.inputs, country, electricityTable());
}

/** A client that belongs to no wider network. */
export function client(hash: string): Submission["networks"] {
  return [{ hash, allowance: 1 }];
}

/** As an alert does once it was sent. */
export async function reportQuarantine(place: Store): Promise<void> {
  await place.markQuarantineReported((await place.queueDepth()).lastQuarantinedId ?? 0);
}

/** The same for messages that end. Returns what the alert told. */
export async function reportEnding(place: Store, retention: Retention, now: Date): Promise<Ending> {
  const ending = await place.findEnding(retention, now);
  await place.markEndingReported(retention, ending);
  return ending;
}

/** Stores a new message and gives its reference. */
export async function store(place: Store, submission = submissionOf(), now = NOON): Promise<string> {
  return referenceOf(await place.accept(submission, NO_LIMITS, now));
}

export function referenceOf(acceptance: Acceptance): string {
  if (acceptance.kind !== "stored" && acceptance.kind !== "repeated") throw new Error(`It was ${acceptance.kind}`);
  return acceptance.reference;
}

/** Decides who may get an acknowledgement, and leases these, as the outbox does. */
export async function claimAcknowledgements(
  place: Store,
  limit: number,
  leaseMs: number,
  rules: AcknowledgementRules,
  now: Date,
) {
  const refusals = await place.admitAcknowledgements(limit, leaseMs, rules, now);
  return { ...refusals, claims: await place.claim(limit, leaseMs, now, "acknowledgement") };
}

/** As if the time had passed for which a dead worker's deliveries stay its own: leases go by the database's clock. */
export async function endLeases({ sql }: Place): Promise<void> {
  for (const column of ["leased_until", "ack_leased_until", "hook_leased_until"]) {
    await sql(`UPDATE messages SET ${column} = 1 WHERE ${column} IS NOT NULL`);
  }
}

/** Brings the only queued message to a final state. */
export async function finish(place: Store, outcome: "delivered" | "failed", now = NOON): Promise<void> {
  const [claim] = await place.claim(1, MINUTE_MS, now);
  if (!claim) throw new Error("Nothing to claim");
  if (outcome === "delivered") await place.markDelivered(claim, now);
  else await place.markFailed(claim, "550 no such user", now);
}
