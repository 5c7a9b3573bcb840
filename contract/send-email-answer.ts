import type { FieldErrors } from "./contact-message.ts";
import type { FootprintEstimate } from "./footprint/arithmetic.ts";
import { AMOUNTS, CHOICES, DISTANCES, FIELD_PREFIX, type FootprintErrors } from "./footprint/fields.ts";

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

export function problemsTitle(count: number): string {
  return count === 1 ? "There is a problem" : `There are ${count} problems`;
}

/** The answer of `/send-email`. `success: true` means that the message is on disk. */
export type SendEmailAnswer =
  /** `footprint` is the estimate that the server computed and stored, not rounded. Absent without an estimate. */
  | { success: true; reference: string; footprint?: { totalKg: number } }
  | { success: false; error: string; fields?: AnswerErrors };

/** Another server may answer, so this uses only values of the expected shape. */
export function readAnswer(body: unknown): SendEmailAnswer {
  const { success, reference, error, fields, footprint } = Object(body) as Record<string, unknown>;
  if (success === true) {
    const { totalKg } = Object(footprint) as Record<string, unknown>;
    return { success, reference: asText(reference), ...(typeof totalKg === "number" && { footprint: { totalKg } }) };
  }
  const answer: SendEmailAnswer = { success: false, error: asText(error) };
  if (typeof fields === "object" && fields !== null) {
    answer.fields = Object.fromEntries(
      Object.entries(fields).filter(([, text]) => typeof text === "string"),
    ) as AnswerErrors;
  }
  return answer;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export interface Receipt {
  reference: string;
  /** In ISO format. Empty, like the address, if the server does not tell any more. */
  sentAt: string;
  address: string;
  /** The total of the estimate that the server stored; null without an estimate. */
  totalKg: number | null;
  /** The same estimate with its parts; null if the page could not compute it. */
  estimate: FootprintEstimate | null;
}

/** Of which only the reference is known. */
export function bareReceipt(reference: string): Receipt {
  return { reference, sentAt: "", address: "", totalKg: null, estimate: null };
}

/** Without script, the form sends the reference of the last message along, and a refused post gets it back. */
export const RECEIPT_FIELD = "receipt";

export type AnsweredPost =
  | { kind: "sent"; receipt: Receipt }
  | { kind: "refused"; error: string; errors: AnswerErrors; values: Readonly<Record<string, string>> };

/** The fragment of the contact page that shows the confirmation after a post without script. */
export const SENT_ALERT_ID = "message-sent";

export const REFERENCE_PATTERN = /^[A-Z]{2,4}-[0-9A-Z]{4}-[0-9A-Z]{2}$/;
