import { durationInWords } from "../../contract/duration.ts";
import type { QueueDepth } from "../store/store.ts";

/** `overdue`: a message waits for an hour or more. `failed`: one was set aside since the last alert. */
export type Trouble = "overdue" | "paused" | "failed" | "store-away";

export interface Situation {
  now: Date;
  /** Why no mail is sent; `null` when it is. */
  pauseReason: string | null;
  /** `null` when the store does not answer. */
  depth: QueueDepth | null;
  /** How long the store has not answered; 0 when it does. */
  storeAwayMs: number;
}

const OVERDUE_MS = 60 * 60_000;
/** A database may be restarted without anybody being called. */
const STORE_AWAY_MS = 5 * 60_000;

export function findTroubles(situation: Situation, lastAlertAt: Date): Trouble[] {
  const { pauseReason, depth, storeAwayMs } = situation;
  const troubles: Trouble[] = [];
  if (oldestAgeMs(situation) >= OVERDUE_MS) troubles.push("overdue");
  if (pauseReason !== null) troubles.push("paused");
  // Told once, and not again for as long as they are kept.
  if (depth?.lastFailedAt && depth.lastFailedAt > lastAlertAt) troubles.push("failed");
  if (storeAwayMs >= STORE_AWAY_MS) troubles.push("store-away");
  return troubles;
}

/** How long the oldest undelivered message has waited; 0 without one. */
export function oldestAgeMs({ now, depth }: Situation): number {
  return depth?.oldestQueuedAt ? Math.max(0, now.getTime() - depth.oldestQueuedAt.getTime()) : 0;
}

/** What is wrong and what to do, for a person who may know nothing of the rest. */
export function describeTroubles(troubles: readonly Trouble[], situation: Situation): string {
  const { pauseReason, depth, storeAwayMs } = situation;
  const sentences: Record<Trouble, string> = {
    overdue: `${depth?.queued} waiting to be delivered, the oldest for ${durationInWords(oldestAgeMs(situation))}; see: npm run messages -- list`,
    paused: `No mail is sent until this is mended: ${pauseReason}`,
    failed: `${depth?.failed} set aside as undeliverable; once mended: npm run messages -- retry --failed`,
    "store-away": `The message database has not answered for ${durationInWords(storeAwayMs)}, and visitors are asked to try again: check DATABASE_URL, or the disk of DATA_DIR`,
  };
  return ["Messages from the website do not get through", ...troubles.map((trouble) => sentences[trouble])].join(". ");
}
