import { createHmac } from "node:crypto";
import { type ContactMessage, FIELD_NAMES } from "../../contract/contact-message.ts";
import {
  type Database,
  normaliseEmail,
  readColumn,
  readMeta,
  readSecret,
  type Sql,
  timeOf,
  writeMeta,
} from "./database.ts";
import { addEvents, deleteMessages, idsOf, readLocked } from "./message-rows.ts";
import type { StoredMessage } from "./model.ts";
import { writeExpiry } from "./retention.ts";
import { writeSearchTexts } from "./search.ts";
import { lessonsChanged } from "./spam.ts";

// What operators do with all messages of one person.

/** An erasure of a person's messages that were accepted until then: a hash of their address, made with this secret. */
export interface Erasure {
  hash: string;
  secret: string;
  at: Date;
}

/** Set while erased messages may have left traces in the database's files. */
export const ERASURE_MARK = "unfinished_erasure";

function readPerson(sql: Sql, email: string): Promise<StoredMessage[]> {
  return readLocked(sql, sql.dialect.lowerCaseEmail, [normaliseEmail(email)]);
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
 * The address, and all that its messages had before corrections. Later messages from a former address are from its real
 * owner.
 */
async function erasuresOf({ query, dialect }: Sql, email: string, at: Date): Promise<Erasure[]> {
  const secret = await readSecret(query);
  const sql = `SELECT former_addresses FROM messages WHERE ${dialect.lowerCaseEmail} = $1 AND former_addresses > ''`;
  const former = await readColumn<string>(query, sql, [normaliseEmail(email)]);
  return [{ hash: hashWith(secret, email), at }, ...former.flatMap(readFormer)].map((one) => ({ ...one, secret }));
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

/** Keyed, so that addresses cannot be guessed without the database. */
export function hashWith(secret: string, email: string): string {
  return createHmac("sha256", Buffer.from(secret, "hex"))
    .update(`erased ${normaliseEmail(email)}`)
    .digest("base64url");
}

export function createPeople(database: Database, account: string | null) {
  const { query, transaction, eraseTraces } = database;
  return {
    rectify(email: string, changes: Partial<ContactMessage>, now: Date, removesFootprint = false): Promise<number> {
      return transaction(async (sql) => {
        const ids = idsOf(await readPerson(sql, email));
        const fields = FIELD_NAMES.map((field, index) => `${field} = COALESCE($${index + 4}, ${field})`);
        if (removesFootprint) fields.push("footprint = NULL");
        // A backup that is restored after an erasure may contain the old address.
        const former = changes.email && `${hashWith(await readSecret(sql.query), email)}:${now.getTime()}`;
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
          await recordErasures(sql, await erasuresOf(sql, email, now));
          if (messages.length === 0) return [];
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
