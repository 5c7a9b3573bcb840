import { contactFieldsOf } from "../contract/contact-message.ts";
import { comparableEmail } from "../contract/email-address.ts";
import { fillFacts, unknownFacts } from "../contract/facts.ts";
import { formatTotal } from "../contract/footprint/fields.ts";
import { asSentence, visible } from "../contract/text.ts";
import { errorName, OperatorError } from "../server/errors.ts";
import { removeEmls } from "../server/mail/eml.ts";
import { EVENT_NAME, type EventKind, QUARANTINE_REASON, SKIP_REASON } from "../server/message-words.ts";
import { allowedActions, isAllowed } from "../server/store/actions.ts";
import type { Attachment } from "../server/store/mailbox.ts";
import type { MessageFilter, Messages, StoredEvent } from "../server/store/messages.ts";
import {
  type Action,
  CAME_BACK,
  type CHANNEL_RULES,
  CHANNELS,
  type Channel,
  type Deliveries,
  type Delivery,
  rulesOf,
  type StoredMessage,
} from "../server/store/model.ts";
import { normaliseReference } from "../server/store/reference.ts";
import type { Reply } from "../server/store/replies.ts";
import { EXPIRY_NOTICE_MS } from "../server/store/retention.ts";
import type { Store } from "../server/store/store.ts";
import type { Desk, ReplyTexts } from "./desk.ts";
import { MAX_SUBJECT_LENGTH, REPLY_STATES, REPLY_UNDO_MS, type ReplyState, refusalOf, type Wait } from "./words.ts";

/** Everything stored about a message, under the names the contact form uses. */
export function messageJson(message: StoredMessage, written: readonly StoredEvent[] = []) {
  const { mail } = message.deliveries;
  const of = (kind: EventKind) =>
    written.flatMap((event) => (event.kind === kind ? { at: event.at, author: event.author, text: event.detail } : []));
  const [notes, replies] = [of("noted"), of("replied")];
  const mails = written.flatMap(({ kind, sender, senderName, mailedAt: at, detail: text }) =>
    sender === null ? [] : { at, kind, sender, senderName, text },
  );
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
    ...(mails.length > 0 && { mails }),
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
  const references = messages.map(({ reference }) => reference);
  const written = await store.messages.notes(references);
  const drafting = await store.replies.drafting(references);
  return (message: StoredMessage) => {
    const reply = replyStateOf(message.deliveries.reply);
    const { expiresAt, answeredAt } = message;
    return {
      ...message,
      replyState: reply,
      isExpiring: expiresAt !== null && answeredAt === null && expiresAt.getTime() - now.getTime() < EXPIRY_NOTICE_MS,
      /** Also the operator's own. */
      drafts: (drafting.get(message.reference) ?? []).map(({ author, savedAt }) => ({ author, savedAt })),
      hasNote: written.get(message.reference)?.some(({ kind }) => kind === "noted") ?? false,
      /** Until somebody answers or marks it. */
      hasNewAnswer: message.newAnswerAt !== null && message.state !== "quarantined" && !message.isRestricted,
      waits: waitsOf(message, now, website),
      allowed: allowedActions(message, now),
      /** Why no reply can be written, as the problem of an Advice. */
      replyRefusal: isAllowed("reply", message, now) ? null : refusalOf("reply", message),
      /** Deliveries besides the mail that wait or have failed, if that affects the message. */
      deliveryMarks: CHANNELS.flatMap((channel) => {
        const { state, error = null, dueAt = null } = message.deliveries[channel] ?? {};
        const { name, trouble } = rulesOf(channel);
        const isFailed = state === "failed";
        if (channel === "mail" || trouble === null || !(isFailed || state === "queued")) return [];
        const text =
          channel === "reply" && reply ? REPLY_STATES[reply].mark : `${name} ${isFailed ? "failed" : "waiting"}`;
        return { channel, name, text, isFailed, error, dueAt };
      }),
    };
  };
}

export type View = ReturnType<Awaited<ReturnType<typeof viewerOf>>>;

/** A queued one with an attempt of unknown outcome is being sent: its attempt runs. `null`: there is no reply. */
function replyStateOf(reply: Delivery | undefined): ReplyState | null {
  if (!reply) return null;
  if (reply.state === "delivered") return "sent";
  if (reply.state === "quarantined" || reply.state === "skipped") return "held";
  const isUnknown = reply.unknownOutcomes > 0;
  if (reply.state === "queued") return isUnknown ? "sending" : "waiting";
  if (reply.error?.endsWith(CAME_BACK)) return "returned";
  return isUnknown ? "uncertain" : "failed";
}

type Website = Awaited<ReturnType<Store["status"]["website"]>>;

