import { type ContactField, EMPTY_MESSAGE } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { AMOUNTS, type EstimateName, nameOf, START_TEXTS } from "../../contract/footprint/fields.ts";
import {
  type AnswerErrors,
  type AnsweredPost,
  bareReceipt,
  RECEIPT_FIELD,
  REFERENCE_PATTERN,
  type Receipt,
  type SendEmailAnswer,
} from "../../contract/send-email-answer.ts";

export type Name = ContactField | EstimateName;

export type Values = Readonly<Record<Name, string>>;

/** The form as it starts. A field is filled in if its value differs from this one. */
export const START_VALUES: Values = { ...EMPTY_MESSAGE, ...START_TEXTS };

export function isName(name: string): name is Name {
  return name in START_VALUES;
}

export function onlyNames(values: Readonly<Record<string, string>>): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isName(name)));
}

/** `invalid`: the page found problems. Only `sent` empties the form. */
type Phase = { kind: "idle" | "invalid" | "sending" | "sent" } | { kind: "failed"; title: string; text: string };

const REFUSED = { kind: "failed", title: "Failed to send message." } as const;
/** There was no readable answer. */
const BROKEN: Phase = {
  kind: "failed",
  title: "An error occurred while sending your message.",
  text: "We cannot tell whether it arrived. Press Submit again: it will not be sent twice.",
};

export type ExampleName = "flat for two" | "office of 40";

export interface FormState {
  /** React has taken over the fields. */
  isInteractive: boolean;
  values: Values;
  example: ExampleName | "";
  phase: Phase;
  /** Of the last message that was sent. Once the next one is submitted, only its reference is shown. */
  receipt: Receipt | null;
  submitted: Values;
  errors: AnswerErrors;
  /** The field that the visitor is typing in. Its value is not final. */
  typing: Name | "";
  isOpen: boolean;
}

export type FormEvent =
  | { type: "seeded"; values: Partial<Values>; isOpen: boolean; receipt: Receipt | null; isFolded: boolean }
  | { type: "edited"; name: Name; value: string }
  | { type: "left"; name: Name }
  | { type: "filled"; values: Partial<Values> }
  | { type: "exampled"; name: ExampleName | "" }
  | { type: "toggled"; isOpen: boolean }
  | { type: "submitted"; values: Values; errors: AnswerErrors }
  | { type: "answered"; answer: SendEmailAnswer; sentAt: string; estimate: FootprintEstimate | null }
  | { type: "broke" };

export type Act = (event: FormEvent, focusId?: string) => void;

/** Takes the estimate out of the message. */
export const REMOVE_ESTIMATE: FormEvent = { type: "filled", values: START_TEXTS };

export function startState(answered: AnsweredPost | null): FormState {
  const start: FormState = {
    isInteractive: false,
    values: START_VALUES,
    example: "",
    phase: { kind: "idle" },
    receipt: null,
    submitted: START_VALUES,
    errors: {},
    typing: "",
    isOpen: false,
  };
  if (answered?.kind === "sent") return { ...start, phase: { kind: "sent" }, receipt: answered.receipt };
  if (!answered) return start;
  const { errors, error: text } = answered;
  // A form posts line ends as CRLF.
  const { message = "" } = answered.values;
  const values = { ...START_VALUES, ...onlyNames({ ...answered.values, message: message.replaceAll("\r\n", "\n") }) };
  const isOpen = hasAmounts(values) || Object.keys(START_TEXTS).some((name) => name in errors);
  const { [RECEIPT_FIELD]: reference = "" } = answered.values;
  const receipt = REFERENCE_PATTERN.test(reference) ? bareReceipt(reference) : null;
  return { ...start, values, submitted: values, errors, isOpen, receipt, phase: { ...REFUSED, text } };
}

/** Events that a message on its way does not allow: its fields are read-only. */
const EDITS: readonly FormEvent["type"][] = ["edited", "exampled", "filled", "submitted"];

export function nextState(state: FormState, event: FormEvent): FormState {
  if (state.phase.kind === "sending" && EDITS.includes(event.type)) return state;
  switch (event.type) {
    case "seeded": {
      const values = { ...state.values, ...event.values };
      const isOpen = state.isOpen || event.isOpen || hasAmounts(values);
      const receipt = event.receipt ?? state.receipt;
      const kind = event.isFolded ? "idle" : "sent";
      const phase: Phase = receipt && state.phase.kind !== "failed" ? { kind } : state.phase;
      return { ...state, isInteractive: true, values, submitted: values, isOpen, receipt, phase };
    }
    case "edited": {
      const example = event.name in START_TEXTS ? "" : state.example;
      return { ...state, example, values: { ...state.values, [event.name]: event.value }, typing: event.name };
    }
    case "left":
      return state.typing === event.name ? { ...state, typing: "" } : state;
    case "filled":
      return { ...state, example: "", values: { ...state.values, ...event.values }, typing: "" };
    case "exampled":
      return { ...state, example: event.name, typing: "" };
    case "toggled":
      return { ...state, isOpen: event.isOpen };
    case "submitted": {
      const { values, errors } = event;
      const kind = Object.keys(errors).length > 0 ? "invalid" : "sending";
      return { ...state, values, submitted: values, errors, phase: { kind }, typing: "" };
    }
    case "answered": {
      const { answer, sentAt, estimate } = event;
      if (!answer.success) {
        const phase = { ...REFUSED, text: `${answer.error} Nothing you typed is lost.` };
        return { ...state, phase, errors: answer.fields ?? {} };
      }
      const { email: address } = state.submitted;
      const totalKg = answer.footprint?.totalKg ?? null;
      const receipt = { reference: answer.reference, sentAt, address, totalKg, estimate };
      return { ...startState({ kind: "sent", receipt }), isInteractive: true };
    }
    case "broke":
      return { ...state, phase: BROKEN };
  }
}

/** Default distances, default choices and the number of people are not amounts. */
export function hasAmounts(values: Values): boolean {
  return (Object.keys(AMOUNTS) as (keyof typeof AMOUNTS)[]).some((field) => values[nameOf(field)].trim() !== "");
}
