import { type ContactMessage, contactFieldsOf } from "../../contract/contact-message.ts";
import { visible } from "../../contract/visible-text.ts";

const MAX_LENGTH = 200;
const HIDDEN = "…";

/**
 * A mail server's answer for the operator, on one line and without its code. Servers quote what they refuse, so this
 * leaves out addresses, the visitor's fields and phrases from the message.
 */
export function withoutPersonalData(response: string, message?: ContactMessage): string {
  const plain = response.slice(0, 5 * MAX_LENGTH).replaceAll(/^\d{3}[ -]?/gm, "");
  const parts = plain.trim().split(/\s+/);
  const words = parts.map((word) => (word.includes("@") ? HIDDEN : visible(word)));
  const hidden = new Set(words.flatMap((_, index) => (message ? quotedAt(words, index, message) : [])));
  const shown = words.map((word, index) => (hidden.has(index) ? HIDDEN : word)).join(" ");
  const text = shown.replaceAll(new RegExp(`${HIDDEN}( ${HIDDEN})+`, "g"), HIDDEN);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}${HIDDEN}` : text;
}

/** The positions of words that quote the visitor: this word alone, or together with the next. */
function quotedAt(words: readonly string[], index: number, message: ContactMessage): number[] {
  const { message: text, ...fields } = contactFieldsOf(message);
  const word = bare(words[index]);
  const isField = word.length > (/^\d+$/.test(word) ? 1 : 2) && bare(Object.values(fields).join(" ")).includes(word);
  // A single plain word, such as "content", identifies no person; a number or a URL may.
  const isTelling = /[\d./:]/.test(word) && word.length > 4 && !/^\d\.\d+\.\d+$/.test(word);
  if (isField || (isTelling && bare(text).includes(word))) return [index];
  const next = bare(words[index + 1]);
  return word !== "" && next !== "" && bare(text).includes(`${word} ${next}`) ? [index, index + 1] : [];
}

function bare(text = ""): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}./:]+/gu, " ")
    .trim();
}
