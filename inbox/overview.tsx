import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { BACKUP_OVERDUE_MS, type ListSort, type Overview, type Tab } from "../contract/inbox.ts";
import { asSentence } from "../contract/visible-text.ts";
import { ColumnChart, RowChart } from "./charts.tsx";
import {
  countryName,
  erasedWhen,
  formatBytes,
  formatDuration,
  formatNumber,
  formatTime,
  formatUtcDay,
  plural,
} from "./labels.tsx";
import { FailurePanel, LoadingRows, ScreenTitle } from "./panels.tsx";
import { overviewQuery } from "./queries.ts";
import { type Shape, StateMark } from "./rows.tsx";

const SHOWN_COUNTRIES = 8;
/** A message that has waited for less is on its way. */
const LONG_WAIT_MS = 60 * 60_000;

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

interface Need {
  key: string;
  urgency: "trouble" | "look";
  shape: Shape;
  title: string;
  text: ReactNode;
  tab?: Tab;
  sort?: ListSort;
  action?: string;
}

/** What somebody has to do something about, the most urgent first. */
export function needsOf(overview: Overview): Need[] {
  const { now, failed, quarantined, waiting, queue, website, endingSoon, lastBackupAt, database, disk } = overview;
  const needs: Need[] = [];
  const msSince = (moment: string) => new Date(now).getTime() - new Date(moment).getTime();
  if (!website.isRunning) {
    const since = website.lastSeenAt === null ? "" : ` since ${formatTime(website.lastSeenAt)}`;
    needs.push({
      key: "website",
      urgency: "trouble",
      shape: "website",
      title: `The website has not been running${since}`,
      text: "Visitors cannot write, and no e-mail is sent. Start its server, and look into its log.",
    });
  }
  if (database.problem !== null) {
    needs.push({
      key: "database",
      urgency: "trouble",
      shape: "failed",
      title: `${database.kind} has a problem`,
      text: asSentence(database.problem),
    });
  }
  if (disk?.isLow) {
    const text = `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} are free. When it is full, no message can be accepted.`;
    needs.push({ key: "disk", urgency: "trouble", shape: "failed", title: "The disk is nearly full", text });
  }
  if (queue.state === "paused") {
    const text = (
      <>
        {asSentence(queue.reason)} Messages are kept and sent as soon as that is fixed. Paused since{" "}
        {formatTime(queue.since)}.
      </>
    );
    needs.push({ key: "queue", urgency: "trouble", shape: "failed", title: "No e-mail can be sent", text });
  }
  if (queue.state === "stalled") {
    const text = `A message has been due since ${formatTime(queue.since)} and nothing sends it: the site’s server probably does not run.`;
    needs.push({ key: "queue", urgency: "trouble", shape: "failed", title: "Nothing is being sent", text });
  }
  if (lastBackupAt !== null && msSince(lastBackupAt) > BACKUP_OVERDUE_MS) {
    const title = `No backup has succeeded for ${formatDuration(msSince(lastBackupAt))}`;
    const text = "Make one by hand on the server, and see what it says.";
    needs.push({ key: "backup", urgency: "trouble", shape: "failed", title, text });
  }
  if (failed.count > 0) {
    const last = failed.lastAt === null ? "" : ` The last one failed ${formatDuration(msSince(failed.lastAt))} ago.`;
    needs.push({
      key: "failed",
      urgency: "trouble",
      shape: "failed",
      title: `${plural(failed.count, "message")} failed`,
      text: `The team never got ${failed.count === 1 ? "it" : "them"}.${last} Retry once the cause is fixed.`,
      tab: "failed",
      action: "Show failed",
    });
  }
  if (quarantined.unseen > 0) {
    needs.push({
      key: "quarantined",
      urgency: "look",
      shape: "quarantined",
      title: `${plural(quarantined.unseen, "message")} quarantined, not looked at`,
      text: "Suspected abuse. Release what is genuine, delete the rest.",
      tab: "quarantined",
      action: "Show quarantined",
    });
  }
  if (endingSoon.count > 0 && endingSoon.firstAt !== null) {
    needs.push({
      key: "ending",
      urgency: "look",
      shape: "ending",
      title: `${plural(endingSoon.count, "unanswered message")} erased soon`,
      text: `The first one ${erasedWhen(endingSoon.firstAt, new Date(now))}, by RETENTION. Answer what is still open.`,
      tab: "all",
      sort: "oldest",
      action: "Show the oldest",
    });
  }
  if (waiting.oldestAt !== null && msSince(waiting.oldestAt) > LONG_WAIT_MS) {
    needs.push({
      key: "waiting",
      urgency: "look",
      shape: "queued",
      title: `The oldest message has waited for ${formatDuration(msSince(waiting.oldestAt))}`,
      text: "It is tried again by itself for five days.",
      tab: "waiting",
      action: "Show waiting",
    });
  }
  return needs;
}

function NeedsYou({ overview }: { overview: Overview }) {
  const needs = needsOf(overview);
  const { waiting, quarantined, failed, website, lastBackupAt, database, disk } = overview;
  return (
    <section className="needs" aria-labelledby="needs-title">
      <h2 id="needs-title">{needs.length > 0 ? "Needs somebody now" : "Nothing needs you now"}</h2>
      {needs.length > 0 && (
        <ul className="needs-list">
          {needs.map(({ key, urgency, shape, title, text, tab, sort = "newest", action }) => (
            <li key={key} className={`need need-${urgency}`}>
              <h3>
                <StateMark shape={shape} word={title} />
              </h3>
              <p>{text}</p>
              {tab && (
                <Link to="/" search={{ tab, sort }}>
                  {action}
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
      <dl className="figures">
        <Figure name="Waiting" value={waiting.count} note={oldestNote(overview)} tab="waiting" />
        <Figure name="Failed" value={failed.count} note={failed.count === 0 ? "none" : "to retry"} tab="failed" />
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
            {database.kind} {database.problem === null ? "takes messages" : "has a problem"}
            {disk && `, ${formatBytes(disk.freeBytes)} of disk free`}
            {lastBackupAt && `, last backup ${formatTime(lastBackupAt)}`}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function oldestNote({ now, waiting }: Overview): string {
  if (waiting.oldestAt === null) return "none";
  return `oldest for ${formatDuration(new Date(now).getTime() - new Date(waiting.oldestAt).getTime())}`;
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
