import type { MessageStructureObject } from "imapflow";
import { decodeWords } from "postal-mime";
import type { Attachment } from "../store/mailbox.ts";
import { firstLines, parseMail } from "./mail.ts";

// The text of a mail, as it is stored: plain text, never markup.

const MAX_TEXT_LENGTH = 50_000;
const MAX_ATTACHMENTS = 50;
const MAX_NAME_LENGTH = 200;
const CUT = "[Cut; the whole is in the mailbox.]";

/** What both databases can store: PostgreSQL has no NUL, and UTF-8 no half characters. */
export function storable(text: string, maxLength = MAX_NAME_LENGTH): string {
  return text.replaceAll("\0", "").slice(0, maxLength).toWellFormed();
}

/** `null` if it cannot be read. `size`: that of the whole mail, of which only the first part may have been fetched. */
export async function textOf(raw: Uint8Array, size: number): Promise<string | null> {
  const mail = await parseMail(raw).catch(() => null);
  if (mail === null) return null;
  const plain = mail.text?.trim() ? mail.text : await plainOf(mail.html ?? "");
  const text = plain.replaceAll(/\r\n?/g, "\n").trim();
  const isCut = text.length > MAX_TEXT_LENGTH || (size > firstLines(raw).length && mail.attachments.length === 0);
  return isCut ? `${storable(text, MAX_TEXT_LENGTH)}\n\n${CUT}` : storable(text, MAX_TEXT_LENGTH);
}

/** The parser converts the HTML of a mail that also has a plain part. */
const HTML_MAIL = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b\nContent-Type: text/html; charset=utf-8\n\n";

async function plainOf(html: string): Promise<string> {
  const [start = "", ...styles] = html.split(/<style\b/i);
  const unstyled = start + styles.map((rest) => rest.replace(/^.*?(<\/style\s{0,9}>|$)/is, "")).join("");
  // Blocks that it does not know would run into each other.
  const blocks = unstyled.replaceAll(/<(\/?)(blockquote|h[1-6]|ul|ol|pre|section|article)\b/gi, "<$1div");
  return (await parseMail(Buffer.from(HTML_MAIL + blocks))).text ?? "";
}

export function attachmentsOf(whole: MessageStructureObject): Attachment[] {
  return partsOf(whole).slice(0, MAX_ATTACHMENTS);
}

function partsOf({ childNodes = [], ...part }: MessageStructureObject): Attachment[] {
  const { type, size = 0, encoding = "", disposition, parameters, dispositionParameters } = part;
  // What is inside an attached mail is part of that attachment.
  if (/^multipart\//i.test(type)) return childNodes.flatMap(partsOf);
  const given = dispositionParameters?.filename ?? parameters?.name;
  if (/^text\/(plain|html)$/i.test(type) && disposition !== "attachment" && given === undefined) return [];
  const bytes = encoding.toLowerCase() === "base64" ? Math.floor((size * 57) / 78) : size;
  return [{ name: storable(decodeWords(given ?? type)) || "unnamed", bytes }];
}
