import { useSyncExternalStore } from "react";
import { type DraftText, replySubject } from "../contract/reply.ts";
import { call, isNotFound, type MessageDetail, queryClient, trpc } from "./api.ts";

// Unfinished replies. They are kept outside their forms, so that leaving a message loses nothing. The last save wins.

/** An unfinished reply in this window. */
export interface Draft extends DraftText {
  /** Identifies the content, so that a repeated call does not send a second reply. */
  key: string;
  /** The stored draft, as far as this window knows. */
  stored: DraftText;
  /** When it was saved or read. */
  knownAt: Date;
  /** Why the last attempt to save it failed. */
  error: unknown;
  isSending: boolean;
}

const SAVE_PAUSE_MS = 400;
const RETRY_MS = 3000;

/** Not in the query cache, which updates its readers later: a field would lose letters. */
const drafts = new Map<string, Draft>();
const readers = new Set<() => void>();
const timers = new Map<string, ReturnType<typeof setTimeout>>();
const running = new Map<string, Promise<void>>();

const isBlank = ({ text }: DraftText) => text.trim() === "";
/** A failed save may have arrived, so it is not known what is stored. */
export const isSaved = ({ subject, text, stored, error }: Draft) =>
  error === null && subject === stored.subject && text === stored.text;

function write(reference: string, draft: Draft | null): void {
  if (draft) drafts.set(reference, draft);
  else drafts.delete(reference);
  for (const tell of readers) tell();
}

/** Does nothing if the draft was sent meanwhile. */
function update(reference: string, changes: Partial<Draft>): void {
  const draft = drafts.get(reference);
  if (draft) write(reference, { ...draft, ...changes });
}

function subscribe(tell: () => void) {
  readers.add(tell);
  return () => readers.delete(tell);
}

/** The draft of this window. If all of it is stored and another window has saved or sent it since, the stored one. */
export function currentDraft({ reference, draft, history }: MessageDetail, known: Draft | undefined): Draft {
  const changedAt = draft?.savedAt ?? history.findLast(({ kind }) => kind === "replied")?.at;
  const isOutdated = changedAt && known && changedAt > known.knownAt && isSaved(known) && !known.isSending;
  if (known && !isOutdated) return known;
  const stored = { subject: draft?.subject ?? replySubject(reference), text: draft?.text ?? "" };
  const knownAt = draft?.savedAt ?? new Date(0);
  return { ...stored, key: crypto.randomUUID(), stored, knownAt, error: null, isSending: false };
}

export function useDraft(message: MessageDetail) {
  const { reference } = message;
  const known = useSyncExternalStore(subscribe, () => drafts.get(reference));
  const draft = currentDraft(message, known);
  const set = (changes: Partial<DraftText>) => {
    if (draft.isSending) return;
    write(reference, { ...draft, key: crypto.randomUUID(), ...changes });
    saveSoon(reference);
  };
  return {
    draft,
    change: set,
    /** Adds a text below what is written. */
    insert: ({ subject = draft.subject, text }: Partial<DraftText> & { text: string }) => {
      if (!draft.text.includes(text)) set({ subject, text: isBlank(draft) ? text : `${draft.text}\n\n${text}` });
    },
  };
}

function saveSoon(reference: string, delayMs = SAVE_PAUSE_MS): void {
  clearTimeout(timers.get(reference));
  timers.set(reference, setTimeout(save, delayMs, reference));
}

/** Saves a changed draft, and what is typed meanwhile afterwards. Repeats an attempt that failed. */
function save(reference: string): void {
  const draft = drafts.get(reference);
  if (!draft || isSaved(draft) || draft.isSending || running.has(reference)) return;
  const { subject, text } = draft;
  const end = (changes: Partial<Draft>) => {
    running.delete(reference);
    update(reference, changes);
    if (!isNotFound(changes.error)) saveSoon(reference, changes.error ? RETRY_MS : 0);
  };
  const saved = call.saveDraft.mutate({ reference, subject, text, note: "" }).then(
    ({ savedAt: knownAt }) => end({ error: null, stored: { subject, text }, knownAt }),
    (error: unknown) => end({ error }),
  );
  running.set(reference, saved);
}

const unsaved = () => [...drafts].filter(([, draft]) => !isSaved(draft));

// Does not wait for a running call: the page may not live to see its answer. If it does, it saves the draft again.
addEventListener("pagehide", () => {
  for (const [reference, { subject, text, isSending }] of unsaved()) {
    const saveAgain = () => saveSoon(reference);
    if (!isSending) call.saveDraft.mutate({ reference, subject, text, note: "" }).then(saveAgain, saveAgain);
  }
});
addEventListener("beforeunload", (event) => {
  if (unsaved().some(([, { error }]) => error)) event.preventDefault();
});

/** Shows this as the stored draft at once, before the message is loaded again. */
function showStored(reference: string, draft: DraftText | null): void {
  const stored = draft && { author: null, savedAt: new Date(), note: "", ...draft };
  queryClient.setQueryData(trpc.message.queryKey({ reference }), (known) => known && { ...known, draft: stored });
}

/**
 * From now on, the draft does not change. The returned function sends it by `send`, after a running call that saves it.
 * Keeps and saves it if `send` rejects.
 */
export function startSending(reference: string, draft: Draft, send: () => Promise<unknown>) {
  write(reference, draft);
  // It may wait long for its turn.
  save(reference);
  update(reference, { isSending: true });
  return async () => {
    try {
      await running.get(reference);
      await send();
    } catch (error) {
      update(reference, { isSending: false });
      saveSoon(reference, 0);
      throw error;
    }
    write(reference, null);
    showStored(reference, null);
  };
}

/** Shows a reply that was taken back, above what the operator has written since. */
export function takenBack(reference: string, reply: DraftText): void {
  const since = drafts.get(reference);
  showStored(reference, reply);
  if (!since || isBlank(since)) return void write(reference, null);
  const text = `${reply.text}\n\n${since.text}`;
  write(reference, { ...since, ...reply, text, key: crypto.randomUUID() });
  saveSoon(reference, 0);
}