function waitsOf({ deliveries, isRestricted }: StoredMessage, now: Date, { isRunning, pauses }: Website) {
  const waitOf = (channel: Channel, { dueAt, error: reason }: Delivery): Wait => {
    // All channels but the web hook use the mail server.
    const pause = pauses.find((one) => (one.channel === "hook") === (channel === "hook"));
    if (isRestricted) return { kind: "restricted", until: null, reason: null };
    if (!isRunning) return { kind: "website-down", until: null, reason: null };
    if (pause) return { kind: "paused", until: pause.nextAt > now ? pause.nextAt : null, reason: pause.reason };
    return { kind: dueAt && dueAt > now ? "later" : "sending", until: dueAt, reason };
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
  if (message.state === "quarantined") await store.actions.markSeen(message.reference, readAt);
  const drafts = await store.replies.readDrafts(reference);
  const isSuspect = message.state === "quarantined" && message.quarantineReason === "looks-like-spam";
  const spamSigns = isSuspect ? await store.spam.signs(message) : [];
  const history = await readHistory(message, store);
  const { email } = message;
  const newest = await store.messages.list({ email, limit: 2 });
  const texts = replyTexts();
  const lastReply = history.findLast(({ kind }) => kind === "replied");
  const view = await viewerOf([message], store);
  const answers = history.filter(({ kind }) => kind === "received");
  return {
    ...view(message),
    readAt,
    history,
    /** Addresses besides the form's that a reply may go to. */
    otherAddresses: otherAddresses(message, answers),
    nextSubject: nextSubject(message, answers),
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

/** The saved replies for a message. The build knows all their facts, but not whether a message has an estimate. */
export function fillReplies({ replies, facts }: ReplyTexts, { name, reference, footprint }: StoredMessage) {
  const values = { ...facts, name, reference, ...(footprint && { total: formatTotal(footprint.totalKg) }) };
  return replies.map((reply) => ({
    name: reply.name,
    needsEstimate: unknownFacts(reply.text, Object.keys(values)).length > 0,
    text: fillFacts(reply.text, values),
  }));
}

/** Oldest first. */
async function readHistory(message: StoredMessage, store: Store) {
  const later = await store.messages.history(message.reference);
  const marked = later.find(({ kind }) => kind === "marked-as-spam");
  const detail = marked ? marked.detail : message.quarantineReason;
  const kind = detail === null ? ("accepted" as const) : ("quarantined" as const);
  const mail = { sender: null, senderName: null, mailedAt: null, attachments: null, recipient: null, cameBack: null };
  const first: StoredEvent = { ...mail, at: message.acceptedAt, kind, channel: null, detail, author: null };
  const timeOf = ({ mailedAt, at }: StoredEvent) => (mailedAt ?? at).getTime();
  return [first, ...later.toSorted((one, other) => timeOf(one) - timeOf(other))].map((event) => ({
    ...event,
    at: event.mailedAt ?? event.at,
    storedAt: event.at,
    name: mailName(message, event) ?? eventName(event),
    attachments: JSON.parse(event.attachments ?? "[]") as Attachment[],
    detail: event.detail === null ? null : eventDetail(event.kind, event.detail),
    /** By a person, in the conversation or as a note. */
    isWritten: event.kind === "noted" || MAILS.includes(event.kind),
  }));
}

const MAILS: readonly EventKind[] = ["replied", "received", "mailbox-reply"];

/** Whose mail it is, with the address in plain sight unless it is the form's. */
function mailName({ email }: StoredMessage, event: StoredEvent): string | null {
  const { kind, sender, senderName, recipient } = event;
  if (recipient !== null) return `${eventName(event)} to ${visible(recipient)}`;
  if (sender === null || kind !== "received") return null;
  const name = visible(senderName || sender);
  if (comparableEmail(email) === sender) return `Answer from ${name}`;
  return `Answer from another address: ${name} <${visible(sender)}>`;
}

type History = Awaited<ReturnType<typeof readHistory>>;

function otherAddresses({ email }: StoredMessage, answers: History): string[] {
  const senders = answers.flatMap(({ sender }) => sender ?? []);
  return [...new Set(senders)].filter((sender) => sender !== "" && sender !== comparableEmail(email));
}

/** Of the sender's last answer, after one "Re:". */
function nextSubject({ reference, email }: StoredMessage, answers: History): string {
  const last = answers.findLast(({ sender }) => sender === comparableEmail(email))?.detail?.split("\n", 1)[0] ?? "";
  const subject = last.replace(/^(?:(?:re|aw|sv|antw)(?:\[\d{1,3}\])?:\s*)+/i, "").trim();
  return subject === "" ? `Re: Your message (${reference})` : `Re: ${subject}`.slice(0, MAX_SUBJECT_LENGTH);
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
  if (kind === "noted" || MAILS.includes(kind)) return detail;
  if (kind === "came-back" || kind === "automatic" || kind === "unread-mail")
    return visible(detail.replaceAll(/\s+/g, " "));
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
  const done = new Set(await store.actions.act(action, selection, now, step));
  const files = action === "delete" ? await removeFiles(dataDir, done) : 0;
  const found = await store.messages.list({ references });
  const messages = new Map(found.map((message) => [message.reference, message]));
  const view = await viewerOf(found, store);
  const results = targets.map(({ reference: given, version }) => {
    const reference = normaliseReference(given);
    const message = messages.get(reference);
    if (done.has(reference)) {
      const waits = message && action === "retry" ? Object.values(view(message).waits) : [];
      return { reference, outcome: "done" as const, pause: waits.find(({ kind }) => kind === "paused") ?? null };
    }
    if (!message) return { reference, outcome: "gone" as const };
    if (version !== undefined && version !== message.version) {
      return { reference, outcome: "changed" as const, state: message.state };
    }
    const changed = `${reference} was changed in the meantime; try again`;
    const reason = isAllowed(action, message, now) ? changed : refusalOf(action, message);
    const { isRestricted } = message;
    const canSendAgain = isAllowed("again", message, now);
    return { reference, outcome: "refused" as const, reason, isRestricted, canSendAgain };
  });
  return { results, files };
}

/** `skipped`: the messages that were marked again since. */
export async function undoStep(step: string, { store }: Desk) {
  const now = await store.status.time();
  const [done, skipped]: [string[], string[]] = [[], []];
  for (let some = await store.actions.undo(step, now); some; some = await store.actions.undo(step, now)) {
    done.push(...some.done);
    skipped.push(...some.skipped);
  }
  if (done.length + skipped.length === 0) throw new OperatorError({ problem: "This can no longer be undone" });
  return { done: done.length, skipped };
}

/** `isUndoable`: sent ten seconds later. `answered`: stores nothing, because somebody has replied after `since`. */
export async function replyTo(
  { reference, version }: Target,
  {
    subject,
    to,
    ...reply
  }: Omit<Reply, "subject" | "recipient"> & { subject?: string | undefined; to?: string | undefined },
  { isUndoable, since }: { isUndoable: boolean; since?: Date | undefined },
  store: Store,
) {
  const now = await store.status.time();
  const message = await store.messages.find(reference);
  if (!message) throw new NoMessage(reference);
  const history = await readHistory(message, store);
  const answers = history.filter(({ kind }) => kind === "received");
  const recipient = to === undefined || to === message.email ? null : comparableEmail(to);
  if (recipient !== null && !otherAddresses(message, answers).includes(recipient)) {
    const problem = `No answer to ${message.reference} came from ${visible(to ?? "")}`;
    throw new OperatorError({
      problem,
      remedy: "a reply goes to the form's address, or to one that wrote in this thread",
    });
  }
  const whole = { ...reply, recipient, subject: subject ?? nextSubject(message, answers) };
  const options = { version, undoMs: isUndoable ? REPLY_UNDO_MS : 0 };
  const newer = since ? history.filter(({ kind, storedAt }) => MAILS.includes(kind) && storedAt > since) : [];
  // The same text is this reply, whose answer was lost on the way.
  const other = newer.findLast(({ detail }) => detail !== `${whole.subject}\n\n${whole.text}`);
  if (other) {
    const author = other.author ?? (other.senderName || other.sender);
    return { outcome: "answered" as const, by: { ...other, author, at: other.storedAt } };
  }
  if (await store.replies.add(reference, whole, now, options)) {
    const stored = (await store.messages.find(reference)) ?? message;
    const { waits } = (await viewerOf([stored], store))(stored);
    return { outcome: "stored" as const, wait: waits.reply ?? null };
  }
  const current = (await store.messages.find(reference)) ?? message;
  if (!isAllowed("reply", current, now)) throw new OperatorError({ problem: refusalOf("reply", current) });
  const changed = `${message.reference} was changed in the meantime`;
  throw new OperatorError({ problem: changed, remedy: "read it again, then send the reply" });
}

export async function sendAgain(reference: string, store: Store) {
  const now = await store.status.time();
  const done = await store.actions.act("again", { references: [reference] }, now);
  const message = await store.messages.find(reference);
  if (!message) throw new NoMessage(reference);
  if (done.length === 0) throw new OperatorError({ problem: refusalOf("again", message) });
  const { waits } = (await viewerOf([message], store))(message);
  return { wait: waits.reply ?? null };
}

/** Says why a reply that does not wait stays. `recipient`: the other address that it was for; a draft has none. */
export async function takeBackReply(reference: string, key: string | undefined, store: Store) {
  const last = (await store.messages.history(reference)).findLast(({ kind }) => kind === "replied");
  const outcome = await store.replies.takeBack(reference, await store.status.time(), key);
  if (outcome !== "late") return { outcome, recipient: last?.recipient ?? null };
  const message = await store.messages.find(reference);
  if (!message) throw new NoMessage(reference);
  const state = replyStateOf(message.deliveries.reply);
  const why = state === null ? "it is no longer there" : REPLY_STATES[state === "waiting" ? "sending" : state].kept;
  throw new OperatorError({ problem: `The reply was not taken back: ${why}` });
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
