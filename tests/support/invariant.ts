import type { StoredMessage } from "../../server/store/model.ts";
import type { ReceivedMail } from "./mail-server.ts";
import { parseMail } from "./parse-mail.ts";

/** What visitors, the database and the team's mail server know after a fault. */
export interface Evidence {
  /** The references that visitors got, one per message. */
  acknowledged: readonly string[];
  stored: readonly Pick<StoredMessage, "reference" | "state">[];
  messageIds: readonly string[];
  /** The ids of the posts that HOOK_URL's receiver accepted, such as `BC-7K3Q-9M.17`; absent without a receiver. */
  postedIds?: readonly string[];
}

/**
 * All differences between acknowledged references, rows and delivered Message-IDs; empty if there are none. A mail may
 * arrive `maxTimesMailed` times with one Message-ID if the fault makes it unknown whether it had arrived.
 */
export function findViolations(evidence: Evidence, maxTimesMailed = 1): string[] {
  const { acknowledged, stored, messageIds, postedIds } = evidence;
  const given = countEach(acknowledged);
  const kept = countEach(stored.map(({ reference }) => reference));
  const mailed = countEach(messageIds);
  const idsOf = Map.groupBy(mailed.keys(), referenceOf);
  const violations: string[] = [];

  for (const [reference, times] of given) {
    if (!kept.has(reference)) violations.push(`${reference} was acknowledged but is not stored`);
    if (times > 1) violations.push(`${reference} was given to ${times} messages`);
  }
  for (const [reference, times] of kept) {
    if (!given.has(reference)) violations.push(`${reference} is stored but nobody was told`);
    if (times > 1) violations.push(`${reference} is stored ${times} times`);
    if (!idsOf.has(reference)) violations.push(`${reference} was not mailed`);
  }
  for (const { reference, state } of stored) {
    if (state !== "delivered") violations.push(`${reference} is ${state}, not delivered`);
  }
  for (const [reference, ids] of idsOf) {
    if (!kept.has(reference)) violations.push(`${reference} was mailed but is not stored`);
    if (ids.length > 1) violations.push(`${reference} was mailed under ${ids.length} Message-IDs`);
  }
  const posted = postedIds && new Set(postedIds.map(referenceOf));
  for (const reference of posted?.symmetricDifference(kept) ?? []) {
    violations.push(`${reference} was ${kept.has(reference) ? "not posted" : "posted but is not stored"}`);
  }
  for (const [id, times] of mailed) {
    if (times > maxTimesMailed) violations.push(`${referenceOf(id)} was mailed ${times} times`);
  }
  return violations;
}

/** The Message-IDs of the mails to the team. */
export function messageIdsOf(mails: readonly ReceivedMail[]): string[] {
  return idsOfMails(mails.filter(({ sender }) => sender !== ""));
}

/** The Message-IDs of the mails to senders, which have no envelope sender. */
export function acknowledgementIdsOf(mails: readonly ReceivedMail[]): string[] {
  return idsOfMails(mails.filter(({ sender }) => sender === ""));
}

function idsOfMails(mails: readonly ReceivedMail[]): string[] {
  return mails.map(({ raw }) => parseMail(raw).header("Message-ID"));
}

/** `<BC-7K3Q-9M.17@example.com>` belongs to BC-7K3Q-9M. */
export function referenceOf(messageId: string): string {
  return /^<?([^.]+)\./.exec(messageId)?.[1] ?? messageId;
}

export function countEach(values: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  return times;
}
