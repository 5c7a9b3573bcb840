import { formatDuration } from "../../contract/duration.ts";
import type { MessageCount } from "../store/store.ts";
import { defineCommand, UsageError } from "./command.ts";
import { bars } from "./table.ts";
import { visible, visibleJson } from "./visible-text.ts";

const DAY_MS = 86_400_000;

export const stats = defineCommand({
  name: "stats",
  usage: "[--days N] [--json]",
  summary: "what waits, and messages per day and per country",
  details: `  --days N        look back so many days (30)
  --json          the numbers, as JSON`,
  operands: { least: 0, most: 0 },
  options: { days: { type: "string" }, json: { type: "boolean" } },
  read(values) {
    const days = Number(values.days ?? "30");
    if (!Number.isInteger(days) || days < 1 || days > 3660) {
      throw new UsageError("--days takes a number of days; e.g. --days 90");
    }
    return async ({ store, now, out }) => {
      const today = Math.floor(now.getTime() / DAY_MS);
      const dayNames = Array.from({ length: days }, (_, index) => nameOf(today - days + 1 + index));
      const counts = await store.countByDayAndCountry(new Date((today - days + 1) * DAY_MS));
      if (values.json) return out(`${visibleJson(counts)}\n`);
      const { queued, oldestQueuedAt, failed } = await store.queueDepth();
      const age = oldestQueuedAt ? `, the oldest for ${formatDuration(now.getTime() - oldestQueuedAt.getTime())}` : "";
      out(`Waiting to be delivered: ${queued}${age}. Set aside as undeliverable: ${failed}.\n\n`);
      const total = counts.reduce((sum, { count }) => sum + count, 0);
      if (total === 0) return out(`No messages in the last ${days} days.\n`);
      const perDay = sumBy(counts, ({ day }) => day);
      const perCountry = [...sumBy(counts, ({ country }) => visible(country) || "not given")];
      out(`Messages per day (UTC), ${total} in all\n${bars(dayNames.map((day) => [day, perDay.get(day) ?? 0]))}\n`);
      out(`Messages per country\n${bars(perCountry.sort(([, a], [, b]) => b - a))}`);
    };
  },
});

function nameOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function sumBy(counts: readonly MessageCount[], keyOf: (count: MessageCount) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const count of counts) sums.set(keyOf(count), (sums.get(keyOf(count)) ?? 0) + count.count);
  return sums;
}
