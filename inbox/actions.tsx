import { Button, Progress } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { serially } from "../contract/serially.ts";
import { visible } from "../contract/visible-text.ts";
import {
  type Action,
  type ActionResult,
  call,
  describeFailure,
  download,
  type Filter,
  reloadAll,
  type Target,
} from "./api.ts";
import { formatBytes, formatNumber, plural } from "./labels.tsx";
import { Dialog, type DialogProps, focusTitle } from "./parts.tsx";
import { STATE } from "./rows.tsx";

/** Small enough that progress is seen and cancelling is quick. */
const BATCH = 50;
/** What is done sooner needs no dialog. */
const SHOW_PROGRESS_MS = 300;
/** Long enough to be read; the list shows the same. */
const SHOW_SUCCESS_MS = 8000;
const NAMED_REFERENCES = 5;
const DRAWN_MS = 100;

/** `done`: what happened to `3 messages`. */
export const ACTION_LABELS: Readonly<Record<Action, { label: string; running: string; done: string }>> = {
  answer: { label: "Mark answered", running: "Marking as answered", done: "marked as answered" },
  unanswer: { label: "Mark unanswered", running: "Marking as unanswered", done: "marked as unanswered" },
  retry: { label: "Retry", running: "Retrying", done: "queued again" },
  release: { label: "Release", running: "Releasing", done: "released" },
  spam: { label: "Spam", running: "Marking as spam", done: "marked as spam" },
  resend: { label: "Resend", running: "Resending", done: "queued to be sent once more" },
  delete: { label: "Delete", running: "Deleting", done: "deleted" },
};
export const ALL_ACTIONS = Object.keys(ACTION_LABELS) as Action[];

export interface Notice {
  tone: "success" | "warning" | "failure";
  text: string;
  details?: readonly string[];
  undo?: (() => void) | undefined;
}

/** Of the notice that is shown. */
let undo: (() => void) | undefined;
export const undoLast = () => undo?.();

export function notify({ tone, text, details = [], undo: undoThis }: Notice): void {
  undo =
    undoThis &&
    (() => {
      clearNotices();
      undoThis();
    });
  notifications.show({
    color: { success: "green", warning: "yellow", failure: "red" }[tone],
    role: tone === "failure" ? "alert" : "status",
    className: "notice",
    autoClose: tone === "success" ? SHOW_SUCCESS_MS : false,
    closeButtonProps: { "aria-label": "Dismiss" },
    title: text,
    message: (
      <>
        {details.map((detail) => (
          <p key={detail}>{detail}</p>
        ))}
        {undo && (
          <Button size="xs" mt="xs" onClick={undo}>
            Undo
          </Button>
        )}
      </>
    ),
    onClose: () => {
      undo = undefined;
    },
  });
  // What was pressed may be gone, such as the button that released a message, once what was loaded is drawn.
  setTimeout(() => document.activeElement === document.body && focusTitle(), DRAWN_MS);
}

/** The operator has gone on. */
export function clearNotices(): void {
  undo = undefined;
  notifications.clean();
}

let setDialog: (dialog: DialogProps | null) => void = () => {};

export function ActionDialog() {
  const [shown, setShown] = useState<DialogProps | null>(null);
  setDialog = setShown;
  return shown && <Dialog key={shown.title} {...shown} />;
}

function ask(title: string, text: string, confirm: string): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      setDialog(null);
      resolve(isConfirmed);
    };
    const onConfirm = () => answer(true);
    setDialog({ title, children: <p>{text}</p>, confirm, color: "red", onConfirm, onClose: () => answer(false) });
  });
}

/** `percent`: `null` when it is unknown. */
type Report = (title: string, text: string, percent: number | null) => void;
type Work = (report: Report, signal: AbortSignal) => Promise<Notice | null>;

const pending = new Set<string>();
const oneByOne = serially();

/**
 * Does it after what was pressed before, and shows how it ended. `press` is a name of what was pressed: a second press of
 * the same before the first one is done resolves to false.
 */
export async function attempt(press: string, work: Work): Promise<boolean> {
  if (pending.has(press)) return false;
  if (pending.size === 0) clearNotices();
  pending.add(press);
  await oneByOne(() => showProgress(work)).finally(() => pending.delete(press));
  return true;
}

