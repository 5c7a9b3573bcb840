import { site } from "virtual:site";
import { Alert, Button, Group, Menu, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { getHotkeyHandler } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { quote } from "../../contract/quoted-text.ts";
import { asSentence, visible } from "../../contract/text.ts";
import { MAX_NOTE_LENGTH, MAX_REPLY_LENGTH, MAX_SUBJECT_LENGTH, REPLY_STATES } from "../words.ts";
import { attempt, useQuestion } from "./actions.tsx";
import { call, describeFailure, isRefused, type MessageDetail, reloadAll, trpc } from "./api.ts";
import { isSaved, startSending, takeBackBy, type Writing } from "./draft.ts";
import { formatSince, formatTime, formatWait } from "./format.ts";
import { isOccupied } from "./keys.tsx";
import { Card, Failure, focusTitle, VisitorText } from "./parts.tsx";
import { CorrectDialog } from "./person.tsx";

const FIELD_ID = "reply-text";

/** The message whose form gets the cursor once, when it appears. */
let takenBack = "";

const replyField = () => document.querySelector<HTMLTextAreaElement>(`#${FIELD_ID}`);

export function focusReply(): void {
  const field = replyField();
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

interface ReplyProps {
  message: MessageDetail;
  writing: Writing;
  now: Date;
  goToNext: () => Promise<void>;
  goBack: () => Promise<void>;
  show: (dialog: ReactNode) => void;
}

/** Whose reply waits. */
const whose = ({ colleagues: { reply } }: MessageDetail) =>
  reply ? `The reply of ${visible(reply.author ?? "an unknown author")}` : "Your reply";

export function ReplyCard(props: ReplyProps) {
  const { message, writing, now, goBack } = props;
  const { replyRefusal } = message;
  const { reply } = message.deliveries;
  return (
    <Card title="Reply">
      {message.waits.reply && (
        <Alert color="gray" title={formatWait(message.waits.reply, now, whose(message))}>
          <p>Another one can be sent after it.</p>
          <Button mt="sm" onClick={() => takeBack(message.reference, undefined, goBack)}>
            Take back
          </Button>
        </Alert>
      )}
      {reply?.state === "delivered" && (
        <p className="soft">
          Sent on {formatTime(reply.changedAt)}. Answers go to {message.mailTo ?? site.contactEmail}.
        </p>
      )}
      {reply?.state === "failed" && (
        <FailedReply message={message} show={props.show} title={REPLY_STATES[message.replyState ?? "failed"].mark}>
          {asSentence(reply.error ?? "")}
        </FailedReply>
      )}
      {replyRefusal !== null && reply?.state !== "queued" && <p>{asSentence(replyRefusal)}</p>}
      {/* Stays while a reply waits, so that it keeps what the operator is writing. */}
      {(replyRefusal === null || writing.draft.text.trim() !== "") && <ReplyForm {...props} />}
    </Card>
  );
}

interface FailureText {
  title: string;
  children: string;
}

/** Only somebody who has read the reply sends it again: the visitor may have it. */
function FailedReply({ message, title, show, children }: Pick<ReplyProps, "message" | "show"> & FailureText) {
  const { reference, history, allowed, email } = message;
  const { ask, question } = useQuestion();
  const sendAgain = () =>
    void attempt(`again ${reference}`, async () => {
      const { wait } = await call.sendAgain.mutate({ reference }).finally(reloadAll);
      return { tone: "success", text: `Queued again. ${wait ? formatWait(wait, new Date()) : ""}` };
    });
  const correct = () =>
    attempt(`correct ${reference}`, async () => {
      const person = await call.person.query({ email });
      show(<CorrectDialog person={person} onClose={() => show(null)} />);
      return null;
    });
  return (
    <Alert color="red" title={title}>
      <p>{children}</p>
      <Group mt="sm" gap="sm">
        <Button onClick={correct}>Correct the address</Button>
        {allowed.includes("again") && (
          <Button
            onClick={() =>
              ask({
                title: "Send this reply again?",
                children: <Written text={history.findLast(({ kind }) => kind === "replied")?.detail ?? ""} />,
                confirm: "Send again",
                act: sendAgain,
              })
            }
          >
            Send again
          </Button>
        )}
      </Group>
      {question}
    </Alert>
  );
}

function ReplyForm({ message, writing, now, goToNext, goBack }: ReplyProps) {
  const { reference, version, email, otherAddresses, replyRefusal, colleagues, savedReplies, history, readAt } =
    message;
  const { draft, change } = writing;
  const { key, subject, text, isSending } = draft;
  const { ask, question } = useQuestion();
  /** Until when the operator has seen the answers of others. */
  const [seenAt, setSeenAt] = useState(readAt);
  const [to, setTo] = useState(email);
  const [hasCursor, setHasCursor] = useState(false);
  const [isRefused, setIsRefused] = useState(false);
  const isReady = !isSending && replyRefusal === null;
  useEffect(() => {
    if (takenBack !== reference) return;
    takenBack = "";
    if (!isOccupied()) focusReply();
  }, [reference]);

  const send = (isNext: boolean, since: Date) => {
    const { pathname } = location;
    const reply = { reference, version, key, subject, to, text, since, isUndoable: true };
    const sendReply = startSending(reference, draft, () => call.reply.mutate(reply));
    // A new name for every press: `isSending` ignores a second one.
    void attempt(`reply ${crypto.randomUUID()}`, async () => {
      try {
        const { outcome, by, wait } = await sendReply();
        const isStillHere = location.pathname === pathname;
        if (outcome === "stored" && isStillHere) {
          focusTitle();
          if (isNext) await goToNext();
        }
        void reloadAll();
        if (outcome === "stored") {
          const undo = () => takeBack(reference, key, goBack);
          const when = wait ? formatWait(wait, new Date()) : "";
          return { tone: "success", text: `Stored. ${when}`, undo };
        }
        const answered = `${visible(by.author ?? "A colleague")} answered at ${formatSince(by.at, new Date())}.`;
        if (!isStillHere) return { tone: "failure", text: `${answered} Your reply to ${reference} was not sent.` };
        setSeenAt(by.at);
        ask({
          title: `${answered} Send yours too?`,
          children: <Written text={by.detail ?? ""} />,
          confirm: "Send reply",
          act: () => send(isNext, by.at),
        });
        return null;
      } catch (error) {
        await reloadAll();
        const details = [describeFailure(error), "You can send it again: your reply is sent once."];
        return { tone: "failure", text: `Sending the reply to ${reference} failed.`, details };
      }
    });
  };
  const press = (event: { preventDefault(): void }, isNext = false) => {
    event.preventDefault();
    // An own reply is no answer of somebody else.
    const own = colleagues.reply ? undefined : history.findLast(({ kind }) => kind === "replied")?.at;
    setIsRefused(replyRefusal !== null);
    if (isReady && text.trim() !== "" && subject.trim() !== "") send(isNext, own && own > seenAt ? own : seenAt);
  };
  const insertAtCursor = (saved: string) => {
    if (hasCursor) replyField()?.focus();
    else focusReply();
    // Deprecated, and the only way that the browser's own undo knows of.
    document.execCommand("insertText", false, saved);
  };
  const keys = getHotkeyHandler([
    ["Escape", focusTitle],
    ["mod+Enter", (event) => press(event)],
    ["mod+shift+Enter", (event) => press(event, true)],
  ]);
  const form = (
    <form className="stack" onKeyDown={keys} onSubmit={press}>
      <div role="status">
        {colleagues.drafts.map((one) => (
          <details key={one.author}>
            <summary>
              <strong>{visible(one.author ?? "An unknown author")}</strong> is replying: draft of{" "}
              {formatSince(one.savedAt, now)}
            </summary>
            <Written text={one.text} />
          </details>
        ))}
      </div>
      {otherAddresses.length === 0 ? (
        <p>
          To <VisitorText text={email} />
        </p>
      ) : (
        <NativeSelect
          label="To"
          description="The form’s address, unless you choose another one that answered."
          value={to}
          onChange={({ target }) => setTo(target.value)}
          data={[email, ...otherAddresses].map((value) => ({ value, label: visible(value) }))}
        />
      )}
      {savedReplies.length > 0 && (
        <Menu returnFocus={false} transitionProps={{ duration: 0 }} position="bottom-start" withinPortal={false}>
          <Menu.Target>
            <Button variant="subtle" className="start">
              Insert a saved reply
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {savedReplies.map(({ name, text, needsEstimate }) => (
              <Menu.Item key={name} disabled={needsEstimate} onClick={() => insertAtCursor(text)}>
                {needsEstimate ? `${name} (needs an estimate)` : name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <TextInput
        label="Subject"
        value={subject}
        maxLength={MAX_SUBJECT_LENGTH}
        readOnly={isSending}
        onChange={({ target }) => change({ subject: target.value })}
      />
      <Textarea
        id={FIELD_ID}
        label="Text"
        value={text}
        rows={6}
        maxLength={MAX_REPLY_LENGTH}
        readOnly={isSending}
        onFocus={() => setHasCursor(true)}
        onChange={({ target }) => {
          // Who begins to write has read what is on the page.
          if (text.trim() === "") setSeenAt(readAt);
          change({ text: target.value });
        }}
      />
      <Group gap="sm">
        <Button type="submit" variant="filled" aria-disabled={!isReady} aria-keyshortcuts="Control+Enter">
          Send reply
        </Button>
        <Button aria-keyshortcuts="Control+Shift+Enter" onClick={(event) => press(event, true)}>
          Send and next
        </Button>
        <DraftState writing={writing} now={now} />
      </Group>
      <Failure text={isRefused && replyRefusal !== null ? `Nothing was sent. ${asSentence(replyRefusal)}` : null} />
      <p className="soft">The message is answered once the reply is delivered.</p>
      <p className="soft">Below your text:</p>
      <div className="soft">
        {message.signature && <Written text={message.signature} />}
        <Written text={quote(message)} />
      </div>
    </form>
  );
  return (
    <>
      {form}
      {question}
    </>
  );
}

const Written = ({ text }: { text: string }) => (
  <p className="written" dir="auto">
    <VisitorText text={text} isMultiline />
  </p>
);

function DraftState({ writing: { draft, elsewhere, showStored }, now }: { writing: Writing; now: Date }) {
  /** Nothing fills in the facts of a text that an operator wrote. */
  const unfilled = [...new Set(draft.text.match(/\{\w+\}/g))];
  const saved = isSaved(draft) ? "Your draft is saved." : "Saving your draft …";
  const state = draft.error ? `Your draft is not saved. ${describeFailure(draft.error)}` : saved;
  const other = elsewhere && {
    saved: `Another window of yours saved a newer draft at ${formatSince(elsewhere.at, now)}.`,
    sent: `A reply in your name was sent at ${formatSince(elsewhere.at, now)}.`,
  };
  return (
    <>
      <span className="soft" role="status" data-trouble={Boolean(draft.error) || elsewhere !== null}>
        {other ? other[elsewhere.did] : draft.text.trim() !== "" && state}
        {unfilled.length > 0 && ` ${unfilled.join(", ")} is sent as it stands: only saved replies fill it in.`}
      </span>
      {elsewhere && (
        <Button size="xs" onClick={showStored}>
          {elsewhere.did === "saved" ? "Show it" : "Remove this draft"}
        </Button>
      )}
    </>
  );
}

/** A failed attempt can be repeated from its notice. */
export function takeBack(reference: string, key: string | undefined, goBack: ReplyProps["goBack"]): void {
  void attempt(`take back ${key ?? reference}`, async () => {
    let taken: Awaited<ReturnType<typeof call.takeBackReply.mutate>>;
    try {
      taken = await takeBackBy(reference, () => call.takeBackReply.mutate({ reference, key }));
    } catch (error) {
      await reloadAll();
      const undo = isRefused(error) ? undefined : () => takeBack(reference, key, goBack);
      return { tone: "failure", text: describeFailure(error), undo };
    }
    await goBack();
    await reloadAll();
    if (!replyField()) takenBack = reference;
    else if (!isOccupied()) focusReply();
    if (taken.outcome === "stopped") {
      const details = ["It may have been sent before, so it stays in the history."];
      return { tone: "warning", text: "The reply was stopped: nobody sends it any more.", details };
    }
    focusReply();
    const text = "The reply was not sent. It is a draft again.";
    if (taken.recipient === null) return { tone: "success", text };
    return { tone: "warning", text, details: [`It was for ${visible(taken.recipient)}: choose that address again.`] };
  });
}

export function NoteForm({ reference, writing: { draft, change, keepNote } }: { reference: string; writing: Writing }) {
  const { mutate, error, isPending } = useMutation(trpc.note.mutationOptions());
  const { note, noteKey } = draft;
  const failure = error ?? (note === "" ? null : draft.error);
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (note.trim() === "" || isPending) return;
    keepNote();
    mutate({ reference, text: note, key: noteKey }, { onSuccess: () => reloadAll().then(() => change({ note: "" })) });
  };
  return (
    <form className="stack" onSubmit={add} onKeyDown={getHotkeyHandler([["mod+Enter", add]])}>
      <Textarea
        label="Note"
        description="An export of the sender’s data includes your notes."
        inputWrapperOrder={["label", "input", "description"]}
        rows={2}
        maxLength={MAX_NOTE_LENGTH}
        value={note}
        readOnly={isPending}
        onChange={({ target }) => change({ note: target.value })}
      />
      <Failure text={failure ? describeFailure(failure) : null} />
      <Group gap="sm">
        <Button type="submit" size="xs">
          Add note
        </Button>
        <span className="soft">{note.trim() !== "" && isSaved(draft) && "Not added yet; kept for you."}</span>
      </Group>
    </form>
  );
}
