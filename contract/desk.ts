// What the operator's inbox and the server share: limits of what is accepted, waits, drafts and replies.

export const MAX_NOTE_LENGTH = 2000;
export const MAX_SUBJECT_LENGTH = 200;
export const MAX_REPLY_LENGTH = 20_000;
export const MAX_SEARCH_LENGTH = 200;

export interface Wait {
  /** `sending`: it is due. `later`: its time has not come. */
  kind: "restricted" | "website-down" | "paused" | "later" | "sending";
  /** Only if `later`. */
  until: Date | null;
  /** Why the last attempt failed, or why its channel is paused. */
  reason: string | null;
}

/** A sentence without its end. `format` writes a time. */
export function describeWait({ kind, until, reason }: Wait, format: (at: Date) => string): string {
  if (kind === "restricted") return "Waiting: the message is restricted";
  if (kind === "website-down") return "Waiting: the website is not running";
  if (kind === "paused") return `Waiting until sending works again: ${reason}`;
  if (kind === "sending" || until === null) return "Being sent";
  return reason === null ? `Goes out at ${format(until)}` : `Waiting until ${format(until)}: ${reason}`;
}

export const REPLY_UNDO_MS = 10_000;

/** An erasure is announced this long before, or half of the retention period before if that is shorter. */
export const EXPIRY_NOTICE_MS = 7 * 86_400_000;

export interface DraftText {
  subject: string;
  text: string;
}

export interface Unfinished extends DraftText {
  note: string;
}

export function replySubject(reference: string): string {
  return `Re: Your message (${reference})`;
}

export function quote({ acceptedAt, name, message }: { acceptedAt: Date; name: string; message: string }): string {
  const day = acceptedAt.toISOString().slice(0, 10);
  return [`On ${day}, ${name} wrote:`, ...message.split("\n").map((line) => `> ${line}`)].join("\n");
}
