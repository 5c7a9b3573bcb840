import { Alert, Button, Group, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { getHotkeyHandler } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { site } from "../app/site.ts";
import { MAX_NOTE_LENGTH, MAX_REPLY_LENGTH, MAX_SUBJECT_LENGTH, quote } from "../contract/desk.ts";
import { asSentence, visible } from "../contract/text.ts";
import { attempt, useQuestion } from "./actions.tsx";
import { call, describeFailure, isRefused, type MessageDetail, reloadAll, trpc } from "./api.ts";
import { isSaved, startSending, takeBackBy, type Writing } from "./draft.ts";
import { Card, Failure, focusTitle, VisitorText } from "./parts.tsx";
import { formatSince, formatTime, unfilledFacts, waitText } from "./words.ts";

const FIELD_ID = "reply-text";

export function focusReply(): void {
  const field = document.querySelector<HTMLTextAreaElement>(`#${FIELD_ID}`);
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

interface ReplyProps {
  message: MessageDetail;
  writing: Writing;
  now: Date;
  goToNext: () => Promise<void>;
  goBack: () => Promise<void>;
}

export function ReplyCard(props: ReplyProps) {
  const { message, writing, now } = props;
  const { replyRefusal } = message;
  const { reply } = message.deliveries;
  return (
    <Card title="Reply">
      {message.waits.reply && (
        <Alert color="gray" title={waitText(message.waits.reply, now)}>
          A reply is stored. Another one can be sent after it.
        </Alert>
      )}
      {reply?.state === "delivered" && (
        <p className="soft">
          Sent on {formatTime(reply.changedAt)}. Answers go to {message.mailTo ?? site.contactEmail}.
        </p>
      )}
      {reply?.state === "failed" && (
        <Alert color="red" title="Reply failed">
          {asSentence(reply.error ?? "")} After you fix the cause, press Retry.
        </Alert>
      )}
      {replyRefusal !== null && reply?.state !== "queued" && <p>{asSentence(replyRefusal)}</p>}
      {/* Stays while a reply waits, so that it keeps what the operator is writing. */}
      {(replyRefusal === null || writing.draft.text.trim() !== "") && <ReplyForm {...props} />}
    </Card>
  );
}

function ReplyForm({ message, writing, now, goToNext, goBack }: ReplyProps) {
  const { reference, version, email, replyRefusal, colleagues, savedReplies, history, readAt } = message;
  const { draft, change, insert } = writing;
  const { key, subject, text, isSending } = draft;
  const { ask, question } = useQuestion();
  /** Until when the operator has seen the answers of others. */
  const [seenAt, setSeenAt] = useState(readAt);
  const isReady = !isSending && replyRefusal === null;

  const send = (isNext: boolean, since: Date) => {
    const { pathname } = location;
    const reply = { reference, version, key, subject, text, since, isUndoable: true, isAnswer: isNext };
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
          const when = wait ? waitText(wait, new Date()) : "";
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
        const details = [describeFailure(error), "You can send it again: the sender gets it once."];
        return { tone: "failure", text: `Sending the reply to ${reference} failed.`, details };
      }
    });
  };
  const press = (event: { preventDefault(): void }, isNext = false) => {
    event.preventDefault();
    // An own reply is no answer of somebody else.
    const own = colleagues.reply ? undefined : history.findLast(({ kind }) => kind === "replied")?.at;
    if (isReady && text.trim() !== "" && subject.trim() !== "") send(isNext, own && own > seenAt ? own : seenAt);
  };
  const keys = getHotkeyHandler([
    ["Escape", focusTitle],
    ["mod+Enter", (event) => press(event)],
    ["mod+shift+Enter", (event) => press(event, true)],
  ]);
  const form = (
    <form className="stack controls" onKeyDown={keys} onSubmit={press}>
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
      <p>
        To <VisitorText text={email} />
      </p>
      {savedReplies.length > 0 && (
        <NativeSelect
          label="Insert a saved reply"
          value=""
          onChange={({ target }) => {
            const saved = savedReplies.find(({ name }) => name === target.value);
            if (saved) insert(saved.text);
          }}
          data={[
            "",
            ...savedReplies.map(({ name, needsEstimate }) => ({
              value: name,
              label: needsEstimate ? `${name} (needs an estimate)` : name,
              disabled: needsEstimate,
            })),
          ]}
        />
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
        onChange={({ target }) => change({ text: target.value })}
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
  const unfilled = unfilledFacts(draft.text);
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
function takeBack(reference: string, key: string, goBack: () => Promise<void>): void {
  void attempt(`take back ${key}`, async () => {
    try {
      await takeBackBy(reference, () => call.takeBackReply.mutate({ reference, key }));
    } catch (error) {
      await reloadAll();
      const undo = isRefused(error) ? undefined : () => takeBack(reference, key, goBack);
      return { tone: "failure", text: describeFailure(error), undo };
    }
    await goBack();
    await reloadAll();
    return { tone: "success", text: "The reply was not sent. It is a draft again." };
  });
}

export function NoteForm({ reference, writing: { draft, change } }: { reference: string; writing: Writing }) {
  const { mutate, error, isPending } = useMutation(trpc.note.mutationOptions());
  const { note } = draft;
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (note.trim() === "" || isPending) return;
    mutate({ reference, text: note }, { onSuccess: () => reloadAll().then(() => change({ note: "" })) });
  };
  return (
    <form className="stack controls" onSubmit={add}>
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
      <Failure error={error ?? (note === "" ? null : draft.error)} />
      <Group gap="sm">
        <Button type="submit" size="xs">
          Add note
        </Button>
        <span className="soft">{note.trim() !== "" && isSaved(draft) && "Not added yet; kept for you."}</span>
      </Group>
    </form>
  );
}
