import { EMPTY_MESSAGE, parseContactMessage } from "../../contract/contact-message.ts";
import { AMOUNTS, FIELD_PREFIX, type FootprintErrors, START_TEXTS } from "../../contract/footprint/fields.ts";
import { type AnswerErrors, problemsOf, type SendEmailAnswer } from "../../contract/send-email-answer.ts";
import { FOLDED, type Fold } from "./questions.ts";
import type { Reading } from "./reading.ts";

/** The text of every field, by name. The radio buttons of a group have one value. */
export type Values = Readonly<Record<string, string>>;

/**
 * The name of the example that is shown, and the names of the fields that it filled, separated by spaces. They are
 * hidden fields, so that they are kept together with the amounts.
 */
const NO_EXAMPLE = { example: "", exampleFields: "" };

/** The amounts whose unit visitors choose, with the field of the unit. */
const UNIT_FIELDS: Values = {
  "footprint.electricityKwh": "footprint.electricityPer",
  "footprint.gasKwh": "footprint.gasPer",
  "footprint.carKm": "footprint.carUnit",
};

/** The form as it starts. A field is filled in if its value differs from this one. */
export const START_VALUES: Values = { ...EMPTY_MESSAGE, ...START_TEXTS, ...NO_EXAMPLE };

/**
 * `invalid`: the page found problems. `failed`: the server reported a failure. `broken`: there was no readable answer,
 * so the message may have been stored or not. The form keeps its input in every phase except `sent`.
 */
export type Phase =
  | { kind: "idle" | "invalid" | "sending" }
  | SentPhase
  | { kind: "failed"; text: string }
  | { kind: "broken"; isOffline: boolean };

export interface SentPhase {
  kind: "sent";
  reference: string;
  totalKg: number | null;
  /** The visitor changed fields while the message was being sent; the form keeps these changes. */
  keepsEdits: boolean;
}

/** An estimate that was sent from this page. */
export interface SentReport {
  values: Values;
  reference: string;
  date: Date;
}

export interface FormState {
  /** React has taken over the fields. */
  isInteractive: boolean;
  values: Values;
  phase: Phase;
  /** The values of the last submit, and their errors. */
  submitted: Values;
  errors: AnswerErrors;
  /** The field that the visitor is typing in. Its value is not final. */
  typing: string;
  /** The state after the last pause in typing, which screen readers announce. */
  settled: Pick<FormState, "values" | "typing">;
  open: readonly Fold[];
  /** The HTML is the server's report after a post without script; empty for none. */
  report: SentReport | string;
}

export type FormEvent =
  | { type: "seeded"; values: Values; open: readonly Fold[] }
  | { type: "edited"; name: string; value: string }
  | { type: "left"; name: string }
  | { type: "settled" }
  | { type: "exampled"; name: string; figures: Values }
  | { type: "adopted" }
  | { type: "toggled"; fold: Fold; isOpen: boolean }
  | { type: "removed" }
  | { type: "submitted"; values: Values; errors: AnswerErrors }
  | { type: "answered"; answer: SendEmailAnswer; date: Date }
  | { type: "broke"; isOffline: boolean }
  | { type: "again" };

/** Changes the state and moves the focus. */
export type Act = (event: FormEvent, focusId: string) => void;

/** The state of a new page, or of a page that the server sent as the answer to a post without script. */
export function startState({ answer, reportHtml }: { answer: SendEmailAnswer | null; reportHtml: string }): FormState {
  const start: FormState = {
    isInteractive: false,
    phase: { kind: "idle" },
    submitted: START_VALUES,
    errors: {},
    open: [],
    report: reportHtml,
    ...settledOn(START_VALUES),
  };
  return answer ? { ...start, ...outcomeOf(answer) } : start;
}

