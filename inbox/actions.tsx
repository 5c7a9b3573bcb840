import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useState } from "react";
import { serially } from "../contract/serially.ts";
import { visible } from "../contract/text.ts";
import { type Action, type ActionResult, call, describeFailure, download, isRefused, reloadAll } from "./api.ts";
import { plural } from "./labels.tsx";
import { Dialog, type DialogProps, focusTitle } from "./parts.tsx";
import { STATE } from "./rows.tsx";

/** Long enough to read. The list shows the result too. */
const SHOW_SUCCESS_MS = 8000;
const NAMED_REFERENCES = 5;
/** A mark of more messages asks first. */
const MARKED_UNASKED = 10;
const DRAWN_MS = 100;
const RED = { color: "red" } as const;

interface ActionLabels {
  label: string;
  /** Follows the number of messages, as in `3 messages marked as answered`. */
  done: string;
  /** Only for marks, which can be undone: asks about many messages. */
  question?: (messages: string) => string;
}

export const ACTION_LABELS: Readonly<Record<Action, ActionLabels>> = {
  answer: { label: "Mark answered", done: "marked as answered", question: (some) => `Mark ${some} as answered?` },
  unanswer: {
    label: "Mark unanswered",
    done: "marked as unanswered",
    question: (some) => `Mark ${some} as unanswered?`,
  },
  retry: { label: "Retry", done: "queued again" },
  release: { label: "Release", done: "released", question: (some) => `Release ${some}?` },
  spam: { label: "Spam", done: "marked as spam", question: (some) => `Mark ${some} as spam?` },
  delete: { label: "Delete", done: "deleted" },
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

const pending = new Set<string>();
const oneByOne = serially();

/**
 * Runs the work after all earlier work, and shows the result. `press` identifies the button: resolves to false if the
 * work of an earlier press is not finished.
 */
export async function attempt(press: string, work: () => Promise<Notice | null>): Promise<boolean> {
  if (pending.has(press)) return false;
  if (pending.size === 0) clearNotices();
  pending.add(press);
  const run = async () => {
    const notice = await work().catch((error: unknown): Notice => ({ tone: "failure", text: describeFailure(error) }));
    if (notice) notify(notice);
  };
  await oneByOne(run).finally(() => pending.delete(press));
  return true;
}

interface PerformOptions {
  /** Runs before the notice is shown, so that the page is up to date by then. */
  refresh?: (results: readonly ActionResult[]) => Promise<unknown>;
  /** Runs before the action is undone, for example to show the message again. */
  onUndo?: () => Promise<unknown>;
}

/**
 * Asks for a confirmation if the action cannot be undone or marks many messages, then acts. Resolves to false if the
 * operator cancels, or if the same action is not finished.
 */
export async function perform(
  action: Action,
  messages: readonly { reference: string; version: string; name: string }[],
  { refresh = reloadAll, onUndo }: PerformOptions = {},
): Promise<boolean> {
  const step = ACTION_LABELS[action].question && crypto.randomUUID();
  // Asks immediately: later, another message could be on the screen behind the question.
  const confirmation = confirmationOf(action, messages.length, messages[0]?.name);
  if (confirmation && !(await ask(...confirmation))) return false;
  const targets = messages.map(({ reference, version }) => ({ reference, version }));
  return attempt(`${action} ${targets[0]?.reference}`, async () => {
    const { results } = await call.act.mutate({ action, targets, step }).catch(async (error: unknown) => {
      await refresh([]);
      const unknown = "Some messages may have changed: check them before you try again.";
      throw new Error(`The action failed. ${describeFailure(error)} ${unknown}`);
    });
    await refresh(results);
    const isDone = results.some(({ outcome }) => outcome === "done");
    return { ...outcomeNotice(action, results), undo: step && isDone ? () => undoStep(step, onUndo) : undefined };
  });
}

function undoStep(step: string, onUndo?: () => Promise<unknown>): void {
  void attempt(`undo ${step}`, async () => {
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
  if (action !== "delete") return null;
  const text =
    "This cannot be undone. When a person asks for erasure, use the person’s page instead: it also removes every trace from the database’s files.";
  const what = count === 1 && name !== undefined ? `the message from ${visible(name)}` : messages;
  return [`Delete ${what}?`, text, `Delete ${messages}`, RED];
}

/** One sentence about the whole action, and one for each reason why messages were not changed. */
function outcomeNotice(action: Action, results: readonly ActionResult[]): Notice {
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
  ].filter((detail) => detail !== false);
  const text = done === 0 ? "Nothing was changed." : `${plural(done, "message")} ${ACTION_LABELS[action].done}.`;
  return { tone: details.length > 0 ? "warning" : "success", text, details };
}

function listed(names: readonly string[], separator = ", "): string {
  const rest = names.length - NAMED_REFERENCES;
  const named = names.slice(0, NAMED_REFERENCES).join(separator);
  return rest > 0 ? `${named} and ${rest} more` : named;
}

export function saveAs(path: string, query: Readonly<Record<string, string>>): Promise<boolean> {
  return attempt(`download ${path}`, async () => ({
    tone: "success",
    text: `Saved as ${await download(path, query)}.`,
  }));
}
