import type { Channel, MessageCount, Store } from "../store/store.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";
import { countOf, createWatch } from "../watch/troubles.ts";

const DELIVERY_BOUNDS_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS];

/** Of the messages accepted in the last days; days are UTC. All figures are sums of the last. */
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
    perDayAndCountry: counts,
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

/** What is wrong, what waits, failed or is in quarantine, and what came in. */
export async function readOverview(
  days: number,
  {
    store,
    databaseKind,
    ...desk
  }: { store: Store; databaseKind: string; dataDir: string; program: string; channels: readonly Channel[] },
) {
  const now = await store.time();
  const { facts, problem, troubles, disk } = await createWatch({ store, ...desk, askedBy: "operator" }).find(now);
  if (facts === null) throw problem;
  const { since, ...period } = await countPeriod(days, now, store);
  const times = await store.deliveryTimes(since, DELIVERY_BOUNDS_MS);
  const deliveries = await Promise.all(
    desk.channels.map(async (channel) => ({ channel, ...(await store.countChannel(channel)) })),
  );
  return {
    now,
    days,
    troubles,
    counts: await store.countTabs({}),
    /** Since when the oldest of those that wait does so. */
    waitingSince: countOf(facts, "mail", "queued")?.firstAt ?? null,
    /** Of those in quarantine, how many no operator has opened. */
    unseen: countOf(facts, "mail", "quarantined")?.unseen ?? 0,
    spamFilter: await store.readSpamFilter(now),
    deliveries,
    website: facts.website,
    lastBackupAt: facts.lastBackupAt,
    database: { kind: databaseKind, problem: problem?.message ?? null },
    disk,
    ...period,
    times: {
      ...times,
      buckets: times.buckets.map((count, index) => ({ upToMs: DELIVERY_BOUNDS_MS[index] ?? null, count })),
    },
  };
}
