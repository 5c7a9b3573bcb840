import { parseContactMessage } from "../../contract/contact-message.ts";
import {
  AMOUNTS,
  CAR_UNITS,
  CHOICES,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
} from "../../contract/footprint/fields.ts";
import type { AnswerErrors, SendEmailAnswer } from "../../contract/send-email-answer.ts";
import { FOLDED_GROUPS } from "./questions.ts";

/** The text of every field, by name. The radio buttons of a group have one value. */
export type Values = Readonly<Record<string, string>>;

/** The parts of the page that visitors open and close. */
export type Fold = "footprint" | "flights" | "more";

const ESTIMATE_START: Values = {
  ...Object.fromEntries(Object.keys(AMOUNTS).map((name) => [name, ""])),
  ...Object.fromEntries(Object.entries(DISTANCES).map(([name, { usual }]) => [name, String(usual)])),
  ...Object.fromEntries(Object.entries(CHOICES).map(([name, { options }]) => [name, options[0]])),
  carUnit: CAR_UNITS[0],
  people: "",
};

/** The form as it starts. A field is filled in if its value differs from this one. */
export const START_VALUES: Values = {
  name: "",
  email: "",
  phone: "",
  country: "",
  message: "",
  ...Object.fromEntries(Object.entries(ESTIMATE_START).map(([name, value]) => [FIELD_PREFIX + name, value])),
};

/**
 * `invalid`: the page found problems. `failed`: the server reported a failure. `broken`: there was no readable answer,
 * so the message may have been stored or not. The form keeps its input in every phase except `sent`.
 */
export type Phase =
  | { kind: "idle" | "invalid" | "sending" }
  | {
      kind: "sent";
      reference: string;
      totalKg: number | null;
      /** The visitor changed fields while the message was being sent; the form keeps these changes. */
      keepsEdits: boolean;
    }
  | { kind: "failed"; text: string }
  | { kind: "broken"; isOffline: boolean };

/** What the report shows: an estimate that was sent from this page, or the server's report after a plain post. */
export type SentReport = { values: Values; reference: string; date: Date } | { html: string };

export interface FormState {
  /** React has taken over the fields. */
  isInteractive: boolean;
  values: Values;
  phase: Phase;
  /** The errors of the last submit, and the fields that the visitor has edited since. */
  errors: AnswerErrors;
  edited: readonly string[];
  /** The field that the visitor is typing in. Its value is not final. */
  typing: string;
  /** The values after the last pause in typing, which screen readers announce. */
  settled: Values;
  open: readonly Fold[];
  report: SentReport | null;
}

export type FormEvent =
  | { type: "seeded"; values: Values; open: readonly Fold[] }
  | { type: "edited"; name: string; value: string }
  | { type: "left"; name: string }
  | { type: "settled" }
  | { type: "toggled"; fold: Fold; isOpen: boolean }
  | { type: "removed" }
  | { type: "invalid"; values: Values; errors: AnswerErrors }
  | { type: "sending"; values: Values }
  | { type: "answered"; answer: SendEmailAnswer; values: Values; date: Date }
  | { type: "broke"; isOffline: boolean }
  | { type: "again" };

/** The state of a new page, or of a page that the server sent as the answer to a post without script. */
export function startState({ answer, reportHtml }: { answer: SendEmailAnswer | null; reportHtml: string }): FormState {
  const start: FormState = {
    isInteractive: false,
    values: START_VALUES,
    phase: { kind: "idle" },
    errors: {},
    edited: [],
    typing: "",
    settled: START_VALUES,
    open: [],
    report: reportHtml === "" ? null : { html: reportHtml },
  };
  if (!answer) return start;
  if (!answer.success) return { ...start, phase: { kind: "failed", text: answer.error }, errors: answer.fields ?? {} };
  const { reference, footprint } = answer;
  return { ...start, phase: { kind: "sent", reference, totalKg: footprint?.totalKg ?? null, keepsEdits: false } };
}