export function nextState(state: FormState, event: FormEvent): FormState {
  switch (event.type) {
    case "seeded": {
      const values = { ...state.values, ...event.values };
      const open = foldsToOpen(values, event.open);
      return { ...state, ...settledOn(values), isInteractive: true, submitted: values, open };
    }
    case "edited": {
      const example = event.name in START_TEXTS ? NO_EXAMPLE : {};
      return { ...state, values: { ...state.values, ...example, [event.name]: event.value }, typing: event.name };
    }
    case "left": {
      if (state.typing !== event.name) return state;
      const left = { ...state, typing: "" };
      return state.settled.values === state.values ? nextState(left, { type: "settled" }) : left;
    }
    case "settled":
      return { ...state, settled: { values: state.values, typing: state.typing } };
    case "exampled": {
      const own = withoutExample(state.values);
      // Fills what is empty. The amounts of an example are in the usual units.
      const isEmpty = (values: Values, name: string) => values[name] === START_VALUES[name];
      const filled = Object.keys(event.figures).filter((name) => isEmpty(own, name) && !isEmpty(event.figures, name));
      const names = [...filled, ...filled.flatMap((name) => UNIT_FIELDS[name] ?? [])];
      const figures = names.map((name) => [name, event.figures[name] ?? START_VALUES[name]]);
      const example = { example: event.name, exampleFields: names.join(" ") };
      return { ...state, ...settledOn({ ...own, ...Object.fromEntries(figures), ...example }) };
    }
    case "adopted":
      return { ...state, ...settledOn({ ...state.values, ...NO_EXAMPLE }) };
    case "toggled": {
      const others = state.open.filter((fold) => fold !== event.fold);
      return { ...state, open: event.isOpen ? [...others, event.fold] : others };
    }
    case "removed":
      // Without its example, the part stays open for the visitor's own amounts.
      if (state.values.example) return { ...state, ...settledOn(withoutExample(state.values)) };
      return { ...state, ...settledOn({ ...state.values, ...START_TEXTS }), open: [] };
    case "submitted": {
      const { values, errors } = event;
      const kind = Object.keys(errors).length > 0 ? "invalid" : "sending";
      return { ...state, values, submitted: values, errors, phase: { kind }, typing: "" };
    }
    case "answered": {
      const { answer, date } = event;
      if (answer.success) return afterSuccess(state, answer, date);
      return { ...state, ...outcomeOf({ ...answer, error: `${answer.error} Nothing you typed is lost.` }) };
    }
    case "broke":
      return { ...state, phase: { kind: "broken", isOffline: event.isOffline } };
    case "again":
      return { ...state, phase: { kind: "idle" } };
  }
}

/** The values that the visitor entered. */
function withoutExample(values: Values): Values {
  const names = values.exampleFields?.split(" ").filter((name) => name in START_TEXTS) ?? [];
  return { ...values, ...Object.fromEntries(names.map((name) => [name, START_TEXTS[name] ?? ""])), ...NO_EXAMPLE };
}

function settledOn(values: Values): Pick<FormState, "values" | "typing" | "settled"> {
  return { values, typing: "", settled: { values, typing: "" } };
}

function outcomeOf(answer: SendEmailAnswer, keepsEdits = false): Pick<FormState, "phase" | "errors"> {
  if (!answer.success) return { phase: { kind: "failed", text: answer.error }, errors: answer.fields ?? {} };
  const { reference, footprint } = answer;
  return { phase: { kind: "sent", reference, totalKg: footprint?.totalKg ?? null, keepsEdits }, errors: {} };
}

/** Clears each field that still has the sent value. */
function afterSuccess(state: FormState, answer: SendEmailAnswer & { success: true }, date: Date): FormState {
  const { submitted } = state;
  // An example that was used meanwhile has not been sent.
  const isUsed = state.values.example !== submitted.example;
  const kept = Object.entries(state.values).filter(
    ([name, value]) => value !== submitted[name] || (isUsed && name in START_TEXTS),
  );
  const keepsEdits = kept.length > 0;
  return {
    ...state,
    ...settledOn({ ...START_VALUES, ...Object.fromEntries(kept) }),
    ...outcomeOf(answer, keepsEdits),
    open: keepsEdits ? state.open : [],
    report: isEnclosed(submitted) ? { values: submitted, reference: answer.reference, date } : "",
  };
}

