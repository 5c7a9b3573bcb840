import { createHmac } from "node:crypto";
import { type ContactMessage, FIELD_NAMES } from "../../contract/contact-message.ts";
import { comparableEmail } from "../../contract/email-address.ts";
import { type Database, readColumn, type Sql, timeOf } from "./database.ts";
import { addEvents, deleteMessages, idsOf, readLocked } from "./message-rows.ts";
import { readMeta, readSecret, writeMeta } from "./meta.ts";
import { writeExpiry } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { lessonsChanged } from "./spam.ts";
import type { RowOf } from "./tables.ts";

// What operators do with all messages of one person.

/**
 * A hash, made with this secret, of a deleted message's reference, or of an address: then the messages that were accepted
 * until this time are erased.
 */
export interface Erasure {
  hash: string;
  secret: string;
  at: Date;
}

/** Set while erased messages may have left traces in the database's files. */
export const ERASURE_MARK = "unfinished_erasure";

function readPerson(sql: Sql, email: string) {
  return readLocked(sql, sql.dialect.lowerCaseEmail, [comparableEmail(email)]);
}

export function readFormer(formerAddresses: string): Omit<Erasure, "secret">[] {
  return formerAddresses
    .split(" ")
    .filter(Boolean)
    .map((one) => {
      const [hash = "", ms] = one.split(":");
      return { hash, at: new Date(Number(ms)) };
    });
}

/**
 * The messages, the address, and all that its messages had before corrections. Later messages from a former address are from its real
 * owner.
 */
async function erasuresOf(
  { query, dialect }: Sql,
  email: string,
  messages: readonly Pick<RowOf<"messages">, "reference">[],
  at: Date,
): Promise<Erasure[]> {
  const secret = await readSecret(query);
  const sql = `SELECT former_addresses FROM messages WHERE ${dialect.lowerCaseEmail} = $1 AND former_addresses > ''`;
  const former = await readColumn<string>(query, sql, [comparableEmail(email)]);
  const deleted = messages.map(({ reference }) => ({ hash: hashReference(secret, reference), at }));
  const address = { hash: hashAddress(secret, email), at };
  return [address, ...former.flatMap(readFormer), ...deleted].map((one) => ({ ...one, secret }));
}

/** Of one address and secret, it keeps the latest. */
export async function recordErasures({ query }: Sql, erasures: readonly Erasure[]): Promise<void> {
  for (const { hash, secret, at } of erasures) {
    await query(
      `INSERT INTO erasures (hash, secret, at) VALUES ($1, $2, $3)
       ON CONFLICT (hash, secret) DO UPDATE SET at = excluded.at WHERE excluded.at > erasures.at`,
      [hash, secret, at],
    );
  }
}

export const hashAddress = (secret: string, email: string): string => keyed(secret, comparableEmail(email));

export const hashReference = (secret: string, reference: string): string => keyed(secret, reference);

/** So that addresses cannot be guessed without the database. */
function keyed(secret: string, text: string): string {
  return createHmac("sha256", Buffer.from(secret, "hex")).update(`erased ${text}`).digest("base64url");
}

/** Whether what came from the address at that time was erased. */
export async function isErased({ query }: Sql, email: string, at: Date): Promise<boolean> {
  for (const secret of await readColumn<string>(query, "SELECT DISTINCT secret FROM erasures")) {
    const values = [hashAddress(secret, email), secret, at];
    if ((await query("SELECT 1 FROM erasures WHERE hash = $1 AND secret = $2 AND at >= $3", values)).length > 0)
      return true;
  }
  return false;
}

/** What came while the messages were restricted is work now. */
async function reopenAnswered({ query, dialect }: Sql, ids: readonly number[]): Promise<void> {
  const newest = `(SELECT max(sent_at) FROM mails JOIN events ON events.id = event_id
    WHERE mails.message_id = messages.id AND kind = 'received' AND event_id >
      (SELECT max(id) FROM events AS marks WHERE marks.message_id = messages.id AND marks.kind = 'restricted'))`;
  await query(
    `UPDATE messages SET answered_at = NULL, new_answer_at = ${newest}
     WHERE ${dialect.isIn("id", "$1")} AND ${newest} IS NOT NULL`,
    [ids],
  );
}

type MailRow = Pick<RowOf<"mails">, "eventId" | "messageId">;

/**
 * Deletes mails and replies of a conversation without a trace, because a trace would name the person. A last reply that
 * waits is not sent.
 */
