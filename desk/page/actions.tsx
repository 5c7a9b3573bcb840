import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { serially } from "../../contract/serially.ts";
import { asSentence, visible } from "../../contract/text.ts";
import { ACTION_WORDS, lostDrafts, PAUSED_RETRY, REPLY_UNDO_MS, STATE } from "../words.ts";
import {
  type Action,
  type ActionResult,
  call,
  describeFailure,
  download,
  isRefused,
  type MessageView,
  reloadAll,
} from "./api.ts";
import { discard } from "./draft.ts";
import { formatSince, plural } from "./format.ts";
import { Dialog, type DialogProps } from "./parts.tsx";

export const ALL_ACTIONS = Object.keys(ACTION_WORDS) as Action[];

export interface Notice {
  tone: "success" | "warning" | "failure";
  text: string;
  details?: readonly string[];
  undo?: (() => void) | undefined;
}

let undo: (() => void) | undefined;
/** Waits for a running action, so that a key pressed early undoes it. `other` is done if no notice offers an undo. */
export const undoLast = (other?: () => void) =>
  void oneByOne(async () => {
    const act = undo ?? other;
    if (act) act();
    else notify({ tone: "success", text: "There is nothing to undo on this screen." });
  });

export function notify({ tone, text, details = [], undo: undoThis }: Notice): void {
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
    // As long as a reply can be taken back.
    autoClose: tone === "success" ? REPLY_UNDO_MS : false,
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
}

export function clearNotices(): void {
  undo = undefined;
  notifications.clean();
}

const pending = new Set<string>();
const oneByOne = serially();

/** Runs the work after all earlier work. A second press does nothing until the work of the first is finished. */
export async function attempt(press: string, work: () => Promise<Notice | null>): Promise<void> {
  if (pending.has(press)) return;
  if (pending.size === 0) clearNotices();
  pending.add(press);
  const run = async () => {
    const notice = await work().catch((error: unknown): Notice => ({ tone: "failure", text: describeFailure(error) }));
    if (notice) notify(notice);
  };
  await oneByOne(run).finally(() => pending.delete(press));
}

type Target = Readonly<Pick<MessageView, "reference" | "version" | "name" | "drafts">>;

interface PerformOptions {
  /** Runs before the notice is shown, so that the page is up to date by then. */
  refresh?: (results: readonly ActionResult[]) => Promise<unknown>;
  /** Runs before the action is undone, for example to show the message again. */
  onUndo?: () => Promise<unknown>;
}

interface Question extends Pick<DialogProps, "title" | "confirm" | "color" | "children"> {
  act: () => void;
}

/** Asks before something is done. Render `question`. */
export function useQuestion() {
  const [asked, ask] = useState<Question | null>(null);
  const close = () => ask(null);
  const confirm = () => {
    close();
    asked?.act();
  };
  const question = asked && <Dialog {...asked} onConfirm={confirm} onClose={close} />;
  return { ask, question };
}

export function LostDrafts({ messages }: { messages: readonly Pick<Target, "drafts">[] }) {
  const now = new Date();
  return <p>{lostDrafts(messages, (at) => formatSince(at, now))}</p>;
}

/** Asks before messages are deleted. Render `question`. */
export function useActions() {
  const { ask, question } = useQuestion();
  const perform = (action: Action, messages: readonly Target[], options?: PerformOptions) => {
    const act = () => void performNow(action, messages, options);
    if (action !== "delete") return act();
    const count = plural(messages.length, "message");
    const [only, second] = messages;
    const what = only && !second ? `the message from ${visible(only.name)}` : count;
    const text =
      "This cannot be undone. When a person asks for erasure, use the person’s page instead: it also removes every trace from the database’s files.";
    ask({
      title: `Delete ${what}?`,
      children: (
        <>
          <LostDrafts messages={messages} />
          <p>{text}</p>
        </>
      ),
      confirm: `Delete ${count}`,
      color: "red",
      act,
    });
  };
  return { perform, question };
}

function performNow(
  action: Action,
  messages: readonly Target[],
  { refresh = reloadAll, onUndo }: PerformOptions = {},
): Promise<void> {
  const step = ACTION_WORDS[action].isMark ? crypto.randomUUID() : undefined;
  const targets = messages.map(({ reference, version }) => ({ reference, version }));
  return attempt(`${action} ${targets[0]?.reference}`, async () => {
    const { results } = await call.act.mutate({ action, targets, step }).catch(async (error: unknown) => {
      await refresh([]);
      const unknown = "Some messages may have changed: check them before you try again.";
      throw new Error(`The action failed. ${describeFailure(error)} ${unknown}`);
    });
    await refresh(results);
    // Afterwards, because until then the page may show what was typed.
    if (action === "delete") for (const { reference, outcome } of results) if (outcome === "done") discard(reference);
    const isDone = results.some(({ outcome }) => outcome === "done");
    const notice = outcomeNotice(action, results);
    const waits = results.flatMap((result) =>
      result.outcome === "done" && result.pause
        ? `${asSentence(`Sending is paused: ${result.pause.reason}`)} ${PAUSED_RETRY}`
        : [],
    );
    return {
      ...notice,
      details: [...(notice.details ?? []), ...new Set(waits)],
      undo: step && isDone ? () => undoStep(step, onUndo) : undefined,
    };
  });
}

function undoStep(step: string, onUndo?: () => Promise<unknown>): void {
  void attempt(`undo ${step}`, async () => {
    await onUndo?.();
    try {
      const { done, skipped } = await call.undo.mutate({ step });
      await reloadAll();
      const details =
        skipped.length > 0 ? [`Skipped, because they changed in the meantime: ${skipped.join(", ")}.`] : [];
      return { tone: details.length > 0 ? "warning" : "success", text: `Undone: ${plural(done, "message")}.`, details };
    } catch (error) {
      const undo = isRefused(error) ? undefined : () => undoStep(step, onUndo);
      return { tone: "failure", text: describeFailure(error), undo };
    }
  });
}

function outcomeNotice(action: Action, results: readonly ActionResult[]): Notice {
  const skipped = results.filter(({ outcome }) => outcome !== "done");
  const done = results.length - skipped.length;
  const reasons = skipped.map(({ reference, outcome, state, reason }) => {
    if (outcome === "gone") return `${reference} is no longer there`;
    return reason ?? `${reference} has changed${state ? ` (now ${STATE[state][0].toLowerCase()})` : ""}`;
  });
  return {
    tone: done === 0 || skipped.length > 0 ? "warning" : "success",
    text: done === 0 ? "Nothing was changed." : `${plural(done, "message")} ${ACTION_WORDS[action].done}.`,
    details: reasons.length > 0 ? [`Skipped: ${reasons.join("; ")}.`] : [],
  };
}

export function saveAs(path: string, query: Readonly<Record<string, string>>): Promise<void> {
  return attempt(`download ${path}`, async () => ({
    tone: "success",
    text: `Saved as ${await download(path, query)}.`,
  }));
}
