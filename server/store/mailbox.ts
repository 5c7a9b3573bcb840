import { comparableEmail } from "../../contract/email-address.ts";
import { mailPart } from "../message-id.ts";
import type { EventKind } from "../message-words.ts";
import { HOUR_MS } from "../time.ts";
import { type Database, readColumn, type Sql, timeOf } from "./database.ts";
import { addEvents, readLocked } from "./message-rows.ts";
import { CAME_BACK, type StoredMessage } from "./model.ts";
import { isErased } from "./people.ts";
import { writeExpiry } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { columnsOf, type RowOf } from "./tables.ts";

// Mails about messages, and how far each folder of the mailbox has been read.

export interface Attachment {
  name: string;
  bytes: number;
}

/** What a mail names: Message-IDs of other mails, and references of messages. */
export interface Clues {
  mailIds: readonly string[];
  references: readonly string[];
}

/** A message that a mail may be about, with those of its mails that the mail names. */
export interface Thread {
  id: number;
  reference: string;
  email: string;
  mailIds: readonly string[];
}

export interface NewMail extends Pick<Thread, "id" | "reference"> {
  kind: Extract<EventKind, "received" | "mailbox-reply" | "came-back" | "automatic" | "unread-mail">;
  /** Its Message-ID, or what stands for it. */
  mailId: string;
  sender: string;
  senderName: string;
  subject: string;
  text: string;
  attachments: readonly Attachment[];
  /** When the mailbox got it. */
  sentAt: Date;
  /** Whether it is an answer from the form's address, or a reply to it. Other mails do not prolong how long the message is kept. */
  isOfSender: boolean;
  /** Of a reply that came back: the beginning of its key, and why. */
  returned?: { key: string; reason: string } | undefined;
}

export type Folder = Pick<RowOf<"folders">, "name" | "uidValidity" | "lastUid">;
export type FolderState = Pick<RowOf<"folders">, "name" | "problem" | "failingAt">;

export const MAX_MAILS = 100;
export const MAX_HOURLY_MAILS = 500;
/** The problem of a folder that waits, because too many mails were stored within the hour. */
export const HOURLY_LIMIT = `more than ${MAX_HOURLY_MAILS} mails about messages came within an hour`;

export type Mailbox = ReturnType<typeof createMailbox>;

