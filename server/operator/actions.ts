import { type Action, CHANNELS } from "../../contract/inbox.ts";
import { errorName, OperatorError } from "../log.ts";
import { removeEmls } from "../mail/eml.ts";
import { normaliseReference } from "../store/reference.ts";
import { refusalOf } from "../store/rules.ts";
import type { Store, StoredMessage } from "../store/store.ts";

/** What an operator does to messages, by the command line and by the inbox alike. */
export interface Desk {
  store: Store;
  /** Where .eml files are. */
  dataDir: string;
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
  { store, dataDir }: Desk,
): Promise<{ results: TargetResult[]; files: number }> {
  const now = await store.time();
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
    const reason = refusalOf(action, message, now) ?? `${reference} changed meanwhile; try again`;
    return { reference, outcome: "refused", message, reason };
  });
  return { results, files };
}

/** Does it to all messages accepted since then that it fits, and returns their number. */
export async function actOnAll(action: Action, since: Date, { store }: Pick<Desk, "store">): Promise<number> {
  return (await store.act(action, { since }, await store.time())).length;
}

/** Makes whatever waits for a later attempt due within a minute, and returns the number of its messages. */
export async function retryQueued({ store }: Pick<Desk, "store">): Promise<number> {
  const ids = new Set<number>();
  for (const channel of CHANNELS) {
    for (const id of (await store.flushBacklog(channel, await store.time(), "operator")) ?? []) ids.add(id);
  }
  return ids.size;
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
        "remove these files yourself: preflight names them",
      { cause: error },
    );
  }
}
