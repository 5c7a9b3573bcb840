import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { Action, EventKind, MessageDetail } from "../contract/inbox.ts";
import { EVENT_NAME, eventDetail, QUARANTINE_REASON } from "../contract/message-history.ts";
import { asSentence } from "../contract/visible-text.ts";
import { useActions } from "./actions.tsx";
import { ApiFailure } from "./api.ts";
import { FootprintCard } from "./footprint.tsx";
import { ACTION_LABELS, ageOf, countryName, formatNumber, formatTime, isAllowed, VisitorText } from "./labels.tsx";
import { EmptyPanel, FailurePanel, LoadingRows, ScreenTitle } from "./panels.tsx";
import { messageQuery, reloadAll, useNow } from "./queries.ts";
import { replyHref } from "./reply.ts";
import { StateMarks } from "./rows.tsx";

const ACTIONS: readonly Action[] = ["retry", "release", "resend"];
/** Events of these kinds come with an error. */
const TROUBLE: readonly EventKind[] = [
  "deferred",
  "failed",
  "paused",
  "acknowledgement-failed",
  "hook-deferred",
  "hook-failed",
];
const route = getRouteApi("/messages/$reference");

export function MessageScreen() {
  const { reference } = route.useParams();
  const view = route.useSearch();
  const { data, error, refetch } = useQuery(messageQuery(reference));
  const isGone = error instanceof ApiFailure && error.kind === "not-found";
  const message = isGone ? undefined : data;
  return (
    <>
      <Link className="back" to="/" search={view} activeOptions={{ exact: true }}>
        Messages
      </Link>
      <header className="message-head">
        <p className="message-reference">{reference}</p>
        {/* One heading from the start: it has the focus, and keeps it. */}
        <ScreenTitle name={reference}>{message ? <VisitorText text={message.name} /> : "Message"}</ScreenTitle>
        {message && <StateMarks message={message} />}
      </header>
      {message && <Message key={reference} message={message} />}
      {isGone && (
        <EmptyPanel title="There is no such message">
          <p>It was deleted, erased, or kept no longer than the privacy policy allows.</p>
        </EmptyPanel>
      )}
      {!message && !isGone && error && <FailurePanel error={error} onRetry={refetch} />}
      {!message && !error && <LoadingRows label="Loading the message" count={4} />}
    </>
  );
}

function Message({ message }: { message: MessageDetail }) {
  const actions = useActions();
  const navigate = useNavigate();
  const view = route.useSearch();
  const { email, phone, country, state, quarantineReason, isRestricted, answeredAt } = message;
  const perform = (action: Action) =>
    actions.perform(action, { items: [message] }, async ([result]) => {
      if (action === "delete" && result?.outcome === "done") await navigate({ to: "/", search: view });
      else await reloadAll();
    });
  const isFailed = state === "failed";

  return (
    <article className="message">
      <div className="message-actions">
        <a className="button button-primary" href={replyHref(message)}>
          Reply
        </a>
        <button
          type="button"
          className="button button-outline"
          onClick={() => perform(answeredAt ? "unanswer" : "answer")}
        >
          {ACTION_LABELS[answeredAt ? "unanswer" : "answer"].label}
        </button>
        {ACTIONS.filter((action) => isAllowed(action, message)).map((action) => (
          <button key={action} type="button" className="button button-outline" onClick={() => perform(action)}>
            {action === "retry" && !isFailed ? "Retry now" : ACTION_LABELS[action].label}
          </button>
        ))}
        <button type="button" className="button button-outline" onClick={() => print()}>
          Print
        </button>
        {isAllowed("delete", message) && (
          <button type="button" className="button button-danger-outline" onClick={() => perform("delete")}>
            Delete
          </button>
        )}
      </div>

      {isRestricted && (
        <div className="callout">
          <h2>Restricted</h2>
          <p>
            Its sender asked that it be kept but not used. It is neither sent nor deleted.{" "}
            <Link to="/people" search={{ email }}>
              Lift the restriction on their page
            </Link>
          </p>
        </div>
      )}
      {state === "quarantined" && (
        <div className="callout callout-quarantined">
          <h2>Why it is quarantined</h2>
          <p>
            {quarantineReason
              ? QUARANTINE_REASON[quarantineReason]
              : "An earlier version quarantined it, and did not note why."}{" "}
            Release it to send it to the team, or delete it.
          </p>
        </div>
      )}
      {isFailed && message.lastError !== null && (
        <div className="callout callout-failed">
          <h2>Why it failed</h2>
          <p>{asSentence(message.lastError)} Once that is fixed, retry it.</p>
        </div>
      )}

      <div className="message-columns">
        <div className="message-main">
          <section className="card" aria-labelledby="text-title">
            <h2 id="text-title">Message</h2>
            <p className="message-text">
              <VisitorText text={message.message} isMultiline />
            </p>
          </section>
          {message.footprint && <FootprintCard estimate={message.footprint} />}
        </div>

        <section className="card" aria-labelledby="facts-title">
          <h2 id="facts-title">Sender</h2>
          <dl className="facts">
            <dt>E-mail</dt>
            <dd>
              <Link to="/people" search={{ email }}>
                <VisitorText text={email} />
              </Link>
            </dd>
            <dt>Phone</dt>
            <dd>
              <VisitorText text={phone} />
            </dd>
            <dt>Country</dt>
            <dd>{country === "" ? "Not given" : countryName(country)}</dd>
            <dt>Accepted</dt>
            <dd>{formatTime(message.acceptedAt)}</dd>
            {message.dueAt !== null && (
              <>
                <dt>Next attempt</dt>
                <dd>{formatTime(message.dueAt)}</dd>
              </>
            )}
            <dt>Attempts</dt>
            <dd>{formatNumber(message.attempts)}</dd>
            {answeredAt !== null && (
              <>
                <dt>Answered</dt>
                <dd>{formatTime(answeredAt)}</dd>
              </>
            )}
          </dl>
        </section>

        <section className="card history-card" aria-labelledby="history-title">
          <h2 id="history-title">History</h2>
          <History message={message} />
        </section>
      </div>
    </article>
  );
}

function History({ message: { history } }: { message: MessageDetail }) {
  const now = useNow();
  return (
    <ol className="history">
      {history.map(({ at, kind, detail }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a history only grows at its end
        <li key={index} className={`event event-${TROUBLE.includes(kind) ? "trouble" : kind}`}>
          <p className="event-name">{EVENT_NAME[kind]}</p>
          {detail !== null && <p className="event-detail">{eventDetail(kind, detail)}</p>}
          <p className="event-time">
            <time dateTime={at}>{formatTime(at)}</time> ({relative(at, now)})
          </p>
        </li>
      ))}
    </ol>
  );
}

function relative(at: string, now: Date): string {
  const age = ageOf(at, now);
  if (age === "now") return "just now";
  return /^\d+ (min|h|d)$/.test(age) ? `${age} ago` : age;
}