export function createMailbox(database: Database) {
  const { query, transaction, dialect } = database;
  const isMine = "name = $1 AND lease_token = $2";
  return {
    /** Leases all of these folders to this node, or none of them: `null` if another node reads one of them. */
    lease(
      names: readonly string[],
      token: string,
      leaseMs: number,
      testTime: Date | null = null,
    ): Promise<Folder[] | null> {
      return transaction(async (sql) => {
        const now = await timeOf(sql, testTime);
        for (const name of names)
          await sql.query("INSERT INTO folders (name) VALUES ($1) ON CONFLICT DO NOTHING", [name]);
        const isMeant = dialect.isIn("name", "$1");
        const rows = await sql.query<RowOf<"folders">>(
          `SELECT * FROM folders WHERE ${isMeant} ORDER BY name ${dialect.lockRows("folders")}`,
          [names],
        );
        if (rows.some((row) => row.leaseToken !== token && (row.leasedUntil ?? 0) > now.getTime())) return null;
        const until = now.getTime() + leaseMs;
        await sql.query(`UPDATE folders SET lease_token = $2, leased_until = $3 WHERE ${isMeant}`, [
          names,
          token,
          until,
        ]);
        return rows.map(({ name, uidValidity, lastUid }) => ({ name, uidValidity, lastUid }));
      });
    },

    async release(token: string): Promise<void> {
      await query("UPDATE folders SET lease_token = NULL, leased_until = NULL WHERE lease_token = $1", [token]);
    },

    /** Where reading begins: at the first look, or after the server has given the mails new numbers. */
    async begin({ name, uidValidity, lastUid }: Folder, token: string, testTime: Date | null = null): Promise<void> {
      const values = [name, token, uidValidity, lastUid, await timeOf(database, testTime)];
      await query(`UPDATE folders SET uid_validity = $3, last_uid = $4, begun_at = $5 WHERE ${isMine}`, values);
    },

    /** Notes why a folder cannot be read, and since when; `null` once it can. Returns whether that is new. */
    async report(name: string, token: string, problem: string | null, testTime: Date | null = null): Promise<boolean> {
      const [text, now] = ["CAST($3 AS TEXT)", await timeOf(database, testTime)];
      const failing = `CASE WHEN ${text} IS NULL THEN NULL ELSE COALESCE(failing_at, CAST($4 AS BIGINT)) END`;
      const isNew = `${isMine} AND problem IS DISTINCT FROM ${text}`;
      const sql = `UPDATE folders SET problem = ${text}, failing_at = ${failing} WHERE ${isNew} RETURNING 1`;
      return (await query(sql, [name, token, problem, now])).length > 0;
    },

    /** The folders that a running node reads, or tries to. */
    async folders(testTime: Date | null = null): Promise<FolderState[]> {
      const now = await timeOf(database, testTime);
      const columns = columnsOf("folders", "name", "problem", "failingAt");
      return query<FolderState>(`SELECT ${columns} FROM folders WHERE leased_until > $1 ORDER BY name`, [now]);
    },

    async find({ mailIds, references }: Clues): Promise<Thread[]> {
      if (mailIds.length + references.length === 0) return [];
      const mails = await query<Pick<RowOf<"mails">, "messageId" | "mailId">>(
        `SELECT message_id, mail_id FROM mails WHERE ${dialect.isIn("mail_id", "$1")}`,
        [mailIds],
      );
      const messages = await query<Omit<Thread, "mailIds">>(
        `SELECT id, reference, email FROM messages
         WHERE ${dialect.isIn("reference", "$1")} OR ${dialect.isIn("id", "$2")} ORDER BY id`,
        [references, mails.map(({ messageId }) => messageId)],
      );
      const idsOf = (id: number) => mails.flatMap((mail) => (mail.messageId === id ? mail.mailId : []));
      return messages.map((message) => ({ ...message, mailIds: idsOf(message.id) }));
    },

    /**
     * Stores what the mail with this UID is, and that the folder is read up to it. `lost`: another node reads the folder.
     * `full`: too many mails were stored within the hour, so the position stays.
     */
    record(name: string, token: string, uid: number, mail: NewMail | null, testTime: Date | null = null) {
      return transaction(async (sql): Promise<"recorded" | "lost" | "full"> => {
        const now = await timeOf(sql, testTime);
        const lock = `SELECT begun_at FROM folders WHERE ${isMine} ${dialect.lockRows("folders")}`;
        const [folder] = await sql.query<Pick<RowOf<"folders">, "begunAt">>(lock, [name, token]);
        if (!folder) return "lost";
        if (mail && !(await addMail(sql, mail, folder.begunAt, now))) return "full";
        await sql.query(`UPDATE folders SET last_uid = $3 WHERE ${isMine}`, [name, token, uid]);
        return "recorded";
      });
    },
  };
}

