import type { DraftText, Unfinished } from "../../contract/reply.ts";
import { type Database, readColumn, type Sql } from "./database.ts";
import { addEvents, readLocked } from "./message-rows.ts";
import { normaliseReference } from "./reference.ts";
import { actionProblem } from "./rules.ts";
import { writeSearchTexts } from "./search.ts";
import { teach } from "./spam.ts";
import type { Delivery, Lesson } from "./store.ts";

// Replies, and the drafts of which they are made. The last reply of a message is the one that its delivery sends.

export interface Reply extends DraftText {
  /** Chosen by the client, so that a repeated reply is recognised. */
  key: string;
}

/** A reply with the keys of the earlier ones that the sender got, so that all are one thread. */
export interface ThreadedReply extends Reply {
  earlier: readonly string[];
}

export interface Draft extends Unfinished {
  author: string | null;
  savedAt: Date;
}

export interface ReplyOptions {
  /** If given, a message with another version gets no reply. */
  version?: string | undefined;
  /** How long the reply can be taken back. */
  undoMs?: number;
  /** Also marks the message as answered now, not when the reply is delivered. */
  isAnswer?: boolean;
}

/** What a reply changed, as it was before: in its event, until the reply is taken back. */
interface Replaced {
  taught: Lesson | null;
  /** The delivery of the reply before it; times as milliseconds. */
  delivery: (Omit<Delivery, "changedAt" | "dueAt"> & { changedAt: number }) | null;
}

/** The author of drafts of commands without an account, and of version 1.0.0, which had one draft for each message. */
const NOBODY = "";

/** The last reply of each message, by row number. */
export async function readLastReplies({ query, dialect }: Sql, ids: readonly number[]) {
  const rows = await query<Reply & { messageId: number; sentAt: Date | null }>(
    `SELECT message_id, key, subject, text, sent_at FROM replies WHERE ${dialect.isIn("message_id", "$1")} ORDER BY event_id`,
    [ids],
  );
  const last = new Map<number, ThreadedReply>();
  const sent = new Map<number, string[]>();
  for (const { messageId, sentAt, ...reply } of rows) {
    const earlier = sent.get(messageId) ?? [];
    last.set(messageId, { ...reply, earlier });
    if (sentAt) sent.set(messageId, [...earlier, reply.key]);
  }
  return last;
}

/** The drafts of all operators for these messages, oldest first. */
function listDrafts({ query, dialect }: Sql, references: readonly string[]) {
  return query<Draft & { reference: string }>(
    `SELECT reference, NULLIF(author, '${NOBODY}') AS author, saved_at, subject, text, note FROM drafts
     JOIN messages ON id = message_id WHERE ${dialect.isIn("reference", "$1")} ORDER BY saved_at`,
    [references],
  );
}

