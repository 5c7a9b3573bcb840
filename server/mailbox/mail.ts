import PostalMime, { addressParser, type Email, type Header } from "postal-mime";
import { comparableEmail } from "../../contract/email-address.ts";
import { parseMessageId } from "../message-id.ts";
import type { Clues, Thread } from "../store/mailbox.ts";
import { normaliseReference } from "../store/reference.ts";

// Which mail is what. Nothing here reads a mailbox or the store, and nothing that a mail contains can make it fail.

/** The headers that are read of every mail. */
export const HEADERS =
  "Message-ID In-Reply-To References From To Cc Subject Content-Type Auto-Submitted X-Auto-Response-Suppress X-Autoreply Precedence".split(
    " ",
  );

export interface MailHead {
  messageId: string | null;
  /** The mails that it answers: In-Reply-To, then the last References, newest first. */
  related: readonly string[];
  sender: { name: string; address: string };
  receivers: readonly string[];
  subject: string;
  /** A report may be about a mail that came back: `readReport` knows. */
  program: "report" | "automatic" | null;
}

export interface Report {
  /** `failed` for a mail that came back; `delayed` and others for one that may still arrive. */
  action: string;
  /** The status and the receiver's words. */
  reason: string;
  /** The Message-ID of the mail that it is about. */
  original: string | null;
}

/**
 * `answer`: of the sender or from another address. `reply`: of the team to the sender. `returned`: a mail of ours came
 * back. `automatic`: a program wrote it. `none`: about no message, our own, or talk of colleagues.
 */
export type MailKind = "answer" | "reply" | "returned" | "automatic" | "none";

/** Whether an address is the team's. */
export type Team = (address: string) => boolean;

const MAX_RELATED = 20;
export const MAX_ID_LENGTH = 250;
/** Of headers that the parser refuses as too long. */
const READABLE_BYTES = 256 * 1024;
const MAX_LINES = 20_000;
const MAX_REASON_LENGTH = 300;
const MAX_ADDRESSES = 200;

/** MAIL_TO, MAIL_FROM and the contact address, and who has an address at the website's own host or its parent. */
export function teamOf(addresses: readonly string[], siteUrl: string): Team {
  const { hostname } = new URL(siteUrl);
  const parent = hostname.slice(hostname.indexOf(".") + 1);
  // Not a top-level domain.
  const domains = parent.includes(".") ? [hostname, parent] : [hostname];
  const team = addresses.map(comparableEmail);
  return (given) => {
    const address = comparableEmail(given);
    return team.includes(address) || domains.includes(address.slice(address.lastIndexOf("@") + 1));
  };
}

/** The parser takes 2 KB of memory for each line. */
export function firstLines(raw: Uint8Array): Uint8Array {
  let end = -1;
  for (let count = 0; count < MAX_LINES; count += 1) {
    end = raw.indexOf(0x0a, end + 1);
    if (end < 0) return raw;
  }
  return raw.subarray(0, end);
}

export async function parseMail(raw: Uint8Array): Promise<Email> {
  const parse = (bytes: Uint8Array) => new Parser({ forceRfc822Attachments: true }).parse(bytes);
  return parse(firstLines(raw)).catch(() => parse(raw.subarray(0, READABLE_BYTES)));
}

type AddText = (part: unknown, type: string, text: { value: unknown }) => void;

/** The library needs minutes for a tag that does not end. */
class Parser extends PostalMime {
  addTextEntry(...[part, type, text]: Parameters<AddText>): void {
    const { value } = text;
    if (type === "html" && typeof value === "string")
      text.value = value.replaceAll(/<(?=[a-z/][^<>]*(?:<|$))/gi, "&lt;");
    (PostalMime.prototype as unknown as { addTextEntry: AddText }).addTextEntry.call(this, part, type, text);
  }
}

