import { Button, Progress } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useState } from "react";
import { serially } from "../contract/serially.ts";
import { visible } from "../contract/visible-text.ts";
import {
  type Action,
  type ActionResult,
  call,
  describeFailure,
  download,
  type Filter,
  isRefused,
  reloadAll,
  type Target,
} from "./api.ts";
import { formatBytes, formatNumber, plural } from "./labels.tsx";
import { Dialog, type DialogProps, focusTitle } from "./parts.tsx";
import { STATE } from "./rows.tsx";

/** Small enough to show progress and to cancel quickly. */
const BATCH = 50;
/** Shorter work shows no dialog. */
const SHOW_PROGRESS_MS = 300;
/** Long enough to read. The list shows the result too. */
const SHOW_SUCCESS_MS = 8000;
const NAMED_REFERENCES = 5;
/** A mark of more messages asks first. */
const MARKED_UNASKED = 10;
const DRAWN_MS = 100;
const RED = { color: "red" } as const;

interface ActionLabels {
  label: string;
  running: string;
  /** Follows the number of messages, as in `3 messages marked as answered`. */
  done: string;
  /** Only for marks, which can be undone: asks about many messages. */
  question?: (messages: string) => string;
}

export const ACTION_LABELS: Readonly<Record<Action, ActionLabels>> = {
  answer: {
    label: "Mark answered",
    running: "Marking as answered",
    done: "marked as answered",
    question: (messages) => `Mark ${messages} as answered?`,
  },
  unanswer: {
    label: "Mark unanswered",
    running: "Marking as unanswered",
    done: "marked as unanswered",
    question: (messages) => `Mark ${messages} as unanswered?`,
  },
  retry: { label: "Retry", running: "Retrying", done: "queued again" },
  release: { label: "Release", running: "Releasing", done: "released", question: (messages) => `Release ${messages}?` },
  spam: {
    label: "Spam",
    running: "Marking as spam",
    done: "marked as spam",
    question: (some) => `Mark ${some} as spam?`,
  },
  resend: { label: "Resend", running: "Resending", done: "queued again" },
  delete: { label: "Delete", running: "Deleting", done: "deleted" },
};
export const ALL_ACTIONS = Object.keys(ACTION_LABELS) as Action[];

export interface Notice {
  tone: "success" | "warning" | "failure";
  text: string;
  details?: readonly string[];
  undo?: (() => void) | undefined;
  /** How long a success is shown. */
  shownMs?: number;
}

/** Undoes the action of the current notice. */
let undo: (() => void) | undefined;
/** Waits for a running action, so that a key pressed early undoes it. */
export const undoLast = () => void oneByOne(async () => undo?.());

export function notify({ tone, text, details = [], undo: undoThis, shownMs = SHOW_SUCCESS_MS }: Notice): void {
  const itsUndo =
    undoThis &&
    (() => {
      clearNotices();
      undoThis();
    });
  undo = itsUndo;
  notifications.show({
    color: { success: "green", warning: "yellow", failure: "red" }[tone],
    role: tone === "failure" ? "alert" : "status",
    className: "notice",
    autoClose: tone === "success" ? shownMs : false,
    closeButtonProps: { "aria-label": "Dismiss" },
    title: text,
    message: (
      <>
        {details.map((detail) => (
          <p key={detail}>{detail}</p>
        ))}
        {itsUndo && (
          <Button size="xs" mt="xs" onClick={itsUndo}>
            Undo
          </Button>
        )}
      </>
    ),
    onClose: () => {
      // A newer notice may have replaced it.
      if (undo === itsUndo) undo = undefined;
    },
  });
  // The pressed button may be removed when the new data is rendered, for example after a release.
  setTimeout(() => document.activeElement === document.body && focusTitle(), DRAWN_MS);
}

/** Call it when the operator does something else. */
export function clearNotices(): void {
  undo = undefined;
  notifications.clean();
}

let setDialog: (dialog: DialogProps | null) => void = () => {};

export function ActionDialog() {
  const [shown, setShown] = useState<DialogProps | null>(null);
  useEffect(() => {
    setDialog = setShown;
  }, []);
  return shown && <Dialog key={shown.title} {...shown} />;
}