export function createReplies(database: Database, account: string | null) {
  const { transaction } = database;
  const author = account ?? NOBODY;

  /** The operator's draft, and those of others, newest first. */
  async function readDrafts(sql: Sql, reference: string): Promise<{ own: Draft | null; others: Draft[] }> {
    const drafts = (await listDrafts(sql, [normaliseReference(reference)])).reverse();
    const isOwn = (draft: Draft) => draft.author === account;
    return { own: drafts.find(isOwn) ?? null, others: drafts.filter((draft) => !isOwn(draft)) };
  }

  /** A draft without a text and a note is removed. */
  async function writeDraft({ query }: Sql, messageId: number, { subject, text, note }: Unfinished, now: Date) {
    await query("DELETE FROM drafts WHERE message_id = $1 AND author = $2", [messageId, author]);
    if (`${text}${note}`.trim() === "") return;
    const sql =
      "INSERT INTO drafts (message_id, author, saved_at, subject, text, note) VALUES ($1, $2, $3, $4, $5, $6)";
    await query(sql, [messageId, author, now, subject, text, note]);
  }

  return {
    readDrafts: (reference: string) => readDrafts(database, reference),
    listDrafts: (references: readonly string[]) => listDrafts(database, references),

    /** Saves the operator's draft; the last save wins. Returns false if there is no such message. */
    saveDraft(reference: string, draft: Unfinished, now: Date): Promise<boolean> {
      return transaction(async (sql) => {
        const [message] = await readLocked(sql, "reference = $1", [normaliseReference(reference)]);
        if (message) await writeDraft(sql, message.id, draft, now);
        return message !== undefined;
      });
    },

    /**
     * Queues the reply and removes the operator's draft. Returns false if the message does not allow a reply or has
     * changed since. For a repeated reply, returns true and does not send it again.
     */
    reply(
      reference: string,
      { key, subject, text }: Reply,
      now: Date,
      { version, undoMs = 0, isAnswer = false }: ReplyOptions = {},
    ): Promise<boolean> {
      return transaction(
        async (sql) => {
          const { query } = sql;
          const [message] = await readLocked(sql, "reference = $1", [normaliseReference(reference)]);
          if (!message) return false;
          const { id, taught, answeredAt, deliveries } = message;
          const known = await query("SELECT 1 FROM replies WHERE message_id = $1 AND key = $2", [id, key]);
          if (known.length > 0) {
            // The client may have saved the draft again, because it did not get the answer.
            const { own } = await readDrafts(sql, reference);
            if (own?.text === text) await writeDraft(sql, id, { ...own, text: "" }, now);
            return true;
          }
          const isOld = (version ?? message.version) !== message.version;
          if (isOld || actionProblem("reply", message, now) !== null) return false;
          const { dueAt: _, changedAt, ...last } = deliveries.reply ?? {};
          const delivery = changedAt ? { ...last, changedAt: changedAt.getTime() } : null;
          const replaced = undoMs > 0 ? JSON.stringify({ taught, delivery }) : null;
          const [event] = await query<{ id: number }>(
            `INSERT INTO events (message_id, at, kind, author, replaced) VALUES ($1, $2, 'replied', $3, $4) RETURNING id`,
            [id, now, account, replaced],
          );
          await query("INSERT INTO replies (event_id, message_id, key, subject, text) VALUES ($1, $2, $3, $4, $5)", [
            event?.id ?? null,
            id,
            key,
            subject,
            text,
          ]);
          await query(
            `INSERT INTO deliveries (message_id, channel, state, changed_at, due_at)
             VALUES ($1, 'reply', 'queued', $2, $3) ON CONFLICT (message_id, channel) DO UPDATE SET state = 'queued',
               changed_at = excluded.changed_at, due_at = excluded.due_at, attempts = 0, interruptions = 0, error = NULL,
               lease_token = NULL, leased_until = NULL`,
            [id, now, new Date(now.getTime() + undoMs)],
          );
          await writeSearchTexts(sql, [id]);
          const { own } = await readDrafts(sql, reference);
          await writeDraft(sql, id, { subject, text: "", note: own?.note ?? "" }, now);
          await teach(sql, [id], "good");
          if (isAnswer && answeredAt === null) {
            await query("UPDATE messages SET answered_at = $2 WHERE id = $1", [id, now]);
            await addEvents(sql, [id], { kind: "answered", at: now, author: account });
          }
          return true;
        },
        { isAnnounced: true },
      );
    },

    /**
     * Takes back a reply that is not being sent yet, and makes it a draft again, above what the operator has written
     * since. Returns false if it is too late.
     */
    takeBackReply(reference: string, key: string, now: Date): Promise<boolean> {
      return transaction(async (sql) => {
        const { query } = sql;
        const [message] = await readLocked(sql, "reference = $1", [normaliseReference(reference)]);
        const [waiting] = await query<DraftText & { eventId: number; queuedAt: Date; replaced: string | null }>(
          `SELECT event_id, subject, text, at AS queued_at, replaced FROM replies JOIN events ON events.id = event_id
           JOIN deliveries ON deliveries.message_id = replies.message_id AND deliveries.channel = 'reply'
           WHERE replies.message_id = $1 AND key = $2 AND state = 'queued' AND changed_at = at AND attempts = 0
             AND lease_token IS NULL`,
          [message?.id ?? null, key],
        );
        if (!message || !waiting?.replaced) return false;
        const { eventId, subject, text, queuedAt } = waiting;
        const { taught, delivery }: Replaced = JSON.parse(waiting.replaced);
        await query("DELETE FROM deliveries WHERE message_id = $1 AND channel = 'reply'", [message.id]);
        if (delivery) {
          const { state, changedAt, attempts, error } = delivery;
          await query(
            `INSERT INTO deliveries (message_id, channel, state, changed_at, attempts, error)
             VALUES ($1, 'reply', $2, $3, $4, $5)`,
            [message.id, state, changedAt, attempts, error],
          );
        }
        await teach(sql, [message.id], taught);
        // Nobody got the reply, so the history does not mention it, nor the mark that it set. Another mark stays.
        const marks = await readColumn<number>(
          query,
          `DELETE FROM events WHERE message_id = $1 AND at = $2 AND kind = 'answered' AND id > $3 RETURNING id`,
          [message.id, queuedAt, eventId],
        );
        if (marks.length > 0) {
          const sql = "UPDATE messages SET answered_at = NULL WHERE id = $1 AND answered_at = $2";
          await query(sql, [message.id, queuedAt]);
        }
        await query("DELETE FROM events WHERE id = $1", [eventId]);
        await writeSearchTexts(sql, [message.id]);
        const { own } = await readDrafts(sql, reference);
        const isMore = own && own.text !== "" && own.text !== text;
        const whole = isMore ? `${text}\n\n${own.text}` : text;
        await writeDraft(sql, message.id, { subject, text: whole, note: own?.note ?? "" }, now);
        return true;
      });
    },
  };
}
