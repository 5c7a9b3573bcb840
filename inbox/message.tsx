import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { type Action, type EventKind, MAX_NOTE_LENGTH, type MessageDetail } from "../contract/inbox.ts";
import { eventDetail, eventName, QUARANTINE_REASON } from "../contract/message-history.ts";
import { asSentence, visible, visibleLines } from "../contract/visible-text.ts";
import { useActions } from "./actions.tsx";
import { ApiFailure, api, describeFailure } from "./api.ts";
import { FootprintCard } from "./footprint.tsx";
import { isOccupied, useKeys } from "./keys.tsx";
import {
  ACTION_LABELS,
  ageOf,
  countryName,
  formatNumber,
  formatTime,
  isAllowed,
  TAB_NAME,
  VisitorText,
} from "./labels.tsx";
import type { ListView } from "./list-view.ts";
import { EmptyPanel, FailurePanel, LoadingRows, ScreenTitle } from "./panels.tsx";
import { restrictPerson } from "./person.tsx";
import { messageQuery, personQuery, placeQuery, queryClient, reloadAll, useNow } from "./queries.ts";
import { type Reply, replyTo } from "./reply.ts";
import { StateMarks } from "./rows.tsx";

/** Events of these kinds come with an error. */
const TROUBLE: readonly EventKind[] = ["deferred", "failed", "paused"];
const route = getRouteApi("/messages/$reference");

