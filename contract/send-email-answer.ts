import type { FieldErrors } from "./contact-message.ts";
import type { FootprintErrors } from "./footprint-fields.ts";

/** One sentence for each field that cannot be used, by the name of the field. */
export type AnswerErrors = FieldErrors & FootprintErrors;

/** What `/send-email` answers. `success: true` means that the message is on disk. */
export type SendEmailAnswer =
  /** The estimate, as the server computed it and stored it, for a message that came with one. Not rounded. */
  | { success: true; reference: string; footprint?: { totalKg: number } }
  | { success: false; error: string; fields?: AnswerErrors };

/** The contact page's fragments that show an alert without any script, by `:target`. */
export const ALERT_ID = {
  sent: "message-sent",
  failed: "message-failed",
  /** Failed as well, because of an amount of the estimate: browsers check the other fields themselves. */
  unreadable: "message-unreadable",
  /** Failed as well, but only for now. */
  limited: "message-limited",
  broken: "message-error",
} as const;

/** After a plain post the reference comes back in this query parameter, and the server writes it into this slot. */
export const REFERENCE_PARAMETER = "reference";
export const REFERENCE_PATTERN = /^[A-Z]{2,4}-[0-9A-Z]{4}-[0-9A-Z]{2}$/;
export const REFERENCE_SLOT_ID = "sent-reference";

/** In the alert about the estimate, the server writes here which amount it means, and what to do about it. */
export const PROBLEMS_SLOT_ID = "unreadable-amounts";

/** Beside it, where the message came with an estimate, the total in kg. */
export const FOOTPRINT_PARAMETER = "footprint";

/** The start of the alert's element. The server shows it only for a message that it stored. */
export const SENT_ALERT_HIDDEN = `hidden="" id="${ALERT_ID.sent}"`;
export const SENT_ALERT_SHOWN = `id="${ALERT_ID.sent}"`;
