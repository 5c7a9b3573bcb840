import { Alert, Button, Group, Stack, Table, Textarea, TextInput } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { CONTACT_FIELDS, type ContactField, FIELD_NAMES } from "../../contract/contact-message.ts";
import { formatMass } from "../../contract/footprint/fields.ts";
import { describeInputs, estimateSummary } from "../../contract/footprint/words.ts";
import { splitQuotes } from "../../contract/quoted-text.ts";
import { asSentence, capitalised, visibleLines } from "../../contract/text.ts";
import { ACTION_WORDS, TAB_NAME } from "../words.ts";
import { attempt, undoLast, useActions } from "./actions.tsx";
import { type Action, isNotFound, type MessageDetail, queryClient, reloadAll, trpc } from "./api.ts";
import { useDraft, useLeftover } from "./draft.ts";
import { countryName, formatTime, formatWait, plural } from "./format.ts";
import { isOccupied, useKeys } from "./keys.tsx";
import { Card, EmptyPanel, Facts, Loaded, ScreenTitle, useNow, useSteadyField, VisitorText } from "./parts.tsx";
import { focusReply, NoteForm, ReplyCard, takeBack } from "./reply.tsx";
import { filterOf, type ListView, Marks } from "./rows.tsx";

const route = getRouteApi("/messages/$reference");

export function MessageScreen() {
  const { reference } = route.useParams();
  return <OneMessage key={reference} reference={reference} />;
}

function OneMessage({ reference }: { reference: string }) {
  const query = useQuery(trpc.message.queryOptions({ reference }));
  const isGone = isNotFound(query.error);
  const message = isGone ? undefined : query.data;
  const now = useNow(message?.waits.reply?.until);
  /** A reply that is typed before the message has loaded; otherwise its letters would act as keys. */
  const [early, setEarly] = useState<string | null>(null);
  /** Outside of the data, so that it keeps what is typed if the message goes. */
  const [dialog, setDialog] = useState<ReactNode>(null);
  useSteadyField(query.data);
  const { goBack } = useNeighbours(reference);
  /** The button takes back a colleague's. */
  const isOwnReply = message?.replyState && !message.colleagues.reply;
  useKeys({ z: () => undoLast(isOwnReply ? () => takeBack(reference, undefined, goBack) : undefined) });
  useKeys({ r: () => (message ? message.allowed.includes("reply") && focusReply() : query.isPending && setEarly("")) });
  // This operator's other window may have saved a newer draft.
  useWindowEvent("focus", () => query.refetch());
  return (
    <>
      <MessageNav reference={reference} />
      <header>
        {/* One heading while loading and afterwards, so that it keeps the focus. */}
        <ScreenTitle name={reference}>{message ? <VisitorText text={message.name} /> : "Message"}</ScreenTitle>
        <p className="marks">
          <span className="reference">{reference}</span>
          {message && <Marks message={message} now={now} />}
        </p>
      </header>
      {isGone ? (
        <Gone reference={reference} shown={query.data} />
      ) : (
        <Loaded query={query}>
          {(message) => <Message message={message} now={now} early={early} show={setDialog} />}
        </Loaded>
      )}
      {early !== null && query.isPending && (
        <Textarea label="Reply" autoFocus value={early} onChange={({ target }) => setEarly(target.value)} />
      )}
      {dialog}
    </>
  );
}

function Gone({ reference, shown }: { reference: string; shown: MessageDetail | undefined }) {
  const { leftover, discard } = useLeftover(reference, shown);
  return (
    <EmptyPanel title="There is no such message">
      <p>It was deleted or erased, its retention period ended, or a backup without it was restored.</p>
      {leftover && (
        <Stack ta="start" mt="md">
          <p>What you typed is only on this page. Copy what you need.</p>
          {leftover.text.trim() !== "" && (
            <>
              <TextInput label="Subject" readOnly value={leftover.subject} />
              <Textarea label="Reply" rows={8} readOnly value={leftover.text} />
            </>
          )}
          {leftover.note.trim() !== "" && <Textarea label="Note" rows={4} readOnly value={leftover.note} />}
          <Button onClick={discard}>Discard</Button>
        </Stack>
      )}
    </EmptyPanel>
  );
}