export async function readHead(raw: Buffer): Promise<MailHead> {
  const end = raw.indexOf("\r\n\r\n");
  const { headers, subject = "" } = await parseMail(end < 0 ? raw : raw.subarray(0, end)).catch(
    (): Partial<Email> => ({}),
  );
  const value = (name: string) => headers?.find(({ key }: Header) => key === name)?.value ?? "";
  const addresses = (name: string) =>
    addressParser(value(name).slice(0, MAX_ADDRESSES * MAX_ID_LENGTH), { flatten: true }).slice(0, MAX_ADDRESSES);
  const [sender] = addresses("from");
  const [messageId = null] = messageIds(value("message-id"));
  const references = messageIds(value("references").slice(-MAX_RELATED * MAX_ID_LENGTH)).slice(-MAX_RELATED);
  const isReport = /^multipart\/report\b/i.test(value("content-type"));
  const isAutomatic =
    /^(?!no\b)\S/i.test(value("auto-submitted")) ||
    value("x-auto-response-suppress") !== "" ||
    value("x-autoreply") !== "" ||
    /^(bulk|junk|list)\b/i.test(value("precedence"));
  return {
    messageId,
    related: [...new Set([...messageIds(value("in-reply-to")).slice(0, 1), ...references.reverse()])],
    sender: { name: sender?.name ?? "", address: sender?.address ?? "" },
    receivers: [...addresses("to"), ...addresses("cc")].map(({ address }) => comparableEmail(address ?? "")),
    subject,
    program: isReport ? "report" : isAutomatic ? "automatic" : null,
  };
}

function messageIds(text: string): string[] {
  return text.match(new RegExp(`<[^<>\\s]{1,${MAX_ID_LENGTH}}>`, "g")) ?? [];
}

/** `null` if the mail reports no delivery. A report that is cut off is read as far as it goes. */
export async function readReport(raw: Uint8Array): Promise<Report | null> {
  const { attachments = [] } = await parseMail(raw).catch((): Partial<Email> => ({}));
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
  const words = field("Diagnostic-Code").replace(/^[\w-]{1,20}\s*;\s*/, "");
  const code = field("Status");
  const original = textOf(/^(message\/(rfc822|global|global-headers)|text\/rfc822-headers)$/) ?? "";
  const [, ids = ""] = /^Message-ID:\s*(\S+)/im.exec(original) ?? [];
  return {
    action: field("Action").toLowerCase(),
    reason: (words.includes(code) ? words : `${code} ${words}`.trim()).slice(0, MAX_REASON_LENGTH),
    original: messageIds(ids)[0] ?? null,
  };
}

/** What the store needs to find the messages that a mail may be about. */
export function cluesOf(head: MailHead, report: Report | null): Clues {
  const mailIds = relatedOf(head, report);
  const named = [...head.subject.matchAll(/[[(]([A-Z0-9]{1,20}-[A-Z0-9]{4}-[A-Z0-9]{2})[\])]/gi)].slice(0, MAX_RELATED);
  const own = mailIds.flatMap((id) => parseMessageId(id)?.reference ?? []);
  return { mailIds, references: [...own, ...named.map(([, reference = ""]) => normaliseReference(reference))] };
}

function relatedOf({ related }: MailHead, report: Report | null): readonly string[] {
  return report?.original ? [report.original, ...related] : related;
}

/** What a mail is, and of which of the messages that the store found for its clues. `part`: of our mail that it names. */
export function judge(head: MailHead, report: Report | null, found: readonly Thread[], isTeam: Team) {
  const none = { kind: "none", thread: null, part: undefined } as const;
  // Replies, copies and the team's mails are in the store already.
  if (head.messageId !== null && parseMessageId(head.messageId)) return none;
  for (const mailId of relatedOf(head, report)) {
    const own = parseMessageId(mailId);
    const thread = found.find(({ id, reference, mailIds }) =>
      own ? own.id === id && own.reference === reference : mailIds.includes(mailId),
    );
    if (thread) return judgeIn(thread, own?.part);
  }
  // Some providers replace the Message-IDs of our mails. Anybody can write a subject, so the addresses must agree.
  const { references } = cluesOf({ ...head, related: [] }, null);
  const named = found.find((one) => references.includes(one.reference) && (isSender(head, one) || isFromTeamTo(one)));
  return named ? judgeIn(named) : none;

  function isFromTeamTo({ email }: Thread): boolean {
    return isTeam(head.sender.address) && head.receivers.includes(comparableEmail(email));
  }
  function judgeIn(thread: Thread, part?: string) {
    const kind = kindIn(thread);
    return kind === "none" ? none : { kind, thread, part };
  }
  function kindIn(thread: Thread): MailKind {
    // First: reports call themselves automatic too.
    if (report) return report.action === "failed" ? "returned" : "automatic";
    if (head.program !== null) return "automatic";
    if (isSender(head, thread) || !isTeam(head.sender.address)) return "answer";
    return isFromTeamTo(thread) ? "reply" : "none";
  }
}

/** Whether the mail is from the address of the form. */
export function isSender({ sender }: MailHead, { email }: Thread): boolean {
  return comparableEmail(sender.address) === comparableEmail(email);
}
