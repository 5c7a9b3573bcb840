import { type Database, readColumn, type Sql } from "./database.ts";
import { createDrafts, otherDraft, removeDraft } from "./drafts.ts";
import { addEvents, deleteMessages, idsOf, readLocked, updateMessages } from "./message-rows.ts";
import { normaliseReference } from "./reference.ts";
import { writeExpiry } from "./retention.ts";
import { actionProblem, channelsToQueue } from "./rules.ts";
import { writeSearchTexts } from "./search.ts";
import { countMonth, teach } from "./spam.ts";
import type { Action, Channel, EventKind, Lesson, StoredMessage } from "./store.ts";
import { createUndo, keepSent, type Replaced } from "./undo.ts";

// What operators do with messages.

/** If versions are given, messages that have changed since are left out. */
interface Selection {
  references: readonly string[];
  versions?: readonly string[] | undefined;
}

export interface Reply {
  /** Chosen by the client, so that a repeated reply is recognised. */
  key: string;
  subject: string;
  text: string;
  /** The keys of the earlier replies that the sender got. */
  earlier?: readonly string[];
}

/** The website sends what an operator queues at once. */
const ANNOUNCED = { isAnnounced: true };
const SEEN = "seen_at = COALESCE(seen_at, CAST($2 AS BIGINT))";
const EVENT: Readonly<Record<Exclude<Action, "delete" | "spam">, EventKind>> = {
  retry: "retried",
  resend: "resent",
  release: "released",
  answer: "answered",
  unanswer: "unanswered",
};
/** What each action teaches the spam filter; `null` takes back what the message taught. */
const LESSON: Readonly<Partial<Record<Action, Lesson | null>>> = {
  spam: "spam",
  release: "good",
  answer: "good",
  unanswer: null,
};

/** Makes deliveries due now. Those that wait for their next attempt keep their number of attempts. */
async function queueAgain({ query, dialect }: Sql, channel: Channel, ids: readonly number[], now: Date) {
  const unlessQueued = (value: string, column: string) =>
    `${column} = CASE state WHEN 'queued' THEN ${column} ELSE ${value} END`;
  await query(
    `UPDATE deliveries SET state = 'queued', due_at = CAST($3 AS BIGINT), expires_at = NULL, announce_at = NULL,
       ${unlessQueued("CAST($3 AS BIGINT)", "changed_at")}, ${unlessQueued("0", "attempts")},
       ${unlessQueued("0", "interruptions")}, ${unlessQueued("NULL", "error")}
     WHERE channel = $2 AND ${dialect.isIn("message_id", "$1")}`,
    [ids, channel, now],
  );
}

export interface ReplyOptions {
  /** If given, a message with another version gets no reply. */
  version?: string | undefined;
  /** How long the reply can be taken back. */
  undoMs?: number;
  /** Also marks the message as answered now, not when the reply is delivered. */
  isAnswer?: boolean;
  /** If given, a stored draft is removed only if `saveDraft` would replace it. */
  replaces?: readonly number[] | undefined;
}

