import { type Dispatch, useEffect, useLayoutEffect, useReducer, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { FormSettings } from "../../contract/build-manifest.ts";
import { FIELD_NAMES, TRAP_FIELD } from "../../contract/contact-message.ts";
import { type AnsweredPost, RECEIPT_FIELD, SENT_ALERT_ID } from "../../contract/send-email-answer.ts";
import { ErrorBoundary } from "../components/error-message.tsx";
import { useLoaded } from "../use-loaded.ts";
import { type Country, loadCountries } from "./countries.ts";
import { EstimatePart, type ResultModule, useEstimator } from "./estimate-part.tsx";
import { ContactInput, type FieldState, FORM_HEAD_ID, FORM_ID } from "./field.tsx";
import { EnclosedNote, ErrorSummary, FailureAlert } from "./form-alert.tsx";
import { type FormEvent, type FormState, type Name, nextState, startState } from "./form-state.ts";
import { formTitle, formView } from "./form-view.ts";
import { remember, type Seed } from "./kept-values.ts";
import { FoldedReceipt, ReceiptActions, ReceiptText } from "./receipt.tsx";
import { useSending } from "./send-message.ts";

export const FORM_ROOT_ID = "contact-form";
const FORM_TITLE = "Send us a Message";

interface ContactFormProps {
  settings: FormSettings;
  answered: AnsweredPost | null;
  resultModule?: ResultModule | null;
  /** For visitors without script, whose browser cannot fetch the list. Only the build and the server pass it. */
  countries?: readonly Country[];
  /** What the visitor or the browser wrote into the fields before React started. Only a browser passes it. */
  takeSeed?(): Seed;
}

/** The state is outside of the error boundary, so that nothing typed is lost if the form fails to render. */
export function ContactForm(props: ContactFormProps) {
  const { takeSeed, answered, settings } = props;
  const [state, dispatch] = useReducer(nextState, answered, startState);
  // The first rendering must match the HTML.
  useLayoutEffect(() => {
    if (takeSeed) dispatch({ type: "seeded", ...takeSeed() });
  }, [takeSeed]);
  return (
    <ErrorBoundary email={settings.email} onError={() => remember({ values: state.values })}>
      <Form {...props} state={state} dispatch={dispatch} />
    </ErrorBoundary>
  );
}

/** Longer than a press: a message that appears on blur must not move the button away from the pointer. */
const PRESS_MS = 300;

interface FormProps extends ContactFormProps {
  state: FormState;
  dispatch: Dispatch<FormEvent>;
}

function Form({ settings, resultModule, countries: allCountries = [], state, dispatch }: FormProps) {
  const { apiBase, price, answerWithin, assurance } = settings;
  const { values, phase, receipt, isInteractive } = state;
  const shown = phase.kind === "sent" ? receipt : null;
  // Empty until the list has loaded, and if it fails to load: a country is optional.
  const { result: countries = [] } = useLoaded("The country list", () => loadCountries(settings.countriesUrl));
  const estimator = useEstimator(state);
  const SentEstimate = (estimator.result ?? resultModule)?.SentEstimate;
  const view = formView(state, estimator.result?.readEstimate);
  const { errors } = view;
  const submit = useSending(apiBase, state, dispatch, estimator.result?.readEstimate);
  const outcome = useOutcome(state, settings.brand);

  // Rendered at once, because the new state may contain the element.
  function act(event: FormEvent, focusId?: string) {
    flushSync(() => dispatch(event));
    if (focusId) document.getElementById(focusId)?.focus();
  }

  const fieldOf = (name: Name): FieldState => ({
    name,
    value: values[name],
    isTyping: state.typing === name,
    readOnly: phase.kind === "sending",
    error: errors[name],
    hint: view.own.hints[name],
    onEdit: (value) => dispatch({ type: "edited", name, value }),
    onLeave: () => void setTimeout(dispatch, PRESS_MS, { type: "left", name }),
  });
  return (
    <>
      <EstimatePart
        state={state}
        view={view}
        estimator={estimator}
        price={price}
        countries={countries}
        fieldOf={fieldOf}
        act={act}
      />
      <section className="contact-panel" aria-label={FORM_TITLE}>
        {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: it has a role whenever it has a name */}
        <div
          ref={outcome.receipt}
          id={SENT_ALERT_ID}
          className={shown ? "receipt" : undefined}
          role={shown ? "group" : undefined}
          aria-label={shown ? `Message sent successfully! Your reference is ${shown.reference}.` : undefined}
          tabIndex={-1}
        >
          {/* Always there: a live region that appears together with its text may not be announced. */}
          <div className="live" aria-live="polite" aria-atomic="true">
            {phase.kind === "sending" && <p className="visually-hidden">Sending…</p>}
            {shown && (
              <ReceiptText
                receipt={shown}
                answerWithin={answerWithin}
                hasPicture={shown.estimate !== null && !estimator.hasFailed}
              />
            )}
          </div>
          {shown && isInteractive && <ReceiptActions reference={shown.reference} />}
          {shown?.estimate && SentEstimate && <SentEstimate estimate={shown.estimate} price={price} />}
          {receipt && !shown && <FoldedReceipt reference={receipt.reference} />}
        </div>
        <div className="form-column">
          {/* biome-ignore lint/a11y/useSemanticElements: it groups words that screen readers read together */}
          <div
            id={FORM_HEAD_ID}
            role="group"
            aria-labelledby={view.isEnclosed ? "form-title enclosed" : "form-title"}
            tabIndex={-1}
          >
            <h2 id="form-title">{FORM_TITLE}</h2>
          </div>
          <ErrorSummary state={state} outcome={outcome.failure} />
          <form
            id={FORM_ID}
            className="form"
            action={`${apiBase}/send-email`}
            method="post"
            aria-busy={phase.kind === "sending"}
            aria-invalid="false"
            // The script reports all errors at once. Without script, the browser reports one field after the other.
            noValidate={isInteractive}
            onSubmit={submit}
          >
            <p className="note">Fields marked with an asterisk are required.</p>
            {FIELD_NAMES.map((name) => (
              <ContactInput
                key={name}
                {...fieldOf(name)}
                name={name}
                countries={countries}
                allCountries={allCountries}
              />
            ))}
            {receipt && !isInteractive && <input type="hidden" name={RECEIPT_FIELD} value={receipt.reference} />}
            <div className="trap" aria-hidden="true">
              <label htmlFor={TRAP_FIELD}>Leave this field empty</label>
              <input id={TRAP_FIELD} name={TRAP_FIELD} autoComplete="off" tabIndex={-1} />
            </div>
            <EnclosedNote view={view} act={act} />
            <FailureAlert state={state} outcome={outcome.failure} />
            <button type="submit" className="button button-primary" aria-disabled={phase.kind === "sending"}>
              {phase.kind === "sending" ? "Sending…" : "Submit"}
            </button>
            {assurance !== "" && <p className="note">{assurance}</p>}
          </form>
          {/* A sent estimate is no estimate that was removed. */}
          <Announcement key={receipt?.reference} text={view.announcement} />
        </div>
      </section>
    </>
  );
}

/** Long enough that a total is announced when the visitor has stopped typing, not with every key. */
const PAUSE_MS = 1200;

/** Orca reads all of it only with both attributes, the role and `aria-live`. */
function Announcement({ text }: { text: string }) {
  const [said, setSaid] = useState("");
  const wasEstimate = useRef(false);
  useEffect(() => {
    wasEstimate.current ||= text !== "";
    const pause = setTimeout(setSaid, PAUSE_MS, text || (wasEstimate.current ? "There is no estimate now." : ""));
    return () => clearTimeout(pause);
  }, [text]);
  return (
    <p className="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
      {said}
    </p>
  );
}

function useOutcome(state: FormState, brand: string) {
  const { phase, isInteractive, errors } = state;
  const receipt = useRef<HTMLDivElement>(null);
  const failure = useRef<HTMLDivElement>(null);
  const wasInteractive = useRef(false);
  const title = formTitle(state, brand);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new phase is a new outcome
  useEffect(() => {
    // The outcome of an earlier page, which the server or the history entry gave, is in view already.
    if (!wasInteractive.current || phase.kind === "sending") return;
    if (phase.kind === "sent") {
      remember({ values: {}, receipt: state.receipt, isFolded: false });
      // The button that had the focus is far below. Screen readers announce the receipt without the focus.
      receipt.current?.focus({ preventScroll: true });
      receipt.current?.scrollIntoView();
    } else {
      remember({ isFolded: true });
      if (Object.keys(errors).length > 0) failure.current?.focus();
      else failure.current?.scrollIntoView({ block: "nearest" });
    }
  }, [phase]);
  useEffect(() => {
    wasInteractive.current = isInteractive;
    if (isInteractive) document.title = title;
  }, [isInteractive, title]);
  return { receipt, failure };
}
