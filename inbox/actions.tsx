import { Button, Progress } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { serially } from "../contract/serially.ts";
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
import { createSignal } from "./signal.ts";

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

const dialog = createSignal<DialogProps | null>(null);

/** What asks, or shows what runs. */
export function ActionDialog() {
  const shown = dialog.use();
  return shown && <Dialog key={shown.title} {...shown} />;
}

function ask(title: string, text: string, confirm: string): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      dialog.set(null);
      resolve(isConfirmed);
    };
    const onConfirm = () => answer(true);
    dialog.set({ title, children: <p>{text}</p>, confirm, isDangerous: true, onConfirm, onClose: () => answer(false) });
  });
}

const pending = new Set<string>();
const oneByOne = serially();

/** A second press before the first one is done is the same press, and resolves to `null`; any other waits for its turn. */
function inTurn<Result>(press: string, run: () => Promise<Result>): Promise<Result | null> {
  if (pending.has(press)) return Promise.resolve(null);
  if (pending.size === 0) clearNotices();
  pending.add(press);
  return oneByOne(run).finally(() => pending.delete(press));
}

/** `percent`: `null` when it is unknown. */
type Report = (title: string, text: string, percent: number | null) => void;

/** Shows the progress of whatever takes long enough to be noticed, and lets it be cancelled. Tells how it ended. */
async function runLong(run: (report: Report, signal: AbortSignal) => Promise<Notice | null>): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  let latest: DialogProps | null = null;
  let isShown = false;
  const show = () => {
    isShown = true;
    dialog.set(latest && { ...latest, ...(signal.aborted && { close: "Cancelling …" }) });
  };
  const timer = setTimeout(show, SHOW_PROGRESS_MS);
  const onClose = () => {
    controller.abort();
    show();
  };
  try {
    const notice = await run((title, text, percent) => {
      const bar = <Progress value={percent ?? 100} animated={percent === null} size="lg" aria-label={title} />;
      latest = { title: `${title} …`, children: [bar, <p key="text">{text}</p>], onClose };
      if (isShown) show();
    }, signal);
    if (notice) notify(notice);
  } catch (error) {
    if (signal.aborted) notify({ tone: "warning", text: "Cancelled." });
    else notify({ tone: "failure", text: describeFailure(error) });
  } finally {
    clearTimeout(timer);
    if (isShown) dialog.set(null);
  }
}

/** Runs anything that takes one call, and tells the operator when it fails. `press` is a name of what was pressed. */
export async function attempt(press: string, run: () => Promise<Notice | null>): Promise<void> {
  await inTurn(press, () => runLong(() => run()));
}

interface PerformOptions {
  /** Runs before the notice is shown, so that the page is up to date by then. */
  refresh?: (results: readonly ActionResult[]) => Promise<unknown>;
  /** For the question about one message. */
  name?: string;
  undo?: (() => void) | undefined;
}

/**
 * Asks first where something cannot be undone, then acts in batches. Resolves to null when the operator cancels, and for
 * a second press of the same.
 */
export async function perform(
  action: Action,
  targets: readonly Pick<Target, "reference" | "version">[],
  { refresh = reloadAll, name, undo }: PerformOptions = {},
): Promise<readonly ActionResult[] | null> {
  const total = targets.length;
  // Asked at once: later, another message could be shown behind the question.
  const confirmation = confirmationOf(action, total, name);
  if (confirmation && !(await ask(...confirmation))) return null;
  return inTurn(`${action} ${targets.map(({ reference }) => reference)}`, async () => {
    const results: ActionResult[] = [];
    await runLong(async (report, signal) => {
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
        if (answer) results.push(...answer.results);
      }
      await refresh(results);
      return { ...outcomeNotice(action, results, total, problem), undo };
    });
    return results;
  });
}

function confirmationOf(action: Action, count: number, name: string | undefined): [string, string, string] | null {
  const messages = plural(count, "message");
  if (action === "resend" && count > 1)
    return [`Resend ${messages}?`, "The team gets each of them by e-mail once more.", `Resend ${messages}`];
  if (action !== "delete") return null;
  const text =
    "This cannot be undone. When a person asks for erasure, use their page instead: it removes every trace in the database’s files.";
  return [name === undefined ? `Delete ${messages}?` : `Delete the message from ${name}?`, text, `Delete ${messages}`];
}

/** One sentence for the whole, and one for each kind of message that was left as it is. */
function outcomeNotice(action: Action, results: readonly ActionResult[], total: number, problem: unknown): Notice {
  let done = 0;
  const [changed, gone, refused]: [string[], string[], string[]] = [[], [], []];
  for (const result of results) {
    if (result.outcome === "done") done += 1;
    else if (result.outcome === "changed")
      changed.push(`${result.reference} (now ${STATE[result.message.state][0].toLowerCase()})`);
    else if (result.outcome === "gone") gone.push(result.reference);
    else refused.push(result.reason);
  }
  const details: string[] = [];
  if (changed.length > 0)
    details.push(`Changed meanwhile, so nothing was done to ${listed(changed)}. Look again, then repeat it.`);
  if (gone.length > 0) details.push(`No longer there: ${listed(gone)}.`);
  if (refused.length > 0) details.push(`Left as they are: ${listed(refused, "; ")}.`);
  if (problem !== null)
    details.push(`${describeFailure(problem)} Of the next ${BATCH}, look at each before you repeat it.`);
  else if (results.length < total)
    details.push(`Cancelled: ${formatNumber(total - results.length)} of ${plural(total, "message")} left as they are.`);
  const text = done === 0 ? "Nothing was changed." : `${plural(done, "message")} ${ACTION_LABELS[action].done}.`;
  return { tone: problem !== null ? "failure" : details.length > 0 ? "warning" : "success", text, details };
}

function listed(names: readonly string[], separator = ", "): string {
  const rest = names.length - NAMED_REFERENCES;
  const named = names.slice(0, NAMED_REFERENCES).join(separator);
  return rest > 0 ? `${named} and ${formatNumber(rest)} more` : named;
}

/** Calls `onFound` with all messages of the list as they are now. */
export async function selectAll(filter: Filter, onFound: (targets: readonly Target[]) => void): Promise<void> {
  await inTurn("select", () =>
    runLong(async (report, signal) => {
      report("Finding all messages", "One moment", null);
      onFound(await call.select.query(filter, { signal }));
      return null;
    }),
  );
}

export async function saveAs(title: string, path: string, query: Readonly<Record<string, string>>): Promise<void> {
  await inTurn(`download ${path}`, () =>
    runLong(async (report, signal) => {
      const show = (bytes: number) => report(title, `${formatBytes(bytes)} so far`, null);
      show(0);
      const { name, bytes } = await download(path, query, show, signal);
      return { tone: "success", text: `Saved as ${name} (${formatBytes(bytes)}).` };
    }),
  );
}