/** The functions that leave the message do nothing if the operator has left it already or is typing. */
function useNeighbours(reference: string, tab?: ListView["tab"]) {
  const navigate = useNavigate();
  const view = route.useSearch();
  const { pathname } = useLocation();
  const options = trpc.neighbours.queryOptions({ reference, ...filterOf(view), ...(tab && { tab }) });
  const isStillHere = () => location.pathname === pathname && !isOccupied();
  const show = async (reference: string | null) => {
    if (reference !== null && isStillHere())
      await navigate({ to: "/messages/$reference", params: { reference }, search: view });
  };
  const goToList = async () => {
    if (isStillHere()) await navigate({ to: "/", search: view });
  };
  return {
    options,
    view,
    show,
    goToList,
    goToNext: async () => {
      // The loaded neighbours may be missing or outdated.
      const known = await queryClient.fetchQuery(options).catch(() => queryClient.getQueryData(options.queryKey));
      await (known?.next ? show(known.next) : goToList());
    },
    goBack: () => navigate({ to: "/messages/$reference", params: { reference }, search: view }),
  };
}

function MessageNav({ reference }: { reference: string }) {
  const { options, view, show, goToList } = useNeighbours(reference);
  const { data: neighbours } = useQuery(options);
  // A key may be pressed before the neighbours have loaded.
  const go = (to: "previous" | "next") =>
    queryClient.ensureQueryData(options).then(
      (neighbours) => show(neighbours[to]),
      () => {},
    );
  useKeys({
    j: () => go("next"),
    k: () => go("previous"),
    u: goToList,
    "/": () => goToList().then(() => document.getElementById("search")?.focus()),
  });
  const neighbour = (name: string, reference: string | null | undefined) =>
    reference && (
      <Link to="/messages/$reference" params={{ reference }} search={view}>
        {name}
      </Link>
    );
  return (
    <Group component="nav" aria-label="Message">
      <Link className="back" to="/" search={view} activeOptions={{ exact: true }}>
        {view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}
      </Link>
      <Group ml="auto">
        {neighbour("Previous", neighbours?.previous)}
        {neighbour("Next", neighbours?.next)}
      </Group>
    </Group>
  );
}

interface MessageProps {
  message: MessageDetail;
  now: Date;
  early: string | null;
  show: (dialog: ReactNode) => void;
}

function Message({ message, now, early, show }: MessageProps) {
  const { goToNext, goBack } = useNeighbours(message.reference, "unanswered");
  const writing = useDraft(message);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (early === null) return;
    writing.append(early);
    focusReply();
  }, []);
  const { expiresAt, footprint, others } = message;
  return (
    <article className="stack">
      <MessageActions message={message} />
      <Reasons message={message} />
      <div className="columns">
        <Stack>
          <Card title="Conversation">
            <Conversation message={message} />
          </Card>
          <ReplyCard message={message} writing={writing} now={now} goToNext={goToNext} goBack={goBack} show={show} />
          {footprint && (
            <Card title="Footprint estimate">
              <p>{capitalised(asSentence(estimateSummary(footprint)))}</p>
              <Table
                data={{ body: describeInputs(footprint).map(({ label, value, kg }) => [label, value, formatMass(kg)]) }}
              />
            </Card>
          )}
        </Stack>
        <Stack>
          <Card title="Sender">
            <Facts
              facts={[
                ...SENDER_FIELDS.map((field) => [CONTACT_FIELDS[field].label, senderFact(field, message)] as const),
                others.lastAt && [
                  "Also wrote",
                  <Link key="others" to="/people" search={{ email: message.email }}>
                    {plural(others.count, "other message")}, last on {formatTime(others.lastAt)}
                  </Link>,
                ],
                ["Received", formatTime(message.acceptedAt)],
                message.waits.mail && ["Delivery", formatWait(message.waits.mail, now)],
                expiresAt && ["Kept until", formatTime(expiresAt)],
              ]}
            />
          </Card>
          <Card title="For colleagues">
            <NoteForm reference={message.reference} writing={writing} />
          </Card>
        </Stack>
      </div>
    </article>
  );
}

const SENDER_FIELDS = FIELD_NAMES.filter((field) => field !== "name" && field !== "message");

function senderFact(field: ContactField, message: MessageDetail) {
  const value = message[field];
  if (value === "") return "Not given";
  if (field === "country") return countryName(value);
  const text = <VisitorText text={value} />;
  return field === "email" ? (
    <Link to="/people" search={{ email: value }}>
      {text}
    </Link>
  ) : (
    text
  );
}

