import { Alert, Badge, Button, Group, Menu, Stack, Table, Text, Textarea } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useRef } from "react";
import { site } from "../app/site.ts";
import { CONTACT_FIELDS, type ContactField, FIELD_NAMES } from "../contract/contact-message.ts";
import { categoriesOf } from "../contract/footprint/arithmetic.ts";
import { formatMass, formatTotal } from "../contract/footprint/fields.ts";
import { describeInputs, estimateNotes } from "../contract/footprint/words.ts";
import { MAX_NOTE_LENGTH } from "../contract/operator-limits.ts";
import { asSentence, visibleLines } from "../contract/text.ts";
import { attempt, perform } from "./actions.tsx";
import { type Action, call, isNotFound, type MessageDetail, queryClient, reloadAll, trpc } from "./api.ts";
import { isOccupied, useKeys } from "./keys.tsx";
import { countryName, formatNumber, formatTime, plural, VisitorText } from "./labels.tsx";
import { filterOf, type ListView, TAB_NAME } from "./list-view.ts";
import { Bars, Card, EmptyPanel, Facts, Failure, Loaded, ScreenTitle, useNow } from "./parts.tsx";
import { restrictPerson } from "./person.tsx";
import { focusReply, ReplyCard } from "./reply.tsx";
import { StateMarks } from "./rows.tsx";

const route = getRouteApi("/messages/$reference");

export function MessageScreen() {
  const { reference } = route.useParams();
  const now = useNow();
  const query = useQuery(trpc.message.queryOptions({ reference }));
  const isGone = isNotFound(query.error);
  const message = isGone ? undefined : query.data;
  return (
    <>
      <MessageNav key={`nav-${reference}`} reference={reference} />
      <header>
        {/* One heading while loading and afterwards, so that it keeps the focus. */}
        <ScreenTitle name={reference}>{message ? <VisitorText text={message.name} /> : "Message"}</ScreenTitle>
        <p className="marks">
          <span className="reference">{reference}</span>
          {message && <StateMarks message={message} now={now} />}
        </p>
      </header>
      {isGone ? (
        <EmptyPanel title="There is no such message">
          <p>It was deleted or erased, or its retention period ended.</p>
        </EmptyPanel>
      ) : (
        <Loaded query={query} label="Loading the message">
          {(message) => <Message key={reference} message={message} />}
        </Loaded>
      )}
    </>
  );
}

/**
 * The message's place in the list from which it was opened, and functions to leave the message. They do nothing if the
 * operator has left it already or is typing.
 */
function usePlace(reference: string, tab?: ListView["tab"]) {
  const navigate = useNavigate();
  const view = route.useSearch();
  const { pathname } = useLocation();
  const options = trpc.place.queryOptions({ reference, ...filterOf(view), ...(tab && { tab }) });
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
      // The loaded place may be missing or outdated. It is used only if loading it again fails.
      const place = await queryClient.fetchQuery(options).catch(() => queryClient.getQueryData(options.queryKey));
      await (place?.next ? show(place.next) : goToList());
    },
    /** Shows the message again after the operator has left it. */
    goBack: () => navigate({ to: "/messages/$reference", params: { reference }, search: view }),
  };
}

const linkTo = (reference: string, search: ListView) => (props: object) => (
  <Link {...props} to="/messages/$reference" params={{ reference }} search={search} />
);

function MessageNav({ reference }: { reference: string }) {
  const { options, view, show, goToList } = usePlace(reference);
  const { data: place } = useQuery(options);
  // A key may be pressed before the neighbours have loaded.
  const go = (to: "previous" | "next") =>
    queryClient.ensureQueryData(options).then(
      (place) => show(place[to]),
      () => {},
    );
  useKeys({
    j: () => go("next"),
    k: () => go("previous"),
    u: goToList,
    "/": () => goToList().then(() => document.getElementById("search")?.focus()),
  });
  const neighbour = (name: string, reference: string | null | undefined) => {
    const link = { renderRoot: linkTo(reference ?? "", view) };
    // Keeps its space at the end of the list, so that the other button does not move.
    return (
      <Button size="xs" {...(reference ? link : { disabled: true, "aria-hidden": true })}>
        {name}
      </Button>
    );
  };
  return (
    <Group component="nav" gap="xs" aria-label="Message">
      <Link className="back" to="/" search={view} activeOptions={{ exact: true }}>
        {view.tab === "all" ? "Messages" : TAB_NAME[view.tab]}
      </Link>
      <Text span size="sm" c="dimmed" ml="auto">
        {place?.position && `${formatNumber(place.position)} of ${formatNumber(place.total)}`}
      </Text>
      {neighbour("Previous", place?.previous)}
      {neighbour("Next", place?.next)}
    </Group>
  );
}

