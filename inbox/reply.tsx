import { Alert, Button, Group, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { getHotkeyHandler, useDebouncedCallback, useWindowEvent } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { site } from "../app/site.ts";
import { MAX_REPLY_LENGTH, MAX_SUBJECT_LENGTH, REPLY_UNDO_MS } from "../contract/operator-limits.ts";
import { quote, replySubject } from "../contract/quote.ts";
import { asSentence, visible, visibleLines } from "../contract/visible-text.ts";
import { attempt, clearNotices, notify, perform } from "./actions.tsx";
import { call, describeFailure, type MessageDetail, queryClient, reloadAll, trpc } from "./api.ts";
import { formatSince, formatTime, VisitorText } from "./labels.tsx";
import { Card, Facts, Failure, focusTitle, useNow } from "./parts.tsx";

const SAVE_PAUSE_MS = 400;
/** A colleague with an older draft does something else. */
const REPLYING_MS = 10 * 60_000;
const FIELD_ID = "reply-text";
/** Windows passes no longer URL to a mail program; other systems allow more. */
const MAX_MAILTO_LENGTH = 1900;

export function focusReply(): void {
  const field = document.querySelector<HTMLTextAreaElement>(`#${FIELD_ID}`);
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

/** Encodes every character that a visitor chose: an address may contain `?` or `&`, which would add recipients. */
export function mailtoOf(message: MessageDetail): string {
  const recipient = encodeURIComponent(message.email).replaceAll("%40", "@");
  const start = `mailto:${recipient}?subject=${encodeURIComponent(replySubject(message.reference))}&body=`;
  let body = "";
  for (const character of `\n\n${visibleLines(quote(message).toWellFormed())}`.replaceAll("\n", "\r\n")) {
    const encoded = encodeURIComponent(character);
    if (start.length + body.length + encoded.length > MAX_MAILTO_LENGTH) break;
    body += encoded;
  }
  return start + body;
}

/** What a retry sends, such as `Send the mail now and post to the web hook again`. */
export function retryLabel({ retries, deliveries }: MessageDetail): string {
  const parts = retries.map(
    ({ channel, sending }) => `${sending} ${deliveries[channel]?.state === "failed" ? "again" : "now"}`,
  );
  return parts.map((part, index) => (index === 0 ? part : part.charAt(0).toLowerCase() + part.slice(1))).join(" and ");
}

interface ReplyCardProps {
  message: MessageDetail;
  /** Shows the next unanswered message. */
  goToNext: () => Promise<void>;
  /** Shows this message again. */
  goBack: () => Promise<void>;
}

export function ReplyCard({ message, ...ways }: ReplyCardProps) {
  const { history, allowed, replyRefusal, draft } = message;
  const { reply } = message.deliveries;
  /** The failed reply that the operator is rewriting. */
  const [failed, setFailed] = useState<Text | null>(null);
  const [takenBack, setTakenBack] = useState(0);
  const rewrite = () => {
    const [subject = "", text = ""] = (history.findLast(({ kind }) => kind === "replied")?.detail ?? "").split(
      /\n\n(.*)/s,
    );
    setFailed({ subject, text });
    setTimeout(focusReply);
  };
  return (
    <Card title="Reply" id="reply-title">
      {reply?.state === "queued" && (
        <Alert color="gray" title="Reply: waiting">
          {reply.error === null
            ? "The website’s server sends it within seconds. You can write another reply after that."
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
                {retryLabel(message)}
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
      <ReplyForm
        // Shows a reply that was taken back.
        key={`${failed?.text} ${takenBack}`}
        message={message}
        initial={failed ?? draft}
        onSent={() => setFailed(null)}
        onTakenBack={() => setTakenBack(takenBack + 1)}
        {...ways}
      />
    </Card>
  );
}

interface Text {
  subject: string;
  text: string;
}

/** What colleagues do, so that no two people answer the same message without knowing. */
function Colleagues({ drafts, reply, isWriting }: MessageDetail["colleagues"] & { isWriting: boolean }) {
  const now = useNow();
  const isRecent = ({ savedAt }: { savedAt: Date }) => now.getTime() - savedAt.getTime() < REPLYING_MS;
  const names = drafts.filter(isRecent).map(({ author }) => visible(author ?? ""));
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

interface ReplyFormProps extends ReplyCardProps {
  initial: Text | null;
  onSent: () => void;
  onTakenBack: () => void;
}

/** Stays while a reply waits, so that it keeps what the operator is writing. */
function ReplyForm({ message, initial, onSent, onTakenBack, goToNext, goBack }: ReplyFormProps) {
  const { reference, version, email, replyRefusal } = message;
  const blank = { subject: replySubject(reference), text: "" };
  const [draft, setDraft] = useState({ subject: initial?.subject || blank.subject, text: initial?.text ?? "" });
  const { subject, text } = draft;
  /** One key per content, so that a second press or a repeated call does not send a second reply. */
  const sent = useRef({ content: "", key: "" });
  const { mutate, error, isPending } = useMutation(trpc.reply.mutationOptions());
  /** Shows this draft at once when the operator returns to the message. */
  const showDraft = (draft: Text | null) => {
    const own = draft && { author: null, savedAt: new Date(), ...draft };
    queryClient.setQueryData(trpc.message.queryKey({ reference }), (known) => known && { ...known, draft: own });
  };
  const saving = useMutation(trpc.saveDraft.mutationOptions({ scope: { id: `draft ${reference}` } }));
  /** The text that the server has. */
  const [saved, setSaved] = useState(draft);
  const saveDraft = useDebouncedCallback(
    (draft: Text) => {
      showDraft(draft);
      saving.mutate({ reference, ...draft }, { onSuccess: () => setSaved(draft) });
    },
    { delay: SAVE_PAUSE_MS, flushOnUnmount: true },
  );
  useWindowEvent("pagehide", () => saveDraft.flush());
  const change = (changes: Partial<typeof blank>) => {
    setDraft({ ...draft, ...changes });
    saveDraft({ ...draft, ...changes });
  };

  const send = (event: { preventDefault(): void }, isNext = false) => {
    event.preventDefault();
    if (isPending || replyRefusal !== null || text.trim() === "" || subject.trim() === "") return;
    saveDraft.cancel();
    clearNotices();
    const content = JSON.stringify([subject, text]);
    if (sent.current.content !== content) sent.current = { content, key: crypto.randomUUID() };
    const { key } = sent.current;
    const undo = () =>
      attempt(`take back ${key}`, async () => {
        await call.takeBackReply.mutate({ reference, key });
        showDraft({ subject, text });
        await goBack();
        await reloadAll();
        onTakenBack();
        return { tone: "success", text: "The reply was not sent. It is a draft again." };
      });
    const onSuccess = async () => {
      saveDraft.cancel();
      showDraft(null);
      sent.current = { content: "", key: "" };
      setDraft(blank);
      setSaved(blank);
      onSent();
      focusTitle();
      if (isNext) await goToNext();
      notify({ tone: "success", text: "Reply sent.", undo, shownMs: REPLY_UNDO_MS });
      await reloadAll();
    };
    const reply = { reference, version, key, subject, text, isUndoable: true, isAnswer: isNext };
    const onError = () => {
      saveDraft(draft);
      saveDraft.flush();
      return reloadAll();
    };
    mutate(reply, { onSuccess, onError });
  };
  const press = getHotkeyHandler([
    ["Escape", focusTitle],
    ["mod+Enter", send],
    ["mod+shift+Enter", (event) => send(event, true)],
  ]);
  const isSaved = saved.subject === subject && saved.text === text;
  const draftState = saving.error
    ? `Your draft is not saved. ${describeFailure(saving.error)}`
    : text.trim() !== "" && (isSaved ? "Your draft is saved." : "Saving your draft …");
  if (replyRefusal !== null && text.trim() === "") return null;
  return (
    <form className="stack controls" onKeyDown={press} onSubmit={send}>
      <Colleagues {...message.colleagues} isWriting={text.trim() !== ""} />
      <Facts labelWidth="2rem" facts={[["To", <VisitorText key="to" text={email} />]]} />
      {message.savedReplies.length > 0 && (
        <NativeSelect
          label="Insert a saved reply"
          value=""
          onChange={({ target }) => {
            const saved = message.savedReplies.find(({ name }) => name === target.value);
            if (saved) change({ text: text.trim() === "" ? saved.text : `${text}\n\n${saved.text}` });
          }}
          data={["", ...message.savedReplies.map(({ name }) => name)]}
        />
      )}
      <TextInput
        label="Subject"
        value={subject}
        maxLength={MAX_SUBJECT_LENGTH}
        onChange={({ target }) => change({ subject: target.value })}
      />
      <Textarea
        id={FIELD_ID}
        label="Text"
        value={text}
        rows={6}
        maxLength={MAX_REPLY_LENGTH}
        readOnly={isPending}
        onChange={({ target }) => change({ text: target.value })}
      />
      <Failure error={error} />
      <Group gap="sm">
        <Button
          type="submit"
          variant="filled"
          aria-disabled={isPending || replyRefusal !== null}
          aria-keyshortcuts="Control+Enter"
        >
          Send reply
        </Button>
        <Button aria-keyshortcuts="Control+Shift+Enter" onClick={(event) => send(event, true)}>
          Send and next
        </Button>
        <span className="soft" role="status" data-trouble={saving.error !== null}>
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
