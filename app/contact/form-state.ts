import { type ContactField, EMPTY_MESSAGE } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { AMOUNTS, type EstimateName, nameOf, START_TEXTS } from "../../contract/footprint/fields.ts";
import type { AnswerErrors, AnsweredPost, Receipt, SendEmailAnswer } from "../../contract/send-email-answer.ts";
import { EXAMPLES, type ExampleName, FOLDED, type Fold } from "./questions.ts";

export type Name = ContactField | EstimateName;

/** The text of every field. The radio buttons of a group have one value. */
export type Values = Readonly<Record<Name, string>>;

/** The form as it starts. A field is filled in if its value differs from this one. */
export const START_VALUES: Values = { ...EMPTY_MESSAGE, ...START_TEXTS };

export function isName(name: string): name is Name {
  return name in START_VALUES;
}

/**
 * `invalid`: the page found problems. `failed`: the server reported a failure. `broken`: there was no readable answer,
 * so the message may have been stored or not. The form keeps its input in every phase except `sent`.
 */
type Phase =
  | { kind: "idle" | "invalid" | "sending" }
  | { kind: "sent"; receipt: Receipt }
  | { kind: "failed"; text: string }
  | { kind: "broken"; isOffline: boolean };

/** What screen readers announce after a pause in typing. */
interface Settled extends Pick<FormState, "values" | "typing" | "example"> {
  isRemoved: boolean;
}

export interface FormState {
  /** React has taken over the fields. */
  isInteractive: boolean;
  values: Values;
  /** The example that the estimate shows instead of the visitor's figures, which stay as they are. */
  example: ExampleName | "";
  phase: Phase;
  /** The values of the last submit, and their errors. */
  submitted: Values;
  errors: AnswerErrors;
  /** The field that the visitor is typing in. Its value is not final. */
  typing: Name | "";
  settled: Settled;
  open: readonly Fold[];
}

export type FormEvent =
  | { type: "seeded"; values: Partial<Values>; open: readonly Fold[]; receipt: Receipt | null }
  | { type: "edited"; name: Name; value: string }
  | { type: "left"; name: Name }
  | { type: "settled" | "adopted" | "removed" | "again" }
  | { type: "exampled"; name: ExampleName | "" }
  | { type: "toggled"; fold: Fold; isOpen: boolean }
  | { type: "submitted"; values: Values; errors: AnswerErrors }
  | { type: "answered"; answer: SendEmailAnswer; sentAt: string; estimate: FootprintEstimate | null }
  | { type: "broke"; isOffline: boolean };

/** Changes the state and moves the focus. */
export type Act = (event: FormEvent, focusId: string) => void;

/** The state of a new page, or of a page that answers a post without script. */
export function startState(answered: AnsweredPost | null): FormState {
  const start: FormState = {
    isInteractive: false,
    phase: { kind: "idle" },
    submitted: START_VALUES,
    errors: {},
    open: [],
    ...settledOn({ values: START_VALUES, example: "" }),
  };
  if (answered?.kind === "sent") return { ...start, phase: answered };
  if (!answered) return start;
  // A form posts line ends as CRLF.
  const { message = "" } = answered.values;
  const values = { ...START_VALUES, ...onlyNames({ ...answered.values, message: message.replaceAll("\r\n", "\n") }) };
  const phase = { kind: "failed", text: answered.error } as const;
  const { errors } = answered;
  return {
    ...start,
    ...settledOn({ values, example: "" }),
    phase,
    errors,
    submitted: values,
    open: foldsOf(values, errors),
  };
}

export function onlyNames(values: Readonly<Record<string, string>>): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isName(name)));
}

/** Events that a message on its way does not allow: its fields are read-only. */
const EDITS: readonly FormEvent["type"][] = ["edited", "exampled", "adopted", "removed", "submitted"];