function Message({ message }: { message: MessageDetail }) {
  const { goToNext, goBack } = usePlace(message.reference, "unanswered");
  const { state, isRestricted, answeredAt, expiresAt, deliveryMarks } = message;
  const { mail } = message.deliveries;
  const isHeld = state === "quarantined";
  const looksLikeSpam = isHeld && message.quarantineReason === "looks-like-spam";
  // The current reason. The first line of the history has the reason at arrival.
  const reason = message.quarantineReason === "marked-as-spam" ? "Marked as spam." : (message.history[0]?.detail ?? "");
  return (
    <article className="stack">
      <MessageActions message={message} />
      {looksLikeSpam && <SpamSigns message={message} />}
      {isRestricted && (
        <Alert color="gray" title="Restricted">
          The sender asked you to keep this message but not use it. It is neither sent nor deleted.
        </Alert>
      )}
      {isHeld && !looksLikeSpam && (
        <Alert color="yellow" title="Why it is quarantined">
          {reason} Release it to send it to the team, or delete it.
        </Alert>
      )}
      {state === "failed" && (
        <Alert color="red" title="Why the mail failed">
          {asSentence(mail.error ?? "")} After you fix the cause, send it again.
        </Alert>
      )}
      {deliveryMarks.map(
        ({ channel, name, isFailed, error }) =>
          // The card "Reply" has the reason of a failed reply.
          isFailed &&
          channel !== "reply" && (
            <Alert key={channel} color="red" title={`Why the ${name.toLowerCase()} failed`}>
              {asSentence(error ?? "")} After you fix the cause, send it again.
            </Alert>
          ),
      )}
      <div className="columns">
        <Stack>
          <Card title="Message" id="text-title">
            <p className="written" dir="auto">
              <VisitorText text={message.message} isMultiline />
            </p>
          </Card>
          <ReplyCard message={message} goToNext={goToNext} goBack={goBack} />
          {message.footprint && <FootprintCard estimate={message.footprint} />}
        </Stack>
        <Stack>
          <Card title="Sender" id="facts-title">
            <Facts
              facts={[
                ...SENDER_FIELDS.map((field) => [CONTACT_FIELDS[field].label, senderFact(field, message)] as const),
                message.others.lastAt && [
                  "Also wrote",
                  <Link key="others" to="/people" search={{ email: message.email }}>
                    {plural(message.others.count, "other message")}, last on {formatTime(message.others.lastAt)}
                  </Link>,
                ],
                ["Received", formatTime(message.acceptedAt)],
                mail.dueAt && ["Next attempt", formatTime(mail.dueAt)],
                mail.attempts > 1 && ["Attempts", formatNumber(mail.attempts)],
                answeredAt && ["Answered", formatTime(answeredAt)],
                expiresAt && ["Kept until", formatTime(expiresAt)],
              ]}
            />
          </Card>
          <Card title="History" id="history-title">
            <History message={message} />
            <NoteForm reference={message.reference} />
          </Card>
        </Stack>
      </div>
    </article>
  );
}

/** All fields except the heading and the text. */
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

/** Why the spam filter quarantined the message, according to the filter's current lessons. */
function SpamSigns({ message }: { message: MessageDetail }) {
  const { spamSigns, allowed } = message;
  return (
    <Alert color="yellow" title="Looks like spam">
      <p>
        {spamSigns.length > 0
          ? "These were the strongest signs of spam:"
          : "It is similar to messages that you marked as spam."}
      </p>
      <Group component="ul" className="plain" gap={6} my="xs">
        {spamSigns.map((sign) => (
          <Badge key={sign} component="li" variant="outline" color="gray" c="inherit" tt="none" maw="100%">
            <VisitorText text={sign} />
          </Badge>
        ))}
      </Group>
      {allowed.includes("release") && (
        <Group gap="xs">
          <Button size="xs" onClick={() => perform("release", [message])}>
            Release
          </Button>
          <span>Delivers the message. The filter learns that it is good.</span>
        </Group>
      )}
    </Alert>
  );
}

