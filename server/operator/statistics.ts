import { remedyText } from "../../contract/commands.ts";
import { capitalised } from "../../contract/visible-text.ts";
import type { MessageCount } from "../store/messages.ts";
import type { Store } from "../store/open-store.ts";
import { rulesOf } from "../store/store.ts";
import { DAY_MS, MINUTE_MS } from "../time.ts";
import { countOf, createWatch } from "../watch/troubles.ts";
import type { Desk } from "./desk.ts";

const DELIVERY_BOUNDS_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS];

/** Counts the messages accepted in the last `days` UTC days. */
async function countPeriod(days: number, now: Date, store: Store) {
  const firstDay = Math.floor(now.getTime() / DAY_MS) - days + 1;
  const since = new Date(firstDay * DAY_MS);
  const counts = await store.messages.countByDayAndCountry(since);
  const sum = (some: readonly MessageCount[] = []) => some.reduce((total, { count }) => total + count, 0);
  const byDay = Map.groupBy(counts, ({ day }) => day);
  const allDays = Array.from({ length: days }, (_, index) => dayOf(new Date((firstDay + index) * DAY_MS)));
  return {
    since,
    total: sum(counts),
    /** Oldest first. */
    perDay: allDays.map((day) => ({ day, count: sum(byDay.get(day)) })),
    /** Largest count first. */
    perCountry: [...Map.groupBy(counts, ({ country }) => country)]
      .map(([country, some]) => ({ country, count: sum(some) }))
      .sort((a, b) => b.count - a.count || a.country.localeCompare(b.country, "en")),
    perDayAndCountry: counts,
  };
}

/** `2026-01-31` in UTC. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The troubles, the waiting, failed and quarantined messages, and the messages of the period. */
export async function readOverview(days: number, desk: Desk) {
  const { store } = desk;
  const now = await store.status.time();
  const { facts, problem, defect, troubles, disk } = await createWatch({ ...desk, askedBy: "operator" }).find(now);
  if (facts === null) throw defect ?? problem;
  const { since, ...period } = await countPeriod(days, now, store);
  const times = await store.messages.deliveryTimes(since, DELIVERY_BOUNDS_MS);
  const deliveries = await Promise.all(
    desk.channels.map(async (channel) => ({
      channel,
      name: rulesOf(channel).name,
      isTrouble: rulesOf(channel).trouble !== null,
      ...(await store.queue.countChannel(channel)),
    })),
  );
  return {
    now,
    days,
    troubles: troubles.map(({ problem: what, remedy, command, ...trouble }) => ({
      ...trouble,
      what,
      remedy: capitalised(remedyText({ remedy, command }, desk.program)),
    })),
    counts: await store.messages.countTabs({}),
    /** When the oldest waiting message started to wait. */
    waitingSince: countOf(facts, "mail", "queued")?.firstAt ?? null,
    /** The number of quarantined messages that no operator has opened. */
    unseen: countOf(facts, "mail", "quarantined")?.unseen ?? 0,
    spamFilter: await store.spam.read(now),
    deliveries,
    website: facts.website,
    lastBackupAt: facts.lastBackupAt,
    database: { kind: desk.databaseKind, problem: problem?.message ?? null },
    disk,
    ...period,
    times: {
      ...times,
      buckets: times.buckets.map((count, index) => ({ upToMs: DELIVERY_BOUNDS_MS[index] ?? null, count })),
    },
  };
}
