// What the page shows and sends, computed from the state.
import { FIELD_NAMES } from "../../contract/contact-message.ts";
import { FIELD_PREFIX, START_TEXTS } from "../../contract/footprint/fields.ts";
import { type AnswerErrors, problemsOf } from "../../contract/send-email-answer.ts";
import { type FormState, hasAmounts, isName, type Values } from "./form-state.ts";

export type Read = typeof import("./estimate-result.tsx").readEstimate;
export type Reading = ReturnType<Read>;

/** `read` is missing until the arithmetic has loaded. */
export function formView(state: FormState, read: Read = () => ({ estimate: null, total: "", errors: {}, hints: {} })) {
  const { values, typing, example } = state;
  const own = read(values);
  const shown = example ? read(values, example) : own;
  // Reported as soon as the field is left, not while the visitor is typing.
  const unreadable: AnswerErrors = Object.fromEntries(Object.entries(own.errors).filter(([name]) => name !== typing));
  const problems = problemsOf(unreadable);
  const total = shown.total && `${example ? `Example: ${example},` : "Your estimate:"} ${shown.total}`;
  return {
    own,
    shown,
    errors: { ...unreadable, ...openErrors(state) },
    /** The unreadable amounts, which prevent sending. */
    problems,
    announcement: [...problems.map(([, sentence]) => sentence), total].join(" ").trim(),
    isEnclosed: hasAmounts(values),
  };
}

export type FormView = ReturnType<typeof formView>;

export function formTitle(state: FormState, brand: string): string {
  if (state.phase.kind === "sent") return `Message sent | ${brand}`;
  const isInvalid = state.phase.kind === "invalid" && Object.keys(openErrors(state)).length > 0;
  return `${isInvalid || state.phase.kind === "failed" ? "Error: " : ""}Contact us | ${brand}`;
}

/** The errors of the last submit whose fields still have the submitted value. */
function openErrors({ errors, values, submitted }: FormState): AnswerErrors {
  return Object.fromEntries(
    Object.entries(errors).filter(([name]) => !isName(name) || values[name] === submitted[name]),
  );
}

/** The body of `/send-email`, where the fields of the estimate have names without a prefix. */
export function requestBody(values: Values, others: Readonly<Record<string, string>>): string {
  const message = Object.fromEntries(FIELD_NAMES.map((name) => [name, values[name]]));
  const amounts = Object.entries(values).filter(([name]) => name in START_TEXTS);
  const footprint = Object.fromEntries(amounts.map(([name, text]) => [name.slice(FIELD_PREFIX.length), text]));
  return JSON.stringify({ ...message, ...others, ...(hasAmounts(values) && { footprint }) });
}
