import type { AnswerErrors, SendEmailAnswer } from "../../contract/send-email-answer.ts";

/** What the last submit found wrong, and which of these fields were edited since. */
interface Problems {
  fields: AnswerErrors;
  edited: readonly string[];
}

/**
 * `failed`: the server answered without success. `broken`: there was no readable answer. What was typed is kept in
 * every phase except `sent`.
 */
export type FormState =
  | ({ phase: "idle" } & Problems)
  | { phase: "sending" }
  /** `keepsEdits`: what was changed while the message was sent is still in the form. */
  | { phase: "sent"; reference: string; totalKg: number | null; keepsEdits: boolean }
  | ({ phase: "failed"; error: string } & Problems)
  | { phase: "broken" };

export type FormEvent =
  | { type: "invalid"; fields: AnswerErrors }
  | { type: "sending" }
  | { type: "answered"; answer: SendEmailAnswer; keepsEdits: boolean }
  | { type: "broke" }
  | { type: "edited"; field: string };

export const START: FormState = { phase: "idle", fields: {}, edited: [] };

export function nextState(state: FormState, event: FormEvent): FormState {
  switch (event.type) {
    case "invalid":
      return { phase: "idle", fields: event.fields, edited: [] };
    case "sending":
      return { phase: "sending" };
    case "answered": {
      const { answer, keepsEdits } = event;
      return answer.success
        ? { phase: "sent", reference: answer.reference, totalKg: answer.footprint?.totalKg ?? null, keepsEdits }
        : { phase: "failed", error: answer.error, fields: answer.fields ?? {}, edited: [] };
    }
    case "broke":
      return { phase: "broken" };
    case "edited":
      if (!("fields" in state) || !(event.field in fieldErrors(state))) return state;
      return { ...state, edited: [...state.edited, event.field] };
  }
}

/** Those to show beside their fields: an error goes as soon as its field is edited. */
export function fieldErrors(state: FormState): AnswerErrors {
  if (!("fields" in state)) return {};
  return Object.fromEntries(Object.entries(state.fields).filter(([name]) => !state.edited.includes(name)));
}
