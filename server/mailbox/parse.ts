import PostalMime, { addressParser, type Email } from "postal-mime";
import { comparableEmail, withoutAddresses } from "../../contract/email-address.ts";
import { MAX_RELATED, type MailHead, type Report, storable } from "./mail.ts";

// What a mail contains. Only for the thread of `parser.ts`: a hostile mail can make this busy for minutes.

export interface ParsedMail {
  head: MailHead;
  /** `null` if the mail reports no delivery. */
  report: Report | null;
  /** Plain text, never markup. */
  text: string;
}

const MAX_TEXT_LENGTH = 50_000;
const MAX_REASON_LENGTH = 300;
const CUT = "[Cut; the whole is in the mailbox.]";

/** `size`: that of the whole mail, of which only the first part may have been fetched. Rejects if it cannot be read. */
export async function parseMail(raw: Uint8Array, size = raw.length): Promise<ParsedMail> {
  const mail = await parse(raw);
  return { head: headOf(mail), report: reportOf(mail), text: await textOf(mail, size > raw.length) };
}

function parse(raw: Uint8Array): Promise<Email> {
  return PostalMime.parse(raw, { forceRfc822Attachments: true });
}

function headOf({ headers, subject = "" }: Email): MailHead {
  const value = (name: string) => headers.find(({ key }) => key === name)?.value ?? "";
  const addresses = (name: string) => {
    const list = value(name);
    // The parser also finds addresses in encoded words. A mail server that checks the sender's domain sees none there.
    const words = new Set(list.split(/[\s<>(),:;"]+/));
    return addressParser(list, { flatten: true }).map(({ name, address = "" }) => ({
      name: storable(name),
      address: words.has(address) ? storable(address) : "",
    }));
  };
  const [sender = { name: "", address: "" }] = addresses("from");
  const [messageId = null] = messageIds(value("message-id"));
  const references = messageIds(value("references")).slice(-MAX_RELATED);
  const isReport = /^multipart\/report\b/i.test(value("content-type"));
  const isAutomatic =
    /^(?!no\b)\S/i.test(value("auto-submitted")) ||
    value("x-auto-response-suppress") !== "" ||
    value("x-autoreply") !== "" ||
    /^(bulk|junk|list)\b/i.test(value("precedence"));
  return {
    messageId,
    related: [...new Set([...messageIds(value("in-reply-to")).slice(0, 1), ...references.reverse()])],
    sender,
    receivers: [...addresses("to"), ...addresses("cc")].map(({ address }) => comparableEmail(address)),
    subject: storable(isReport ? withoutAddresses(subject) : subject),
    program: isReport ? "report" : isAutomatic ? "automatic" : null,
  };
}

function messageIds(text: string): string[] {
  return text.match(/<[^<>\s\p{Cc}]{1,250}>/gu) ?? [];
}

/** A report that is cut off is read as far as it goes. */
function reportOf({ attachments }: Email): Report | null {
  const textOf = (type: RegExp) => {
    const { content } = attachments.find(({ mimeType }) => type.test(mimeType)) ?? {};
    return content === undefined || typeof content === "string" ? content : new TextDecoder().decode(content);
  };
  const status = textOf(/^message\/(global-)?delivery-status$/);
  if (status === undefined) return null;
  // One block for each receiver; ours have only one.
  const field = (name: string) =>
    (new RegExp(`^${name}:[ \\t]*(.*(?:\\r?\\n[ \\t].*)*)`, "im").exec(status)?.[1] ?? "")
      .replaceAll(/\s+/g, " ")
      .trim();
  const words = withoutAddresses(field("Diagnostic-Code").replace(/^[\w-]{1,20}\s*;\s*/, ""));
  const code = field("Status");
  const original = textOf(/^(message\/(rfc822|global|global-headers)|text\/rfc822-headers)$/) ?? "";
  const [, ids = ""] = /^Message-ID:\s*(\S+)/im.exec(original) ?? [];
  return {
    action: field("Action").toLowerCase(),
    reason: storable(words.includes(code) ? words : `${code} ${words}`.trim(), MAX_REASON_LENGTH),
    original: messageIds(ids)[0] ?? null,
  };
}

async function textOf({ text: plain = "", html = "", attachments }: Email, isLonger: boolean): Promise<string> {
  const text = (plain.trim() === "" ? await plainOf(html) : plain).replaceAll(/\r\n?/g, "\n").trim();
  const isCut = text.length > MAX_TEXT_LENGTH || (isLonger && attachments.length === 0);
  return storable(text, MAX_TEXT_LENGTH) + (isCut ? `\n\n${CUT}` : "");
}

/** The parser converts the HTML of a mail that also has a plain part. */
const HTML_MAIL = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b\nContent-Type: text/html; charset=utf-8\n\n";

async function plainOf(html: string): Promise<string> {
  if (html === "") return "";
  const [start = "", ...styles] = html.split(/<style\b/i);
  const unstyled = start + styles.map((rest) => rest.replace(/^.*?(<\/style\s{0,9}>|$)/is, "")).join("");
  // Blocks that it does not know would run into each other.
  const blocks = unstyled.replaceAll(/<(\/?)(blockquote|h[1-6]|ul|ol|pre|section|article)\b/gi, "<$1div");
  return (await parse(Buffer.from(HTML_MAIL + blocks))).text ?? "";
}