/** Folds that contain input must be open, whether the visitor or the browser wrote it. */
function foldsToOpen(values: Values, open: readonly Fold[]): Fold[] {
  const isFilledIn = (field: string) => values[FIELD_PREFIX + field] !== START_VALUES[FIELD_PREFIX + field];
  const filled = FOLDED.filter(({ groups }) => groups.some(({ labels }) => Object.keys(labels).some(isFilledIn)));
  const outer: Fold[] = hasAmounts(values) ? ["footprint"] : [];
  return [...new Set([...open, ...outer, ...filled.map(({ fold }) => fold)])];
}

/** What the page shows that follows from the state. `read` is missing until the arithmetic has loaded. */
export function formView(state: FormState, read: ((values: Values) => Reading) | undefined) {
  const { values, typing, settled } = state;
  const reading = read?.(values);
  const before = read?.(settled.values);
  const { example = "" } = settled.values;
  const total = before?.total && `${example ? `Example: ${example},` : "Your estimate:"} ${before.total}`;
  return {
    reading,
    errors: shownErrors(reading?.errors ?? {}, state),
    /** The unreadable amounts, which prevent sending. */
    problems: problemsOf(withoutTyping(reading?.errors ?? {}, typing)),
    /** The first of them, even while the visitor is typing in it. */
    unreadable: Object.keys(reading?.errors ?? {})[0],
    /** For screen readers, after a pause in typing. */
    announcement: [
      ...problemsOf(withoutTyping(before?.errors ?? {}, settled.typing)).map(([, sentence]) => sentence),
      ...(total ? [total] : []),
    ].join(" "),
    isEnclosed: isEnclosed(values),
    example: values.example ?? "",
    isDone: isDone(state),
    isInError: hasFailed(state),
  };
}

export type FormView = ReturnType<typeof formView>;

/** The message was sent and nothing was typed since, so the confirmation replaces the form. */
export function isDone({ phase }: FormState): boolean {
  return phase.kind === "sent" && !phase.keepsEdits;
}

export function hasFailed(state: FormState): boolean {
  const { kind } = state.phase;
  return kind === "failed" || kind === "broken" || (kind === "invalid" && Object.keys(openErrors(state)).length > 0);
}

/** The errors of the last submit whose fields still have the submitted value. */
function openErrors({ errors, values, submitted }: FormState): AnswerErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => values[name] === submitted[name]));
}

/** The errors to show at their fields. */
export function shownErrors(unreadable: FootprintErrors, state: FormState): AnswerErrors {
  return withoutTyping({ ...unreadable, ...openErrors(state) }, state.typing);
}

/** An error is reported as soon as its field is left, not while the visitor is typing. */
function withoutTyping(errors: AnswerErrors, typing: string): AnswerErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => name !== typing));
}

/** Default distances, default choices and the number of people are not amounts. */
export function hasAmounts(values: Values): boolean {
  return Object.keys(AMOUNTS).some((name) => values[FIELD_PREFIX + name]?.trim());
}

/** An estimate goes with the message. An example does not. */
function isEnclosed(values: Values): boolean {
  return hasAmounts(values) && !values.example;
}

/** The figures are needed while the part is open, and for an estimate that will be sent or was sent. */
export function needsFigures({ open, values, report }: FormState): boolean {
  return open.includes("footprint") || hasAmounts(values) || typeof report === "object";
}

/** Everything that prevents sending, by field. */
export function problemsIn(values: Values, unreadable: FootprintErrors): AnswerErrors {
  const message = parseContactMessage(values);
  return { ...(!message.ok && message.fields), ...unreadable };
}

/** The body of `/send-email`, where the fields of the estimate have names without a prefix. */
export function requestBody(values: Values): string {
  const message = Object.entries(values).filter(([name]) => !(name in START_TEXTS || name in NO_EXAMPLE));
  const amounts = Object.keys(START_TEXTS).map((name) => [name.slice(FIELD_PREFIX.length), values[name]]);
  const footprint = isEnclosed(values) ? Object.fromEntries(amounts) : undefined;
  return JSON.stringify({ ...Object.fromEntries(message), footprint });
}
