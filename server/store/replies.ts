import { type Change, isAllowed, noteBefore, queuedAt, readNote, writeChange } from "./actions.ts";
import type { Database, Query, Sql } from "./database.ts";
import { addEvents, readLocked } from "./message-rows.ts";
import { AFTER_BACKUP, GIVEN_UP, STOPPED } from "./model.ts";
import { normaliseReference } from "./reference.ts";
import { expiry } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { lessonsChanged } from "./spam.ts";
import type { RowOf } from "./tables.ts";

// Replies, and the drafts of which they are made. The last reply of a message is the one that its delivery sends.

export interface Reply {
  subject: string;
  text: string;
  /** Chosen by the client, so that a repeated reply is recognised. */
  key: string;
  /** An address of the thread instead of the form's. */
  recipient?: string | null | undefined;
}

/** A reply with what was written before it, so that all are one thread. */
export interface ThreadedReply extends Reply {
  earlier: readonly (EarlierReply | EarlierMail)[];
}

/** A reply that the sender got. */
export type EarlierReply = Pick<Reply, "key">;
/** An answer, or the reply of a mail program. */
export type EarlierMail = Pick<RowOf<"mails">, "mailId" | "sender">;

/** What an operator has typed and not finished. */
interface Unfinished extends Pick<Reply, "subject" | "text"> {
  note: string;
}

export interface Draft extends Unfinished {
  author: string | null;
  savedAt: Date;
}

export interface ReplyOptions {
  /** If given, a message with another version gets no reply. */
  version?: string | undefined;
  undoMs?: number;
}

/** Nobody sends it: an attempt that runs, or whose end is not known, has a lease. */
const IS_WAITING = "channel = 'reply' AND state = 'queued' AND lease_token IS NULL";

/** The author of drafts of commands without an account. */
const NOBODY = "";

export async function readLastReply(query: Query, messageId: number): Promise<ThreadedReply | null> {
  const replies = await query<Reply & Pick<RowOf<"replies">, "eventId" | "sentAt">>(
    "SELECT event_id, key, subject, text, recipient, sent_at FROM replies WHERE message_id = $1 ORDER BY event_id",
    [messageId],
  );
  const last = replies.pop();
  if (!last) return null;
  const mails = await query<EarlierMail & Pick<RowOf<"mails">, "eventId">>(
    `SELECT event_id, mail_id, sender FROM mails JOIN events ON events.id = event_id
     WHERE mails.message_id = $1 AND event_id < $2 AND kind IN ('received', 'mailbox-reply')`,
    [messageId, last.eventId],
  );
  const earlier = [...replies.flatMap(({ eventId, key, sentAt }) => (sentAt ? { eventId, key } : [])), ...mails];
  const { key, subject, text, recipient } = last;
  return { key, subject, text, recipient, earlier: earlier.sort((a, b) => a.eventId - b.eventId) };
}

