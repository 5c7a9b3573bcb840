import type { AnswerErrors, SendEmailAnswer } from "../../contract/send-email-answer.ts";

/**
 * `failed`: the server answered without success. `broken`: there was no readable answer. What was typed is kept in
 * every phase except `sent`.
 */
export type FormState =
  | { phase: "idle"; fields: AnswerErrors }
  | { phase: "sending" }
  | { phase: "sent"; reference: string; totalKg: number | null }
  | { phase: "failed"; error: string; fields: AnswerErrors }
  | { phase: "broken" };

export type FormEvent =
  | { type: "invalid"; fields: AnswerErrors }
  | { type: "sending" }
  | { type: "answered"; answer: SendEmailAnswer }
  | { type: "broke" }
  | { type: "edited"; field: string };

export const START: FormState = { phase: "idle", fields: {} };

export function nextState(state: FormState, event: FormEvent): FormState {
  switch (event.type) {
    case "invalid":
      return { phase: "idle", fields: event.fields };
    case "sending":
      return { phase: "sending" };
    case "answered":
      return event.answer.success
        ? { phase: "sent", reference: event.answer.reference, totalKg: event.answer.footprint?.totalKg ?? null }
        : { phase: "failed", error: event.answer.error, fields: event.answer.fields ?? {} };
    case "broke":
      return { phase: "broken" };
    case "edited": {
      const errors = fieldErrors(state);
      if (!(event.field in errors) || !("fields" in state)) return state;
      return { ...state, fields: { ...errors, [event.field]: undefined } };
    }
  }
}

export function fieldErrors(state: FormState): AnswerErrors {
  return "fields" in state ? state.fields : {};
}
