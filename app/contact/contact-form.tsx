import { type Dispatch, Fragment, type SubmitEvent, useEffect, useLayoutEffect, useReducer, useRef } from "react";
import { flushSync } from "react-dom";
import { CONTACT_FIELDS, type ContactField, FIELD_NAMES, TRAP_FIELD } from "../../contract/contact-message.ts";
import type { FootprintErrors } from "../../contract/footprint/fields.ts";
import type { Price } from "../../contract/footprint/words.ts";
import { problemsOf, SENT_ESTIMATE_ID, type SendEmailAnswer } from "../../contract/send-email-answer.ts";
import { ErrorBoundary } from "../components/error-message.tsx";
import { type Country, countryOptions } from "./countries.ts";
import { EmailSuggestion } from "./email-suggestion.tsx";
import { Field, type FieldState, FORM_ID, focusField, MessageField } from "./field.tsx";
import { FAILED_RESULT, FootprintPart, footprintSummary, NO_RESULT } from "./footprint-part.tsx";
import { ErrorSummary, FormAlert, SendAnother, SentElsewhere } from "./form-alert.tsx";
import { FORM_TITLE_ID, FormHead, focusForm } from "./form-head.tsx";
import {
  type FormEvent,
  type FormState,
  hasAmounts,
  hasFailed,
  isDone,
  needsFigures,
  nextState,
  problemsIn,
  reportedErrors,
  requestBody,
  shownErrors,
  startState,
  type Values,
} from "./form-state.ts";
import { readValues, rememberValues } from "./kept-values.ts";
import { useCountries, useEstimator } from "./loading.ts";
import type { Fold } from "./questions.ts";
import { createIdempotencyKey, sendMessage } from "./send-message.ts";

/** The element whose content the browser hydrates; its data attributes are the props of the form. */
export const FORM_ROOT_ID = "contact-form";

export interface ContactFormProps {
  apiBase: string;
  countriesUrl: string;
  electricityUrl: string;
  price: Price | null;
  /** How soon the company answers; empty if it does not say. */
  answerWithin: string;
  /** The company's address, for the error screen. */
  email: string;
  /** The answer to a post without script, if the page shows one, and the report of the estimate that was sent. */
  answer: SendEmailAnswer | null;
  reportHtml: string;
  /** For visitors without script, whose browser cannot fetch the list. Only the build passes it. */
  countries?: readonly Country[];
  /** What the visitor, the browser or the server wrote into the fields before React started. Only a browser passes it. */
  takeSeed?(): { values: Values; open: readonly Fold[] };
}

/**
 * Works as a plain form until its script has loaded. The state is outside of the error boundary, so that nothing typed
 * is lost if the form fails to render.
 */
export function ContactForm(props: ContactFormProps) {
  const { takeSeed } = props;
  const [state, dispatch] = useReducer(nextState, props, startState);
  // The first rendering must match the HTML.
  useLayoutEffect(() => {
    if (takeSeed) dispatch({ type: "seeded", ...takeSeed() });
  }, [takeSeed]);
  return (
    <ErrorBoundary email={props.email} onError={() => rememberValues(state.values)}>
      <Form {...props} state={state} dispatch={dispatch} />
    </ErrorBoundary>
  );
}

/** Precedes the page title while the page shows errors. */
export const ERROR_PREFIX = "Error: ";
/** Longer than a press: a message that appears on blur must not move the button away from the pointer. */
const PRESS_MS = 300;
/** Delays the announcement of a total until the visitor has stopped typing. */
const PAUSE_MS = 1200;

interface FormProps extends ContactFormProps {
  state: FormState;
  dispatch: Dispatch<FormEvent>;
}