function ask(title: string, text: string, confirm: string, look: { color?: "red" }): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      setDialog(null);
      resolve(isConfirmed);
    };
    const onConfirm = () => answer(true);
    setDialog({ title, children: <p>{text}</p>, confirm, ...look, onConfirm, onClose: () => answer(false) });
  });
}

/** `percent` is `null` if it is unknown. */
type Report = (title: string, text: string, percent: number | null) => void;
type Work = (report: Report, signal: AbortSignal) => Promise<Notice | null>;

const pending = new Set<string>();
const oneByOne = serially();

/**
 * Runs the work after all earlier work, and shows the result. `press` identifies the button: resolves to false if the
 * work of an earlier press is not finished.
 */
export async function attempt(press: string, work: Work): Promise<boolean> {
  if (pending.has(press)) return false;
  if (pending.size === 0) clearNotices();
  pending.add(press);
  await oneByOne(() => showProgress(work)).finally(() => pending.delete(press));
  return true;
}

/** Shows the progress of work that takes noticeably long, and lets the operator cancel it. */
async function showProgress(work: Work): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  let latest: DialogProps | null = null;
  let isDue = false;
  // Shows nothing without a report, because an open dialog may ask about another action.
  const show = () => {
    isDue = true;
    if (latest) setDialog({ ...latest, ...(signal.aborted && { close: "Cancelling …" }) });
  };
  const timer = setTimeout(show, SHOW_PROGRESS_MS);
  const onClose = () => {
    controller.abort();
    show();
  };
  try {
    const notice = await work((title, text, percent) => {
      const bar = <Progress value={percent ?? 100} animated={percent === null} size="lg" aria-label={title} />;
      latest = { title: `${title} …`, children: [bar, <p key="text">{text}</p>], onClose };
      if (isDue) show();
    }, signal);
    if (notice) notify(notice);
  } catch (error) {
    if (signal.aborted) notify({ tone: "warning", text: "Cancelled." });
    else notify({ tone: "failure", text: describeFailure(error) });
  } finally {
    clearTimeout(timer);
    if (isDue && latest) setDialog(null);
  }
}

interface PerformOptions {
  /** Runs before the notice is shown, so that the page is up to date by then. */
  refresh?: (results: readonly ActionResult[]) => Promise<unknown>;
  /** Runs before the action is undone, for example to show the message again. */
  onUndo?: () => Promise<unknown>;
}

/**
 * Asks for a confirmation if the action cannot be undone or marks many messages, then acts in batches. Resolves to false if the operator
 * cancels, or if the same action is not finished.
 */
export async function perform(
  action: Action,
  targets: readonly { reference: string; version: string; name?: string }[],
  { refresh = reloadAll, onUndo }: PerformOptions = {},
): Promise<boolean> {
  const total = targets.length;
  const step = ACTION_LABELS[action].question && crypto.randomUUID();
  // Asks immediately: later, another message could be on the screen behind the question.
  const confirmation = confirmationOf(action, total, targets[0]?.name);
  if (confirmation && !(await ask(...confirmation))) return false;
  return attempt(`${action} ${targets.map(({ reference }) => reference)}`, async (report, signal) => {
    const results: ActionResult[] = [];
    let problem: unknown = null;
    while (results.length < total && !signal.aborted && problem === null) {
      const done = results.length;
      const text = `${formatNumber(done)} of ${formatNumber(total)}`;
      // One message needs one call, without progress: there is nothing to cancel, and the focus stays in place.
      if (total > 1) report(ACTION_LABELS[action].running, text, (done / total) * 100);
      const batch = targets.slice(done, done + BATCH).map(({ reference, version }) => ({ reference, version }));
      // A running call is never aborted, because its outcome would be unknown.
      const answer = await call.act.mutate({ action, targets: batch, step }).catch((error: unknown) => {
        problem = error;
      });
      results.push(...(answer?.results ?? []));
    }
    await refresh(results);
    const isDone = results.some(({ outcome }) => outcome === "done");
    const undo = step && isDone ? () => undoStep(step, onUndo) : undefined;
    return { ...outcomeNotice(action, results, total, problem), undo };
  });
}

