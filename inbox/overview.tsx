import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ListSort, Overview, Tab, Trouble, TroubleKind } from "../contract/inbox.ts";
import { asSentence } from "../contract/visible-text.ts";
import { ColumnChart, RowChart } from "./charts.tsx";
import { countryName, formatBytes, formatDuration, formatNumber, formatTime, formatUtcDay, plural } from "./labels.tsx";
import { FailurePanel, LoadingRows, ScreenTitle } from "./panels.tsx";
import { overviewQuery } from "./queries.ts";
import { type Shape, StateMark } from "./rows.tsx";

const SHOWN_COUNTRIES = 8;

export function OverviewScreen() {
  const { data, error, refetch } = useQuery(overviewQuery);
  return (
    <>
      <ScreenTitle name="Overview" />
      {!data && !error && <LoadingRows label="Loading the overview" count={5} />}
      {!data && error && <FailurePanel error={error} onRetry={refetch} />}
      {data && (
        <>
          <NeedsYou overview={data} />
          <Charts overview={data} />
        </>
      )}
    </>
  );
}

interface Need extends Trouble {
  key: string;
  shape: Shape;
  /** Where its messages are. */
  link: { text: string; tab: Tab; sort: ListSort } | null;
}

const SHAPES: Readonly<Partial<Record<TroubleKind, Shape>>> = {
  overdue: "queued",
  quarantined: "quarantined",
  expiring: "expiring",
  "website-down": "website",
};
const LINKS: Readonly<Partial<Record<TroubleKind, Need["link"]>>> = {
  overdue: { text: "Show waiting", tab: "waiting", sort: "newest" },
  failed: { text: "Show failed", tab: "failed", sort: "newest" },
  quarantined: { text: "Show quarantined", tab: "quarantined", sort: "newest" },
  expiring: { text: "Show the oldest", tab: "all", sort: "oldest" },
};

/** What is wrong, the most urgent first. */
export function needsOf({ troubles }: Overview): Need[] {
  return troubles.map((trouble) => {
    const { kind, channel } = trouble;
    // The tabs are by the state of the mail.
    const link = channel === "hook" ? null : (LINKS[kind] ?? null);
    return { ...trouble, key: `${kind} ${channel}`, shape: SHAPES[kind] ?? "failed", link };
  });
}

/** Somebody has to do something about it. */
export const isPressing = ({ severity }: Trouble) => severity !== "info";

