import type { Database, Sql } from "./database.ts";
import { readDrafts, writeDraft } from "./drafts.ts";
import { addEvents, idsOf, readLocked } from "./message-rows.ts";
import { normaliseReference } from "./reference.ts";
import { writeExpiry } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { teach } from "./spam.ts";
import type { Channel, Delivery, EventKind, Lesson, StoredMessage } from "./store.ts";

// How operators take back marks and replies.

/** A message before an operator marked it, without its texts, and the mark. */
export interface Mark {
  before: Pick<
    StoredMessage,
    "id" | "reference" | "state" | "answeredAt" | "quarantineReason" | "taught" | "deliveries"
  >;
  mark: string;
}

/** Changes with every mark. */
function markIn({ answeredAt, quarantineReason, taught, isRestricted }: StoredMessage): string {
  return [answeredAt?.getTime(), quarantineReason, taught, isRestricted].join();
}

export function markOf(before: StoredMessage, after: StoredMessage): Mark {
  const { id, reference, state, answeredAt, quarantineReason, taught, deliveries } = before;
  return { before: { id, reference, state, answeredAt, quarantineReason, taught, deliveries }, mark: markIn(after) };
}

/** Quarantines deliveries again, or takes them out of quarantine. Leases stay, as in `quarantine`. */
async function undoDeliveries({ query }: Sql, before: Mark["before"], current: StoredMessage, now: Date) {
  for (const [channel, delivery] of Object.entries(current.deliveries) as [Channel, Delivery][]) {
    // What other channels delivered stays delivered: the receiver of the web hook must hear of an erasure.
    if (channel !== "mail" && delivery.state === "delivered") continue;
    // Such as an acknowledgement, if the mail was sent since.
    const isHeld = before.state === "quarantined";
    const added = { state: isHeld ? "quarantined" : "queued", changedAt: now, dueAt: isHeld ? null : now };
    const { state, changedAt, dueAt, attempts, error } = before.deliveries[channel] ?? { ...delivery, ...added };
    if ((delivery.state === "quarantined") === (state === "quarantined")) continue;
    await query(
      `UPDATE deliveries SET state = $3, changed_at = $4, reported_at = $4, due_at = $5, attempts = $6, error = $7
       WHERE message_id = $1 AND channel = $2`,
      [current.id, channel, state, changedAt, dueAt, Math.max(attempts, delivery.attempts), error],
    );
  }
}

/** A mail that was delivered before its message left the quarantine is not sent again, unless it was to be resent. */
export async function keepSent({ query, dialect }: Sql, ids: readonly number[], now: Date): Promise<void> {
  const last = (kind: EventKind) => `(SELECT COALESCE(max(id), 0) FROM events
    WHERE events.message_id = deliveries.message_id AND kind = '${kind}' AND events.channel = 'mail')`;
  await query(
    `UPDATE deliveries SET state = 'delivered', changed_at = $2, due_at = NULL WHERE channel = 'mail'
       AND state = 'queued' AND ${dialect.isIn("message_id", "$1")} AND ${last("delivered")} > ${last("resent")}`,
    [ids, now],
  );
  await writeExpiry({ query, dialect }, ids);
}

/** What a reply replaced, kept with it while it can be taken back. */
export interface Replaced {
  taught: Lesson | null;
  answeredAtMs: number | null;
  /** The delivery of the reply before it. */
  delivery: { state: string; changedAtMs: number; attempts: number; error: string | null; payload: string } | null;
}

export function createUndo({ transaction }: Database, account: string | null) {
  return {
    /**
     * Takes back marks, with what they taught the spam filter. Leaves out messages that were marked again since. Returns the
     * references of the others.
     */
    undo(marks: readonly Mark[], now: Date): Promise<string[]> {
      return transaction(
        async (sql) => {
          const byId = new Map(marks.map((mark) => [mark.before.id, mark]));
          const found = await readLocked(sql, sql.dialect.isIn("id", "$1"), [[...byId.keys()]]);
          const undone = found.filter((current) => byId.get(current.id)?.mark === markIn(current));
          for (const current of undone) {
            const { before } = byId.get(current.id) as Mark;
            const values = [current.id, before.answeredAt, before.quarantineReason];
            await sql.query("UPDATE messages SET answered_at = $2, quarantine_reason = $3 WHERE id = $1", values);
            await undoDeliveries(sql, before, current, now);
            await teach(sql, [current.id], before.taught);
          }
          await keepSent(sql, idsOf(undone), now);
          await addEvents(sql, idsOf(undone), { kind: "undone", at: now, author: account });
          return undone.map(({ reference }) => reference);
        },
        { isAnnounced: true },
      );
    },

    /**
     * Takes back a reply that is not being sent yet, and makes it a draft again, above what the operator has written since.
     * Returns false if it is too late.
     */
    takeBackReply(reference: string, key: string, now: Date): Promise<boolean> {
      return transaction(async (sql) => {
        const { query } = sql;
        const [message] = await readLocked(sql, "reference = $1", [normaliseReference(reference)]);
        const [waiting] = await query<{ payload: string; queuedAtMs: number }>(
          `SELECT payload, changed_at AS "queuedAtMs" FROM deliveries WHERE message_id = $1 AND channel = 'reply' AND state = 'queued' AND attempts = 0
         AND lease_token IS NULL`,
          [message?.id ?? null],
        );
        const { key: itsKey, subject, text, replaced } = JSON.parse(waiting?.payload ?? "{}");
        if (!message || itsKey !== key || !replaced) return false;
        const { taught, answeredAtMs, delivery }: Replaced = replaced;
        await query("DELETE FROM deliveries WHERE message_id = $1 AND channel = 'reply'", [message.id]);
        if (delivery) {
          const { state, changedAtMs, attempts, error, payload } = delivery;
          await query(
            `INSERT INTO deliveries (message_id, channel, state, changed_at, reported_at, attempts, error, payload)
         VALUES ($1, 'reply', $2, $3, $3, $4, $5, $6)`,
            [message.id, state, changedAtMs, attempts, error, payload],
          );
        }
        // Nobody got the reply, so the history does not mention it. A mark that somebody has set since stays.
        const marks = await query(
          `DELETE FROM events WHERE message_id = $1 AND id >=
         (SELECT max(id) FROM events WHERE message_id = $1 AND kind = 'replied') AND at = CAST($2 AS BIGINT)
         AND kind IN ('replied', 'answered') RETURNING id`,
          [message.id, waiting?.queuedAtMs ?? null],
        );
        if (marks.length === 2)
          await query("UPDATE messages SET answered_at = $2 WHERE id = $1", [message.id, answeredAtMs]);
        await teach(sql, [message.id], taught);
        await writeSearchTexts(sql, [message.id]);
        // The operator may have written another draft since.
        const { own } = await readDrafts(sql, account, reference);
        const whole = own && own.text !== text ? `${text}\n\n${own.text}` : text;
        await writeDraft(sql, account, message.id, { subject, text: whole }, now);
        return true;
      });
    },
  };
}
