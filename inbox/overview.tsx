import { Alert, Box, Paper, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatDuration } from "../contract/duration.ts";
import { asSentence } from "../contract/visible-text.ts";
import { type Overview, type Tab, trpc } from "./api.ts";
import { isPressing, listOf } from "./app.tsx";
import { countryName, formatBytes, formatNumber, formatTime, formatUtcDay, plural } from "./labels.tsx";
import { TAB_NAME } from "./list-view.ts";
import { Bars, Loaded, ScreenTitle } from "./parts.tsx";

const SHOWN_COUNTRIES = 8;
const TONE = { critical: "red", warning: "yellow", info: "gray" } as const;

export function OverviewScreen() {
  const query = useQuery(trpc.overview.queryOptions({}));
  return (
    <>
      <ScreenTitle name="Overview" />
      <Loaded query={query} label="Loading the overview">
        {(overview) => (
          <>
            <Troubles overview={overview} />
            <Figures overview={overview} />
            <Charts overview={overview} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Troubles({ overview: { troubles } }: { overview: Overview }) {
  return (
    <section className="stack" aria-labelledby="needs-title">
      <h2 id="needs-title">{troubles.some(isPressing) ? "Needs attention" : "Nothing needs attention"}</h2>
      {troubles.map((trouble) => {
        const { kind, channel, severity, what, remedy, since } = trouble;
        const [text, search] = listOf(trouble) ?? [];
        return (
          <Alert key={`${kind} ${channel}`} color={TONE[severity]} title={<h3>{what}</h3>}>
            <p>
              {asSentence(remedy)}
              {since !== null && ` Since ${formatTime(since)}.`}
            </p>
            {search && (
              <Link to="/" search={search}>
                {text}
              </Link>
            )}
          </Alert>
        );
      })}
    </section>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { now, counts, waitingSince, unseen, spamFilter, deliveries, website, lastBackupAt, database, disk } = overview;
  const failed = deliveries.filter(({ failed, isTrouble }) => failed > 0 && isTrouble);
  const tabs: readonly (readonly [tab: Tab, note: string])[] = [
    ["unanswered", `${formatNumber(counts.answered)} answered`],
    ["waiting", waitingSince ? `oldest: ${formatDuration(now.getTime() - waitingSince.getTime())}` : "none"],
    ["failed", failed.map(({ name, failed }) => `${name} ${formatNumber(failed)}`).join(", ") || "none"],
    ["quarantined", unseen === 0 ? "all opened" : `${formatNumber(unseen)} not opened`],
  ];
  const facts = [
    `${database.kind} ${database.problem === null ? "accepts messages" : `has a problem: ${database.problem}`}`,
    disk && `${formatBytes(disk.freeBytes)} of disk free`,
    lastBackupAt ? `last backup ${formatTime(lastBackupAt)}` : "no backup yet",
  ];
  const { taught, needed, isDeciding, held, released } = spamFilter;
  const lessons = (["spam", "good"] as const).map((kind) => `${Math.min(taught[kind], needed)} of ${needed} ${kind}`);
  const figures = [
    ...tabs.map(([tab, note]) => ({ name: TAB_NAME[tab], value: formatNumber(counts[tab]), note, tab })),
    {
      name: "Looks like spam",
      value: isDeciding ? formatNumber(held) : "Learning",
      note: isDeciding
        ? `held this month, ${formatNumber(released)} released`
        : `${lessons.join(", ")} messages marked`,
    },
    { name: "Website", value: website.isRunning ? "Running" : "Not running", note: facts.filter(Boolean).join(", ") },
  ];
  return (
    <dl className="figures">
      {figures.map(({ name, value, note, ...link }) => (
        <Paper key={name} withBorder p="md">
          <dt>
            {"tab" in link ? (
              <Link to="/" search={link}>
                {name}
              </Link>
            ) : (
              name
            )}
          </dt>
          <Text component="dd" fz="1.75rem" fw={600} ff="var(--display)">
            {value}
          </Text>
          <dd className="soft">{note}</dd>
        </Paper>
      ))}
    </dl>
  );
}

function Charts({ overview: { days, total, perDay, perCountry, times } }: { overview: Overview }) {
  const period = `the last ${plural(days, "day")}`;
  if (total === 0) return <p className="soft">No messages arrived in {period}.</p>;
  const others = perCountry.slice(SHOWN_COUNTRIES).reduce((sum, { count }) => sum + count, 0);
  const countries: Data = perCountry
    .slice(0, SHOWN_COUNTRIES)
    .map(({ country, count }) => [countryName(country), count]);
  const named = perCountry.filter(({ country }) => country !== "").length;
  const bucket = (upToMs: number | null, index: number) =>
    upToMs ? `≤ ${formatDuration(upToMs)}` : `> ${formatDuration(times.buckets[index - 1]?.upToMs ?? 0)}`;
  return (
    <Box component="section" className="figures" __vars={{ "--least": "22rem" }} aria-label={`Figures for ${period}`}>
      <Chart
        title="Messages per day"
        note={`${plural(total, "message")} in ${period}; days end at midnight, UTC.`}
        category="Day (UTC)"
        data={perDay.map(({ day, count }) => [formatUtcDay(day), count])}
        isUpright
      />
      <Chart
        title="By country"
        note={`${plural(named, "country")} in ${period}.`}
        category="Country"
        data={others > 0 ? [...countries, ["All others", others]] : countries}
      />
      {times.medianMs !== null && times.slowestMs !== null && (
        <Chart
          title="Time to delivery"
          note={`Half within ${atLeastASecond(times.medianMs)}; the slowest took ${atLeastASecond(times.slowestMs)}.`}
          category="Time"
          data={times.buckets.map(({ upToMs, count }, index) => [bucket(upToMs, index), count])}
        />
      )}
    </Box>
  );
}

const atLeastASecond = (ms: number) => formatDuration(Math.max(1000, ms));

type Data = readonly (readonly [label: string, count: number])[];

interface ChartProps {
  title: string;
  note: string;
  /** The heading of the table's first column. */
  category: string;
  data: Data;
  isUpright?: boolean;
}

function Chart({ title, note, category, data, isUpright = false }: ChartProps) {
  const rows = data.map(([label, count]) => [label, formatNumber(count)]);
  return (
    <Paper component="figure" withBorder className="stack" p="md">
      <figcaption>
        <h2>{title}</h2>
        <p className="soft">{note}</p>
      </figcaption>
      <Bars data={data} isUpright={isUpright} />
      <details>
        <summary>Show as a table</summary>
        <Table data={{ head: [category, "Messages"], body: rows }} />
      </details>
    </Paper>
  );
}
