import type { DraftText, Unfinished } from "../../contract/desk.ts";
import { actionProblem, type Change, noteBefore, readNote, writeChange } from "./actions.ts";
import type { Database, Query, Sql } from "./database.ts";
import { addEvents, readLocked } from "./message-rows.ts";
import { normaliseReference } from "./reference.ts";
import { writeSearchTexts } from "./search.ts";
import { lessonsChanged } from "./spam.ts";
import type { RowOf } from "./tables.ts";

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
  undoMs?: number;
  /** Also marks the message as answered now, not when the reply is delivered. */
  isAnswer?: boolean;
}

/** The author of drafts of commands without an account, and of version 1.0.0, which had one draft for each message. */
const NOBODY = "";

export async function readLastReply(query: Query, messageId: number): Promise<ThreadedReply | null> {
  const replies = await query<Reply & Pick<RowOf<"replies">, "sentAt">>(
    "SELECT key, subject, text, sent_at FROM replies WHERE message_id = $1 ORDER BY event_id",
    [messageId],
  );
  const last = replies.pop();
  const earlier = replies.flatMap(({ key, sentAt }) => (sentAt ? key : []));
  return last ? { key: last.key, subject: last.subject, text: last.text, earlier } : null;
}

export function createReplies({ query, transaction }: Database, account: string | null) {
  const author = account ?? NOBODY;

  /** The others' newest first. */
  async function readDrafts(query: Query, reference: string): Promise<{ own: Draft | null; others: Draft[] }> {
    const drafts = await query<Draft>(
      `SELECT NULLIF(author, '${NOBODY}') AS author, saved_at, subject, text, note FROM drafts
       JOIN messages ON id = message_id WHERE reference = $1 ORDER BY saved_at DESC`,
      [normaliseReference(reference)],
    );
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
    readDrafts: (reference: string) => readDrafts(query, reference),

    saveDraft(reference: string, draft: Unfinished, now: Date): Promise<boolean> {
      return transaction(async (sql) => {
        const [message] = await readLocked(sql, "reference", [normaliseReference(reference)]);
        if (message) await writeDraft(sql, message.id, draft, now);
        return message !== undefined;
      });
    },

    /**
     * Also removes the operator's draft of it. Returns false if the message does not allow a reply or has changed
     * since. For a repeated reply, returns true and does not send it again.
     */
    reply(
      reference: string,
      { key, subject, text }: Reply,
      now: Date,
      { version, undoMs = 0, isAnswer = false }: ReplyOptions = {},
    ): Promise<boolean> {
      return transaction(async (sql) => {
        const { query } = sql;
        const [message] = await readLocked(sql, "reference", [normaliseReference(reference)]);
        if (!message) return false;
        const { id } = message;
        const known = await query("SELECT 1 FROM replies WHERE message_id = $1 AND key = $2", [id, key]);
        const isRepeated = known.length > 0;
        const isOld = version !== undefined && version !== message.version;
        if (!isRepeated && (isOld || actionProblem("reply", message, now) !== null)) return false;
        const { own } = await readDrafts(query, reference);
        // A client that did not get the answer may have saved the draft again, and then written another.
        if (own && (!isRepeated || own.text === text)) await writeDraft(sql, id, { ...own, text: "" }, now);
        if (isRepeated) return true;
        const dueAt = new Date(now.getTime() + undoMs);
        const change: Change = {
          taught: "good",
          ...(isAnswer && message.answeredAt === null && { answeredAt: now }),
          deliveries: { reply: { state: "queued", changedAt: now, dueAt, attempts: 0, error: null } },
        };
        const replaced = undoMs > 0 ? noteBefore(message, change) : null;
        const [eventId = 0] = await addEvents(sql, [id], { kind: "replied", at: now, author: account, replaced });
        const insert = "INSERT INTO replies (event_id, message_id, key, subject, text) VALUES ($1, $2, $3, $4, $5)";
        await query(insert, [eventId, id, key, subject, text]);
        await writeChange(sql, message, change, now);
        await lessonsChanged(query);
        await writeSearchTexts(sql, [id]);
        return true;
      });
    },

    /**
     * Makes the reply a draft again, above what the operator has written since. Nobody got it, so the history does not
     * mention it. Returns false if it is too late.
     */
    takeBackReply(reference: string, key: string, now: Date): Promise<boolean> {
      return transaction(async (sql) => {
        const { query } = sql;
        const [message] = await readLocked(sql, "reference", [normaliseReference(reference)]);
        const [waiting] = await query<DraftText & Pick<RowOf<"events">, "id" | "at" | "replaced">>(
          `SELECT events.id, subject, text, at, replaced FROM replies JOIN events ON events.id = event_id
           JOIN deliveries ON deliveries.message_id = replies.message_id AND deliveries.channel = 'reply'
           WHERE replies.message_id = $1 AND key = $2 AND state = 'queued' AND changed_at = at AND attempts = 0
             AND lease_token IS NULL`,
          [message?.id ?? null, key],
        );
        if (!message || !waiting?.replaced) return false;
        const { subject, text } = waiting;
        await query("DELETE FROM events WHERE id = $1", [waiting.id]);
        await query("DELETE FROM deliveries WHERE message_id = $1 AND channel = 'reply'", [message.id]);
        const { answeredAt, deliveries: { reply } = {}, ...before } = readNote(waiting.replaced);
        const change = {
          ...before,
          // Another mark, set since, stays.
          ...(answeredAt !== undefined && Number(message.answeredAt) === Number(waiting.at) && { answeredAt }),
          ...(reply && { deliveries: { reply } }),
        };
        await writeChange(sql, message, change, now);
        await lessonsChanged(query);
        await writeSearchTexts(sql, [message.id]);
        const { own } = await readDrafts(query, reference);
        const isMore = own && own.text !== "" && own.text !== text;
        const whole = isMore ? `${text}\n\n${own.text}` : text;
        await writeDraft(sql, message.id, { subject, text: whole, note: own?.note ?? "" }, now);
        return true;
      });
    },
  };
}
