import type { MessageStructureObject } from "imapflow";
import { comparableEmail } from "../../contract/email-address.ts";
import { parseMessageId } from "../message-id.ts";
import type { Attachment, Clues, Thread } from "../store/mailbox.ts";
import { normaliseReference } from "../store/reference.ts";

// Which mail is what. Nothing here reads a mailbox or the store.

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
  /** A report may be about a mail that came back: its `Report` tells. */
  program: "report" | "automatic" | null;
}

/** What a mail reports about the delivery of another one. */
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

export const MAX_RELATED = 20;
const MAX_ATTACHMENTS = 50;
/** Of what is one line: an address has at most 254 characters, a Message-ID that we know of 250 and its brackets. */
const MAX_LENGTH = 254;

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

/** What both databases can store: PostgreSQL has no NUL, and UTF-8 no half characters. */
export function storable(text: string, maxLength = MAX_LENGTH): string {
  return text.replaceAll("\0", "").slice(0, maxLength).toWellFormed();
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
  return [{ name: storable(given ?? type) || "unnamed", bytes }];
}
