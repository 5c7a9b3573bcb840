import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Action, ActionResult, ExportFormat, MessageItem, MessageQuery } from "../contract/inbox.ts";
import { MAX_PAGE } from "../contract/inbox.ts";
import { serially } from "../contract/serially.ts";
import { visible } from "../contract/visible-text.ts";
import { api, describeFailure, isAbort } from "./api.ts";
import { ACTION_LABELS, formatNumber, plural, STATE_NAME } from "./labels.tsx";

/** Small enough that progress is seen and cancelling is quick. */
const BATCH = 50;
/** What is done sooner needs no dialog. */
const SHOW_PROGRESS_MS = 300;
/** Long enough to be read; the list shows the same. */
const SHOW_SUCCESS_MS = 8000;
const NAMED_REFERENCES = 5;
const DRAWN_MS = 100;

export interface Notice {
  tone: "success" | "warning" | "failure";
  text: string;
  details?: readonly string[];
}

interface Actions {
  showNotice(notice: Notice): void;
  /** The operator has gone on, and needs the space. */
  dismissNotice(): void;
  /**
   * Asks first where something cannot be undone, then acts in batches. `refresh` runs before the notice is shown, so that
   * the page is up to date by then. Resolves to null when the operator cancels, and for a second press of the same.
   */
  perform(
    action: Action,
    items: readonly MessageItem[],
    refresh: (results: readonly ActionResult[]) => Promise<void> | void,
  ): Promise<readonly ActionResult[] | null>;
  /** All messages of the query as they are now; null when the operator cancels, and for a second press of the same. */
  collect(query: MessageQuery, total: number): Promise<readonly MessageItem[] | null>;
  exportMessages(format: ExportFormat, query: MessageQuery, total: number): Promise<void>;
  /** Runs anything that takes one call, and tells the operator when it fails. `press` is a name of what was pressed. */
  attempt(press: string, run: () => Promise<Notice | null>): Promise<void>;
}

interface Question {
  title: string;
  text: string;
  confirm: string;
  answer(isConfirmed: boolean): void;
}

interface Progress {
  title: string;
  done: number;
  total: number;
}

const ActionsContext = createContext<Actions | null>(null);

export function useActions(): Actions {
  const actions = useContext(ActionsContext);
  if (!actions) throw new Error("There is no ActionsProvider around this.");
  return actions;
}

