import { type Database, type Query, readColumn, readMeta, type Value, writeMeta } from "./database.ts";
import { addEvents } from "./events.ts";
import { normaliseEmail, type ReadMessages } from "./listing.ts";
import { normaliseReference } from "./reference.ts";
import { actionProblem, channelsToQueue } from "./rules.ts";
import type { SpamRules } from "./spam-filter.ts";
import type { Action, Changes, Channel, DeliveryState, EventKind, Lesson, StoredMessage } from "./store.ts";

/** How many messages a bulk action reads at once. */
const CHUNK = 500;
/** The state of the deliveries that a bulk action changes. */
const BULK_STATE: Readonly<Partial<Record<Action, DeliveryState>>> = {
  retry: "failed",
  resend: "delivered",
  release: "quarantined",
};
/** The history entry of each action. */
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
export const ERASURE_MARK = "unfinished_erasure";

export function changeMethods(
  database: Database,
  readMessages: ReadMessages,
  { teach, countMonth }: SpamRules,
): Changes {
  const { query, transaction, dialect } = database;

  /** Reads messages and locks their deliveries until the transaction ends. */
  async function readLocked(
    query: Query,
    where: string,
    values: readonly Value[],
    limit = "",
  ): Promise<StoredMessage[]> {
    const ids = await readColumn<number>(query, `SELECT id FROM messages WHERE ${where} ORDER BY id ${limit}`, values);
    const lock = dialect.lockRows("deliveries");
    if (lock !== "" && ids.length > 0) {
      const isTheirs = dialect.isIn("message_id", "$1", "BIGINT");
      await query(`SELECT 1 FROM deliveries WHERE ${isTheirs} ORDER BY message_id, channel ${lock}`, [ids]);
    }
    return readMessages(query, ids);
  }

  const idsOf = (messages: readonly StoredMessage[]) => messages.map(({ id }) => id);
  const isNamed = dialect.isIn("id", "$1", "BIGINT");

  /** Makes deliveries due now. Those that wait for their next attempt keep their number of attempts. */
  async function queueAgain(
    query: Query,
    channel: Channel,
    messages: readonly StoredMessage[],
    now: Date,
  ): Promise<void> {
    const unlessQueued = (value: string, column: string) =>
      `${column} = CASE state WHEN 'queued' THEN ${column} ELSE ${value} END`;
    await query(
      `UPDATE deliveries SET state = 'queued', due_at = CAST($3 AS BIGINT), ${unlessQueued("CAST($3 AS BIGINT)", "changed_at")},
         ${unlessQueued("0", "attempts")}, ${unlessQueued("0", "interruptions")}, ${unlessQueued("NULL", "error")}
       WHERE channel = $2 AND ${dialect.isIn("message_id", "$1", "BIGINT")}`,
      [idsOf(messages), channel, now],
    );
  }

  /** Stops all deliveries. Completed ones keep their state, except the mail, whose state is the message's. */
  async function quarantine(query: Query, messages: readonly StoredMessage[], now: Date): Promise<void> {
    const changedAt = "CASE state WHEN 'quarantined' THEN changed_at ELSE CAST($2 AS BIGINT) END";
    await query(
      `UPDATE deliveries SET state = 'quarantined', changed_at = ${changedAt}, reported_at = ${changedAt}, due_at = NULL,
         error = NULL, lease_token = NULL, leased_until = NULL
       WHERE (channel = 'mail' OR state IN ('queued', 'failed')) AND ${dialect.isIn("message_id", "$1", "BIGINT")}`,
      [idsOf(messages), now],
    );
    await query(
      `UPDATE messages SET quarantine_reason = 'marked-as-spam', seen_at = COALESCE(seen_at, CAST($2 AS BIGINT))
       WHERE ${isNamed}`,
      [idsOf(messages), now],
    );
    for (const [detail, group] of Map.groupBy(messages, ({ quarantineReason }) => quarantineReason)) {
      await addEvents(query, dialect, idsOf(group), { kind: "marked-as-spam", at: now, detail });
    }
  }

  /** Does not resend mails that were delivered before their message was marked as spam. */
  async function restoreDelivered(query: Query, messages: readonly StoredMessage[], now: Date): Promise<void> {
    await query(
      `UPDATE deliveries SET state = 'delivered', changed_at = $2, due_at = NULL WHERE channel = 'mail'
         AND ${dialect.isIn("message_id", "$1", "BIGINT")} AND EXISTS (SELECT 1 FROM events
         WHERE events.message_id = deliveries.message_id AND kind = 'delivered' AND events.channel = 'mail')`,
      [idsOf(messages), now],
    );
  }

  /** Applies the action to the messages that allow it. */
  async function actOn(query: Query, action: Action, messages: readonly StoredMessage[], now: Date, isBulk: boolean) {
    const allowed = messages.filter((message) => actionProblem(action, message, now, isBulk) === null);
    if (allowed.length === 0) return [];
    if (action === "spam") await quarantine(query, allowed, now);
    else if (action === "delete") await query(`DELETE FROM messages WHERE ${isNamed}`, [idsOf(allowed)]);
    else if (action === "answer" || action === "unanswer") {
      await query(`UPDATE messages SET answered_at = $2 WHERE ${isNamed}`, [
        idsOf(allowed),
        action === "answer" ? now : null,
      ]);
      await addEvents(query, dialect, idsOf(allowed), { kind: EVENT[action], at: now });
    } else {
      if (action === "release") {
        const seen = `UPDATE messages SET seen_at = COALESCE(seen_at, CAST($2 AS BIGINT)) WHERE ${isNamed}`;
        await query(seen, [idsOf(allowed), now]);
      }
      const queued = allowed.flatMap((message) =>
        channelsToQueue(action, message, now, isBulk).map((channel) => ({ channel, message })),
      );
      for (const [channel, group] of Map.groupBy(queued, (one) => one.channel)) {
        const theirs = group.map(({ message }) => message);
        await queueAgain(query, channel, theirs, now);
        // The history has one line per release, not one per channel.
        if (action === "release" && channel !== "mail") continue;
        await addEvents(query, dialect, idsOf(theirs), { kind: EVENT[action], at: now, channel });
      }
      if (action === "release") {
        await restoreDelivered(query, allowed, now);
        const released = allowed.filter(({ quarantineReason }) => quarantineReason === "looks-like-spam").length;
        await countMonth(query, now, { released });
      }
    }
    const lesson = LESSON[action];
    if (lesson !== undefined) {
      const isMeant = ({ taught, deliveries, isRestricted }: StoredMessage) =>
        !isRestricted && (lesson !== null || (taught === "good" && !deliveries.reply));
      await teach(query, allowed.filter(isMeant), lesson);
    }
    return allowed.map(({ reference }) => reference);
  }

  /** The messages from the address; none if versions are given and do not match. */
  async function readPerson(
    query: Query,
    email: string,
    versions: readonly string[] | undefined,
  ): Promise<StoredMessage[]> {
    const messages = await readLocked(query, `${dialect.lowerCaseEmail} = $1`, [normaliseEmail(email)]);
    if (versions === undefined) return messages;
    const isSame = versions.length === messages.length && messages.every(({ version }) => versions.includes(version));
    return isSame ? messages : [];
  }

  return {
    async act(action, which, now) {
      if ("references" in which) {
        const { references, versions } = which;
        return transaction(async (query) => {
          const found = await readLocked(query, dialect.isIn("reference", "$1"), [references.map(normaliseReference)]);
          const meant = found.filter(({ version }) => versions?.includes(version) ?? true);
          return actOn(query, action, meant, now, false);
        });
      }
      const done: string[] = [];
      const isMeant = `accepted_at >= $1 AND id > $2
        AND EXISTS (SELECT 1 FROM deliveries WHERE message_id = id AND state = $3)`;
      for (let lastId: number | undefined = 0; lastId !== undefined; ) {
        const values: Value[] = [which.since, lastId, BULK_STATE[action] ?? null];
        const chunk = await transaction(async (query) => {
          const messages = await readLocked(query, isMeant, values, `LIMIT ${CHUNK}`);
          return { references: await actOn(query, action, messages, now, true), lastId: messages.at(-1)?.id };
        });
        done.push(...chunk.references);
        lastId = chunk.lastId;
      }
      return done;
    },

    markSeen: (reference, now) =>
      transaction(async (query) => {
        const ids = await readColumn<number>(
          query,
          `UPDATE messages SET seen_at = $2 WHERE reference = $1 AND seen_at IS NULL AND EXISTS
             (SELECT 1 FROM deliveries WHERE message_id = id AND state = 'quarantined') RETURNING id`,
          [normaliseReference(reference), now],
        );
        await addEvents(query, dialect, ids, { kind: "viewed", at: now });
      }),

    addNote: (reference, text, author, now) =>
      transaction(async (query) => {
        const messages = await readLocked(query, "reference = $1", [normaliseReference(reference)]);
        await addEvents(query, dialect, idsOf(messages), { kind: "noted", at: now, detail: text, author });
        return messages.length > 0;
      }),

    reply: (reference, reply, author, now, version) =>
      transaction(async (query) => {
        const [message] = await readLocked(query, "reference = $1", [normaliseReference(reference)]);
        if (!message) return false;
        const [last] = await query<{ payload: string }>(
          "SELECT payload FROM deliveries WHERE message_id = $1 AND channel = 'reply'",
          [message.id],
        );
        if (last && JSON.parse(last.payload).key === reply.key) return true;
        if (actionProblem("reply", message, now) !== null || (version ?? message.version) !== message.version)
          return false;
        await query(
          `INSERT INTO deliveries (message_id, channel, state, changed_at, due_at, payload)
           VALUES ($1, 'reply', 'queued', $2, $2, $3) ON CONFLICT (message_id, channel) DO UPDATE SET state = 'queued',
             changed_at = excluded.changed_at, due_at = excluded.due_at, payload = excluded.payload, attempts = 0,
             interruptions = 0, error = NULL, lease_token = NULL, leased_until = NULL`,
          [message.id, now, JSON.stringify(reply)],
        );
        const detail = `${reply.subject}\n\n${reply.text}`;
        await addEvents(query, dialect, [message.id], { kind: "replied", at: now, detail, author });
        await query("UPDATE messages SET draft = NULL WHERE id = $1", [message.id]);
        await teach(query, [message], "good");
        return true;
      }),

    async saveDraft(reference, draft) {
      const values = [normaliseReference(reference), draft === "" ? null : draft];
      await query("UPDATE messages SET draft = $2 WHERE reference = $1", values);
    },

    async readDraft(reference) {
      const sql = "SELECT draft FROM messages WHERE reference = $1";
      const [row] = await query<{ draft: string | null }>(sql, [normaliseReference(reference)]);
      return row?.draft ?? "";
    },

    rectify: (email, changes, now, versions, footprints = null) =>
      transaction(async (query) => {
        const messages = await readPerson(query, email, versions);
        const { name = null, email: newEmail = null, phone = null, country = null, message = null } = changes;
        await query(
          `UPDATE messages SET name = COALESCE($2, name), email = COALESCE($3, email), phone = COALESCE($4, phone),
             country = COALESCE($5, country), message = COALESCE($6, message), corrected_at = $7 WHERE ${isNamed}`,
          [idsOf(messages), name, newEmail, phone, country, message, now],
        );
        for (const { id, reference } of messages) {
          const footprint = footprints?.get(reference);
          if (footprint === undefined) continue;
          const values = [id, footprint && JSON.stringify(footprint), footprint?.totalKg ?? null];
          await query("UPDATE messages SET footprint = $2, footprint_kg = $3 WHERE id = $1", values);
        }
        // Taking back a lesson reads the current text, so the filter must unlearn the old text now.
        for (const [taught, group] of Map.groupBy(messages, (message) => message.taught)) {
          await teach(query, group, null);
          const corrected = group.map((message) => ({ ...message, ...changes, taught: null }));
          await teach(query, corrected, taught);
        }
        await addEvents(query, dialect, idsOf(messages), { kind: "corrected", at: now });
        return messages.length;
      }),

    restrict: (email, isRestricted, now, versions) =>
      transaction(async (query) => {
        const ids = idsOf(await readPerson(query, email, versions));
        await query(`UPDATE messages SET is_restricted = $2, announced_at = NULL WHERE ${isNamed}`, [
          ids,
          isRestricted,
        ]);
        // The waiting time of queued deliveries starts when the restriction ends.
        const isTheirs = dialect.isIn("message_id", "$1", "BIGINT");
        if (!isRestricted) {
          await query(`UPDATE deliveries SET changed_at = $2 WHERE state = 'queued' AND ${isTheirs}`, [ids, now]);
        }
        await addEvents(query, dialect, ids, { kind: isRestricted ? "restricted" : "unrestricted", at: now });
        return ids.length;
      }),

    erase(email, versions) {
      const eraseAll = async (query: Query) => {
        const messages = await readPerson(query, email, versions);
        if (messages.length === 0) return [];
        await query(`DELETE FROM messages WHERE ${isNamed}`, [idsOf(messages)]);
        // `finishErasure` removes the mark last, so that an interrupted erasure can be finished.
        await writeMeta(query, ERASURE_MARK, "1");
        return messages.map(({ reference }) => reference);
      };
      return transaction(eraseAll, { isLong: true });
    },

    async finishErasure() {
      if ((await readMeta(query, ERASURE_MARK)) === null) return false;
      await database.eraseTraces();
      await query("DELETE FROM meta WHERE name = $1", [ERASURE_MARK]);
      return true;
    },
  };
}