function NeedsYou({ overview }: { overview: Overview }) {
  const needs = needsOf(overview);
  const { waiting, quarantined, failed, website, lastBackupAt, database, disk } = overview;
  return (
    <section className="needs" aria-labelledby="needs-title">
      <h2 id="needs-title">{needs.some(isPressing) ? "Needs somebody now" : "Nothing needs you now"}</h2>
      {needs.length > 0 && (
        <ul className="needs-list">
          {needs.map(({ key, severity, shape, what, remedy, since, link }) => (
            <li key={key} className={`need need-${severity}`}>
              <h3>
                <StateMark shape={shape} word={what} />
              </h3>
              <p>
                {asSentence(remedy)}
                {since !== null && ` Since ${formatTime(since)}.`}
              </p>
              {link && (
                <Link to="/" search={{ tab: link.tab, sort: link.sort }}>
                  {link.text}
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
      <dl className="figures">
        <Figure name="Waiting" value={waiting.count} note={oldestNote(overview)} tab="waiting" />
        <Figure name="Failed" value={failed.count} note={failedNote(overview)} tab="failed" />
        <Figure
          name="Quarantined"
          value={quarantined.count}
          note={quarantined.unseen === 0 ? "all looked at" : `${formatNumber(quarantined.unseen)} not looked at`}
          tab="quarantined"
        />
        <div className="figure">
          <dt>Website</dt>
          <dd className="figure-word">{website.isRunning ? "Running" : "Not running"}</dd>
          <dd className="figure-note">
            {database.kind} {database.problem === null ? "takes messages" : `has a problem: ${database.problem}`}
            {disk && `, ${formatBytes(disk.freeBytes)} of disk free`}
            {lastBackupAt && `, last backup ${formatTime(lastBackupAt)}`}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function oldestNote({ now, waiting: { oldestAt } }: Overview): string {
  return oldestAt === null ? "none" : `oldest for ${durationBetween(oldestAt, now)}`;
}

function failedNote({ now, failed: { lastAt } }: Overview): string {
  return lastAt === null ? "none" : `last one ${durationBetween(lastAt, now)} ago`;
}

function durationBetween(start: string, end: string): string {
  return formatDuration(new Date(end).getTime() - new Date(start).getTime());
}

function Figure({ name, value, note, tab }: { name: string; value: number; note: string; tab: Tab }) {
  return (
    <div className="figure">
      <dt>
        <Link to="/" search={{ tab }}>
          {name}
        </Link>
      </dt>
      <dd className="figure-value">{formatNumber(value)}</dd>
      <dd className="figure-note">{note}</dd>
    </div>
  );
}

function Charts({ overview: { days, perDay, perCountry, delivery } }: { overview: Overview }) {
  const total = perDay.reduce((sum, { count }) => sum + count, 0);
  const countries = perCountry.map(({ country, count }) => ({ label: countryName(country), count }));
  const others = countries.slice(SHOWN_COUNTRIES).reduce((sum, { count }) => sum + count, 0);
  const shown = [
    ...countries.slice(0, SHOWN_COUNTRIES),
    ...(others > 0 ? [{ label: "All others", count: others }] : []),
  ];
  const busiest = perDay.reduce((most, one) => (one.count > most.count ? one : most), { day: "", count: 0 });
  const period = `the last ${plural(days, "day")}`;
  const buckets = delivery.buckets.map(({ upToMs, count }, index) => ({
    label: bucketName(upToMs, delivery.buckets[index - 1]?.upToMs ?? null),
    count,
  }));
  if (total === 0) {
    return <p className="charts-empty">No message came in within {period}, so there is nothing to draw.</p>;
  }
  return (
    <section className="charts" aria-label={`Figures of ${period}`}>
      <ColumnChart
        title="Messages per day"
        note={`${plural(total, "message")} in ${period}; days end at midnight, UTC.`}
        category="Day (UTC)"
        summary={`${plural(total, "message")} in ${period}, at most ${formatNumber(busiest.count)} on ${formatUtcDay(busiest.day)}. The table below has every day.`}
        data={perDay.map(({ day, count }) => ({ label: formatUtcDay(day), count }))}
      />
      <RowChart
        title="By country"
        note={`${plural(perCountry.filter(({ country }) => country !== "").length, "country")} in ${period}.`}
        category="Country"
        summary={`Most messages by country: ${shown
          .slice(0, 3)
          .map(({ label, count }) => `${label} ${formatNumber(count)}`)
          .join(", ")}. The table below has all of these.`}
        data={shown}
      />
      {delivery.medianMs !== null && delivery.slowestMs !== null && (
        <ColumnChart
          title="Time to delivery"
          note={`Half within ${formatDuration(delivery.medianMs)}; the slowest took ${formatDuration(delivery.slowestMs)}.`}
          category="Time"
          summary={`Half of ${plural(delivery.count, "message")} were delivered within ${formatDuration(delivery.medianMs)}, the slowest took ${formatDuration(delivery.slowestMs)}. The table below has the counts.`}
          data={buckets}
        />
      )}
    </section>
  );
}

function bucketName(upToMs: number | null, beforeMs: number | null): string {
  const short = (ms: number) => {
    if (ms < 60_000) return `${ms / 1000} s`;
    if (ms < 3_600_000) return `${ms / 60_000} min`;
    return ms < 86_400_000 ? `${ms / 3_600_000} h` : `${ms / 86_400_000} d`;
  };
  if (upToMs !== null) return `≤ ${short(upToMs)}`;
  return beforeMs === null ? "any" : `> ${short(beforeMs)}`;
}
