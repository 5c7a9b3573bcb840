import { contactFieldsOf } from "../../contract/contact-message.ts";
import { REPLY_UNDO_MS, replySubject, type Wait } from "../../contract/desk.ts";
import { asSentence, visible } from "../../contract/text.ts";
import { errorName } from "../log.ts";
import { removeEmls } from "../mail/eml.ts";
import { EVENT_NAME, QUARANTINE_REASON, SKIP_REASON } from "../message-words.ts";
import { OperatorError } from "../operator-error.ts";
import { actionProblem, allowedActions } from "../store/actions.ts";
import type { MessageFilter, Messages, StoredEvent } from "../store/messages.ts";
import {
  type Action,
  type CHANNEL_RULES,
  CHANNELS,
  type Channel,
  type Deliveries,
  type Delivery,
  type EventKind,
  rulesOf,
  type StoredMessage,
} from "../store/model.ts";
import { normaliseReference } from "../store/reference.ts";
import type { Reply, ReplyOptions } from "../store/replies.ts";
import type { Store } from "../store/store.ts";
import { type Desk, fillReplies } from "./desk.ts";

/** Everything stored about a message, under the names the contact form uses. */
export function messageJson(message: StoredMessage, written: readonly StoredEvent[] = []) {
  const { mail } = message.deliveries;
  const of = (kind: EventKind) =>
    written.flatMap((event) => (event.kind === kind ? { at: event.at, author: event.author, text: event.detail } : []));
  const [notes, replies] = [of("noted"), of("replied")];
  return {
    reference: message.reference,
    state: message.state,
    isRestricted: message.isRestricted,
    acceptedAt: message.acceptedAt,
    stateChangedAt: mail.changedAt,
    dueAt: mail.dueAt,
    attempts: mail.attempts,
    lastError: mail.error,
    expiresAt: message.expiresAt,
    answeredAt: message.answeredAt,
    quarantineReason: message.quarantineReason,
    taught: message.taught,
    ...deliveryFacts(message.deliveries),
    ...contactFieldsOf(message),
    ...(message.footprint && { footprint: message.footprint }),
    ...(notes.length > 0 && { notes }),
    ...(replies.length > 0 && { replies }),
  };
}

export type MessageJson = ReturnType<typeof messageJson>;

export async function messagesJson(messages: readonly StoredMessage[], { notes: readNotes }: Pick<Messages, "notes">) {
  const notes = await readNotes(messages.map(({ reference }) => reference));
  return messages.map((message) => messageJson(message, notes.get(message.reference)));
}

type DeliveryFacts = Record<Exclude<Channel, "mail">, string | null> &
  Record<NonNullable<(typeof CHANNEL_RULES)[Channel]["deliveredAtName"]>, Date | null>;

/** The state with the reason after a colon, such as `skipped: address-limit`. */
function deliveryFacts(deliveries: Deliveries): DeliveryFacts {
  const facts = CHANNELS.flatMap((channel) => {
    const { deliveredAtName } = rulesOf(channel);
    if (deliveredAtName === null) return [];
    const { state, error, changedAt } = deliveries[channel] ?? {};
    return [
      [channel, [state, error].filter(Boolean).join(": ") || null],
      [deliveredAtName, state === "delivered" ? changedAt : null],
    ];
  });
  return Object.fromEntries(facts);
}

export async function viewerOf(messages: readonly StoredMessage[], store: Store) {
  const now = await store.status.time();
  const website = await store.status.website();
  const written = await store.messages.notes(messages.map(({ reference }) => reference));
  return (message: StoredMessage) => ({
    ...message,
    hasNote: written.get(message.reference)?.some(({ kind }) => kind === "noted") ?? false,
    waits: waitsOf(message, now, website),
    allowed: allowedActions(message, now),
    /** Why no reply can be written, as the problem of an Advice. */
    replyRefusal: actionProblem("reply", message, now),
    /** Deliveries besides the mail that wait or have failed, if that affects the message. */
    deliveryMarks: CHANNELS.flatMap((channel) => {
      const { state, error = null, dueAt = null } = message.deliveries[channel] ?? {};
      const { name, trouble } = rulesOf(channel);
      const isFailed = state === "failed";
      if (channel === "mail" || trouble === null || !(isFailed || state === "queued")) return [];
      return { channel, name, text: `${name} ${isFailed ? "failed" : "waiting"}`, isFailed, error, dueAt };
    }),
  });
}

