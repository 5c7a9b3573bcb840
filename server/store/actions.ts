import type { EventKind } from "../message-words.ts";
import { type Database, readColumn, type Sql } from "./database.ts";
import { addEvents, deleteMessages, idsOf, readLocked } from "./message-rows.ts";
import {
  ACTIONS,
  type Action,
  type Channel,
  type Delivery,
  mayHaveBeenSent,
  rulesOf,
  type StoredMessage,
} from "./model.ts";
import { normaliseReference } from "./reference.ts";
import { writeExpiry } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { lessonsChanged } from "./spam.ts";
import type { RowOf } from "./tables.ts";

// What operators do with messages: which messages allow an action, what it changes, and how that is undone.

/** `taught` is the lesson for the spam filter. */
export interface Change
  extends Partial<Pick<StoredMessage, "answeredAt" | "newAnswerAt" | "quarantineReason" | "taught">> {
  deliveries?: Partial<Record<Channel, Delivery>>;
}

interface Rule {
  isPossible(message: StoredMessage, now: Date): boolean;
  event?: EventKind;
  change?(message: StoredMessage, now: Date): Change;
}

/** For one message: `again` sends its failed reply again, also if it may have been sent. */
type OneByOne = "reply" | "again";

const RULES: Readonly<Record<Action | OneByOne, Rule>> = {
  retry: {
    isPossible: (message, now) => Object.keys(retried(message, now)).length > 0,
    event: "retried",
    change: (message, now) => ({ deliveries: retried(message, now) }),
  },
  release: {
    isPossible: ({ state }) => state === "quarantined",
    event: "released",
    change: (message, now) => ({ newAnswerAt: null, taught: "good", deliveries: released(message, now) }),
  },
  spam: {
    isPossible: ({ state, taught }) => state !== "quarantined" || taught !== "spam",
    event: "marked-as-spam",
    change: (message, now) => ({
      newAnswerAt: null,
      taught: "spam",
      quarantineReason: "marked-as-spam",
      deliveries: quarantined(message, now),
    }),
  },
  answer: {
    isPossible: ({ answeredAt }) => answeredAt === null,
    event: "answered",
    change: ({ isRestricted }, now) => ({
      answeredAt: now,
      newAnswerAt: null,
      ...(!isRestricted && { taught: "good" }),
    }),
  },
  unanswer: {
    isPossible: ({ answeredAt }) => answeredAt !== null,
    event: "unanswered",
    // Takes back what the answer taught. What a reply taught stays.
    change: ({ isRestricted, taught, deliveries }) => {
      const isTakenBack = !isRestricted && taught === "good" && !deliveries.reply;
      return { answeredAt: null, newAnswerAt: null, ...(isTakenBack && { taught: null }) };
    },
  },
  reply: {
    isPossible: ({ state, deliveries }) => state !== "quarantined" && deliveries.reply?.state !== "queued",
  },
  again: {
    isPossible: ({ deliveries: { reply } }) => reply?.state === "failed",
    event: "retried",
    change: (_message, now) => ({ deliveries: { reply: queuedAt(now) } }),
  },
  delete: { isPossible: () => true },
};

export function isAllowed(action: Action | OneByOne, message: StoredMessage, now: Date): boolean {
  const isUnused = message.isRestricted && action !== "answer" && action !== "unanswer";
  return !isUnused && RULES[action].isPossible(message, now);
}

export function allowedActions(message: StoredMessage, now: Date): (Action | OneByOne)[] {
  return [...ACTIONS, "reply" as const, "again" as const].filter((action) => isAllowed(action, message, now));
}

function changed(
  { deliveries }: StoredMessage,
  after: (delivery: Delivery, channel: Channel) => Delivery | null,
): NonNullable<Change["deliveries"]> {
  const all = Object.entries(deliveries) as [Channel, Delivery][];
  const entries = all.map(([channel, delivery]) => [channel, after(delivery, channel)] as const);
  return Object.fromEntries(entries.filter(([, delivery]) => delivery !== null));
}

export const queuedAt = (now: Date, dueAt = now): Delivery => ({
  state: "queued",
  changedAt: now,
  dueAt,
  attempts: 0,
  unknownOutcomes: 0,
  error: null,
});