/** False if it has to wait. */
async function addMail(sql: Sql, mail: NewMail, begunAt: Date | null, now: Date): Promise<boolean> {
  const { query } = sql;
  const { id, kind, mailId, sender, senderName, subject, text } = mail;
  const [message] = await readLocked(sql, "id", [id]);
  // It may have been erased since.
  if (message?.reference !== mail.reference) return true;
  const known = await query("SELECT 1 FROM mails WHERE message_id = $1 AND mail_id = $2", [id, mailId]);
  if (known.length > 0 || (await isErased(sql, sender, mail.sentAt))) return true;
  const [{ count = 0 } = {}] = await query<{ count: number }>(
    "SELECT count(*) AS count FROM mails WHERE message_id = $1",
    [id],
  );
  if (count >= MAX_MAILS) {
    const isNoted = await query("SELECT 1 FROM events WHERE message_id = $1 AND kind = 'mails-full'", [id]);
    if (isNoted.length === 0) await addEvents(sql, [id], { kind: "mails-full", at: now, author: null });
    return true;
  }
  const limit = `SELECT at FROM mails JOIN events ON events.id = event_id ORDER BY event_id DESC LIMIT 1 OFFSET ${MAX_HOURLY_MAILS - 1}`;
  const [oldest] = await readColumn<Date>(query, limit);
  // A time far ahead is from a wrong clock.
  if (oldest && Math.abs(now.getTime() - oldest.getTime()) < HOUR_MS) return false;

  const sentAt = mail.sentAt < now ? mail.sentAt : now;
  const author = kind === "mailbox-reply" ? senderName || sender : null;
  const [eventId = 0] = await addEvents(sql, [id], { kind, at: now, author });
  const columns = "event_id, message_id, mail_id, sender, sender_name, subject, text, sent_at, attachments";
  await query(`INSERT INTO mails (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, [
    eventId,
    id,
    mailId,
    comparableEmail(sender),
    senderName,
    subject,
    text,
    sentAt,
    mail.attachments,
  ]);
  // An answer that cannot be read is one too: the team reads it in the mailbox.
  const isAnswer = kind === "received" || (kind === "unread-mail" && mail.isOfSender);
  if (isAnswer) {
    // What was answered after a mail that came before the first look stays answered: the team knew of the mail.
    // A mailbox's time has no fractions of a second.
    const isOld = begunAt !== null && sentAt.getTime() + 1000 <= begunAt.getTime();
    const isKnown = isOld && message.answeredAt !== null && message.answeredAt >= sentAt;
    // A colleague's reply that is newer may have been read before, from another folder.
    const later =
      "SELECT 1 FROM mails JOIN events ON events.id = event_id WHERE mails.message_id = $1 AND kind = 'mailbox-reply' AND sent_at >= $2";
    const isReplied = (await query(later, [id, sentAt])).length > 0;
    // A restricted message is no work until the restriction is lifted: people.ts reopens it then.
    if (!isKnown && !isReplied && !message.isRestricted)
      await query("UPDATE messages SET answered_at = NULL, new_answer_at = $2 WHERE id = $1", [id, sentAt]);
  }
  if (kind === "mailbox-reply") {
    const later =
      "SELECT 1 FROM mails JOIN events ON events.id = event_id WHERE mails.message_id = $1 AND kind = 'received' AND sent_at > $2";
    await query(
      `UPDATE messages SET answered_at = COALESCE(answered_at, $2), new_answer_at = NULL
       WHERE id = $1 AND NOT EXISTS (${later})`,
      [id, sentAt],
    );
  }
  if (mail.returned) await markReturned(sql, message, mail.returned, now);
  if (mail.isOfSender && (isAnswer || kind === "mailbox-reply")) await writeLastMail(sql, id, sentAt);
  await writeSearchTexts(sql, [id]);
  return true;
}

/** Nothing but the reply that came back: a later one may have arrived. */
async function markReturned(
  sql: Sql,
  { id, deliveries }: StoredMessage,
  { key, reason }: { key: string; reason: string },
  now: Date,
) {
  const { query } = sql;
  const replies = await readColumn<string>(query, "SELECT key FROM replies WHERE message_id = $1 ORDER BY event_id", [
    id,
  ]);
  const whole = replies.findLast((one) => mailPart("reply", one) === mailPart("reply", key));
  if (whole === undefined) return;
  await query("UPDATE replies SET came_back = $3 WHERE message_id = $1 AND key = $2", [id, whole, reason]);
  if (whole !== replies.at(-1) || deliveries.reply?.state !== "delivered") return;
  // It was sent, so only a person sends it again.
  await query(
    `UPDATE deliveries SET state = 'failed', changed_at = $2, error = $3, unknown_outcomes = 1 
     WHERE message_id = $1 AND channel = 'reply'`,
    [id, now, `${reason}; ${CAME_BACK}`],
  );
  await query("UPDATE messages SET answered_at = NULL WHERE id = $1", [id]);
}

/** The message is kept from its last mail on, and its erasure is announced again. */
export async function writeLastMail(sql: Sql, id: number, at: Date): Promise<void> {
  await sql.query(
    `UPDATE deliveries SET last_mail_at = $2
     WHERE message_id = $1 AND channel = 'mail' AND COALESCE(last_mail_at, 0) < $2`,
    [id, at],
  );
  await writeExpiry(sql, [id]);
}
