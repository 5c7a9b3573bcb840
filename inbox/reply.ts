import type { MessageDetail } from "../contract/inbox.ts";
import { visibleLines } from "../contract/visible-text.ts";

/** Some systems hand no longer address to the mail program. */
const MAX_LENGTH = 1900;
const CUT_OFF = "\r\n> […]";

/**
 * Opens a reply in the operator's mail program, with as much of the message quoted as fits. Every character
 * that a visitor chose is encoded: an address may contain `?` or `&`, which would add recipients.
 */
export function replyHref({
  email,
  reference,
  message,
}: Pick<MessageDetail, "email" | "reference" | "message">): string {
  const recipient = encodeURIComponent(email).replaceAll("%40", "@");
  const start = `mailto:${recipient}?subject=${encodeURIComponent(`Re: [${reference}]`)}&body=`;
  const quoted = `\r\n\r\n${visibleLines(message.toWellFormed())
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\r\n")}`;
  const whole = start + encodeURIComponent(quoted);
  if (whole.length <= MAX_LENGTH) return whole;

  const room = MAX_LENGTH - start.length - encodeURIComponent(CUT_OFF).length;
  let [kept, used] = ["", 0];
  for (const character of quoted) {
    used += encodeURIComponent(character).length;
    if (used > room) break;
    kept += character;
  }
  return start + encodeURIComponent(kept.trimEnd() + CUT_OFF);
}
