import { useEffect, useSyncExternalStore } from "react";
import superjson from "superjson";
import { call, isNotFound, type MessageDetail, queryClient, trpc } from "./api.ts";

// What an operator has typed and not finished: replies and notes. It is kept outside the forms, so that leaving a
// message loses nothing, and saved in the database. The last save wins, and only the operator replaces what is typed.

type Unfinished = Pick<NonNullable<MessageDetail["draft"]>, "subject" | "text" | "note">;

export interface Draft extends Unfinished {
  /** They identify the reply and the note, so that a repeated call does not add a second one. */
  key: string;
  noteKey: string;
  /** What is stored, as far as this window knows. */
  stored: Unfinished;
  storedAt: Date;
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

const BLANK: Unfinished = { subject: "", text: "", note: "" };
const isBlank = (text: string) => text.trim() === "";
const isEmpty = ({ text, note }: Unfinished) => isBlank(text + note);
/** The subject of no text is not stored. */
const isSame = (one: Unfinished, other: Unfinished) =>
  one.note === other.note && one.text === other.text && (one.subject === other.subject || isEmpty(one));
/** A failed save may have arrived, so it is not known what is stored. */
export const isSaved = (draft: Draft) => draft.error === null && isSame(draft, draft.stored);

export function currentDraft(message: MessageDetail, typed: Draft | undefined): Draft {
  const { draft, history, readAt, nextSubject } = message;
  const isFinished = typed && isEmpty(typed) && isSaved(typed);
  // An answer came since, or a reply was sent.
  if (isFinished && !draft && typed.subject === typed.stored.subject && typed.subject !== nextSubject)
    return { ...typed, subject: nextSubject, stored: { ...BLANK, subject: nextSubject } };
  if (typed && !(isFinished && draft && draft.savedAt > typed.storedAt)) {
    // A restored backup does not have it. Another window may have finished it.
    const wasStored = !isEmpty(typed.stored) && !typed.isSending;
    const isFinishedThere = history.some(({ kind, at }) => /noted|replied/.test(kind) && at > typed.storedAt);
    const isLost = wasStored && draft === null && readAt > typed.storedAt && !isFinishedThere;
    return isLost ? { ...typed, stored: BLANK } : typed;
  }
  const { subject, text, note } = draft ?? BLANK;
  const stored = { subject: isBlank(text) ? nextSubject : subject, text, note };
  const storedAt = draft?.savedAt ?? new Date(0);
  return {
    ...stored,
    key: crypto.randomUUID(),
    noteKey: crypto.randomUUID(),
    stored,
    storedAt,
    error: null,
    isSending: false,
  };
}

/** Whether this operator's other window has saved something else since, or has sent what was written. */
export function otherWindow(
  { draft, history }: MessageDetail,
  typed: Draft,
): { did: "saved" | "sent"; at: Date } | null {
  if (draft)
    return draft.savedAt > typed.storedAt && !isSame(draft, typed.stored) ? { did: "saved", at: draft.savedAt } : null;
  const sentAt = history.findLast(({ kind }) => kind === "replied")?.at;
  return sentAt && sentAt > typed.storedAt && !isBlank(typed.stored.text) && !typed.isSending
    ? { did: "sent", at: sentAt }
    : null;
}

function write(reference: string, draft: Draft | null): void {
  if (draft) drafts.set(reference, draft);
  else drafts.delete(reference);
  for (const tell of readers) tell();
}

/** The operator has confirmed that it goes. */
export function discard(reference: string): void {
  // What was loaded has the draft too.
  queryClient.removeQueries(trpc.message.queryFilter({ reference }));
  write(reference, null);
}

/** Does nothing if the draft was given up meanwhile. */
function update(reference: string, changes: Partial<Draft>): void {
  const draft = drafts.get(reference);
  if (draft) write(reference, { ...draft, ...changes });
}

function subscribe(tell: () => void) {
  readers.add(tell);
  return () => readers.delete(tell);
}

export type Writing = ReturnType<typeof useDraft>;

/** What is typed for a message that is gone, or was in the draft that the page has shown. Nothing else has it now. */
export function useLeftover(reference: string, shown: MessageDetail | undefined) {
  const draft = useSyncExternalStore(subscribe, () => drafts.get(reference));
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    const left = drafts.get(reference) ?? (shown && currentDraft(shown, undefined));
    // With an error, closing the page asks first.
    if (left && !isEmpty(left)) write(reference, { ...left, error: new Error("The message is gone") });
  }, []);
  return { leftover: draft && !isEmpty(draft) ? draft : null, discard: () => discard(reference) };
}