export function createReplies({ query, transaction, dialect }: Database, account: string | null) {
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

    /** Whose unfinished replies and notes these messages have, and since when, newest first. */
    async drafting(references: readonly string[]) {
      const drafts = await query<Pick<Draft, "author" | "savedAt"> & { reference: string }>(
        `SELECT reference, NULLIF(author, '${NOBODY}') AS author, saved_at FROM drafts
         JOIN messages ON id = message_id WHERE ${dialect.isIn("reference", "$1")} ORDER BY saved_at DESC`,
        [references],
      );
      return Map.groupBy(drafts, ({ reference }) => reference);
    },

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
    add(
      reference: string,
      { key, subject, text, recipient = null }: Reply,
      now: Date,
      { version, undoMs = 0 }: ReplyOptions = {},
    ): Promise<boolean> {
      return transaction(async (sql) => {
        const { query } = sql;
        const [message] = await readLocked(sql, "reference", [normaliseReference(reference)]);
        if (!message) return false;
        const { id } = message;
        const known = await query("SELECT 1 FROM replies WHERE message_id = $1 AND key = $2", [id, key]);
        const isRepeated = known.length > 0;
        const isOld = version !== undefined && version !== message.version;
        if (!isRepeated && (isOld || !isAllowed("reply", message, now))) return false;
        const { own } = await readDrafts(query, reference);
        // A client that did not get the answer may have saved the draft again, and then written another.
        if (own && (!isRepeated || own.text === text)) await writeDraft(sql, id, { ...own, text: "" }, now);
        if (isRepeated) return true;
        const dueAt = new Date(now.getTime() + undoMs);
        const change: Change = {
          taught: "good",
          newAnswerAt: null,
          deliveries: { reply: queuedAt(now, dueAt) },
        };
        const replaced = noteBefore(message, change);
        const [eventId = 0] = await addEvents(sql, [id], { kind: "replied", at: now, author: account, replaced });
        const columns = "event_id, message_id, key, subject, text, recipient";
        await query(`INSERT INTO replies (${columns}) VALUES ($1, $2, $3, $4, $5, $6)`, [
          eventId,
          id,
          key,
          subject,
          text,
          recipient,
        ]);
        await writeChange(sql, message, change, now);
        await lessonsChanged(query);
        await writeSearchTexts(sql, [id]);
        return true;
      });
    },

    /**
     * Makes the waiting reply a draft of this operator again, above what they have written since. One statement decides:
     * what it deletes nobody sends and nobody got, so the history does not mention it. One that an earlier attempt may
     * have sent is only stopped. `late`: it does not wait any more, or is being sent, or is not the one with this key.
     */
    takeBack(reference: string, now: Date, key?: string): Promise<"draft" | "stopped" | "late"> {
      return transaction(async (sql) => {
        const { query } = sql;
        const [message] = await readLocked(sql, "reference", [normaliseReference(reference)]);
        const [last] = await query<Reply & Pick<RowOf<"events">, "id" | "replaced">>(
          `SELECT events.id, key, subject, text, replaced FROM replies JOIN events ON events.id = event_id
           WHERE replies.message_id = $1 ORDER BY events.id DESC LIMIT 1`,
          [message?.id ?? null],
        );
        if (!message || !last || (key !== undefined && key !== last.key)) return "late";
        const { id } = message;
        const deleted = await query(
          `DELETE FROM deliveries WHERE message_id = $1 AND ${IS_WAITING} AND unknown_outcomes = 0 AND NOT EXISTS
             (SELECT 1 FROM events WHERE message_id = $1 AND id > $2 AND channel = 'reply' AND detail IN ($3, $4, $5))
           RETURNING 1`,
          [id, last.id, GIVEN_UP, AFTER_BACKUP, STOPPED],
        );
        if (deleted.length === 0) {
          const stopped = await query(
            `UPDATE deliveries SET state = 'failed', changed_at = $2, due_at = NULL, error = $3, unknown_outcomes = 1,
               ${expiry("'failed'", "$2")} WHERE message_id = $1 AND ${IS_WAITING} RETURNING 1`,
            [id, now, STOPPED],
          );
          if (stopped.length === 0) return "late";
          await addEvents(sql, [id], { kind: "failed", at: now, channel: "reply", detail: STOPPED, author: account });
          return "stopped";
        }
        const { subject, text } = last;
        await query("DELETE FROM events WHERE message_id = $1 AND (id = $2 OR id > $2 AND channel = 'reply')", [
          id,
          last.id,
        ]);
        const { newAnswerAt, deliveries: { reply } = {}, ...before } = readNote(last.replaced ?? "{}");
        const change = {
          ...before,
          // A newer answer stays one.
          ...(newAnswerAt !== undefined && message.newAnswerAt === null && { newAnswerAt }),
          ...(reply && { deliveries: { reply } }),
        };
        await writeChange(sql, message, change, now);
        await lessonsChanged(query);
        await writeSearchTexts(sql, [id]);
        const { own } = await readDrafts(query, reference);
        const isMore = own && own.text !== "" && own.text !== text;
        const whole = isMore ? `${text}\n\n${own.text}` : text;
        await writeDraft(sql, id, { subject, text: whole, note: own?.note ?? "" }, now);
        return "draft";
      });
    },
  };
}
