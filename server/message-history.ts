import { asSentence, visible } from "../contract/text.ts";
import { EVENT_NAME, QUARANTINE_REASON, SKIP_REASON } from "./message-words.ts";
import { type Channel, type EventKind, rulesOf } from "./store/model.ts";

/** With the channel, unless it is the mail, and the operator who caused it, if known: `Web hook: queued again by anna`. */
export function eventName({ kind, channel, author = null }: NamedEvent): string {
  const event = EVENT_NAME[kind];
  const isOfMessage = channel === null || channel === "mail";
  const name = isOfMessage ? event : `${rulesOf(channel).name}: ${event.charAt(0).toLowerCase()}${event.slice(1)}`;
  return author === null ? name : `${name} by ${visible(author)}`;
}

interface NamedEvent {
  kind: EventKind;
  channel: Channel | null;
  author?: string | null;
}

const REASONS: Readonly<Partial<Record<EventKind, Readonly<Record<string, string>>>>> = {
  quarantined: QUARANTINE_REASON,
  skipped: SKIP_REASON,
};

/** As a sentence; a note or a reply as it was written. */
export function eventDetail(kind: EventKind, detail: string): string | null {
  if (kind === "marked-as-spam") return null;
  if (kind === "noted" || kind === "replied") return detail;
  return REASONS[kind]?.[detail] ?? asSentence(detail);
}
