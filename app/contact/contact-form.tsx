import { type Dispatch, Fragment, type RefObject, useEffect, useLayoutEffect, useReducer, useRef } from "react";
import { flushSync } from "react-dom";
import { CONTACT_FIELDS, type ContactField, FIELD_NAMES, TRAP_FIELD } from "../../contract/contact-message.ts";
import type { Price } from "../../contract/footprint/words.ts";
import { SENT_ESTIMATE_ID, type SendEmailAnswer } from "../../contract/send-email-answer.ts";
import { ErrorBoundary } from "../components/error-message.tsx";
import { loadJson, useLoaded } from "../use-loaded.ts";
import { type Country, countryOptions, loadCountries } from "./countries.ts";
import {
  EmailField,
  Field,
  type FieldState,
  FORM_HEAD_ID,
  FORM_ID,
  FORM_TITLE_ID,
  focusOn,
  MessageField,
} from "./field.tsx";
import { FootprintPart } from "./footprint-part.tsx";
import { CopyReference, ErrorSummary, FormAlert, SendAnother, SentElsewhere } from "./form-alert.tsx";
import { FormHead } from "./form-head.tsx";
import {
  type FormEvent,
  type FormState,
  type FormView,
  formView,
  needsFigures,
  nextState,
  startState,
} from "./form-state.ts";
import { rememberValues, type Seed } from "./kept-values.ts";
import { useSending } from "./send-message.ts";

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
  takeSeed?(): Seed;
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

export type Estimator = Awaited<ReturnType<typeof loadEstimator>>;

async function loadEstimator(electricityUrl: string) {
  const [{ createEstimator }, table] = await Promise.all([import("./estimate-result.tsx"), loadJson(electricityUrl)]);
  return createEstimator(table);
}

interface FormProps extends ContactFormProps {
  state: FormState;
  dispatch: Dispatch<FormEvent>;
}

function Form(props: FormProps) {
  const { apiBase, price, answerWithin, state, dispatch } = props;
  const { values, phase, report } = state;
  const panel = useRef<HTMLElement>(null);
  const pause = useRef(0);
  const leaving = useRef(0);
  const list = useLoaded("The country list", props.countriesUrl, loadCountries);
  // Empty until the list has loaded, and if it fails to load: a country is optional.
  const countries = Array.isArray(list) ? list : [];
  const isOpen = state.open.includes("footprint");
  const url = needsFigures(state) ? props.electricityUrl : "";
  const figures = useLoaded("The footprint estimate", url, loadEstimator, isOpen);
  const estimator = figures === "failed" ? null : figures;
  const view = formView(state, estimator?.read);
  const { reading, errors, isDone } = view;
  const reportHtml = typeof report === "string" ? report : (estimator?.report(report, price) ?? "");
  const submit = useSending(apiBase, state, dispatch, estimator?.read);
  useOutcome(state, view, panel);

  function edit(name: string, value: string) {
    dispatch({ type: "edited", name, value });
    clearTimeout(pause.current);
    clearTimeout(leaving.current);
    pause.current = window.setTimeout(dispatch, PAUSE_MS, { type: "settled" });
  }

  // Rendered at once, because the new state may contain the element.
  function act(event: FormEvent, focusId: string) {
    flushSync(() => dispatch(event));
    document.getElementById(focusId)?.focus();
  }

  const fieldOf = (name: string): FieldState => ({
    name,
    value: values[name] ?? "",
    isTyping: state.typing === name,
    error: errors[name as keyof typeof errors],
    hint: reading?.hints[name],
    question: reading?.questions[name],
    meanings: reading?.meanings[name],
    onEdit: (value) => edit(name, value),
    onFill: (value) => {
      edit(name, value);
      focusOn(name);
    },
    onLeave: () => {
      leaving.current = window.setTimeout(dispatch, PRESS_MS, { type: "left", name });
    },
  });

  const contactFieldOf = (name: ContactField) => {
    const { label, formLabel = label, isRequired, input, autoComplete } = CONTACT_FIELDS[name];
    const field = { ...fieldOf(name), label: formLabel, required: isRequired, autoComplete };
    if (input === "textarea") return <MessageField key={name} {...field} dir="auto" />;
    if (input === "country") {
      return (
        <Fragment key={name}>
          <Field {...field} options={countryOptions(countries, field.value)} />
          {/* The server uses the last of two fields with the same name: this one, not the list that scripts fill. */}
          <noscript data-fact="countries">
            <Field {...field} id="plain-country" options={countryOptions(props.countries ?? [], "")} />
          </noscript>
        </Fragment>
      );
    }
    const Control = input === "email" ? EmailField : Field;
    const type = input === "text" ? undefined : input;
    return <Control key={name} {...field} dir="auto" type={type} inputMode={type} />;
  };

  return (
    <>
      <FootprintPart
        view={view}
        open={state.open}
        result={reading && estimator?.show(reading, price, view.example, act)}
        hasFailedToLoad={figures === "failed"}
        // Rendering a second list of 250 countries would slow down pages whose visitors do not open the part.
        countries={isOpen ? countries : []}
        fieldOf={fieldOf}
        dispatch={dispatch}
        act={act}
      />
      <section ref={panel} className="contact-panel" tabIndex={-1} aria-labelledby={FORM_TITLE_ID}>
        <FormHead view={view} act={act} />
        <div className="form-column">
          <ErrorSummary state={state} />
          <form
            id={FORM_ID}
            className={isDone ? "form form-done" : "form"}
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
            <input type="hidden" name="example" value={values.example} />
            <input type="hidden" name="exampleFields" value={values.exampleFields} />
            <div className="trap" aria-hidden="true">
              <label htmlFor={TRAP_FIELD}>Leave this field empty</label>
              <input id={TRAP_FIELD} name={TRAP_FIELD} autoComplete="off" tabIndex={-1} />
            </div>
            <FormAlert state={state} answerWithin={answerWithin} hasReport={reportHtml !== ""} />
            {phase.kind === "idle" && apiBase !== "" && <SentElsewhere answerWithin={answerWithin} />}
            {isDone && (
              <div className="sent-actions">
                {state.isInteractive && phase.kind === "sent" && <CopyReference reference={phase.reference} />}
                <SendAnother
                  onClick={(event) => {
                    // The address of a page that answers a post shows that answer again.
                    if (props.answer) return;
                    event.preventDefault();
                    // Not the first field: Orca moves there silently when the link is removed, and would not announce
                    // the focus.
                    act({ type: "again" }, FORM_HEAD_ID);
                  }}
                />
              </div>
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
function useOutcome(state: FormState, view: FormView, panel: RefObject<HTMLElement | null>): void {
  const { phase, isInteractive } = state;
  const { isDone, isInError } = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new phase is a new outcome
  useEffect(() => {
    // The outcome that the server wrote into the page is in view already.
    if (!isInteractive || phase.kind === "idle" || phase.kind === "sending") return;
    const summary = panel.current?.querySelector<HTMLElement>(".error-summary");
    if (summary) summary.focus();
    else panel.current?.querySelector(".alerts > .alert")?.scrollIntoView({ block: "nearest" });
    // The button that had the focus is gone. The confirmation does not take the focus: screen readers announce it
    // anyway.
    if (isDone) panel.current?.focus({ preventScroll: true });
  }, [phase]);
  useEffect(() => {
    const title = document.title.replace(ERROR_PREFIX, "");
    document.title = isInError ? ERROR_PREFIX + title : title;
  }, [isInError]);
}