/** Of work that takes long enough to be noticed, which can then be cancelled. */
async function showProgress(work: Work): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  let latest: DialogProps | null = null;
  let isDue = false;
  // Without a report the dialog is left alone: it may ask about what was pressed meanwhile.
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
  undo?: (() => void) | undefined;
}

/**
 * Asks first where something cannot be undone, then acts in batches. Resolves to false when the operator cancels, and for
 * a second press of the same.
 */
export async function perform(
  action: Action,
  targets: readonly { reference: string; version: string; name?: string }[],
  { refresh = reloadAll, undo }: PerformOptions = {},
): Promise<boolean> {
  const total = targets.length;
  // Asked at once: later, another message could be shown behind the question.
  const confirmation = confirmationOf(action, total, targets[0]?.name);
  if (confirmation && !(await ask(...confirmation))) return false;
  return attempt(`${action} ${targets.map(({ reference }) => reference)}`, async (report, signal) => {
    const results: ActionResult[] = [];
    let problem: unknown = null;
    while (results.length < total && !signal.aborted && problem === null) {
      const done = results.length;
      const text = `${formatNumber(done)} of ${formatNumber(total)}`;
      // One call shows nothing: there is nothing to cancel, and the focus stays where it is.
      if (total > 1) report(ACTION_LABELS[action].running, text, (done / total) * 100);
      const batch = targets.slice(done, done + BATCH).map(({ reference, version }) => ({ reference, version }));
      // Never aborted while it runs: its outcome would be unknown.
      const answer = await call.act.mutate({ action, targets: batch }).catch((error: unknown) => {
        problem = error;
      });
      results.push(...(answer?.results ?? []));
    }
    await refresh(results);
    return { ...outcomeNotice(action, results, total, problem), undo };
  });
}

function confirmationOf(action: Action, count: number, name: string | undefined): [string, string, string] | null {
  const messages = plural(count, "message");
  if (action === "resend" && count > 1)
    return [`Resend ${messages}?`, "The team gets each of them by email once more.", `Resend ${messages}`];
  if (action !== "delete") return null;
  const text =
    "This cannot be undone. When a person asks for erasure, use their page instead: it removes every trace in the database’s files.";
  const what = count === 1 && name !== undefined ? `the message from ${visible(name)}` : messages;
  return [`Delete ${what}?`, text, `Delete ${messages}`];
}

/** One sentence for the whole, and one for each kind of message that was left as it is. */
function outcomeNotice(action: Action, results: readonly ActionResult[], total: number, problem: unknown): Notice {
  const done = results.filter(({ outcome }) => outcome === "done").length;
  const changed = results.flatMap(({ reference, state }) =>
    state ? `${reference} (now ${STATE[state][0].toLowerCase()})` : [],
  );
  const gone = results.flatMap(({ reference, outcome }) => (outcome === "gone" ? reference : []));
  const refused = results.flatMap(({ reason }) => reason ?? []);
  const details = [
    changed.length > 0 &&
      `Changed in the meantime, so left as they are: ${listed(changed)}. Check them, then try again.`,
    gone.length > 0 && `No longer there: ${listed(gone)}.`,
    refused.length > 0 && `Left as they are: ${listed(refused, "; ")}.`,
    problem !== null
      ? `${describeFailure(problem)} Of the next ${BATCH}, look at each before you repeat it.`
      : results.length < total &&
        `Cancelled: ${formatNumber(total - results.length)} of ${plural(total, "message")} left as they are.`,
  ].filter((detail) => detail !== false);
  const text = done === 0 ? "Nothing was changed." : `${plural(done, "message")} ${ACTION_LABELS[action].done}.`;
  return { tone: problem !== null ? "failure" : details.length > 0 ? "warning" : "success", text, details };
}

function listed(names: readonly string[], separator = ", "): string {
  const rest = names.length - NAMED_REFERENCES;
  const named = names.slice(0, NAMED_REFERENCES).join(separator);
  return rest > 0 ? `${named} and ${formatNumber(rest)} more` : named;
}

/** All messages of the list as they are now; `null` when the operator cancels. */
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
