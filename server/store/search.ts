import { FIELD_NAMES } from "../../contract/contact-message.ts";
import type { Sql, Value } from "./database.ts";
import { EVENT_TEXT, EVENTS } from "./message-rows.ts";

// What a search finds. Each message has one text with everything that can be searched: its reference, fields, notes and
// replies, in the form that `fold` gives. Write it with every change of these.

/** In lower case and without accents, so that a search finds either spelling. */
export function fold(text: string): string {
  // Marks go first: normalising is slow for long rows of them.
  const plain = text
    .replace(/\p{M}+/gu, "")
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "");
  // Other spellings of a letter, which keep their difference in lower case.
  return plain
    .toLowerCase()
    .replace(/\p{M}+/gu, "")
    .replaceAll("ß", "ss")
    .replaceAll("ς", "σ");
}

export function searchText(reference: string, texts: readonly string[]): string {
  return fold([reference, reference.replaceAll("-", ""), ...texts].join("\n"));
}

const MESSAGES_AT_A_TIME = 500;

export async function writeSearchTexts(sql: Sql, ids?: readonly number[]): Promise<void> {
  const { query, dialect } = sql;
  type Texts = { id: number; reference: string } & Record<string, string>;
  let lastId = 0;
  for (;;) {
    const isMeant = ids ? dialect.isIn("id", "$2") : "TRUE";
    const messages = await query<Texts>(
      `SELECT id, reference, ${FIELD_NAMES.join(", ")} FROM messages
       WHERE id > $1 AND ${isMeant} ORDER BY id LIMIT ${MESSAGES_AT_A_TIME}`,
      [lastId, ...(ids ? [ids] : [])],
    );
    if (messages.length === 0) return;
    const events = await query<{ messageId: number; detail: string }>(
      `SELECT events.message_id, ${EVENT_TEXT} AS detail FROM ${EVENTS}
       WHERE kind IN ('noted', 'replied') AND ${dialect.isIn("events.message_id", "$1")} ORDER BY events.id`,
      [messages.map(({ id }) => id)],
    );
    const added = Map.groupBy(events, ({ messageId }) => messageId);
    for (const { id, reference, ...fields } of messages) {
      const details = added.get(id)?.map(({ detail }) => detail) ?? [];
      const text = searchText(reference, [...Object.values(fields), ...details]);
      await query("UPDATE messages SET search_text = $2 WHERE id = $1", [id, text]);
    }
    lastId = messages.at(-1)?.id ?? 0;
  }
}

/** SQL for messages with every word, in any order. `place` adds a value and returns its placeholder. */
export function hasWords(words: string, { contains }: Sql["dialect"], place: (value: Value) => string): string[] {
  return fold(words)
    .split(/\s+/)
    .flatMap((word) => (word === "" ? [] : contains("search_text", place(word))));
}
