import { COUNTRY_CODES, type ContactMessage, countryName, FIELD_NAMES } from "../../contract/contact-message.ts";
import type { Sql, Value } from "./database.ts";
import { EVENT_TEXT, EVENTS, WRITTEN } from "./message-rows.ts";

// What a search finds. Each message has one text with everything that can be searched: its reference, fields, notes and
// replies, in the form that `fold` gives. Write it with every change of these.

/** Letters that do not decompose, in lower case, and typographic signs. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ ß: "ss", ς: "σ", ł: "l", ø: "o", ı: "i", æ: "ae", œ: "oe", đ: "d", ð: "d", þ: "th", ħ: "h" },
  ...Object.fromEntries(Array.from("‘’‛ʼ´`", (sign) => [sign, "'"])),
  ...Object.fromEntries(Array.from("‐‑‒–—−", (sign) => [sign, "-"])),
};
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "gu");

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
    .replace(NOT_PLAIN, (sign) => PLAIN[sign] ?? sign);
}

/** Also the digits of the telephone number in one piece, and the country's code and name in English. */
export function searchText(reference: string, message: ContactMessage, details: readonly string[] = []): string {
  const { country, ...fields } = message;
  const countries = country === "" ? [] : [wholeCode(country), countryName(country)];
  const found = [reference, reference.replaceAll("-", ""), ...Object.values(fields), ...countries, ...details];
  return `${fold(found.join("\n"))}\n${fold(message.phone).replaceAll(/\D/g, "")}`;
}

const wholeCode = (country: string) => `[${country.toLowerCase()}]`;

const MESSAGES_AT_A_TIME = 500;

export async function writeSearchTexts(sql: Sql, ids?: readonly number[]): Promise<void> {
  const { query, dialect } = sql;
  type Texts = { id: number; reference: string } & ContactMessage;
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
      `SELECT events.message_id, ${EVENT_TEXT} || COALESCE('\n' || sender_name || ' ' || sender, '') AS detail FROM ${EVENTS}
       WHERE ${WRITTEN} AND ${dialect.isIn("events.message_id", "$1")} ORDER BY events.id`,
      [messages.map(({ id }) => id)],
    );
    const added = Map.groupBy(events, ({ messageId }) => messageId);
    for (const { id, reference, ...fields } of messages) {
      const details = added.get(id)?.map(({ detail }) => detail) ?? [];
      const text = searchText(reference, fields, details);
      await query("UPDATE messages SET search_text = $2 WHERE id = $1", [id, text]);
    }
    lastId = messages.at(-1)?.id ?? 0;
  }
}

/**
 * SQL for messages with every word, in any order. A country's code finds only the country, because words such as "in"
 * and "us" are part of most texts. `place` adds a value and returns its placeholder.
 */
export function hasWords(words: string, { contains }: Sql["dialect"], place: (value: Value) => string): string[] {
  const has = (part: string) => contains("search_text", place(part));
  return fold(words)
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      if (COUNTRY_CODES.has(word.toUpperCase())) return has(wholeCode(word));
      const digits = /^[\d()+./-]+$/.test(word) ? word.replaceAll(/\D/g, "") : "";
      return digits === "" ? has(word) : `(${has(word)} OR ${has(digits)})`;
    });
}