export function MessageScreen() {
  const { reference } = route.useParams();
  const view = route.useSearch();
  const now = useNow();
  const { data, error, refetch } = useQuery(messageQuery(reference));
  const isGone = error instanceof ApiFailure && error.kind === "not-found";
  const message = isGone ? undefined : data;
  return (
    <>
      <MessageNav key={`nav-${reference}`} reference={reference} view={view} />
      <header className="message-head">
        <p className="message-reference">{reference}</p>
        {/* One heading from the start: it has the focus, and keeps it. */}
        <ScreenTitle name={reference}>{message ? <VisitorText text={message.name} /> : "Message"}</ScreenTitle>
        {message && <StateMarks message={message} now={now} />}
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

/** Back to the list, and the messages next to this one in it. */
function MessageNav({ reference, view }: { reference: string; view: ListView }) {
  const navigate = useNavigate();
  const { data: place } = useQuery(placeQuery(reference, view));
  // A key may be pressed before the neighbours are known.
  const [wanted, setWanted] = useState<"previous" | "next" | null>(null);
  useEffect(() => {
    if (!place || wanted === null) return;
    setWanted(null);
    if (isOccupied()) return;
    const neighbour = place[wanted];
    if (neighbour !== null) navigate({ to: "/messages/$reference", params: { reference: neighbour }, search: view });
  }, [place, wanted, navigate, view]);
  useKeys({
    j: () => setWanted("next"),
    k: () => setWanted("previous"),
    u: () => navigate({ to: "/", search: view }),
    "/": async () => {
      await navigate({ to: "/", search: view });
      document.getElementById("search")?.focus();
    },
  });
  return (
    <nav className="message-nav" aria-label="Message">
      <Link className="back" to="/" search={view} activeOptions={{ exact: true }}>
        {view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}
      </Link>
      <span className="message-place">
        {place?.position && `${formatNumber(place.position)} of ${formatNumber(place.total)}`}
      </span>
      <NeighbourLink name="Previous" reference={place?.previous} view={view} />
      <NeighbourLink name="Next" reference={place?.next} view={view} />
    </nav>
  );
}

interface NeighbourLinkProps {
  name: string;
  reference: string | null | undefined;
  view: ListView;
}

/** Stays where it is at the end of the list, so that the other one does not move. */
function NeighbourLink({ name, reference, view }: NeighbourLinkProps) {
  if (!reference) {
    return (
      <span className={`button button-small neighbour neighbour-${name.toLowerCase()} button-off`} aria-hidden="true">
        <span className="visually-hidden-narrow">{name}</span>
      </span>
    );
  }
  return (
    <Link
      className={`button button-small neighbour neighbour-${name.toLowerCase()}`}
      to="/messages/$reference"
      params={{ reference }}
      search={view}
    >
      <span className="visually-hidden-narrow">{name}</span>
    </Link>
  );
}

function Message({ message }: { message: MessageDetail }) {
  const { email, phone, country, state, quarantineReason, isRestricted, answeredAt } = message;
  const isFailed = state === "failed";
  const reply = replyTo(message, navigator.userAgent);

  return (
    <article className="message">
      <MessageActions message={message} reply={reply} />
      {reply.isCut && !isRestricted && (
        <p className="message-hint">
          The message is too long for the mail program of this system: a reply quotes only its beginning. Copy the
          quoted reply to have all of it.
        </p>
      )}

      {isRestricted && (
        <div className="callout">
          <h2>Restricted</h2>
          <p>
            Its sender asked that it be kept but not used. It is neither sent nor deleted, and should not be answered
            before the restriction is lifted.
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
            <div className="card-head">
              <h2 id="text-title">Message</h2>
              <CopyButton label="Copy quoted reply" text={reply.text} />
            </div>
            <p className="message-text" dir="auto">
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
              </Link>{" "}
              <CopyButton label="Copy address" text={email} />
            </dd>
            <dt>Phone</dt>
            <dd>
              <VisitorText text={phone} />
            </dd>
            <dt>Country</dt>
            <dd>{country === "" ? "Not given" : countryName(country)}</dd>
            <dt>Received</dt>
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
            {message.keptUntil !== null && (
              <>
                <dt>Kept until</dt>
                <dd>{formatTime(message.keptUntil)}</dd>
              </>
            )}
          </dl>
        </section>

        <section className="card history-card" aria-labelledby="history-title">
          <h2 id="history-title">History</h2>
          <History message={message} />
          <NoteForm reference={message.reference} />
        </section>
      </div>
    </article>
  );
}

/** What can be done, with the most likely first. */
function MessageActions({ message, reply }: { message: MessageDetail; reply: Reply }) {
  const actions = useActions();
  const navigate = useNavigate();
  const view = route.useSearch();
  const { pathname } = useLocation();
  const { reference, email, state, isRestricted, answeredAt } = message;
  const isAnswered = answeredAt !== null;

  const isStillHere = () => location.pathname === pathname && !isOccupied();
  const goToList = async () => {
    if (isStillHere()) await navigate({ to: "/", search: view });
  };
  const goToNext = async () => {
    // What is shown of its place may be missing yet, or older than what was answered since. Better that than nothing.
    const query = placeQuery(reference, view);
    const place = await queryClient.fetchQuery(query).catch(() => queryClient.getQueryData(query.queryKey));
    const next = place?.next ?? null;
    if (next === null) await goToList();
    else if (isStillHere()) await navigate({ to: "/messages/$reference", params: { reference: next }, search: view });
  };
  const perform = (action: Action, goOn?: () => Promise<void>) =>
    actions.perform(action, [message], async ([result]) => {
      if (result?.outcome === "done") await goOn?.();
      await reloadAll();
    });
  const answerAndGoOn = () =>
    isAnswered ? actions.attempt(`next ${reference}`, () => goToNext().then(() => null)) : perform("answer", goToNext);
  const lift = () =>
    actions.attempt(`lift ${email}`, async () => {
      const { version } = await queryClient.fetchQuery(personQuery(email));
      return restrictPerson({ email, version, isRestricted: false });
    });
  useKeys({ e: answerAndGoOn });

  const buttons = ACTION_ORDER.filter((action) => isAllowed(action, message));
  const primary = isRestricted ? "lift" : state === "quarantined" ? "release" : "reply";
  const look = (name: string) => (name === primary ? "button button-primary" : "button button-outline");
  return (
    <div className="message-actions">
      {isRestricted && (
        <button type="button" className={look("lift")} onClick={lift}>
          Lift restriction
        </button>
      )}
      {state === "quarantined" && isAllowed("release", message) && (
        <button type="button" className={look("release")} onClick={() => perform("release")}>
          {ACTION_LABELS.release.label}
        </button>
      )}
      {state === "quarantined" && <DeleteButton message={message} onPress={() => perform("delete", goToList)} />}
      {!isRestricted && (
        <>
          <a className={look("reply")} href={reply.href}>
            Reply
          </a>
          {!isAnswered && (
            <a className={look("")} href={reply.href} onClick={() => perform("answer")}>
              Reply and mark answered
            </a>
          )}
        </>
      )}
      {/* The same place before and after, so that a second press does not undo the first one. */}
      <button
        type="button"
        className={look("")}
        aria-disabled={isAnswered}
        onClick={() => !isAnswered && perform("answer")}
      >
        {isAnswered ? "Answered" : ACTION_LABELS.answer.label}
      </button>
      {!isAnswered && (
        <button type="button" className={look("")} onClick={({ detail }) => detail < 2 && answerAndGoOn()}>
          Answered, next
        </button>
      )}
      {buttons.map((action) => (
        <button key={action} type="button" className={look("")} onClick={() => perform(action)}>
          {action === "retry" && state !== "failed" ? "Retry now" : ACTION_LABELS[action].label}
        </button>
      ))}
      <button type="button" className={look("")} onClick={() => print()}>
        Print
      </button>
      {state !== "quarantined" && <DeleteButton message={message} onPress={() => perform("delete", goToList)} />}
    </div>
  );
}

const ACTION_ORDER: readonly Action[] = ["retry", "resend", "unanswer"];

function DeleteButton({ message, onPress }: { message: MessageDetail; onPress: () => void }) {
  if (!isAllowed("delete", message)) return null;
  return (
    <button type="button" className="button button-danger-outline" onClick={onPress}>
      Delete
    </button>
  );
}

function CopyButton({ label, text }: { label: string; text: string }) {
  const { showNotice } = useActions();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      showNotice({ tone: "success", text: "Copied." });
    } catch {
      showNotice({ tone: "failure", text: "The browser does not allow this page to copy." });
    }
  };
  return (
    <button type="button" className="button button-small" onClick={copy}>
      {label}
    </button>
  );
}

function NoteForm({ reference }: { reference: string }) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: api.addNote,
    onSuccess: (detail) => queryClient.setQueryData(messageQuery(reference).queryKey, detail),
  });
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = new FormData(form).get("text");
    if (typeof text === "string" && text.trim() !== "" && !isPending)
      mutate({ reference, text }, { onSuccess: () => form.reset() });
  };
  return (
    <form className="note-form" onSubmit={add}>
      <label className="filter">
        <span className="filter-label">Note</span>
        <textarea name="text" rows={2} maxLength={MAX_NOTE_LENGTH} required />
      </label>
      <p className="note-hint">The sender gets it with an export of their data.</p>
      <p className="field-error" role="alert">
        {error && describeFailure(error)}
      </p>
      <button type="submit" className="button button-small">
        Add note
      </button>
    </form>
  );
}

function History({ message: { history } }: { message: MessageDetail }) {
  const now = useNow();
  return (
    <ol className="history">
      {history.map(({ at, kind, channel, detail, author }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a history only grows at its end
        <li key={index} className={`event event-${TROUBLE.includes(kind) ? "trouble" : kind}`}>
          <p className="event-name">
            {eventName(kind, channel)}
            {author !== null && ` by ${visible(author)}`}
          </p>
          {detail !== null && (
            <p className="event-detail" dir="auto">
              {visibleLines(eventDetail(kind, detail))}
            </p>
          )}
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