type Website = Awaited<ReturnType<Store["status"]["website"]>>;

function waitsOf({ deliveries, isRestricted }: StoredMessage, now: Date, { isRunning, pauses }: Website) {
  const waitOf = (channel: Channel, { dueAt, error: reason }: Delivery): Wait => {
    // All channels but the web hook use the mail server.
    const pause = pauses.find((one) => (one.channel === "hook") === (channel === "hook"));
    if (isRestricted) return { kind: "restricted", until: null, reason: null };
    if (!isRunning) return { kind: "website-down", until: null, reason: null };
    if (pause) return { kind: "paused", until: null, reason: pause.reason };
    return dueAt && dueAt > now ? { kind: "later", until: dueAt, reason } : { kind: "sending", until: null, reason };
  };
  const waits: Partial<Record<Channel, Wait>> = {};
  for (const [channel, delivery] of Object.entries(deliveries) as [Channel, Delivery][])
    if (delivery.state === "queued") waits[channel] = waitOf(channel, delivery);
  return waits;
}

/** One message with its history. Marks a quarantined message as seen. */
export async function readDetail(reference: string, { store, account, mailTo, replyTexts }: Desk) {
  const message = await store.messages.find(reference);
  if (!message) throw new NoMessage(reference);
  const readAt = await store.status.time();
  if (message.state === "quarantined") await store.messages.markSeen(message.reference, readAt);
  const drafts = await store.messages.readDrafts(reference);
  const isSuspect = message.state === "quarantined" && message.quarantineReason === "looks-like-spam";
  const spamSigns = isSuspect ? await store.spam.signs(message) : [];
  const history = await readHistory(message, store);
  const { email } = message;
  const newest = await store.messages.list({ email, limit: 2 });
  const texts = replyTexts();
  const lastReply = history.findLast(({ kind }) => kind === "replied");
  const view = await viewerOf([message], store);
  return {
    ...view(message),
    readAt,
    history,
    draft: drafts.own,
    /** What colleagues do about the message: their drafts, and the last reply if it is theirs. */
    colleagues: {
      drafts: drafts.others.filter(({ text }) => text.trim() !== ""),
      reply: lastReply && lastReply.author !== account ? lastReply : null,
    },
    spamSigns,
    others: {
      count: (await store.messages.countTabs({ email })).all - 1,
      lastAt: newest.find((other) => other.reference !== message.reference)?.acceptedAt ?? null,
    },
    mailTo,
    savedReplies: fillReplies(texts, message),
    signature: texts.signature,
  };
}

async function readHistory(message: StoredMessage, store: Store) {
  const later = await store.messages.history(message.reference);
  const marked = later.find(({ kind }) => kind === "marked-as-spam");
  const detail = marked ? marked.detail : message.quarantineReason;
  const kind = detail === null ? ("accepted" as const) : ("quarantined" as const);
  const events = [{ at: message.acceptedAt, kind, channel: null, detail, author: null }, ...later];
  return events.map((event) => ({
    ...event,
    name: eventName(event),
    detail: event.detail === null ? null : eventDetail(event.kind, event.detail),
  }));
}

/** With the channel, unless it is the mail, and the operator who caused it, if known: `Web hook: queued again by anna`. */
function eventName({ kind, channel, author }: Pick<StoredEvent, "kind" | "channel" | "author">): string {
  const event = EVENT_NAME[kind];
  const isOfMessage = channel === null || channel === "mail";
  const name = isOfMessage ? event : `${rulesOf(channel).name}: ${event.charAt(0).toLowerCase()}${event.slice(1)}`;
  return author === null ? name : `${name} by ${visible(author)}`;
}

const REASONS: Readonly<Partial<Record<EventKind, Readonly<Record<string, string>>>>> = {
  quarantined: QUARANTINE_REASON,
  skipped: SKIP_REASON,
};

/** As a sentence; a note or a reply as it was written. */
function eventDetail(kind: EventKind, detail: string): string | null {
  if (kind === "marked-as-spam") return null;
  if (kind === "noted" || kind === "replied") return detail;
  return REASONS[kind]?.[detail] ?? asSentence(detail);
}

export class NoMessage extends OperatorError {
  constructor(reference: string) {
    super({ problem: `There is no message ${reference}`, remedy: "it may have been deleted" });
  }
}