export async function deleteMails(sql: Sql, mails: readonly MailRow[]): Promise<void> {
  if (mails.length === 0) return;
  const { query, dialect } = sql;
  const events = mails.map(({ eventId }) => eventId);
  const messages = [...new Set(mails.map(({ messageId }) => messageId))];
  await query(
    `DELETE FROM deliveries WHERE channel = 'reply' AND message_id IN (SELECT message_id FROM replies
     WHERE ${dialect.isIn("event_id", "$1")} AND event_id =
       (SELECT max(event_id) FROM replies AS theirs WHERE theirs.message_id = replies.message_id))`,
    [events],
  );
  await query(`DELETE FROM events WHERE ${dialect.isIn("id", "$1")}`, [events]);
  await query(
    `UPDATE messages SET new_answer_at = NULL WHERE ${dialect.isIn("id", "$1")}
     AND id NOT IN (SELECT message_id FROM mails)`,
    [messages],
  );
  await writeSearchTexts(sql, messages);
}

export function createPeople(database: Database, account: string | null) {
  const { query, transaction, eraseTraces, dialect } = database;
  return {
    /** Mails of the person in threads of other people. */
    mailsFrom(email: string): Promise<(Pick<RowOf<"mails">, "sentAt" | "subject" | "text"> & { reference: string })[]> {
      return query(
        `SELECT reference, sent_at, subject, text FROM mails JOIN messages ON messages.id = message_id
         WHERE sender = $1 AND ${dialect.lowerCaseEmail} <> $1 ORDER BY event_id`,
        [comparableEmail(email)],
      );
    },

    rectify(email: string, changes: Partial<ContactMessage>, now: Date, removesFootprint = false): Promise<number> {
      return transaction(async (sql) => {
        const ids = idsOf(await readPerson(sql, email));
        const fields = FIELD_NAMES.map((field, index) => `${field} = COALESCE($${index + 4}, ${field})`);
        if (removesFootprint) fields.push("footprint = NULL");
        // A backup that is restored after an erasure may contain the old address.
        const former = changes.email && `${hashAddress(await readSecret(sql.query), email)}:${now.getTime()}`;
        await sql.query(
          `UPDATE messages SET corrected_at = $2, ${fields.join(", ")}, former_addresses =
             COALESCE(former_addresses || ' ' || CAST($3 AS TEXT), CAST($3 AS TEXT), former_addresses)
           WHERE ${sql.dialect.isIn("id", "$1")}`,
          [ids, now, former ?? null, ...FIELD_NAMES.map((field) => changes[field] ?? null)],
        );
        await writeSearchTexts(sql, ids);
        await lessonsChanged(sql.query);
        await addEvents(sql, ids, { kind: "corrected", at: now, author: account });
        return ids.length;
      });
    },

    restrict(email: string, isRestricted: boolean, now: Date): Promise<number> {
      return transaction(async (sql) => {
        const ids = idsOf(await readPerson(sql, email));
        await sql.query(`UPDATE messages SET is_restricted = $2 WHERE ${sql.dialect.isIn("id", "$1")}`, [
          ids,
          isRestricted,
        ]);
        if (!isRestricted) await reopenAnswered(sql, ids);
        // An operator who lifts a restriction may want to use the message, so its erasure is announced again.
        await writeExpiry(sql, ids);
        await lessonsChanged(sql.query);
        // The waiting time of queued deliveries starts when the restriction ends.
        const isTheirs = sql.dialect.isIn("message_id", "$1");
        if (!isRestricted) {
          await sql.query(`UPDATE deliveries SET changed_at = $2 WHERE state = 'queued' AND ${isTheirs}`, [ids, now]);
        }
        await addEvents(sql, ids, { kind: isRestricted ? "restricted" : "unrestricted", at: now, author: account });
        return ids.length;
      });
    },

    /**
     * Also without messages, it records the erasure in the same transaction: a backup may have some. Call
     * `finishErasure` afterwards to remove their traces.
     */
    async erase(email: string): Promise<string[]> {
      const now = await timeOf(database);
      return transaction(
        async (sql) => {
          const messages = await readPerson(sql, email);
          await recordErasures(sql, await erasuresOf(sql, email, messages, now));
          const theirs = `SELECT event_id, message_id FROM mails WHERE sender = $1
            UNION SELECT event_id, message_id FROM replies WHERE recipient = $1`;
          const mails = await sql.query<MailRow>(theirs, [comparableEmail(email)]);
          await deleteMails(sql, mails);
          if (messages.length + mails.length === 0) return [];
          await deleteMessages(sql, idsOf(messages));
          // `finishErasure` removes the mark last, so that an interrupted erasure can be finished.
          await writeMeta(sql.query, ERASURE_MARK, "1");
          return messages.map(({ reference }) => reference);
        },
        { isLong: true },
      );
    },

    async finishErasure(): Promise<boolean> {
      if ((await readMeta(query, ERASURE_MARK)) === null) return false;
      await eraseTraces();
      await query("DELETE FROM meta WHERE name = $1", [ERASURE_MARK]);
      return true;
    },
  };
}