function undoStep(step: string, onUndo?: () => Promise<unknown>): void {
  void attempt(`undo ${step}`, async (report) => {
    report("Undoing", "One moment", null);
    await onUndo?.();
    try {
      const { done, skipped } = await call.undo.mutate({ step });
      await reloadAll();
      const details = skipped.length > 0 ? [`Skipped, because they changed in the meantime: ${listed(skipped)}.`] : [];
      return { tone: details.length > 0 ? "warning" : "success", text: `Undone: ${plural(done, "message")}.`, details };
    } catch (error) {
      const undo = isRefused(error) ? undefined : () => undoStep(step, onUndo);
      return { tone: "failure", text: describeFailure(error), undo };
    }
  });
}

function confirmationOf(action: Action, count: number, name: string | undefined): Parameters<typeof ask> | null {
  const messages = plural(count, "message");
  const { question, label } = ACTION_LABELS[action];
  if (question && count > MARKED_UNASKED) return [question(messages), "You can undo this.", label, {}];
  if (action === "resend" && count > 1)
    return [`Resend ${messages}?`, "The team gets each message by email again.", `Resend ${messages}`, RED];
  if (action !== "delete") return null;
  const text =
    "This cannot be undone. When a person asks for erasure, use the person’s page instead: it also removes every trace from the database’s files.";
  const what = count === 1 && name !== undefined ? `the message from ${visible(name)}` : messages;
  return [`Delete ${what}?`, text, `Delete ${messages}`, RED];
}

/** One sentence about the whole action, and one for each reason why messages were not changed. */
function outcomeNotice(action: Action, results: readonly ActionResult[], total: number, problem: unknown): Notice {
  const done = results.filter(({ outcome }) => outcome === "done").length;
  const changed = results.flatMap(({ reference, state }) =>
    state ? `${reference} (now ${STATE[state][0].toLowerCase()})` : [],
  );
  const gone = results.flatMap(({ reference, outcome }) => (outcome === "gone" ? reference : []));
  const refused = results.flatMap(({ reason }) => reason ?? []);
  const details = [
    changed.length > 0 &&
      `Skipped, because they changed in the meantime: ${listed(changed)}. Check them, then try again.`,
    gone.length > 0 && `No longer there: ${listed(gone)}.`,
    refused.length > 0 && `Skipped: ${listed(refused, "; ")}.`,
    problem !== null
      ? `${describeFailure(problem)} Some messages may have changed: check them before you try again.`
      : results.length < total &&
        `Cancelled: ${formatNumber(total - results.length)} of ${plural(total, "message")} were not changed.`,
  ].filter((detail) => detail !== false);
  const none = problem === null ? "Nothing was changed." : "The action failed.";
  const text = done === 0 ? none : `${plural(done, "message")} ${ACTION_LABELS[action].done}.`;
  return { tone: problem !== null ? "failure" : details.length > 0 ? "warning" : "success", text, details };
}

function listed(names: readonly string[], separator = ", "): string {
  const rest = names.length - NAMED_REFERENCES;
  const named = names.slice(0, NAMED_REFERENCES).join(separator);
  return rest > 0 ? `${named} and ${formatNumber(rest)} more` : named;
}

/** All messages that match the filter now; `null` if the operator cancels. */
export async function selectAll(filter: Filter): Promise<readonly Target[] | null> {
  let found: readonly Target[] | null = null;
  await attempt("select", async (report, signal) => {
    report("Finding all messages", "One moment", null);
    found = await call.select.query(filter, { signal });
    return null;
  });
  return found;
}

export function saveAs(title: string, path: string, query: Readonly<Record<string, string>>): Promise<boolean> {
  return attempt(`download ${path}`, async (report, signal) => {
    const show = (bytes: number) => report(title, `${formatBytes(bytes)} so far`, null);
    show(0);
    const { name, bytes } = await download(path, query, show, signal);
    return { tone: "success", text: `Saved as ${name} (${formatBytes(bytes)}).` };
  });
}
