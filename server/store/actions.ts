import { type Database, insertRows, readColumn, type Sql } from "./database.ts";
import { addEvents, deleteMessages, idsOf, readLocked, updateMessages } from "./message-rows.ts";
import { normaliseReference } from "./reference.ts";
import { writeExpiry } from "./retention.ts";
import { actionProblem, channelsToQueue } from "./rules.ts";
import { writeSearchTexts } from "./search.ts";
import { teach } from "./spam.ts";
import type { Action, Channel, Delivery, EventKind, Lesson, StoredMessage } from "./store.ts";

// What operators do with messages.

/** If versions are given, messages that have changed since are left out. */
interface Selection {
  references: readonly string[];
  versions?: readonly string[] | undefined;
}

/** The website sends what an operator queues at once. */
const ANNOUNCED = { isAnnounced: true };
const SEEN = "seen_at = COALESCE(seen_at, CAST($2 AS BIGINT))";
const EVENT: Readonly<Record<Exclude<Action, "delete">, EventKind>> = {
  retry: "retried",
  resend: "resent",
  release: "released",
  spam: "marked-as-spam",
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

/**
 * What a mark changed in a message, as it was before. In the mark's event, so that an undo puts back this and nothing
 * else: the opposite action would mail a message that was held back.
 */
interface Replaced {
  taught: Lesson | null;
  answeredAtMs?: number | null;
  /** Its quarantine began or ended: the reason, and its deliveries with their times as JSON has them. */
  held?: Pick<StoredMessage, "state" | "quarantineReason" | "deliveries">;
}

/** `null`: the action cannot be undone. */
function replacedBy(action: Action, { taught, answeredAt, ...held }: StoredMessage): Replaced | null {
  if (action === "answer" || action === "unanswer") return { taught, answeredAtMs: answeredAt?.getTime() ?? null };
  if (action !== "spam" && action !== "release") return null;
  const { state, quarantineReason, deliveries } = held;
  return { taught, held: { state, quarantineReason, deliveries } };
}

/** A later event of these kinds means that the message was marked again. */
const MARKS: readonly EventKind[] = [
  "answered",
  "unanswered",
  "marked-as-spam",
  "released",
  "undone",
  "replied",
  "restricted",
  "unrestricted",
];
const UNDONE_AT_ONCE = 200;

/** Quarantines deliveries again, or takes them out of quarantine. Leases stay, as in `quarantine`. */
async function undoDeliveries(
  { query }: Sql,
  before: NonNullable<Replaced["held"]>,
  current: StoredMessage,
  now: Date,
): Promise<void> {
  for (const [channel, delivery] of Object.entries(current.deliveries) as [Channel, Delivery][]) {
    // What other channels delivered stays delivered: the operator must see that the web hook's receiver has it.
    if (channel !== "mail" && delivery.state === "delivered") continue;
    // Such as an acknowledgement, if the mail was sent since.
    const isHeld = before.state === "quarantined";
    const added = { state: isHeld ? "quarantined" : "queued", changedAt: now, dueAt: isHeld ? null : now };
    const { state, changedAt, dueAt, attempts, error } = before.deliveries[channel] ?? { ...delivery, ...added };
    if ((delivery.state === "quarantined") === (state === "quarantined")) continue;
    await query(
      `UPDATE deliveries SET state = $3, changed_at = $4, due_at = $5, attempts = $6, error = $7
       WHERE message_id = $1 AND channel = $2`,
      [
        current.id,
        channel,
        state,
        new Date(changedAt),
        dueAt && new Date(dueAt),
        Math.max(attempts, delivery.attempts),
        error,
      ],
    );
  }
}

/** A mail that was delivered before its message left the quarantine is not sent again, unless it was to be resent. */
async function keepSent({ query, dialect }: Sql, ids: readonly number[], now: Date): Promise<void> {
  const last = (kind: EventKind) => `(SELECT COALESCE(max(id), 0) FROM events
    WHERE events.message_id = deliveries.message_id AND kind = '${kind}' AND events.channel = 'mail')`;
  await query(
    `UPDATE deliveries SET state = 'delivered', changed_at = $2, due_at = NULL WHERE channel = 'mail'
       AND state = 'queued' AND ${dialect.isIn("message_id", "$1")} AND ${last("delivered")} > ${last("resent")}`,
    [ids, now],
  );
  await writeExpiry({ query, dialect }, ids);
}

export function createActions(database: Database, account: string | null) {
  const { transaction } = database;

  /** Applies the action to those of the messages that allow it; returns their references. */
  async function apply(
    sql: Sql,
    action: Action,
    messages: readonly StoredMessage[],
    now: Date,
    step: string | null,
  ): Promise<string[]> {
    const allowed = messages.filter((message) => actionProblem(action, message, now) === null);
    if (allowed.length === 0) return [];
    const ids = idsOf(allowed);
    if (action === "spam") await quarantine(sql, allowed, now);
    else if (action === "delete") await deleteMessages(sql, ids);
    else if (action === "answer" || action === "unanswer") {
      await updateMessages(sql, ids, "answered_at = $2", action === "answer" ? now : null);
    } else await send(sql, action, allowed, now);
    if (action !== "delete") await addMarks(sql, action, allowed, now, step);
    const lesson = LESSON[action];
    if (lesson !== undefined) {
      const isMeant = ({ taught, deliveries, isRestricted }: StoredMessage) =>
        !isRestricted && (lesson !== null || (taught === "good" && !deliveries.reply));
      await teach(sql, idsOf(allowed.filter(isMeant)), lesson);
    }
    return allowed.map(({ reference }) => reference);
  }

  /** One event for each message that the action marked; none for the other actions. */
  function addMarks(
    sql: Sql,
    action: Exclude<Action, "delete">,
    messages: readonly StoredMessage[],
    now: Date,
    step: string | null,
  ): Promise<void> {
    const marks = messages.flatMap((message) => {
      const replaced = replacedBy(action, message);
      if (!replaced) return [];
      return {
        reference: message.reference,
        at: now.getTime(),
        kind: EVENT[action],
        channel: action === "release" ? "mail" : null,
        detail: action === "spam" ? message.quarantineReason : null,
        author: account,
        step,
        replaced: JSON.stringify(replaced),
      };
    });
    return insertRows(sql, "events", marks);
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
      // A release is one line of the history, and not one for each channel.
      if (action === "release") continue;
      await addEvents(sql, ids, { kind: EVENT[action], at: now, channel, author: account });
    }
    if (action !== "release") return;
    await updateMessages(sql, idsOf(messages), SEEN, now);
    await keepSent(sql, idsOf(messages), now);
  }

  /**
   * Stops all deliveries. Completed ones keep their state, except the mail, whose state is the message's. Leases stay, so
   * that an attempt in progress can still be recorded.
   */
  async function quarantine(sql: Sql, messages: readonly StoredMessage[], now: Date) {
    const { query, dialect } = sql;
    const changedAt = "CASE state WHEN 'quarantined' THEN changed_at ELSE CAST($2 AS BIGINT) END";
    await query(
      `UPDATE deliveries SET state = 'quarantined', changed_at = ${changedAt}, due_at = NULL, error = NULL
     WHERE (channel = 'mail' OR state IN ('queued', 'failed')) AND ${dialect.isIn("message_id", "$1")}`,
      [idsOf(messages), now],
    );
    await writeExpiry(sql, idsOf(messages));
    await updateMessages(sql, idsOf(messages), `quarantine_reason = 'marked-as-spam', ${SEEN}`, now);
  }

  return {
    /**
     * Applies the action to the messages that allow it (`actionProblem` in rules.ts); returns their references. Marks with
     * the same step are undone together.
     */
    act(action: Action, { references, versions }: Selection, now: Date, step: string | null = null): Promise<string[]> {
      return transaction(async (sql) => {
        const isNamed = sql.dialect.isIn("reference", "$1");
        const found = await readLocked(sql, isNamed, [references.map(normaliseReference)]);
        const meant = found.filter(({ version }) => versions?.includes(version) ?? true);
        return apply(sql, action, meant, now, step);
      }, ANNOUNCED);
    },

    /**
     * Takes back some marks of a step, with what they taught the spam filter, and skips messages that were marked again
     * since. Call it until it returns `null`, when there are no more. Returns references.
     */
    undo(step: string, now: Date): Promise<{ done: string[]; skipped: string[] } | null> {
      return transaction(async (sql) => {
        const { query, dialect } = sql;
        const marks = await query<{ id: number; messageId: number; replaced: string }>(
          `SELECT id, message_id, replaced FROM events WHERE step = $1 ORDER BY id LIMIT ${UNDONE_AT_ONCE}`,
          [step],
        );
        if (marks.length === 0) return null;
        const byMessage = new Map(marks.map((mark) => [mark.messageId, mark]));
        const found = await readLocked(sql, dialect.isIn("id", "$1"), [[...byMessage.keys()]]);
        const isMark = dialect.isIn("later.kind", "$2");
        const again = await readColumn<number>(
          query,
          `SELECT events.message_id FROM events JOIN events AS later ON later.message_id = events.message_id
             AND later.id > events.id WHERE ${dialect.isIn("events.id", "$1")} AND ${isMark}`,
          [marks.map(({ id }) => id), MARKS],
        );
        const undone = found.filter(({ id }) => !again.includes(id));
        for (const message of undone) {
          const { taught, answeredAtMs, held }: Replaced = JSON.parse(byMessage.get(message.id)?.replaced ?? "{}");
          if (answeredAtMs !== undefined) await updateMessages(sql, [message.id], "answered_at = $2", answeredAtMs);
          if (held) {
            await updateMessages(sql, [message.id], "quarantine_reason = $2", held.quarantineReason);
            await undoDeliveries(sql, held, message, now);
          }
          await teach(sql, [message.id], taught);
        }
        await keepSent(sql, idsOf(undone), now);
        await addEvents(sql, idsOf(undone), { kind: "undone", at: now, author: account });
        await query(`UPDATE events SET step = NULL, replaced = NULL WHERE ${dialect.isIn("id", "$1")}`, [
          marks.map(({ id }) => id),
        ]);
        const done = undone.map(({ reference }) => reference);
        return { done, skipped: found.map(({ reference }) => reference).filter((one) => !done.includes(one)) };
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
  };
}
