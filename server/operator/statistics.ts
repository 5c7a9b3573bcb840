import type { Channel, Overview } from "../../contract/inbox.ts";
import type { MessageCount, Store } from "../store/store.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";
import { countOf, createWatch } from "../watch/troubles.ts";

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

interface Desk {
  store: Store;
  dataDir: string;
  /** How an operator calls the program. */
  program: string;
  /** Those in use. */
  channels: readonly Channel[];
}

/** What is wrong, and what waits, failed or is in quarantine. */
export async function readStatus({ store, ...desk }: Desk) {
  const now = await store.time();
  const watch = createWatch({ store, ...desk, askedBy: "operator" });
  const { facts, problem, troubles, disk } = await watch.find(now);
  if (facts === null) throw problem;
  const [failed, quarantined, waiting] = (["failed", "quarantined", "queued"] as const).map((state) =>
    countOf(facts, "mail", state),
  );
  return {
    now,
    troubles,
    problem,
    disk,
    website: facts.website,
    lastBackupAt: facts.lastBackupAt,
    failed: { count: failed?.count ?? 0, lastAt: failed?.lastAt ?? null },
    quarantined: { count: quarantined?.count ?? 0, unseen: quarantined?.unseen ?? 0 },
    waiting: { count: waiting?.count ?? 0, oldestAt: waiting?.firstAt ?? null },
  };
}

export async function readOverview(
  days: number,
  { databaseKind, ...desk }: Desk & { databaseKind: Overview["database"]["kind"] },
): Promise<Overview> {
  const { now, troubles, problem, disk, website, lastBackupAt, failed, quarantined, waiting } = await readStatus(desk);
  const { since, perDay, perCountry } = await countPeriod(days, now, desk.store);
  const times = await desk.store.deliveryTimes(since, DELIVERY_BOUNDS_MS);
  return {
    now: now.toISOString(),
    days,
    troubles: troubles.map((trouble) => ({ ...trouble, since: isoOf(trouble.since) })),
    failed: { ...failed, lastAt: isoOf(failed.lastAt) },
    quarantined,
    waiting: { ...waiting, oldestAt: isoOf(waiting.oldestAt) },
    website: { isRunning: website.isRunning, lastSeenAt: isoOf(website.lastSeenAt) },
    lastBackupAt: isoOf(lastBackupAt),
    database: { kind: databaseKind, problem: problem?.message ?? null },
    disk,
    perDay,
    perCountry,
    delivery: {
      ...times,
      buckets: times.buckets.map((count, index) => ({ upToMs: DELIVERY_BOUNDS_MS[index] ?? null, count })),
    },
  };
}

function isoOf(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
