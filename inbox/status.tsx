import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Overview } from "../contract/inbox.ts";
import { KeyHelp } from "./keys.tsx";
import { formatSince } from "./labels.tsx";
import { isPressing, needsOf } from "./overview.tsx";
import { statusQuery, useLive } from "./queries.ts";
import { StateMark } from "./rows.tsx";

/** Whether the website runs, and whatever needs somebody: on every screen. */
export function StatusLine() {
  const { connection } = useLive();
  const { data } = useQuery(statusQuery);
  const isKnown = data !== undefined && connection === "live";
  const state = !isKnown ? "unknown" : data.website.isRunning ? "running" : "stopped";
  const needs = isKnown ? needsOf(data).filter((need) => isPressing(need) && need.kind !== "website-down") : [];
  return (
    <section className="status" aria-label="Status">
      <p className={`status-website status-${state}`} role="status">
        {isKnown ? websiteText(data) : connection === "connecting" ? "Connecting" : "No connection"}
      </p>
      <ul className="status-needs">
        {needs.map(({ key, shape, what, link }) => (
          <li key={key}>
            <Link to={link ? "/" : "/overview"} search={link ? { tab: link.tab, sort: link.sort } : {}}>
              <StateMark shape={shape} word={what} />
            </Link>
          </li>
        ))}
        {needs.length > 1 && (
          <li className="status-more">
            <Link to="/overview">{needs.length - 1} more</Link>
          </li>
        )}
      </ul>
      <KeyHelp />
    </section>
  );
}

function websiteText({ website: { isRunning, lastSeenAt }, now }: Overview): string {
  if (isRunning) return "Website: running";
  return lastSeenAt === null
    ? "Website: not running"
    : `Website: not running since ${formatSince(lastSeenAt, new Date(now))}`;
}