/** Yields every message that matched at the start exactly once, newest first, even if others arrive meanwhile. */
export async function* eachPage(
  filter: MessageFilter,
  pageSize: number,
  { list }: Pick<Messages, "list">,
): AsyncGenerator<StoredMessage[]> {
  let page = await list({ ...filter, limit: pageSize });
  for (let after = page.at(-1); after; after = page.at(-1)) {
    yield page;
    page = await list({ ...filter, after, limit: pageSize });
  }
}

export interface Target {
  reference: string;
  version?: string | undefined;
}

/** The results are in the order of the targets. `changed` and `refused` messages are left alone. */
export async function actOn(action: Action, targets: readonly Target[], { store, dataDir }: Desk, step?: string) {
  const now = await store.status.time();
  const references = targets.map(({ reference }) => reference);
  const versions = targets.flatMap(({ version }) => version ?? []);
  const selection = { references, versions: versions.length > 0 ? versions : undefined };
  const done = new Set(await store.messages.act(action, selection, now, step));
  const files = action === "delete" ? await removeFiles(dataDir, done) : 0;
  const messages = new Map((await store.messages.list({ references })).map((message) => [message.reference, message]));
  const results = targets.map(({ reference: given, version }) => {
    const reference = normaliseReference(given);
    const message = messages.get(reference);
    if (done.has(reference)) return { reference, outcome: "done" as const };
    if (!message) return { reference, outcome: "gone" as const };
    if (version !== undefined && version !== message.version) {
      return { reference, outcome: "changed" as const, state: message.state };
    }
    const reason = actionProblem(action, message, now) ?? `${reference} was changed in the meantime; try again`;
    return { reference, outcome: "refused" as const, reason, isRestricted: message.isRestricted };
  });
  return { results, files };
}

/** `skipped`: the messages that were marked again since. */
export async function undoStep(step: string, { store }: Desk) {
  const now = await store.status.time();
  const [done, skipped]: [string[], string[]] = [[], []];
  for (let some = await store.messages.undo(step, now); some; some = await store.messages.undo(step, now)) {
    done.push(...some.done);
    skipped.push(...some.skipped);
  }
  if (done.length + skipped.length === 0) throw new OperatorError({ problem: "This can no longer be undone" });
  return { done: done.length, skipped };
}

/** `isUndoable`: sent ten seconds later. `answered`: stores nothing, because somebody has replied after `since`. */
export async function replyTo(
  { reference, version }: Target,
  { subject, ...reply }: Omit<Reply, "subject"> & { subject?: string | undefined },
  { isUndoable, since, ...rest }: { isUndoable: boolean; since?: Date | undefined } & Pick<ReplyOptions, "isAnswer">,
  store: Store,
) {
  const now = await store.status.time();
  const message = await store.messages.find(reference);
  if (!message) throw new NoMessage(reference);
  const whole = { ...reply, subject: subject ?? replySubject(message.reference) };
  const options = { ...rest, version, undoMs: isUndoable ? REPLY_UNDO_MS : 0 };
  const newer = since
    ? (await readHistory(message, store)).filter(({ kind, at }) => kind === "replied" && at > since)
    : [];
  // The same text is this reply, whose answer was lost on the way.
  const other = newer.findLast(({ detail }) => detail !== `${whole.subject}\n\n${whole.text}`);
  if (other) return { outcome: "answered" as const, by: other };
  if (await store.messages.reply(reference, whole, now, options)) {
    const stored = (await store.messages.find(reference)) ?? message;
    const { waits } = (await viewerOf([stored], store))(stored);
    return { outcome: "stored" as const, wait: waits.reply ?? null };
  }
  const problem = actionProblem("reply", (await store.messages.find(reference)) ?? message, now);
  if (problem !== null) throw new OperatorError({ problem });
  const changed = `${message.reference} was changed in the meantime`;
  throw new OperatorError({ problem: changed, remedy: "read it again, then send the reply" });
}

export async function removeFiles(dataDir: string, references: Iterable<string>): Promise<number> {
  try {
    return await removeEmls(dataDir, references);
  } catch (error) {
    const problem = `The messages are deleted, but some of their .eml files in DATA_DIR/outbox are left (${errorName(error)})`;
    const remedy = "remove these files yourself: each is named after its message";
    throw new OperatorError({ problem, remedy }, { cause: error });
  }
}
