import { ACTIONS, type Action } from "../../contract/inbox.ts";
import { errorName, OperatorError } from "../log.ts";
import { removeEmls } from "../mail/eml.ts";
import { ACTION_RULES } from "../store/actions.ts";
import { normaliseReference } from "../store/reference.ts";
import type { Store, StoredMessage } from "../store/store.ts";

/** What an operator does to messages, by the command line and by the inbox alike. */
export interface OperatorParts {
  store: Store;
  /** Where .eml files are. */
  dataDir: string;
  now: Date;
}

/** With a version, nothing is done to a message that has another by now. */
export interface Target {
  reference: string;
  version?: string;
}

/** `changed` and `refused` leave the message as it is. */
export type TargetResult =
  | { reference: string; outcome: "done"; message: StoredMessage | null }
  | { reference: string; outcome: "changed"; message: StoredMessage }
  | { reference: string; outcome: "gone" }
  | { reference: string; outcome: "refused"; message: StoredMessage; reason: string };

/** Does it to each of the messages that it fits. The results are in the order of the targets. */
export async function actOn(
  action: Action,
  targets: readonly Target[],
  { store, dataDir, now }: OperatorParts,
): Promise<{ results: TargetResult[]; files: number }> {
  const references = targets.map(({ reference }) => reference);
  const versions = targets.flatMap(({ version }) => version ?? []);
  const selection = { references, versions: versions.length > 0 ? versions : undefined };
  const done = new Set(await store.act(action, selection, now));
  const files = action === "delete" ? await removeFiles(dataDir, done) : 0;
  const messages = new Map((await store.list({ references })).map((message) => [message.reference, message]));
  const results = targets.map(({ reference: given, version }): TargetResult => {
    const reference = normaliseReference(given);
    const message = messages.get(reference);
    if (done.has(reference)) return { reference, outcome: "done", message: message ?? null };
    if (!message) return { reference, outcome: "gone" };
    if (version !== undefined && version !== message.version) return { reference, outcome: "changed", message };
    return { reference, outcome: "refused", message, reason: sentenceOf(action, message) };
  });
  return { results, files };
}

/** Does it to all messages accepted since then that it fits, and returns their number. */
export async function actOnAll(
  action: Exclude<Action, "delete">,
  since: Date,
  { store, now }: Omit<OperatorParts, "dataDir">,
): Promise<number> {
  return (await store.act(action, { since }, now)).length;
}

/** Makes whatever waits for a later attempt due within a minute, and returns the number of its messages. */
export async function retryQueued({ store, now }: Omit<OperatorParts, "dataDir">): Promise<number> {
  const references = new Set<string>();
  for (const kind of ["mail", "hook", "acknowledgement"] as const) {
    for (const reference of (await store.makeWaitingDue(kind, now, "operator")) ?? []) references.add(reference);
  }
  return references.size;
}

/** Why an action does not fit a message, as a sentence without its full stop; `null` when it does. */
export function refusalOf(action: Action, message: StoredMessage): string | null {
  const { states, isRestricted, isAnswered, fitsOtherDeliveries = false } = ACTION_RULES[action];
  const { hook, acknowledgement } = message;
  const isHookOpen = message.state !== "quarantined" && (hook?.state === "failed" || hook?.state === "queued");
  const isOtherOpen = isHookOpen || acknowledgement?.state === "failed" || acknowledgement?.state === "sending";
  const isAllowed =
    ((states?.includes(message.state) ?? true) || (fitsOtherDeliveries && isOtherOpen)) &&
    (isRestricted ?? message.isRestricted) === message.isRestricted &&
    (isAnswered ?? message.answeredAt !== null) === (message.answeredAt !== null);
  return isAllowed ? null : sentenceOf(action, message);
}

/** Of all actions that do not fit the message. */
export function refusalsOf(message: StoredMessage): Partial<Record<Action, string>> {
  const refusals = ACTIONS.map((action) => [action, refusalOf(action, message)]);
  return Object.fromEntries(refusals.filter(([, refusal]) => refusal !== null));
}

function sentenceOf(action: Action, message: StoredMessage): string {
  const { states, sentence } = ACTION_RULES[action];
  const { reference, state } = message;
  if (isBarredByRestriction(action, message)) {
    return `${reference} is restricted: its sender asked that it be kept but not used`;
  }
  // What stands in the way is named, and nothing else.
  return `${reference} is ${states?.includes(state) === false ? state : stateOf(message)}; ${sentence}`;
}

/** Whether the restriction alone is why the action does not fit. */
export function isBarredByRestriction(action: Action, { state, isRestricted }: StoredMessage): boolean {
  const { states, isRestricted: fitsRestricted } = ACTION_RULES[action];
  return isRestricted && fitsRestricted === false && (states?.includes(state) ?? true);
}

export function stateOf({ state, isRestricted }: Pick<StoredMessage, "state" | "isRestricted">): string {
  return isRestricted ? `${state}, restricted` : state;
}

/** Removes the .eml files of messages that were deleted, and returns their number. Throws OperatorError when some are left. */
export async function removeFiles(dataDir: string, references: Iterable<string>): Promise<number> {
  try {
    return await removeEmls(dataDir, new Set(references));
  } catch (error) {
    throw new OperatorError(
      `The messages are deleted, but some of their .eml files in DATA_DIR/outbox are left (${errorName(error)}); ` +
        "the site's server removes them within an hour",
      { cause: error },
    );
  }
}
