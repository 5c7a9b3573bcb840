import { type DraftText, draftHash } from "../../contract/draft.ts";
import type { Database, Sql } from "./database.ts";
import { readLocked } from "./message-rows.ts";
import { normaliseReference } from "./reference.ts";

// Unfinished replies: each operator has one of their own for a message.

export interface Draft extends DraftText {
  author: string | null;
  savedAt: Date;
}

/** Drafts of unknown authors: of commands without an account, and of version 1.0.0, which had one draft per message. */
const NOBODY = "";

/** `no-message`: there is no such message. A draft: this other one is stored, and nothing was changed. */
type SaveResult = "saved" | "no-message" | Draft;

/** The operator's stored draft, if `replaces` is given and the draft has neither the same content nor one of these hashes. */
export async function otherDraft(
  sql: Sql,
  account: string | null,
  reference: string,
  draft: DraftText,
  replaces: readonly number[] | undefined,
): Promise<Draft | null> {
  const { own } = await readDrafts(sql, account, reference);
  return own && replaces && ![...replaces, draftHash(draft)].includes(draftHash(own)) ? own : null;
}

export async function writeDraft(
  sql: Sql,
  account: string | null,
  messageId: number,
  { subject, text }: DraftText,
  now: Date,
) {
  await removeDraft(sql, account, messageId);
  if (text.trim() === "") return;
  const values = [messageId, account ?? NOBODY, now, subject, text];
  await sql.query(
    "INSERT INTO drafts (message_id, author, saved_at, subject, text) VALUES ($1, $2, $3, $4, $5)",
    values,
  );
}

export async function removeDraft({ query }: Sql, account: string | null, messageId: number): Promise<void> {
  const sql = "DELETE FROM drafts WHERE message_id = $1 AND author IN ($2, $3)";
  await query(sql, [messageId, account ?? NOBODY, NOBODY]);
}

/** The operator's draft, or that of an unknown author, and those of others, newest first. */
export async function readDrafts(
  sql: Sql,
  account: string | null,
  reference: string,
): Promise<{ own: Draft | null; others: Draft[] }> {
  const drafts = (await listDrafts(sql, [normaliseReference(reference)])).reverse();
  const draftOf = (name: string | null) => drafts.find(({ author }) => author === name);
  const others = drafts.filter(({ author }) => author !== null && author !== account);
  return { own: draftOf(account) ?? draftOf(null) ?? null, others };
}

/** The drafts of all operators for these messages, oldest first. */
export function listDrafts({ query, dialect }: Sql, references: readonly string[]) {
  return query<Draft & { reference: string }>(
    `SELECT reference, NULLIF(author, '${NOBODY}') AS author, saved_at, subject, text FROM drafts
     JOIN messages ON id = message_id WHERE ${dialect.isIn("reference", "$1")} ORDER BY saved_at`,
    [references],
  );
}

export function createDrafts(database: Database, account: string | null) {
  const { transaction } = database;
  return {
    readDrafts: (reference: string) => readDrafts(database, account, reference),
    listDrafts: (references: readonly string[]) => listDrafts(database, references),

    /**
     * Saves the operator's draft; an empty text removes it. If `replaces` is given, a stored draft is replaced only if it
     * has the same content or one of these hashes: the operator may have written it in another window.
     */
    saveDraft(reference: string, draft: DraftText, now: Date, replaces?: readonly number[]): Promise<SaveResult> {
      return transaction(async (sql): Promise<SaveResult> => {
        const [message] = await readLocked(sql, "reference = $1", [normaliseReference(reference)]);
        if (!message) return "no-message";
        const other = await otherDraft(sql, account, reference, draft, replaces);
        if (other) return other;
        await writeDraft(sql, account, message.id, draft, now);
        return "saved";
      });
    },
  };
}
