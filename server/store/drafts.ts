import type { Core } from "./core.ts";
import { type Query, readColumn } from "./database.ts";
import { normaliseReference } from "./reference.ts";

// Unfinished replies: each operator has one of their own for a message.

export interface Draft {
  author: string | null;
  savedAt: Date;
  subject: string;
  text: string;
}

/** Drafts of unknown authors: of commands without an account, and of version 1.0.0, which had one draft per message. */
const NOBODY = "";

/** Saves the operator's draft; an empty text removes it. Returns false if there is no such message. */
export function saveDraft(
  core: Core,
  reference: string,
  { subject, text }: Pick<Draft, "subject" | "text">,
  now: Date,
): Promise<boolean> {
  return core.transaction(async (query) => {
    const sql = "SELECT id FROM messages WHERE reference = $1";
    const [id] = await readColumn<number>(query, sql, [normaliseReference(reference)]);
    if (id !== undefined) await writeDraft(core, query, id, { subject, text }, now);
    return id !== undefined;
  });
}

export async function writeDraft(
  core: Core,
  query: Query,
  messageId: number,
  { subject, text }: Pick<Draft, "subject" | "text">,
  now: Date,
): Promise<void> {
  await removeDraft(core, query, messageId);
  if (text.trim() === "") return;
  const values = [messageId, core.account ?? NOBODY, now, subject, text];
  await query("INSERT INTO drafts (message_id, author, saved_at, subject, text) VALUES ($1, $2, $3, $4, $5)", values);
}

export async function removeDraft({ account }: Core, query: Query, messageId: number): Promise<void> {
  await query("DELETE FROM drafts WHERE message_id = $1 AND author IN ($2, $3)", [
    messageId,
    account ?? NOBODY,
    NOBODY,
  ]);
}

/** The drafts of all operators, newest first. An operator without a draft gets the one of an unknown author as theirs. */
export async function readDrafts(
  { query, account }: Core,
  reference: string,
): Promise<{ own: Draft | null; others: Draft[] }> {
  const drafts = await query<Draft>(
    `SELECT author, saved_at, subject, text FROM drafts
     WHERE message_id = (SELECT id FROM messages WHERE reference = $1) ORDER BY saved_at DESC`,
    [normaliseReference(reference)],
  );
  const own = [account, NOBODY].map((name) => drafts.find(({ author }) => author === name)).find(Boolean) ?? null;
  return { own, others: drafts.filter(({ author }) => author !== NOBODY && author !== account) };
}

/** The drafts of all operators for these messages, oldest first. */
export function listDrafts({ query, dialect }: Core, references: readonly string[]) {
  return query<Draft & { reference: string }>(
    `SELECT reference, NULLIF(author, '${NOBODY}') AS author, saved_at, subject, text FROM drafts
     JOIN messages ON id = message_id WHERE ${dialect.isIn("reference", "$1")} ORDER BY saved_at`,
    [references],
  );
}