/** Runs what the operator starts, with the dialogs that ask and show progress and the notice of the outcome. */
export function ActionsProvider({ children }: { children: ReactNode }) {
  const [notice, setNotice] = useState<Notice | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const cancellation = useRef<AbortController | null>(null);

  const actions = useMemo<Actions>(() => {
    const pending = new Set<string>();
    const oneByOne = serially();

    /** A second press before the first one is done is the same press; any other waits for its turn. */
    function inTurn<T>(press: string, run: () => Promise<T>): Promise<T | null> {
      if (pending.has(press)) return Promise.resolve(null);
      if (pending.size === 0) setNotice(null);
      pending.add(press);
      return oneByOne(run).finally(() => pending.delete(press));
    }

    /** An outcome does not hide that something pressed just before went wrong. */
    function showOutcome(notice: Notice | null): void {
      setNotice((shown) => {
        if (!shown || !notice || shown.tone === "success") return notice;
        const tone = notice.tone === "failure" ? "failure" : shown.tone;
        const details = [...(shown.details ?? []), notice.text, ...(notice.details ?? [])];
        return { tone, text: shown.text, details: [...new Set(details)] };
      });
    }

    function ask(title: string, text: string, confirm: string): Promise<boolean> {
      return new Promise((resolve) => {
        const answer = (isConfirmed: boolean) => {
          setQuestion(null);
          resolve(isConfirmed);
        };
        setQuestion({ title, text, confirm, answer });
      });
    }

    /** Shows the progress of whatever takes long enough to be noticed, and lets it be cancelled. */
    async function runLong(
      run: (report: (progress: Progress) => void, signal: AbortSignal) => Promise<Notice | null>,
      // One call shows nothing: there is nothing to cancel, and the focus stays where it is.
      isOneCall = false,
    ): Promise<void> {
      const controller = new AbortController();
      cancellation.current = controller;
      let latest: Progress | null = null;
      let isShown = false;
      const timer = setTimeout(() => {
        if (isOneCall) return;
        isShown = true;
        setProgress(latest);
      }, SHOW_PROGRESS_MS);
      const report = (progress: Progress) => {
        latest = progress;
        if (isShown) setProgress(progress);
      };
      try {
        showOutcome(await run(report, controller.signal));
      } catch (error) {
        const text = isAbort(error) ? "Cancelled." : describeFailure(error);
        showOutcome({ tone: isAbort(error) ? "warning" : "failure", text });
      } finally {
        clearTimeout(timer);
        setProgress(null);
      }
    }

    return {
      showNotice: setNotice,
      dismissNotice: () => setNotice(null),

      async attempt(press, run) {
        await inTurn(press, () => runLong(() => run()));
      },

      async perform(action, items, refresh) {
        const total = items.length;
        // Asked at once: later, another message could be shown behind the question.
        const question = questionOf(action, items);
        if (question && !(await ask(...question))) return null;
        return inTurn(`${action} ${items.map(({ reference }) => reference)}`, async () => {
          const results: ActionResult[] = [];
          await runLong(async (report, signal) => {
            let problem: unknown = null;
            while (results.length < total && !signal.aborted && problem === null) {
              report({ title: ACTION_LABELS[action].running, done: results.length, total });
              const batch = items
                .slice(results.length, results.length + BATCH)
                .map(({ reference, version }) => ({ reference, version }));
              // Never broken off on its way: nobody would know what became of it.
              await api.act({ action, targets: batch }).then(
                (answer) => results.push(...answer.results),
                (error) => {
                  problem = error;
                },
              );
            }
            await refresh(results);
            return outcomeNotice(action, results, total, problem);
          }, total === 1);
          return results;
        });
      },

      collect: (query, total) =>
        inTurn("collect", async () => {
          let found: readonly MessageItem[] | null = null;
          await runLong(async (report, signal) => {
            found = await collect(query, total, report, signal);
            return null;
          });
          return found;
        }),

      async exportMessages(format, query, total) {
        await inTurn(`export ${format}`, () =>
          runLong(async (report, signal) => {
            const parts: Blob[] = [];
            let [done, cursor]: [number, string | null] = [0, null];
            while (true) {
              report({ title: `Exporting as ${format.toUpperCase()}`, done, total });
              const asked = { ...query, format, ...(cursor !== null && { cursor }) };
              const part = await api.exportPart(asked, { signal });
              // A blob is kept outside the page's memory, so that a large file does not fill it.
              parts.push(new Blob([part.text]));
              done += part.count;
              cursor = part.nextCursor;
              if (cursor !== null) continue;
              saveFile(part.fileName, part.contentType, parts);
              return { tone: "success", text: `${plural(done, "message")} exported as ${part.fileName}.` };
            }
          }),
        );
      },
    };
  }, []);

  // What was pressed may be gone, such as the button that released a message, once what was loaded is drawn.
  useEffect(() => {
    if (!notice) return;
    const timer = setTimeout(() => {
      if (document.activeElement !== document.body) return;
      document.getElementById("screen-title")?.focus({ preventScroll: true });
    }, DRAWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);

  return (
    <ActionsContext value={actions}>
      {children}
      <Notices notice={notice} onDismiss={() => setNotice(null)} />
      {question && (
        <Dialog title={question.title} onClose={() => question.answer(false)}>
          <p>{question.text}</p>
          <div className="dialog-actions">
            <button type="button" className="button button-outline" onClick={() => question.answer(false)}>
              Cancel
            </button>
            <button type="button" className="button button-danger" onClick={() => question.answer(true)}>
              {question.confirm}
            </button>
          </div>
        </Dialog>
      )}
      {progress && <ProgressDialog progress={progress} onCancel={() => cancellation.current?.abort()} />}
    </ActionsContext>
  );
}

type Confirmation = [title: string, text: string, confirm: string];

function questionOf(action: Action, items: readonly MessageItem[]): Confirmation | null {
  const [{ name } = { name: "" }] = items;
  const messages = plural(items.length, "message");
  if (action === "delete") {
    const text =
      "This cannot be undone. When a person asks for erasure, use their page instead: it removes every trace in the database’s files.";
    const title = items.length === 1 ? `Delete the message from ${visible(name)}?` : `Delete ${messages}?`;
    return [title, text, `Delete ${messages}`];
  }
  if (action === "resend" && items.length > 1) {
    return [`Resend ${messages}?`, "The team gets each of them by e-mail once more.", `Resend ${messages}`];
  }
  return null;
}

async function collect(
  query: MessageQuery,
  total: number,
  report: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<MessageItem[]> {
  const found: MessageItem[] = [];
  let cursor: string | null = null;
  do {
    report({ title: "Finding all messages", done: found.length, total });
    const page = await api.list({ ...query, limit: MAX_PAGE, ...(cursor !== null && { cursor }) }, { signal });
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

/** One sentence for the whole, and one for each kind of message that was left as it is. */
function outcomeNotice(action: Action, results: readonly ActionResult[], total: number, problem: unknown): Notice {
  const done = results.filter(({ outcome }) => outcome === "done").length;
  const details: string[] = [];

  const changed = results.filter((result) => result.outcome === "changed");
  if (changed.length > 0) {
    const named = changed.map(
      ({ reference, message }) => `${reference} (now ${STATE_NAME[message.state].toLowerCase()})`,
    );
    details.push(`Changed meanwhile, so nothing was done to ${listed(named)}. Look again, then repeat it.`);
  }
  const gone = results.filter(({ outcome }) => outcome === "gone");
  if (gone.length > 0) details.push(`No longer there: ${listed(gone.map(({ reference }) => reference))}.`);
  const refused = results.filter((result) => result.outcome === "refused");
  if (refused.length > 0)
    details.push(
      `Left as they are: ${listed(
        refused.map(({ reason }) => reason),
        "; ",
      )}.`,
    );
  if (problem !== null) {
    details.push(`${describeFailure(problem)} Of the next ${BATCH}, look at each before you repeat it.`);
  } else if (results.length < total) {
    details.push(`Cancelled: ${formatNumber(total - results.length)} of ${plural(total, "message")} left as they are.`);
  }

  const text = done === 0 ? "Nothing was changed." : `${plural(done, "message")} ${ACTION_LABELS[action].done}.`;
  const tone = problem !== null ? "failure" : details.length > 0 ? "warning" : "success";
  return { tone, text: total === 0 ? "None of these messages fits." : text, details };
}

function listed(names: readonly string[], separator = ", "): string {
  const rest = names.length - NAMED_REFERENCES;
  const named = names.slice(0, NAMED_REFERENCES).join(separator);
  return rest > 0 ? `${named} and ${formatNumber(rest)} more` : named;
}

export function saveFile(fileName: string, contentType: string, parts: readonly BlobPart[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: contentType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Modal for as long as it is rendered; Escape closes it. The focus returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

/** Within the dialog: whatever is behind it cannot be reached. Always there, so that screen readers announce it. */
export function DialogError({ error }: { error: Error | null }) {
  return (
    <p className="field-error" role="alert">
      {error && describeFailure(error)}
    </p>
  );
}

function ProgressDialog({ progress: { title, done, total }, onCancel }: { progress: Progress; onCancel: () => void }) {
  const [isCancelled, setIsCancelled] = useState(false);
  const cancel = () => {
    setIsCancelled(true);
    onCancel();
  };
  return (
    <Dialog title={`${title} …`} onClose={cancel}>
      <progress className="progress" value={Math.min(done, total)} max={Math.max(1, total)} aria-label={title} />
      <p>
        {formatNumber(done)} of {formatNumber(Math.max(done, total))}
      </p>
      <div className="dialog-actions">
        <button type="button" className="button button-outline" onClick={cancel} disabled={isCancelled}>
          {isCancelled ? "Cancelling …" : "Cancel"}
        </button>
      </div>
    </Dialog>
  );
}

const NOTICE_SHAPE = { success: "✓", warning: "!", failure: "✕" };

function Notices({ notice, onDismiss }: { notice: Notice | null; onDismiss: () => void }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each notice
  useEffect(() => {
    if (notice?.tone !== "success") return;
    const timer = setTimeout(onDismiss, SHOW_SUCCESS_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  // Both are always in the page, so that screen readers announce what comes into them.
  return (
    <div className="notices">
      <div role="status">
        {notice && notice.tone !== "failure" && <NoticeBox notice={notice} onDismiss={onDismiss} />}
      </div>
      <div role="alert">{notice?.tone === "failure" && <NoticeBox notice={notice} onDismiss={onDismiss} />}</div>
    </div>
  );
}

function NoticeBox({ notice: { tone, text, details }, onDismiss }: { notice: Notice; onDismiss: () => void }) {
  return (
    <div className={`notice notice-${tone}`}>
      <span className="notice-shape" aria-hidden="true">
        {NOTICE_SHAPE[tone]}
      </span>
      <div>
        <p className="notice-text">{text}</p>
        {details?.map((detail) => (
          <p key={detail}>{detail}</p>
        ))}
      </div>
      <button type="button" className="icon-button" onClick={onDismiss} aria-label="Dismiss">
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="m3.500 3.500 9 9m0-9-9 9" />
        </svg>
      </button>
    </div>
  );
}