function Form(props: FormProps) {
  const { apiBase, price, answerWithin, state, dispatch } = props;
  const { values, phase, report } = state;
  const panel = useRef<HTMLElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const summary = useRef<HTMLDivElement>(null);
  const pause = useRef(0);
  const leaving = useRef(0);
  const countries = useCountries(props.countriesUrl);
  const loaded = useEstimator(needsFigures(state), props.electricityUrl);
  const estimator = loaded === "failed" ? null : loaded;
  useOutcome(state, () => {
    if (summary.current) summary.current.focus();
    else form.current?.querySelector(".alerts > .alert")?.scrollIntoView({ block: "nearest" });
    // The button that had the focus is gone. The confirmation does not take the focus: screen readers announce it
    // anyway.
    if (isDone(state)) panel.current?.focus({ preventScroll: true });
  });

  const nameOf = (code = "") => countries.find((country) => country.code === code)?.name ?? code;
  const unreadableIn = (from: Values) => estimator?.read(from).errors ?? {};
  const submit = useSending(props, unreadableIn);
  const look = ({ values, typing }: FormState["settled"]) => {
    const reading = estimator?.read(values);
    const problems = problemsOf(reportedErrors(reading?.errors ?? {}, typing));
    const problem = problems.map(([, sentence]) => sentence).join(" ");
    return { reading, total: reading?.total ?? "", largest: reading?.largest ?? "", problems, problem };
  };
  const { reading, problems, ...enclosed } = look(state);
  const settled = look(state.settled);
  const announcement = [settled.problem, settled.total && `Your estimate: ${settled.total}`].filter(Boolean).join(" ");
  const errors = shownErrors(reading?.errors ?? {}, state);
  const reportHtml =
    typeof report === "string" ? report : (estimator?.report(report, price, nameOf(report.values.country)) ?? "");

  function edit(name: string, value: string) {
    dispatch({ type: "edited", name, value });
    clearTimeout(pause.current);
    clearTimeout(leaving.current);
    pause.current = window.setTimeout(dispatch, PAUSE_MS, { type: "settled" });
  }

  function leave(name: string) {
    leaving.current = window.setTimeout(dispatch, PRESS_MS, { type: "left", name });
  }

  const fieldOf = (name: string): FieldState => ({
    name,
    value: values[name] ?? "",
    error: errors[name as keyof typeof errors],
    hint: reading?.hints[name],
    question: reading?.questions[name],
    meanings: reading?.meanings[name],
    onEdit: (value) => edit(name, value),
    onLeave: () => leave(name),
  });

  const contactFieldOf = (name: ContactField) => {
    const { label, formLabel = label, isRequired, input, autoComplete } = CONTACT_FIELDS[name];
    const field = { ...fieldOf(name), label: formLabel, required: isRequired, autoComplete };
    switch (input) {
      case "text":
        return <Field key={name} {...field} dir="auto" />;
      case "tel":
        return <Field key={name} {...field} dir="auto" type="tel" inputMode="tel" />;
      case "email":
        return (
          <Field key={name} {...field} dir="auto" type="email" inputMode="email" spellCheck={false}>
            {/* Not while the visitor is typing. */}
            <EmailSuggestion
              typed={state.typing === name ? "" : field.value}
              onAccept={(address) => {
                edit(name, address);
                focusField(name);
              }}
            />
          </Field>
        );
      case "country":
        return (
          <Fragment key={name}>
            <Field {...field} options={countryOptions(countries, field.value)} />
            <PlainCountries countries={props.countries ?? []} />
          </Fragment>
        );
      case "textarea":
        return <MessageField key={name} {...field} dir="auto" />;
    }
  };

  function toggle(fold: Fold, isOpen: boolean) {
    dispatch({ type: "toggled", fold, isOpen });
  }

  /** Focuses the first unreadable field. Returns false if there is none. */
  function focusProblem(): boolean {
    const [name] = Object.keys(reading?.errors ?? {});
    if (name !== undefined) focusField(name);
    return name !== undefined;
  }

  function openEstimate() {
    flushSync(() => toggle("footprint", true));
    if (focusProblem()) return;
    footprintSummary()?.scrollIntoView();
    footprintSummary()?.focus();
  }

  function closeEstimate() {
    if (focusProblem()) return;
    flushSync(() => toggle("footprint", false));
    focusForm();
  }

  function removeEstimate(focus: () => void) {
    flushSync(() => dispatch({ type: "removed" }));
    focus();
  }

  return (
    <>
      <FootprintPart
        {...{ reading, problems, announcement, fieldOf }}
        open={state.open}
        // Rendering a second list of 250 countries would slow down pages whose visitors do not open the part.
        countries={state.open.includes("footprint") ? countries : []}
        result={
          (reading && estimator?.show(reading, price, nameOf(values.country))) ??
          (loaded === "failed" ? FAILED_RESULT : NO_RESULT)
        }
        onToggle={toggle}
        onContinue={closeEstimate}
        onRemove={() => removeEstimate(() => footprintSummary()?.focus())}
      />
      <section ref={panel} className="contact-panel" tabIndex={-1} aria-labelledby={FORM_TITLE_ID}>
        <FormHead
          enclosed={hasAmounts(values) ? enclosed : null}
          onEdit={openEstimate}
          onRemove={() => removeEstimate(focusForm)}
        />
        <div className="form-column">
          <ErrorSummary ref={summary} state={state} />
          <form
            ref={form}
            id={FORM_ID}
            className={isDone(state) ? "form form-done" : "form"}
            action={`${apiBase}/send-email`}
            method="post"
            aria-busy={phase.kind === "sending"}
            aria-invalid="false"
            // The script reports all errors at once. Without script, the browser reports one field after the other.
            noValidate={state.isInteractive}
            onSubmit={submit}
          >
            <p className="form-note">Fields marked with an asterisk are required.</p>
            {FIELD_NAMES.map(contactFieldOf)}
            <div className="trap" aria-hidden="true">
              <label htmlFor={TRAP_FIELD}>Leave this field empty</label>
              <input id={TRAP_FIELD} name={TRAP_FIELD} autoComplete="off" tabIndex={-1} />
            </div>
            <FormAlert {...{ state, answerWithin }} hasReport={reportHtml !== ""} />
            {phase.kind === "idle" && apiBase !== "" && <SentElsewhere answerWithin={answerWithin} />}
            {isDone(state) && (
              <SendAnother
                onClick={(event) => {
                  // The address of a page that answers a post shows that answer again.
                  if (props.answer) return;
                  event.preventDefault();
                  flushSync(() => dispatch({ type: "again" }));
                  // Not the first field: Orca moves there silently when the link is removed, and would not announce
                  // the focus.
                  focusForm();
                }}
              />
            )}
            <button
              type="submit"
              className="button button-primary form-submit"
              aria-disabled={phase.kind === "sending"}
            >
              {phase.kind === "sending" ? "Sending…" : "Submit"}
            </button>
          </form>
        </div>
      </section>
      <section
        className="report"
        id={SENT_ESTIMATE_ID}
        hidden={reportHtml === ""}
        tabIndex={-1}
        aria-labelledby="report-title report-total"
      >
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own text, with all input escaped */}
        <div dangerouslySetInnerHTML={{ __html: reportHtml }} />
        {typeof report === "object" && <PrintButton />}
      </section>
    </>
  );
}

