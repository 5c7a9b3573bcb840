import type { FieldErrors } from "./contact-message.ts";
import { AMOUNTS, CHOICES, DISTANCES, FIELD_PREFIX, type FootprintErrors } from "./footprint-fields.ts";

/** One sentence for each field that cannot be used, by the name of the field. */
export type AnswerErrors = FieldErrors & FootprintErrors;

/** Each problem as a sentence that can stand apart from its field: those of the estimate start with their label. */
export function problemsOf(fields: AnswerErrors): [name: string, sentence: string][] {
  const labels: Readonly<Record<string, { label: string } | undefined>> = {
    ...AMOUNTS,
    ...DISTANCES,
    ...CHOICES,
    people: { label: "Number of people" },
  };
  return Object.entries(fields).map(([name, text = ""]) => {
    const field = name.startsWith(FIELD_PREFIX) ? labels[name.slice(FIELD_PREFIX.length)] : undefined;
    return [name, field ? `${field.label}: ${text}` : text];
  });
}

/** What `/send-email` answers. `success: true` means that the message is on disk. */
export type SendEmailAnswer =
  /** The estimate, as the server computed it and stored it, for a message that came with one. Not rounded. */
  | { success: true; reference: string; footprint?: { totalKg: number } }
  | { success: false; error: string; fields?: AnswerErrors };

/** The contact page's fragments that show an alert without any script, by `:target`. */
export const ALERT_ID = {
  sent: "message-sent",
  failed: "message-failed",
  /** A temporary failure. */
  limited: "message-limited",
  broken: "message-error",
} as const;

/** After a plain post the reference comes back in this query parameter, and the server writes it into this slot. */
export const REFERENCE_PARAMETER = "reference";
export const REFERENCE_PATTERN = /^[A-Z]{2,4}-[0-9A-Z]{4}-[0-9A-Z]{2}$/;
export const REFERENCE_SLOT_ID = "sent-reference";
/** Where the server writes the estimate of the message. */
export const TOTAL_SLOT_ID = "sent-total";

/** An attribute: the elements that have it hold a general reason, which the server replaces by the one it knows. */
export const PROBLEMS_SLOT = "data-problems";

/** The start of the alert's element. The server shows it only for a message that it stored. */
export const SENT_ALERT_HIDDEN = `hidden="" id="${ALERT_ID.sent}"`;
export const SENT_ALERT_SHOWN = `id="${ALERT_ID.sent}"`;

/** Where the contact page shows the estimate of a message that was sent. The server fills it after a plain post. */
export const SENT_ESTIMATE_ID = "sent-estimate";
export const SENT_ESTIMATE_SHOWN = `id="${SENT_ESTIMATE_ID}" class="report" tabindex="-1" aria-labelledby="report-title report-total">`;
export const SENT_ESTIMATE_HIDDEN = `hidden="" ${SENT_ESTIMATE_SHOWN}`;