export function createActions(database: Database, account: string | null) {
  const { transaction } = database;

  /** Applies the action to those of the messages that allow it; returns their references. */
  async function apply(sql: Sql, action: Action, messages: readonly StoredMessage[], now: Date): Promise<string[]> {
    const allowed = messages.filter((message) => actionProblem(action, message, now) === null);
    if (allowed.length === 0) return [];
    const ids = idsOf(allowed);
    if (action === "spam") await quarantine(sql, allowed, now);
    else if (action === "delete") await deleteMessages(sql, ids);
    else if (action === "answer" || action === "unanswer") {
      await updateMessages(sql, ids, "answered_at = $2", action === "answer" ? now : null);
      await addEvents(sql, ids, { kind: EVENT[action], at: now, author: account });
    } else await send(sql, action, allowed, now);
    const lesson = LESSON[action];
    if (lesson !== undefined) {
      const isMeant = ({ taught, deliveries, isRestricted }: StoredMessage) =>
        !isRestricted && (lesson !== null || (taught === "good" && !deliveries.reply));
      await teach(sql, idsOf(allowed.filter(isMeant)), lesson);
    }
    return allowed.map(({ reference }) => reference);
  }

  async function send(
    sql: Sql,
    action: "retry" | "resend" | "release",
    messages: readonly StoredMessage[],
    now: Date,
  ): Promise<void> {
    const queued = messages.flatMap((message) =>
      channelsToQueue(action, message, now).map((channel) => ({ channel, message })),
    );
    for (const [channel, group] of Map.groupBy(queued, (one) => one.channel)) {
      const ids = idsOf(group.map(({ message }) => message));
      await queueAgain(sql, channel, ids, now);
      // The history has one line per release, not one per channel.
      if (action === "release" && channel !== "mail") continue;
      await addEvents(sql, ids, { kind: EVENT[action], at: now, channel, author: account });
    }
    if (action !== "release") return;
    await updateMessages(sql, idsOf(messages), SEEN, now);
    await keepSent(sql, idsOf(messages), now);
    const released = messages.filter(({ quarantineReason }) => quarantineReason === "looks-like-spam").length;
    await countMonth(sql.query, now, { released });
  }

  /**
   * Stops all deliveries. Completed ones keep their state, except the mail, whose state is the message's. Leases stay, so
   * that an attempt in progress can still be recorded.
   */
  async function quarantine(sql: Sql, messages: readonly StoredMessage[], now: Date) {
    const { query, dialect } = sql;
    const changedAt = "CASE state WHEN 'quarantined' THEN changed_at ELSE CAST($2 AS BIGINT) END";
    await query(
      `UPDATE deliveries SET state = 'quarantined', changed_at = ${changedAt}, reported_at = ${changedAt}, due_at = NULL,
       error = NULL
     WHERE (channel = 'mail' OR state IN ('queued', 'failed')) AND ${dialect.isIn("message_id", "$1")}`,
      [idsOf(messages), now],
    );
    await writeExpiry(sql, idsOf(messages));
    await updateMessages(sql, idsOf(messages), `quarantine_reason = 'marked-as-spam', ${SEEN}`, now);
    for (const [detail, group] of Map.groupBy(messages, ({ quarantineReason }) => quarantineReason)) {
      await addEvents(sql, idsOf(group), { kind: "marked-as-spam", at: now, detail, author: account });
    }
  }

  return {
    ...createDrafts(database, account),
    ...createUndo(database, account),

    /** Applies the action to the messages that allow it (`actionProblem` in rules.ts); returns their references. */
    act(action: Action, { references, versions }: Selection, now: Date): Promise<string[]> {
      return transaction(async (sql) => {
        const isNamed = sql.dialect.isIn("reference", "$1");
        const found = await readLocked(sql, isNamed, [references.map(normaliseReference)]);
        const meant = found.filter(({ version }) => versions?.includes(version) ?? true);
        return apply(sql, action, meant, now);
      }, ANNOUNCED);
    },

    markSeen(reference: string, now: Date): Promise<void> {
      return transaction(async (sql) => {
        const ids = await readColumn<number>(
          sql.query,
          `UPDATE messages SET seen_at = $2 WHERE reference = $1 AND seen_at IS NULL AND EXISTS
         (SELECT 1 FROM deliveries WHERE message_id = id AND state = 'quarantined') RETURNING id`,
          [normaliseReference(reference), now],
        );
        await addEvents(sql, ids, { kind: "viewed", at: now, author: account });
      });
    },

    /** Returns false if there is no such message. */
    addNote(reference: string, text: string, now: Date): Promise<boolean> {
      return transaction(async (sql) => {
        const messages = await readLocked(sql, "reference = $1", [normaliseReference(reference)]);
        await addEvents(sql, idsOf(messages), { kind: "noted", at: now, detail: text, author: account });
        await writeSearchTexts(sql, idsOf(messages));
        return messages.length > 0;
      });
    },

    /**
     * Queues the reply and removes the operator's draft. Returns false if the message does not allow a reply or has changed since. For
     * a repeated reply, returns true and does not send it again.
     */
    reply(
      reference: string,
      reply: Reply,
      now: Date,
      { version, undoMs = 0, isAnswer = false, replaces }: ReplyOptions = {},
    ): Promise<boolean> {
      return transaction(async (sql) => {
        const [message] = await readLocked(sql, "reference = $1", [normaliseReference(reference)]);
        if (!message) return false;
        const [last] = await sql.query<NonNullable<Replaced["delivery"]>>(
          `SELECT state, changed_at AS "changedAtMs", attempts, error, payload FROM deliveries
       WHERE message_id = $1 AND channel = 'reply'`,
          [message.id],
        );
        const removeReplaced = async (replaces: readonly number[] | undefined) => {
          const other = await otherDraft(sql, account, reference, reply, replaces);
          if (!other) await removeDraft(sql, account, message.id);
        };
        if (last && JSON.parse(last.payload).key === reply.key) {
          // The client may have saved the draft again, because it did not get the answer.
          await removeReplaced(replaces ?? []);
          return true;
        }
        const isOld = (version ?? message.version) !== message.version;
        if (isOld || actionProblem("reply", message, now) !== null) return false;
        const { taught, answeredAt } = message;
        // Without what the last reply replaced itself, or the payload would double with every reply.
        const { replaced: _, ...lastReply }: Partial<Reply> & { replaced?: Replaced } = JSON.parse(
          last?.payload ?? "{}",
        );
        const { key: lastKey, earlier: gotBefore = [] } = lastReply;
        const earlier = [...gotBefore, ...(last?.state === "delivered" && lastKey ? [lastKey] : [])];
        const whole = earlier.length > 0 ? { ...reply, earlier } : reply;
        const replaced: Replaced = {
          taught,
          answeredAtMs: answeredAt?.getTime() ?? null,
          delivery: last ? { ...last, payload: JSON.stringify(lastReply) } : null,
        };
        await sql.query(
          `INSERT INTO deliveries (message_id, channel, state, changed_at, due_at, payload)
       VALUES ($1, 'reply', 'queued', $2, $3, $4) ON CONFLICT (message_id, channel) DO UPDATE SET state = 'queued',
         changed_at = excluded.changed_at, due_at = excluded.due_at, payload = excluded.payload, attempts = 0,
         interruptions = 0, error = NULL, lease_token = NULL, leased_until = NULL`,
          [
            message.id,
            now,
            new Date(now.getTime() + undoMs),
            JSON.stringify(undoMs > 0 ? { ...whole, replaced } : whole),
          ],
        );
        const detail = `${reply.subject}\n\n${reply.text}`;
        await addEvents(sql, [message.id], { kind: "replied", at: now, detail, author: account });
        await writeSearchTexts(sql, [message.id]);
        await removeReplaced(replaces);
        if (isAnswer && answeredAt === null) await apply(sql, "answer", [message], now);
        else await teach(sql, [message.id], "good");
        return true;
      }, ANNOUNCED);
    },
  };
}