export function PrintButton() {
  return (
    <button type="button" className="button button-outline report-print" onClick={() => print()}>
      Print or save
    </button>
  );
}

/** Moves the focus and corrects the page's title when there is a new outcome, not while a visitor corrects fields. */
function useOutcome(state: FormState, show: () => void): void {
  const { phase, isInteractive } = state;
  const isInError = hasFailed(state);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new phase is a new outcome
  useEffect(() => {
    // The outcome that the server wrote into the page is in view already.
    if (isInteractive && phase.kind !== "idle" && phase.kind !== "sending") show();
  }, [phase]);
  useEffect(() => {
    const title = document.title.replace(ERROR_PREFIX, "");
    document.title = isInError ? ERROR_PREFIX + title : title;
  }, [isInError]);
}

function useSending({ apiBase, state, dispatch }: FormProps, unreadableIn: (values: Values) => FootprintErrors) {
  const lastSent = useRef({ body: "", key: "" });

  return async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (state.phase.kind === "sending") return;
    // Includes what a program wrote without an event.
    const values = { ...state.values, ...readValues(event.currentTarget) };
    const errors = problemsIn(values, unreadableIn(values));
    // Rendered at once, so that a second press finds the new phase, even in the same task.
    flushSync(() => dispatch({ type: "submitted", values, errors }));
    if (Object.keys(errors).length > 0) return;
    try {
      const body = requestBody(values);
      // The same message keeps its key, so that sending it again after a lost answer does not store it twice.
      if (lastSent.current.body !== body) lastSent.current = { body, key: createIdempotencyKey() };
      const answer = await sendMessage(apiBase, body, lastSent.current.key);
      if (answer.success) rememberValues({});
      dispatch({ type: "answered", answer, date: new Date() });
    } catch (error) {
      console.error("Sending the message failed.", error);
      dispatch({ type: "broke", isOffline: !navigator.onLine });
    }
  };
}

/** The server uses the last of two fields with the same name: this one, not the list that scripts fill. */
function PlainCountries({ countries }: { countries: readonly Country[] }) {
  const options = countries.map(({ code, name }) => `<option value="${code}">${name}</option>`).join("");
  const html = `<div class="field field-country"><label for="plain-country">Country</label><select id="plain-country" name="country" autocomplete="country" data-fact="countries"><option value="">Select a country</option>${options}</select></div>`;
  return (
    <noscript
      suppressHydrationWarning
      // biome-ignore lint/security/noDangerouslySetInnerHtml: country names; browsers with script do not parse them
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}
