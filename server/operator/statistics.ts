import { statfs } from "node:fs/promises";
import { ENDS_SOON_DAYS, type Overview } from "../../contract/inbox.ts";
import type { Retention } from "../config.ts";
import { type MessageCount, type QueueTrouble, type Store, StoreUnavailable } from "../store/store.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";

/** Longer than the longest pause between two attempts of a queue that is paused. */
const PAUSE_SEEN_MS = 20 * MINUTE_MS;
/** The site's server looks for due messages twice a minute. */
const STALLED_MS = 3 * MINUTE_MS;
const LOW_DISK_BYTES = 500 * 1024 * 1024;
const DELIVERY_BOUNDS_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS];

/** Of the messages accepted in the last days; days are UTC. All figures are sums of `counts`. */
export async function countPeriod(days: number, now: Date, store: Store) {
  const firstDay = Math.floor(now.getTime() / DAY_MS) - days + 1;
  const since = new Date(firstDay * DAY_MS);
  const counts = await store.countByDayAndCountry(since);
  const byDay = sumBy(counts, ({ day }) => day);
  const byCountry = sumBy(counts, ({ country }) => country);
  return {
    since,
    total: counts.reduce((sum, { count }) => sum + count, 0),
    /** Every day of the period, oldest first. */
    perDay: Array.from({ length: days }, (_, index) => {
      const day = dayOf(new Date((firstDay + index) * DAY_MS));
      return { day, count: byDay.get(day) ?? 0 };
    }),
    /** Most first. */
    perCountry: [...byCountry]
      .map(([country, count]) => ({ country, count }))
      .sort((a, b) => b.count - a.count || a.country.localeCompare(b.country, "en")),
    counts,
  };
}

function sumBy(counts: readonly MessageCount[], keyOf: (count: MessageCount) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const count of counts) sums.set(keyOf(count), (sums.get(keyOf(count)) ?? 0) + count.count);
  return sums;
}

/** `2026-01-31` in UTC. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** What became of all deliveries of a kind; `null` when there was none. */
export async function countDeliveries(kind: "acknowledgement" | "hook", store: Store) {
  const { queued, sending, ...ended } = await store.countDeliveries(kind, new Date(0));
  const counts = { ...ended, waiting: queued + sending };
  return Object.values(counts).some((count) => count > 0) ? counts : null;
}

interface OverviewParts {
  store: Store;
  retention: Retention;
  dataDir: string;
  databaseKind: Overview["database"]["kind"];
  now: Date;
}

export async function readOverview(days: number, parts: OverviewParts): Promise<Overview> {
  const { store, retention, dataDir, databaseKind, now } = parts;
  const { since, perDay, perCountry } = await countPeriod(days, now, store);
  const [depth, unseen, trouble, times, website, endingSoon, lastBackupAt, problem, disk] = await Promise.all([
    store.queueDepth(),
    store.countUnseen(),
    store.queueTrouble(now),
    store.deliveryTimes(since, DELIVERY_BOUNDS_MS),
    store.websiteStatus(now),
    readEndingSoon(retention, store, now),
    store.lastBackupAt(),
    store.ping().then(() => null, problemOf),
    diskOf(dataDir),
  ]);
  return {
    now: now.toISOString(),
    days,
    failed: { count: depth.failed, lastAt: depth.lastFailedAt?.toISOString() ?? null },
    quarantined: { count: depth.quarantined, unseen },
    waiting: { count: depth.queued, oldestAt: depth.oldestQueuedAt?.toISOString() ?? null },
    queue: queueHealth(trouble, now),
    website: { ...website, lastSeenAt: website.lastSeenAt?.toISOString() ?? null },
    endingSoon,
    lastBackupAt: lastBackupAt?.toISOString() ?? null,
    database: { kind: databaseKind, problem },
    disk,
    perDay,
    perCountry,
    delivery: {
      ...times,
      buckets: times.buckets.map((count, index) => ({ upToMs: DELIVERY_BOUNDS_MS[index] ?? null, count })),
    },
  };
}

/** Unanswered messages that RETENTION will soon erase. */
async function readEndingSoon(
  retention: Retention,
  store: Pick<Store, "findUnanswered">,
  now: Date,
): Promise<Overview["endingSoon"]> {
  let [total, firstMs] = [0, Number.POSITIVE_INFINITY];
  for (const state of ["delivered", "failed", "quarantined"] as const) {
    const keptMs = retention[`${state}Ms`];
    if (keptMs === null) continue;
    const changedBy = new Date(now.getTime() - keptMs + ENDS_SOON_DAYS * DAY_MS);
    const { count, firstChangedAt } = await store.findUnanswered(state, changedBy);
    total += count;
    if (firstChangedAt) firstMs = Math.min(firstMs, firstChangedAt.getTime() + keptMs);
  }
  return { count: total, firstAt: total > 0 ? new Date(firstMs).toISOString() : null };
}

function queueHealth({ pause, dueSince }: QueueTrouble, now: Date): Overview["queue"] {
  if (pause && now.getTime() - pause.lastAt.getTime() < PAUSE_SEEN_MS) {
    return { state: "paused", reason: pause.reason, since: pause.since.toISOString() };
  }
  const isStalled = dueSince !== null && now.getTime() - dueSince.getTime() > STALLED_MS;
  return isStalled ? { state: "stalled", since: dueSince.toISOString() } : { state: "running" };
}

function problemOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return error.message;
  throw error;
}

async function diskOf(dataDir: string): Promise<Overview["disk"]> {
  try {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, isLow: bavail * bsize < LOW_DISK_BYTES };
  } catch {
    // With PostgreSQL the folder may not exist.
    return null;
  }
}
