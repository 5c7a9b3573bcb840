import type { MessageDetail } from "../contract/inbox.ts";
import { visible, visibleLines } from "../contract/visible-text.ts";

/** Windows hands no longer address to the mail program. */
const MAX_ON_WINDOWS = 1900;
/** As long as what Linux takes as an argument of a program, which is less than the others take. */
const MAX_ELSEWHERE = 120_000;
const CUT_OFF = "\r\n> […]";
const SUBJECT_LENGTH = 50;

type Answered = Pick<MessageDetail, "email" | "reference" | "message">;

export interface Reply {
  /** Opens it in the operator's mail program. */
  href: string;
  /** The whole text, for a mail program in the browser. */
  text: string;
  /** The mail program gets only the beginning of the quoted message. */
  isCut: boolean;
}

/**
 * A reply with the message quoted. Every character that a visitor chose is encoded: an address may contain `?` or `&`,
 * which would add recipients.
 */
export function replyTo({ email, reference, message }: Answered, userAgent: string): Reply {
  const maxLength = userAgent.includes("Windows") ? MAX_ON_WINDOWS : MAX_ELSEWHERE;
  const recipient = encodeURIComponent(email).replaceAll("%40", "@");
  const subject = encodeURIComponent(`Re: ${firstWords(message)} [${reference}]`);
  const start = `mailto:${recipient}?subject=${subject}&body=`;
  const quoted = `\r\n\r\n${visibleLines(message.toWellFormed())
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\r\n")}`;
  const text = quoted.replaceAll("\r\n", "\n");
  const whole = start + encodeURIComponent(quoted);
  if (whole.length <= maxLength) return { href: whole, text, isCut: false };

  const room = maxLength - start.length - encodeURIComponent(CUT_OFF).length;
  let [kept, used] = ["", 0];
  for (const character of quoted) {
    used += encodeURIComponent(character).length;
    if (used > room) break;
    kept += character;
  }
  return { href: start + encodeURIComponent(kept.trimEnd() + CUT_OFF), text, isCut: true };
}

/** By which the sender recognises what the mail is about. */
function firstWords(message: string): string {
  const line = visible(message.toWellFormed().replaceAll(/\s+/g, " ").trim());
  const characters = [...line];
  if (characters.length <= SUBJECT_LENGTH) return line;
  const cut = characters.slice(0, SUBJECT_LENGTH).join("");
  return `${cut.replace(/\s\S*$/, "").trimEnd()} …`;
}