/** Why the message is restricted, in quarantine, or not delivered. The card "Reply" says it about a reply. */
function Reasons({ message }: { message: MessageDetail }) {
  const { state, isRestricted, quarantineReason, spamSigns, deliveryMarks } = message;
  const failures = [
    ...(state === "failed" ? [{ name: "Email", error: message.deliveries.mail.error }] : []),
    ...deliveryMarks.filter(({ channel, isFailed }) => isFailed && channel !== "reply"),
  ];
  // The current reason. The first line of the history has the reason at arrival.
  const reason = {
    "looks-like-spam":
      spamSigns.length > 0 ? "Its strongest signs of spam:" : "It is similar to what you marked as spam.",
    "marked-as-spam": "Marked as spam.",
  }[String(quarantineReason)];
  return (
    <>
      {isRestricted && (
        <Alert color="gray" title="Restricted">
          The sender asked you to keep this message but not use it. It is neither sent nor deleted.{" "}
          <Link to="/people" search={{ email: message.email }}>
            Lift the restriction
          </Link>
        </Alert>
      )}
      {state === "quarantined" && (
        <Alert color="yellow" title="Why it is quarantined">
          <p>{reason ?? message.history[0]?.detail}</p>
          <p>
            <VisitorText text={spamSigns.join(", ")} />
          </p>
          <p>Release it to send it to the team, or delete it. The spam filter learns from a release.</p>
        </Alert>
      )}
      {failures.map(({ name, error }) => (
        <Alert key={name} color="red" title={`${name} failed`}>
          {asSentence(error ?? "")} After you fix the cause, press Retry.
        </Alert>
      ))}
    </>
  );
}

function MessageActions({ message }: { message: MessageDetail }) {
  const { reference, answeredAt, allowed } = message;
  const { options, goToNext, goBack } = useNeighbours(reference, "unanswered");
  const { perform, question } = useActions();
  const isAnswered = answeredAt !== null;
  const act = (action: Action, goOn?: () => Promise<void>) =>
    perform(action, [message], {
      onUndo: goBack,
      async refresh([result]) {
        if (result?.outcome === "done") await goOn?.();
        await reloadAll();
      },
    });
  const answerAndGoOn = () =>
    isAnswered ? attempt(`next ${reference}`, () => goToNext().then(() => null)) : act("answer", goToNext);
  const markSpam = () => allowed.includes("spam") && act("spam", goToNext);
  useKeys({ e: answerAndGoOn, "!": markSpam });

  /** The second click of a double click would act on the next message. */
  const button = (label: string, press: () => unknown, look = {}) => (
    <Button key={label} onClick={({ detail }) => detail < 2 && press()} {...look}>
      {label}
    </Button>
  );
  const others = { spam: markSpam, unanswer: () => act("unanswer"), retry: () => act("retry") };
  return (
    <Group className="actions" gap={6}>
      {allowed.includes("release") && button("Release", () => act("release"), { variant: "filled" })}
      {allowed.includes("reply") && button("Reply", focusReply, { variant: "filled" })}
      {button(isAnswered ? "Next" : "Mark answered and next", answerAndGoOn)}
      {(["spam", "unanswer", "retry"] as const).map(
        (action) => allowed.includes(action) && button(ACTION_WORDS[action].label, others[action]),
      )}
      {allowed.includes("delete") &&
        button("Delete", () => queryClient.prefetchQuery(options).then(() => act("delete", goToNext)), {
          variant: "outline",
          color: "red",
        })}
      {question}
    </Group>
  );
}

type Entry = MessageDetail["history"][number];

/** The message and everything since, oldest first. What people wrote stands out; other events are a line each. */
function Conversation({ message: { message, history } }: { message: MessageDetail }) {
  return (
    <ol className="plain stack">
      {history.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: no entry has a state of its own
        <li key={index} className={entry.isWritten ? "entry" : undefined} data-kind={entry.kind}>
          <p className={entry.isWritten ? undefined : "soft"} data-trouble={TROUBLES.includes(entry.kind)}>
            {entry.name},{" "}
            <time className="soft" dateTime={entry.at.toISOString()}>
              {formatTime(entry.at)}
            </time>
          </p>
          {entry.isWritten ? (
            <Written entry={entry} />
          ) : (
            entry.detail !== null && <p className="written soft">{visibleLines(entry.detail)}</p>
          )}
          {index === 0 && (
            <p className="written" dir="auto">
              <VisitorText text={message} isMultiline />
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

const TROUBLES = ["deferred", "failed", "paused", "came-back"];

/** What a mail quotes is folded, never left out. */
function Written({ entry: { detail, attachments, cameBack } }: { entry: Entry }) {
  const files = attachments.map(({ name, bytes }) => `${name} (${Math.ceil(bytes / 1024)} KB)`).join(", ");
  return (
    <>
      {splitQuotes(detail ?? "").map(({ text, isQuoted }, place) => {
        const shown = (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change
          <p key={place} className="written" dir="auto">
            <VisitorText text={text} isMultiline />
          </p>
        );
        if (!isQuoted) return shown;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change
          <details key={place}>
            <summary className="soft">Quoted text</summary>
            {shown}
          </details>
        );
      })}
      {files !== "" && (
        <p className="soft">
          In the mailbox: <VisitorText text={files} />
        </p>
      )}
      {cameBack !== null && (
        <p data-trouble="true">
          It came back: <VisitorText text={cameBack} />
        </p>
      )}
    </>
  );
}
