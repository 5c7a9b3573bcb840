import type { FieldErrors } from "./contact-message.ts";
import { AMOUNTS, CHOICES, DISTANCES, FIELD_PREFIX, type FootprintErrors } from "./footprint/fields.ts";

/** One sentence for each invalid field, by field name. */
export type AnswerErrors = FieldErrors & FootprintErrors;

/** Makes sentences that are clear without their field: those of the estimate start with the field's label. */
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

/** The answer of `/send-email`. `success: true` means that the message is on disk. */
export type SendEmailAnswer =
  /** `footprint` is the estimate that the server computed and stored, not rounded. Absent without an estimate. */
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

/** An attribute of elements that contain a general reason. The server replaces that with the actual reason. */
export const PROBLEMS_SLOT = "data-problems";

/** The start of the success alert's tag. The server shows the alert only for a message that it stored. */
export const SENT_ALERT_HIDDEN = `hidden="" id="${ALERT_ID.sent}"`;
export const SENT_ALERT_SHOWN = `id="${ALERT_ID.sent}"`;

/** Where the contact page shows the estimate of a message that was sent. The server fills it after a plain post. */
export const SENT_ESTIMATE_ID = "sent-estimate";
export const SENT_ESTIMATE_SHOWN = `id="${SENT_ESTIMATE_ID}" class="report" tabindex="-1" aria-labelledby="report-title report-total">`;
export const SENT_ESTIMATE_HIDDEN = `hidden="" ${SENT_ESTIMATE_SHOWN}`;