export function nextState(state: FormState, event: FormEvent): FormState {
  if (state.phase.kind === "sending" && EDITS.includes(event.type)) return state;
  switch (event.type) {
    case "seeded": {
      const values = { ...state.values, ...event.values };
      const seeded = { ...state, ...settledOn({ values, example: "" }), isInteractive: true, submitted: values };
      if (event.receipt) return { ...seeded, phase: { kind: "sent", receipt: event.receipt } };
      return { ...seeded, open: [...new Set([...state.open, ...event.open, ...foldsOf(values, {})])] };
    }
    case "edited": {
      const example = event.name in START_TEXTS ? "" : state.example;
      return { ...state, example, values: { ...state.values, [event.name]: event.value }, typing: event.name };
    }
    case "left": {
      if (state.typing !== event.name) return state;
      const left: FormState = { ...state, typing: "" };
      return state.settled.values === state.values ? nextState(left, { type: "settled" }) : left;
    }
    case "settled":
      return { ...state, settled: { ...settledOn(state).settled, typing: state.typing } };
    case "exampled":
      return { ...state, ...settledOn({ ...state, example: event.name }) };
    case "adopted":
      return { ...state, ...settledOn({ values: withExample(state), example: "" }) };
    case "toggled": {
      const others = state.open.filter((fold) => fold !== event.fold);
      return { ...state, open: event.isOpen ? [...others, event.fold] : others };
    }
    case "removed": {
      const left = settledOn({ values: { ...state.values, ...START_TEXTS }, example: "" });
      return { ...state, ...left, settled: { ...left.settled, isRemoved: true } };
    }
    case "submitted": {
      const { values, errors } = event;
      const kind = Object.keys(errors).length > 0 ? "invalid" : "sending";
      return { ...state, values, submitted: values, errors, phase: { kind }, typing: "" };
    }
    case "answered": {
      const { answer, sentAt, estimate } = event;
      if (!answer.success) {
        const phase = { kind: "failed", text: `${answer.error} Nothing you typed is lost.` } as const;
        return { ...state, phase, errors: answer.fields ?? {} };
      }
      const { email: address, country } = state.submitted;
      const totalKg = answer.footprint?.totalKg ?? null;
      const receipt = { reference: answer.reference, sentAt, address, totalKg, estimate, country };
      return { ...startState({ kind: "sent", receipt }), isInteractive: true };
    }
    case "broke":
      return { ...state, phase: { kind: "broken", isOffline: event.isOffline } };
    case "again":
      return { ...startState(null), isInteractive: true };
  }
}

function settledOn({ values, example }: Pick<FormState, "values" | "example">) {
  return { values, example, typing: "" as const, settled: { values, example, typing: "" as const, isRemoved: false } };
}

/** The figures of an example, for the visitor's country. */
export function exampleValues(name: ExampleName, country: string): Values {
  return { ...START_VALUES, ...EXAMPLES[name], country };
}

/** The amounts whose unit visitors choose, with the field of the unit. */
const UNIT_FIELDS = {
  "footprint.electricityKwh": "footprint.electricityPer",
  "footprint.gasKwh": "footprint.gasPer",
  "footprint.carKm": "footprint.carUnit",
} as const;

/** The visitor's figures, with the example's where there are none. The example's are in the usual units. */
function withExample({ values, example }: FormState): Values {
  if (example === "") return values;
  const figures = Object.entries(EXAMPLES[example]) as [EstimateName, string][];
  const filled = figures.filter(([name]) => values[name] === START_VALUES[name]);
  const units = filled.flatMap(([name]) =>
    name in UNIT_FIELDS ? [UNIT_FIELDS[name as keyof typeof UNIT_FIELDS]] : [],
  );
  const usual = Object.fromEntries(units.map((name) => [name, START_VALUES[name]]));
  return { ...values, ...usual, ...Object.fromEntries(filled) };
}

/** Folds that contain input or an error must be open, whoever wrote it. */
function foldsOf(values: Values, errors: AnswerErrors): Fold[] {
  const isTouched = (name: EstimateName) => values[name] !== START_VALUES[name] || name in errors;
  const inner = FOLDED.filter(({ groups }) =>
    groups.some(({ labels }) =>
      (Object.keys(labels) as (keyof typeof labels)[]).some((field) => isTouched(nameOf(field))),
    ),
  );
  const hasError = Object.keys(START_TEXTS).some((name) => name in errors);
  return [...(hasAmounts(values) || hasError ? (["footprint"] as const) : []), ...inner.map(({ fold }) => fold)];
}

/** Default distances, default choices and the number of people are not amounts. */
export function hasAmounts(values: Values): boolean {
  return (Object.keys(AMOUNTS) as (keyof typeof AMOUNTS)[]).some((field) => values[nameOf(field)].trim() !== "");
}