function retried(message: StoredMessage, now: Date) {
  const ageMs = now.getTime() - message.acceptedAt.getTime();
  return changed(message, (delivery, channel) => {
    if (ageMs >= (rulesOf(channel).triedForMs ?? Number.POSITIVE_INFINITY)) return null;
    if (mayHaveBeenSent(channel, delivery)) return null;
    // One that waits for its next attempt keeps its number of attempts.
    if (delivery.state === "queued") return { ...delivery, dueAt: now };
    return delivery.state === "failed" ? queuedAt(now) : null;
  });
}

/** What may have been sent is not sent again: its attempt may still end, otherwise the queue gives it up. */
const released = (message: StoredMessage, now: Date) =>
  changed(message, ({ state, unknownOutcomes }) =>
    state === "quarantined" ? { ...queuedAt(now), unknownOutcomes } : null,
  );

/** Completed deliveries keep their state, except the mail, whose state is the message's. */
const quarantined = (message: StoredMessage, now: Date) =>
  changed(message, (delivery, channel) => {
    const isMeant = channel === "mail" ? delivery.state !== "quarantined" : /queued|failed/.test(delivery.state);
    return isMeant ? { ...delivery, state: "quarantined", changedAt: now, dueAt: null, error: null } : null;
  });

export function noteBefore(message: StoredMessage, change: Change): string {
  const before = Object.keys(change).map((field) => [field, message[field as keyof Change]]);
  return JSON.stringify(Object.fromEntries(before));
}

export function readNote(note: string): Change {
  return JSON.parse(note, (name, value) => (name.endsWith("At") && value !== null ? new Date(value) : value));
}

/**
 * Not the opposite action: that would mail a message that was held back. Deliveries that were added since, such as an
 * acknowledgement, leave or enter the quarantine with the mail.
 */
function putBack(before: Change, message: StoredMessage, now: Date): Change {
  if (!before.deliveries) return before;
  const wasHeld = before.deliveries.mail?.state === "quarantined";
  const current = wasHeld ? quarantined(message, now) : released(message, now);
  const deliveries = changed(message, ({ unknownOutcomes }, channel) => {
    const known = channel in current ? before.deliveries?.[channel] : undefined;
    return known ? { ...known, unknownOutcomes } : (current[channel] ?? null);
  });
  return { ...before, deliveries };
}

/**
 * The message is locked. Leases stay, so that an attempt in progress can still be recorded. Call `lessonsChanged` after
 * all changes of the transaction.
 */
export async function writeChange(sql: Sql, message: StoredMessage, change: Change, now: Date): Promise<void> {
  const { query } = sql;
  const { id, answeredAt, newAnswerAt, quarantineReason, taught } = { ...message, ...change };
  await query(
    `UPDATE messages SET answered_at = $2, quarantine_reason = $3, taught = $4, seen_at = COALESCE(seen_at, $5),
       new_answer_at = $6 WHERE id = $1`,
    [id, answeredAt, quarantineReason, taught, now, newAnswerAt],
  );
  for (const [channel, delivery] of Object.entries(change.deliveries ?? {})) {
    const { state, changedAt, dueAt, attempts, unknownOutcomes, error } = delivery;
    await query(
      `INSERT INTO deliveries (message_id, channel, state, changed_at, due_at, attempts, unknown_outcomes, error)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (message_id, channel) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at,
         due_at = excluded.due_at, attempts = excluded.attempts, unknown_outcomes = excluded.unknown_outcomes,
         error = excluded.error`,
      [id, channel, state, changedAt, dueAt, attempts, unknownOutcomes, error],
    );
  }
  if (message.state === "quarantined") {
    // A mail that was delivered before it leaves the quarantine is not sent again.
    await query(
      `UPDATE deliveries SET state = 'delivered', due_at = NULL
       WHERE message_id = $1 AND channel = 'mail' AND state = 'queued'
         AND EXISTS (SELECT 1 FROM events WHERE message_id = $1 AND channel = 'mail' AND kind = 'delivered')`,
      [id],
    );
  }
  if (change.deliveries?.mail) await writeExpiry(sql, [id]);
}

/** If versions are given, messages that have changed since are left out. */
interface Selection {
  references: readonly string[];
  versions?: readonly string[] | undefined;
}