export function useDraft(message: MessageDetail) {
  const { reference } = message;
  const typed = useSyncExternalStore(subscribe, () => drafts.get(reference));
  const draft = currentDraft(message, typed);
  useEffect(() => {
    if (!typed || draft.stored === typed.stored) return;
    write(reference, draft);
    saveSoon(reference);
  });
  const change = (changes: Partial<Unfinished>) => {
    if (draft.isSending && !("note" in changes)) return;
    const newKey = { ["note" in changes ? "noteKey" : "key"]: crypto.randomUUID() };
    write(reference, { ...draft, ...newKey, ...changes });
    saveSoon(reference);
  };
  return {
    draft,
    change,
    append: (text: string) => change({ text: isBlank(draft.text) ? text : `${draft.text}\n\n${text}` }),
    elsewhere: typed ? otherWindow(message, typed) : null,
    showStored: () => write(reference, null),
    /** Keeps its key for a second press. */
    keepNote: () => write(reference, draft),
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
  const { subject, text, note } = draft;
  const end = (changes: Partial<Draft>) => {
    running.delete(reference);
    update(reference, changes);
    if (!isNotFound(changes.error)) saveSoon(reference, changes.error ? RETRY_MS : 0);
  };
  const saved = call.saveDraft.mutate({ reference, subject, text, note }).then(
    ({ savedAt }) => end({ error: null, stored: { subject, text, note }, storedAt: savedAt }),
    (error: unknown) => end({ error }),
  );
  running.set(reference, saved);
}

const KEPT = "inbox-unsaved";

/**
 * Saves what is typed when the page is left. If that fails, this tab keeps it for its next page, which may be that of a
 * new run of the inbox.
 */
export function keepUnsaved(): void {
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  for (const [reference, draft] of kept ? superjson.parse<[string, Draft][]>(kept) : []) {
    drafts.set(reference, draft);
    saveSoon(reference);
  }
  const unsaved = () => [...drafts].filter(([, draft]) => !isSaved(draft));
  // Does not wait for a running call: the page may not live to see its answer. If it does, it saves the draft again.
  addEventListener("pagehide", () => {
    const failed = unsaved().filter(([, { error }]) => error);
    // An error cannot be stored.
    const typed = failed.map(([reference, draft]) => [reference, { ...draft, error: null, isSending: false }]);
    if (typed.length > 0) sessionStorage.setItem(KEPT, superjson.stringify(typed));
    for (const [reference, { subject, text, note, isSending }] of unsaved()) {
      const saveAgain = () => saveSoon(reference);
      if (!isSending) call.saveDraft.mutate({ reference, subject, text, note }).then(saveAgain, saveAgain);
    }
  });
  addEventListener("beforeunload", (event) => {
    if (unsaved().some(([, { error }]) => error)) event.preventDefault();
  });
}

/** The reply does not change from now on. The returned function sends it after a running call that saves it. */
export function startSending<Result extends { outcome: string }>(
  reference: string,
  draft: Draft,
  send: () => Promise<Result>,
) {
  write(reference, draft);
  // It may wait long for its turn.
  save(reference);
  update(reference, { isSending: true });
  return async () => {
    try {
      await running.get(reference);
      const result = await send();
      if (result.outcome !== "stored") return result;
      const { note = "", stored = draft.stored } = drafts.get(reference) ?? {};
      const blank = { text: "" };
      update(reference, { ...blank, note, stored: { ...stored, ...blank }, key: crypto.randomUUID(), error: null });
      return result;
    } finally {
      update(reference, { isSending: false });
      saveSoon(reference, 0);
    }
  };
}

export async function takeBackBy<Taken>(reference: string, take: () => Promise<Taken>): Promise<Taken> {
  await running.get(reference);
  save(reference);
  await running.get(reference);
  const taken = await take();
  const draft = drafts.get(reference);
  if (draft && isSaved(draft)) write(reference, null);
  return taken;
}
