import { Alert, Button, Group, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { getHotkeyHandler } from "@mantine/hooks";
import { site } from "../app/site.ts";
import { MAX_REPLY_LENGTH, MAX_SUBJECT_LENGTH, REPLY_UNDO_MS } from "../contract/operator-limits.ts";
import { type DraftText, quote } from "../contract/reply.ts";
import { asSentence, visible } from "../contract/text.ts";
import { attempt, perform } from "./actions.tsx";
import { call, describeFailure, isRefused, type MessageDetail, reloadAll } from "./api.ts";
import { isSaved, startSending, takenBack, useDraft } from "./draft.ts";
import { formatSince, formatTime, VisitorText } from "./labels.tsx";
import { Card, Facts, focusTitle, useNow } from "./parts.tsx";

/** A colleague with an older draft does something else. */
const REPLYING_MS = 10 * 60_000;
const FIELD_ID = "reply-text";

export function focusReply(): void {
  const field = document.querySelector<HTMLTextAreaElement>(`#${FIELD_ID}`);
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

interface ReplyCardProps {
  message: MessageDetail;
  /** Shows the next unanswered message. */
  goToNext: () => Promise<void>;
  /** Shows this message again. */
  goBack: () => Promise<void>;
}

export function ReplyCard({ message, ...ways }: ReplyCardProps) {
  const { history, allowed, replyRefusal } = message;
  const { reply } = message.deliveries;
  const writing = useDraft(message);
  const rewrite = () => {
    const sent = history.findLast(({ kind }) => kind === "replied")?.detail ?? "";
    const [subject = "", text = ""] = sent.split(/\n\n(.*)/s);
    writing.insert({ subject, text });
    setTimeout(focusReply);
  };
  return (
    <Card title="Reply" id="reply-title">
      {reply?.state === "queued" && (
        <Alert color="gray" title="Reply: waiting">
          {reply.error === null
            ? `It is sent at ${formatTime(reply.dueAt ?? reply.changedAt)} if the website is running. You can write another reply after that.`
            : `${asSentence(reply.error)} Next attempt ${reply.dueAt ? `at ${formatTime(reply.dueAt)}` : "soon"}.`}
        </Alert>
      )}
      {reply?.state === "delivered" && (
        <p className="soft">
          Reply: delivered on {formatTime(reply.changedAt)}. Answers go to {message.mailTo ?? site.contactEmail}.
        </p>
      )}
      {reply?.state === "failed" && (
        <Alert color="red" title="Reply: failed">
          <p>{asSentence(reply.error ?? "")}</p>
          <Group gap="xs" mt="xs">
            {allowed.includes("retry") && (
              <Button size="xs" onClick={() => perform("retry", [message])}>
                Retry
              </Button>
            )}
            {allowed.includes("reply") && (
              <Button size="xs" onClick={rewrite}>
                Rewrite the reply
              </Button>
            )}
          </Group>
        </Alert>
      )}
      {replyRefusal !== null && reply?.state !== "queued" && <p>{asSentence(replyRefusal)}</p>}
      <ReplyForm message={message} writing={writing} {...ways} />
    </Card>
  );
}

/** What colleagues do, so that no two people answer the same message without knowing. */
function Colleagues({ drafts, reply, isWriting }: MessageDetail["colleagues"] & { isWriting: boolean }) {
  const now = useNow();
  const isRecent = ({ savedAt }: { savedAt: Date }) => now.getTime() - savedAt.getTime() < REPLYING_MS;
  const names = drafts.filter(isRecent).flatMap(({ author }) => (author === null ? [] : visible(author)));
  return (
    <div role="status">
      {names.length > 0 && (
        <p>
          <strong>{names.join(" and ")}</strong> {names.length > 1 ? "are" : "is"} replying
        </p>
      )}
      {isWriting && reply && (
        <p>
          <strong>{visible(reply.author ?? "A colleague")}</strong> replied at {formatSince(reply.at, now)}
        </p>
      )}
    </div>
  );
}

/** Stays while a reply waits, so that it keeps what the operator is writing. */
function ReplyForm({ message, writing, goToNext, goBack }: ReplyCardProps & { writing: ReturnType<typeof useDraft> }) {
  const { reference, version, email, replyRefusal } = message;
  const { draft, change, insert } = writing;
  const { key, subject, text, isSending } = draft;
  const isReady = !isSending && replyRefusal === null;

  const send = (event: { preventDefault(): void }, isNext = false) => {
    event.preventDefault();
    if (!isReady || text.trim() === "" || subject.trim() === "") return;
    const { pathname } = location;
    const reply = { reference, version, key, subject, text, isUndoable: true, isAnswer: isNext };
    const sendReply = startSending(reference, draft, () => call.reply.mutate(reply));
    // A new name for every press: `isSending` ignores a second one.
    void attempt(`reply ${crypto.randomUUID()}`, async () => {
      try {
        await sendReply();
      } catch (error) {
        await reloadAll();
        const details = [describeFailure(error), "You can send it again: the sender gets it once."];
        return { tone: "failure", text: `Sending the reply to ${reference} failed.`, details };
      }
      if (location.pathname === pathname) {
        focusTitle();
        if (isNext) await goToNext();
      }
      void reloadAll();
      const undo = () => takeBack(reference, key, { subject, text }, goBack);
      return { tone: "success", text: "Reply sent.", undo, shownMs: REPLY_UNDO_MS };
    });
  };
  const press = getHotkeyHandler([
    ["Escape", focusTitle],
    ["mod+Enter", send],
    ["mod+shift+Enter", (event) => send(event, true)],
  ]);
  const draftState = draft.error
    ? `Your draft is not saved. ${describeFailure(draft.error)}`
    : text.trim() !== "" && (isSaved(draft) ? "Your draft is saved." : "Saving your draft …");
  if (replyRefusal !== null && text.trim() === "") return null;
  return (
    <form className="stack controls" onKeyDown={press} onSubmit={send}>
      <Colleagues {...message.colleagues} isWriting={text.trim() !== ""} />
      {message.colleagues.drafts.map((one) => (
        <details key={one.author}>
          <summary>
            Draft of {visible(one.author ?? "an unknown author")}, {formatTime(one.savedAt)}
          </summary>
          <p className="written" dir="auto">
            <VisitorText text={one.text} isMultiline />
          </p>
        </details>
      ))}
      <Facts labelWidth="2rem" facts={[["To", <VisitorText key="to" text={email} />]]} />
      {message.savedReplies.length > 0 && (
        <NativeSelect
          label="Insert a saved reply"
          value=""
          onChange={({ target }) => {
            const saved = message.savedReplies.find(({ name }) => name === target.value);
            if (saved) insert({ text: saved.text });
          }}
          data={[
            "",
            ...message.savedReplies.map(({ name, needsEstimate }) => ({
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
        <Button aria-keyshortcuts="Control+Shift+Enter" onClick={(event) => send(event, true)}>
          Send and next
        </Button>
        <span className="soft" role="status" data-trouble={Boolean(draft.error)}>
          {draftState}
        </span>
      </Group>
      <p className="soft">Quoted below your text:</p>
      <p className="written soft" dir="auto">
        <VisitorText text={quote(message)} isMultiline />
      </p>
    </form>
  );
}

/** A failed attempt can be repeated from its notice. */
function takeBack(reference: string, key: string, reply: DraftText, goBack: () => Promise<void>): void {
  void attempt(`take back ${key}`, async () => {
    try {
      await call.takeBackReply.mutate({ reference, key });
    } catch (error) {
      await reloadAll();
      const undo = isRefused(error) ? undefined : () => takeBack(reference, key, reply, goBack);
      return { tone: "failure", text: describeFailure(error), undo };
    }
    takenBack(reference, reply);
    await goBack();
    await reloadAll();
    return { tone: "success", text: "The reply was not sent. It is a draft again." };
  });
}