/** A later event of these kinds means that the message was marked again. */
const MARKS =
  "answered unanswered marked-as-spam released undone replied restricted unrestricted received mailbox-reply came-back".split(
    " ",
  );

export function createActions({ transaction }: Database, author: string | null) {
  return {
    /** Returns the references of the messages that allow it. Those with the same step are undone together. */
    act(
      action: Action | "again",
      { references, versions }: Selection,
      now: Date,
      step: string | null = null,
    ): Promise<string[]> {
      return transaction(async (sql) => {
        const found = await readLocked(sql, "reference", references.map(normaliseReference));
        const meant = versions ? found.filter(({ version }) => versions.includes(version)) : found;
        const allowed = meant.filter((message) => isAllowed(action, message, now));
        const { event: kind, change } = RULES[action];
        for (const message of allowed) {
          if (!kind || !change) continue;
          const after = change(message, now);
          await writeChange(sql, message, after, now);
          const detail = action === "spam" ? message.quarantineReason : null;
          const replaced = step === null ? null : noteBefore(message, after);
          await addEvents(sql, [message.id], { kind, at: now, detail, author, step, replaced });
        }
        if (action === "delete") await deleteMessages(sql, idsOf(allowed));
        else if (allowed.length > 0) await lessonsChanged(sql.query);
        return allowed.map(({ reference }) => reference);
      });
    },

    /** Skips messages that were marked again since. Returns references; `null` if there are no such marks. */
    undo(step: string, now: Date): Promise<{ done: string[]; skipped: string[] } | null> {
      return transaction(async (sql) => {
        const { query, dialect } = sql;
        const ids = await readColumn<number>(query, "SELECT message_id FROM events WHERE step = $1", [step]);
        if (ids.length === 0) return null;
        const messages = await readLocked(sql, "id", ids);
        const laterMark = `SELECT 1 FROM events AS later WHERE later.message_id = events.message_id
          AND later.id > events.id AND ${dialect.isIn("later.kind", "$2")}`;
        const marks = await query<Pick<RowOf<"events">, "messageId" | "replaced"> & { isMarkedAgain: boolean }>(
          `SELECT message_id, replaced, EXISTS (${laterMark}) AS is_marked_again FROM events WHERE step = $1 ORDER BY id`,
          [step, MARKS],
        );
        const lastMarks = new Map(marks.map((mark) => [mark.messageId, mark]));
        const [done, skipped]: [string[], string[]] = [[], []];
        for (const message of messages) {
          const { replaced, isMarkedAgain } = lastMarks.get(message.id) ?? { replaced: null, isMarkedAgain: true };
          (isMarkedAgain ? skipped : done).push(message.reference);
          if (isMarkedAgain) continue;
          await writeChange(sql, message, putBack(readNote(replaced ?? "{}"), message, now), now);
          await addEvents(sql, [message.id], { kind: "undone", at: now, author });
        }
        await query("UPDATE events SET step = NULL, replaced = NULL WHERE step = $1", [step]);
        await lessonsChanged(query);
        return { done, skipped };
      });
    },

    markSeen(reference: string, now: Date): Promise<void> {
      return transaction(async (sql) => {
        const ids = await readColumn<number>(
          sql.query,
          `UPDATE messages SET seen_at = $2 WHERE reference = $1 AND seen_at IS NULL AND EXISTS
             (SELECT 1 FROM deliveries WHERE message_id = id AND state = 'quarantined') RETURNING id`,
          [normaliseReference(reference), now],
        );
        await addEvents(sql, ids, { kind: "viewed", at: now, author });
      });
    },

    /** A note with a known key is stored already. Returns false if there is no such message. */
    addNote(reference: string, text: string, now: Date, key: string | null = null): Promise<boolean> {
      return transaction(async (sql) => {
        const [message] = await readLocked(sql, "reference", [normaliseReference(reference)]);
        if (!message) return false;
        const known = await sql.query("SELECT 1 FROM events WHERE message_id = $1 AND note_key = $2", [
          message.id,
          key,
        ]);
        if (known.length > 0) return true;
        await addEvents(sql, [message.id], { kind: "noted", at: now, detail: text, author, noteKey: key });
        await writeSearchTexts(sql, [message.id]);
        return true;
      });
    },
  };
}