/** The most likely action, "Answered, next", and a menu with all other actions. */
function MessageActions({ message }: { message: MessageDetail }) {
  const { reference, email, state, isRestricted, answeredAt, allowed } = message;
  const { goToList, goToNext, goBack } = usePlace(reference);
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
  const lift = () =>
    attempt(`lift ${email}`, async () => {
      const { version } = await call.person.query({ email });
      return restrictPerson({ email, version, isRestricted: false });
    });
  useKeys({ e: answerAndGoOn, "!": markSpam, r: () => allowed.includes("reply") && focusReply() });

  const more = useRef<HTMLButtonElement>(null);
  const item = (action: Action, label: string, goOn?: () => Promise<void>) =>
    allowed.includes(action) && (
      <Menu.Item
        {...(action === "delete" && { color: "red" })}
        onClick={() => {
          // A dialog returns the focus to the element that had it, and the menu is closed by then.
          more.current?.focus();
          act(action, goOn);
        }}
      >
        {label}
      </Menu.Item>
    );
  const [primary, press] = isRestricted
    ? ["Lift restriction", lift]
    : state === "quarantined" && allowed.includes("release")
      ? ["Release", () => act("release")]
      : ["Reply", focusReply];
  return (
    <Group className="controls actions" gap={6}>
      {(primary !== "Reply" || allowed.includes("reply")) && (
        <Button key={primary} variant="filled" onClick={press}>
          {primary}
        </Button>
      )}
      <Button onClick={({ detail }) => detail < 2 && answerAndGoOn()}>{isAnswered ? "Next" : "Answered, next"}</Button>
      {allowed.includes("spam") && (
        <Button aria-keyshortcuts="!" onClick={({ detail }) => detail < 2 && markSpam()}>
          Spam
        </Button>
      )}
      <Menu position="bottom-start" withinPortal={false} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button ref={more} rightSection={<span aria-hidden="true">▾</span>}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {item("answer", "Mark answered")}
          {item("unanswer", "Mark unanswered")}
          {item("retry", "Retry")}
          {item("delete", "Delete", goToList)}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

function NoteForm({ reference }: { reference: string }) {
  const { mutate, error, isPending } = useMutation(trpc.note.mutationOptions());
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("note"));
    if (text.trim() === "" || isPending) return;
    mutate({ reference, text }, { onSuccess: () => reloadAll().then(() => form.reset()) });
  };
  return (
    <form className="stack controls" onSubmit={add}>
      <Textarea
        name="note"
        label="Note"
        description="An export of the sender’s data includes your notes."
        inputWrapperOrder={["label", "input", "description"]}
        rows={2}
        maxLength={MAX_NOTE_LENGTH}
      />
      <Failure error={error} />
      <Button type="submit" size="xs" mr="auto">
        Add note
      </Button>
    </form>
  );
}

function History({ message: { history } }: { message: MessageDetail }) {
  return (
    <ol className="plain stack">
      {history.map(({ at, kind, name, detail }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a history only grows at its end
        <li key={index} data-trouble={["deferred", "failed", "paused"].includes(kind)}>
          <p>{name}</p>
          {detail !== null && (
            <p className="written" dir="auto">
              {visibleLines(detail)}
            </p>
          )}
          <time className="soft" dateTime={at.toISOString()}>
            {formatTime(at)}
          </time>
        </li>
      ))}
    </ol>
  );
}

function FootprintCard({ estimate }: { estimate: NonNullable<MessageDetail["footprint"]> }) {
  const entered = describeInputs(estimate).map(({ label, value, kg }) => [label, value, formatMass(kg)]);
  return (
    <Card title="Footprint estimate" id="footprint-title">
      <p>{asSentence(formatTotal(estimate.totalKg))}</p>
      <Bars data={categoriesOf(estimate).map(({ category, kg }) => [category, kg])} format={formatMass} />
      <Table data={{ caption: "Amounts entered", body: entered }} />
      {estimateNotes(estimate, site.pricePerTonne).map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
    </Card>
  );
}
