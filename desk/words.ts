import { asSentence, visible } from "../contract/text.ts";
import type { Tab } from "../server/store/messages.ts";
import type { Action, Channel, StoredMessage } from "../server/store/model.ts";

// What operators read on the page and at the terminal, and how much they may write. Each writes times in its own way.

export const MAX_NOTE_LENGTH = 2000;
export const MAX_SUBJECT_LENGTH = 200;
export const MAX_REPLY_LENGTH = 20_000;
export const MAX_SEARCH_LENGTH = 200;

/** How long a reply waits, so that whoever wrote it can take it back. */
export const REPLY_UNDO_MS = 10_000;

export const TAB_NAME: Readonly<Record<Tab, string>> = {
  unanswered: "Unanswered",
  all: "All",
  answered: "Answered",
  waiting: "Waiting",
  failed: "Failed",
  quarantined: "Quarantined",
};
export const TABS = Object.keys(TAB_NAME) as Tab[];

/** `done` follows the number of messages, as in `3 messages marked as answered`. A mark can be undone. */
export const ACTION_WORDS: Readonly<Record<Action, { label: string; done: string; isMark: boolean }>> = {
  answer: { label: "Mark answered", done: "marked as answered", isMark: true },
  unanswer: { label: "Mark unanswered", done: "marked as unanswered", isMark: true },
  retry: { label: "Retry", done: "queued again", isMark: false },
  release: { label: "Release", done: "released", isMark: true },
  spam: { label: "Spam", done: "marked as spam", isMark: true },
  delete: { label: "Delete", done: "deleted", isMark: false },
};

/** The states of a reply: `mark` for lists and pages, and why it is `kept` when somebody takes it back. */
export const REPLY_STATES = {
  waiting: { mark: "Reply waiting", kept: "it waits" },
  sending: { mark: "Reply being sent", kept: "it is being sent now" },
  sent: { mark: "Replied", kept: "it was sent" },
  uncertain: { mark: "Reply may have been sent", kept: "it may have been sent, so it stays in the history" },
  returned: { mark: "Reply came back", kept: "it was sent and came back" },
  failed: { mark: "Reply failed", kept: "it failed, so nobody sends it" },
  held: { mark: "Reply in quarantine", kept: "it is in quarantine with its message" },
} as const;
export type ReplyState = keyof typeof REPLY_STATES;

type Words = (message: Pick<StoredMessage, "state" | "deliveries">) => string;

/** Why a message does not allow it. Said after its state. */
const REFUSAL: Readonly<Record<Action | "reply" | "again", Words>> = {
  retry: ({ deliveries: { reply } }) =>
    reply?.state === "failed"
      ? "its reply may have been sent: read it before you send it again"
      : "nothing of it waits or failed",
  release: () => "only quarantined messages can be released",
  spam: () => "it is marked as spam already",
  answer: () => "it is marked as answered already",
  unanswer: () => "it is not marked as answered",
  reply: ({ state }) =>
    state === "quarantined"
      ? "release it before you reply"
      : "its reply waits: take that back in the inbox, or wait until it is sent",
  again: () => "only a failed reply can be sent again",
  delete: () => "it cannot be deleted",
};

/** Why the message does not allow the action, as the problem of an Advice. */
export function refusalOf(action: Action | "reply" | "again", message: StoredMessage): string {
  const { reference, state, isRestricted } = message;
  if (isRestricted && action !== "answer" && action !== "unanswer")
    return `${reference} is restricted: its sender asked you to keep it but not use it`;
  return `${reference} is ${STATE[state][0].toLowerCase()}; ${REFUSAL[action](message)}`;
}

export interface Wait {
  /** `sending`: it is due. `later`: its time has not come. */
  kind: "restricted" | "website-down" | "paused" | "later" | "sending";
  /** When it is due, if `later` or `sending`; when the next attempt is, if `paused`. */
  until: Date | null;
  /** Why the last attempt failed, or why its channel is paused. */
  reason: string | null;
}

