import type { AnswerErrors, SendEmailAnswer } from "../../contract/send-email-answer.ts";

/** The errors of the last submit, and the fields that the visitor has edited since. */
interface Problems {
  fields: AnswerErrors;
  edited: readonly string[];
}

interface Outcome {
  /** The visitor changed fields while the message was being sent; the form keeps these changes. */
  keepsEdits: boolean;
  /** The page shows the estimate that was sent with the message. */
  hasReport: boolean;
}

/**
 * `failed`: the server reported a failure. `broken`: there was no readable answer. The form keeps its input in every
 * phase except `sent`.
 */
export type FormState =
  | ({ phase: "idle" } & Problems)
  | { phase: "sending" }
  | ({ phase: "sent"; reference: string; totalKg: number | null } & Outcome)
  | ({ phase: "failed"; error: string } & Problems)
  | { phase: "broken" };

export type FormEvent =
  | { type: "invalid"; fields: AnswerErrors }
  | { type: "sending" }
  | ({ type: "answered"; answer: SendEmailAnswer } & Outcome)
  | { type: "broke" }
  | { type: "again" }
  | { type: "edited"; field: string };

export const START: FormState = { phase: "idle", fields: {}, edited: [] };

export function nextState(state: FormState, event: FormEvent): FormState {
  switch (event.type) {
    case "invalid":
      return { phase: "idle", fields: event.fields, edited: [] };
    case "sending":
      return { phase: "sending" };
    case "answered": {
      const { answer, keepsEdits, hasReport } = event;
      if (!answer.success) return { phase: "failed", error: answer.error, fields: answer.fields ?? {}, edited: [] };
      const { reference, footprint } = answer;
      return { phase: "sent", reference, totalKg: footprint?.totalKg ?? null, keepsEdits, hasReport };
    }
    case "broke":
      return { phase: "broken" };
    case "again":
      // Not `START` itself, which would show the alerts of an earlier post without script again.
      return { ...START };
    case "edited":
      if (!("fields" in state) || !(event.field in fieldErrors(state))) return state;
      return { ...state, edited: [...state.edited, event.field] };
  }
}

/** The message was sent and nothing was typed since, so the confirmation replaces the form. */
export function isDone(state: FormState): boolean {
  return state.phase === "sent" && !state.keepsEdits;
}

export function hasFailed(state: FormState): boolean {
  return state.phase === "failed" || state.phase === "broken" || Object.keys(fieldErrors(state)).length > 0;
}

/** The errors to show at their fields. An error disappears when its field is edited. */
export function fieldErrors(state: FormState): AnswerErrors {
  if (!("fields" in state)) return {};
  return Object.fromEntries(Object.entries(state.fields).filter(([name]) => !state.edited.includes(name)));
}