export function nextState(state: FormState, event: FormEvent): FormState {
  switch (event.type) {
    case "seeded": {
      const values = { ...state.values, ...event.values };
      return { ...state, isInteractive: true, values, settled: values, open: foldsToOpen(values, event.open) };
    }
    case "edited": {
      const { name, value } = event;
      return { ...state, values: { ...state.values, [name]: value }, typing: name, edited: [...state.edited, name] };
    }
    case "left":
      return state.typing === event.name ? { ...state, typing: "" } : state;
    case "settled":
      return { ...state, settled: state.values };
    case "toggled": {
      const others = state.open.filter((fold) => fold !== event.fold);
      return { ...state, open: event.isOpen ? [...others, event.fold] : others };
    }
    case "removed": {
      const values = { ...state.values, ...onlyEstimate(START_VALUES) };
      return {
        ...state,
        values,
        settled: values,
        typing: "",
        open: [],
        edited: [...state.edited, ...Object.keys(values)],
      };
    }
    case "invalid": {
      const { values, errors } = event;
      return { ...state, values, phase: { kind: "invalid" }, errors, edited: [], typing: "" };
    }
    case "sending":
      return { ...state, values: event.values, phase: { kind: "sending" }, errors: {}, edited: [], typing: "" };
    case "answered":
      return event.answer.success
        ? afterSuccess(state, event.answer, event.values, event.date)
        : afterFailure(state, event.answer);
    case "broke":
      return { ...state, phase: { kind: "broken", isOffline: event.isOffline } };
    case "again":
      return { ...state, phase: { kind: "idle" } };
  }
}

function afterFailure(state: FormState, { error, fields = {} }: SendEmailAnswer & { success: false }): FormState {
  return { ...state, phase: { kind: "failed", text: `${error} Nothing you typed is lost.` }, errors: fields };
}

/** Clears each field that still has the sent value. */
function afterSuccess(
  state: FormState,
  { reference, footprint }: SendEmailAnswer & { success: true },
  sent: Values,
  date: Date,
): FormState {
  const names = Object.keys(state.values);
  const kept = names.filter((name) => state.values[name] !== sent[name]);
  const values = { ...START_VALUES, ...Object.fromEntries(kept.map((name) => [name, state.values[name] ?? ""])) };
  const keepsEdits = kept.length > 0;
  return {
    ...state,
    edited: [],
    values,
    settled: values,
    phase: { kind: "sent", reference, totalKg: footprint?.totalKg ?? null, keepsEdits },
    open: keepsEdits ? state.open : [],
    report: hasAmounts(sent) ? { values: sent, reference, date } : null,
  };
}

/** Folds that contain input must be open, whether the visitor or the browser wrote it. */
function foldsToOpen(values: Values, open: readonly Fold[]): Fold[] {
  const isFilledIn = (field: string) => values[FIELD_PREFIX + field] !== START_VALUES[FIELD_PREFIX + field];
  const filled = (["flights", "more"] as const).filter((fold) =>
    FOLDED_GROUPS[fold].some(({ questions }) => questions.some(([field]) => isFilledIn(field))),
  );
  return [...new Set([...open, ...filled, ...(hasAmounts(values) ? (["footprint"] as const) : [])])];
}

function onlyEstimate(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name.startsWith(FIELD_PREFIX)));
}

/** The message was sent and nothing was typed since, so the confirmation replaces the form. */
export function isDone({ phase }: FormState): boolean {
  return phase.kind === "sent" && !phase.keepsEdits;
}

export function hasFailed(state: FormState): boolean {
  const { kind } = state.phase;
  return kind === "failed" || kind === "broken" || (kind === "invalid" && Object.keys(openErrors(state)).length > 0);
}

/** The errors of the last submit whose fields were not edited since. */
function openErrors({ errors, edited }: FormState): AnswerErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => !edited.includes(name)));
}

/** Unreadable amounts are reported as soon as their field is left. */
export function doubtsToShow(unreadable: FootprintErrors, { typing }: FormState): FootprintErrors {
  return Object.fromEntries(Object.entries(unreadable).filter(([name]) => name !== typing));
}

/** The errors to show at their fields. */
export function shownErrors(unreadable: FootprintErrors, state: FormState): AnswerErrors {
  return { ...doubtsToShow(unreadable, state), ...openErrors(state) };
}

/** Default distances, default choices and the number of people are not amounts. */
export function hasAmounts(values: Values): boolean {
  return Object.keys(AMOUNTS).some((name) => values[FIELD_PREFIX + name]?.trim());
}

/** The inputs of the estimate by the names that `/send-email` uses. */
function estimateInputs(values: Values): Values {
  return Object.fromEntries(
    Object.entries(onlyEstimate(values)).map(([name, value]) => [name.slice(FIELD_PREFIX.length), value]),
  );
}

/** Everything that prevents sending, by field. */
export function problemsIn(values: Values, unreadable: FootprintErrors): AnswerErrors {
  const message = parseContactMessage(values);
  return { ...(!message.ok && message.fields), ...unreadable };
}

/** The body of `/send-email`. */
export function requestBody(values: Values): string {
  const message = Object.entries(values).filter(([name]) => !name.startsWith(FIELD_PREFIX));
  return JSON.stringify({
    ...Object.fromEntries(message),
    ...(hasAmounts(values) && { footprint: estimateInputs(values) }),
  });
}