/** A sentence, with a subject if one is given. A time that has passed is not said as coming. */
export function waitText(wait: Wait, now: Date, format: (at: Date) => string, subject?: string): string {
  const { kind, until, reason } = wait;
  const isComing = until !== null && until > now;
  const say = (verb: string, rest: string) => asSentence([subject, verb, rest].filter(Boolean).join(" "));
  const is = subject ? "is" : "";
  if (kind === "restricted") return say(is, "waiting: the message is restricted");
  if (kind === "website-down") return say(is, "waiting: the website is not running");
  if (kind === "paused") {
    const next = isComing ? `; the next attempt is at ${format(until)}` : "";
    return say(is, `waiting until sending works again: ${reason}${next}`);
  }
  if (until === null) return say(is, "being sent");
  if (kind === "sending" || !isComing) return say(is, `being sent since ${format(until)}`);
  if (reason === null) return say("goes out", `at ${format(until)}`);
  return say(is, `waiting until ${format(until)}: ${reason}`);
}

/** After a retry during a pause. Whether its attempt fails decides when the next one is. */
export const PAUSED_RETRY = "One attempt is made now; if it succeeds, the rest follows.";

type Drafted = Readonly<{ drafts: readonly { author: string | null; savedAt: Date }[] }>;

/** What goes with the messages when they are deleted; empty if nothing does. */
export function lostDrafts(messages: readonly Drafted[], format: (at: Date) => string): string {
  const drafts = messages.flatMap((message) => message.drafts);
  const names = drafts.map(
    ({ author, savedAt }) => `a draft of ${visible(author ?? "an unknown author")}, ${format(savedAt)}`,
  );
  return names.length === 0 ? "" : `This also deletes ${names.join("; ")}.`;
}

export const STATE = {
  queued: ["Waiting", "gray"],
  delivered: ["Delivered", "green"],
  failed: ["Failed", "red"],
  quarantined: ["Quarantined", "yellow"],
} as const;
const HELD_AS: Readonly<Partial<Record<NonNullable<StoredMessage["quarantineReason"]>, string>>> = {
  "looks-like-spam": "Looks like spam",
  "marked-as-spam": "Marked as spam",
};

type Mark = readonly [text: string, color: "gray" | "green" | "red" | "yellow"];

export interface Marked
  extends Pick<StoredMessage, "state" | "quarantineReason" | "expiresAt" | "answeredAt" | "isRestricted"> {
  drafts: readonly { author: string | null }[];
  hasNewAnswer: boolean;
  hasNote: boolean;
  /** Its erasure is announced. */
  isExpiring: boolean;
  waits: Readonly<Partial<Record<Channel, Wait>>>;
  deliveryMarks: readonly { channel: Channel; text: string; isFailed: boolean }[];
}

export interface Reader {
  now: Date;
  /** The operator's. */
  account: string | null;
  formatTime(at: Date): string;
  formatDay(at: Date): string;
}

/** What a list says about a message besides its sender, text and age; nothing if it was only delivered. */
export function marksOf(message: Marked, { now, account, formatTime, formatDay }: Reader): Mark[] {
  const { state, quarantineReason, expiresAt, isExpiring } = message;
  const until = (wait: Wait | undefined) =>
    wait?.kind === "later" && wait.until && wait.until > now ? ` until ${formatTime(wait.until)}` : "";
  const held = state === "quarantined" && quarantineReason && HELD_AS[quarantineReason];
  const [text, color] = held ? ([held, "yellow"] as const) : STATE[state];
  const marks: (Mark | false | null)[] = [
    message.hasNewAnswer && ["New answer", "yellow"],
    ...message.drafts.map(
      ({ author }): Mark => [
        author === account ? "Your draft" : `${visible(author ?? "Somebody")} is replying`,
        author === account ? "yellow" : "gray",
      ],
    ),
    message.hasNote && ["Note", "gray"],
    state !== "delivered" && [`${text}${until(message.waits.mail)}`, color],
    ...message.deliveryMarks.map(
      ({ channel, text, isFailed }): Mark => [`${text}${until(message.waits[channel])}`, isFailed ? "red" : "gray"],
    ),
    // A message past its date waits until a server erases it.
    isExpiring && expiresAt && [`Erasure ${expiresAt > now ? `on ${formatDay(expiresAt)}` : "soon"}`, "yellow"],
    message.answeredAt && ["Answered", "green"],
    message.isRestricted && ["Restricted", "gray"],
  ];
  return marks.filter((mark) => !!mark);
}
