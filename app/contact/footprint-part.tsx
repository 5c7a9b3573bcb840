import {
  type ComponentProps,
  lazy,
  type ReactNode,
  type Ref,
  type RefObject,
  Suspense,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { FIELD_PREFIX, type FootprintErrors, unbroken } from "../../contract/footprint/fields.ts";
import type { Price } from "../../contract/footprint/words.ts";
import { SENT_ESTIMATE_ID } from "../../contract/send-email-answer.ts";
import { tryTwice } from "./countries.ts";
import { focusField } from "./field.tsx";
import type { Reading, Report as ReportComponent } from "./footprint-estimate.tsx";

/** The fragment that opens the part. */
const FRAGMENT = "footprint";
/** Our script opens the part before the first paint. Browsers open it later, which would move everything below. */
export const OPEN_AT_FRAGMENT = `location.hash=="#${FRAGMENT}"&&new MutationObserver((_,o)=>{const d=document.querySelector(".footprint");if(d)d.open=1,o.disconnect()}).observe(document,{childList:1,subtree:1})`;
/** The form's heading, and the text that screen readers read with it. */
export const FORM_TITLE_ID = "form-title";
const FORM_HEAD_ID = "form-head";
const ENCLOSED_ID = "enclosed";
/** The page that explains the figures: under /assets/, because every other path belongs to the site's own pages. */
export const FOOTPRINT_PATH = "/assets/footprint";

/** The methods of the part that the form calls. */
export interface FootprintHandle {
  /**
   * `fields` goes into the request body: empty, or the visitor's inputs, from which the server computes the estimate.
   */
  read(): { fields: object; errors: FootprintErrors };
  open(): void;
  /**
   * Shows the estimate that was sent, to print or save, and closes the part unless the visitor has edited it since.
   * Returns false if there is nothing to show: no estimate was sent, or the figures to compute it have not loaded.
   */
  finish(reference: string, keepsEdits: boolean): boolean;
  remove(): void;
}

interface FootprintPartProps {
  ref: Ref<FootprintHandle>;
  form: RefObject<HTMLFormElement | null>;
  formId: string;
  electricityUrl: string;
  price: Price | null;
  errors: FootprintErrors;
  onEdit(field: string): void;
  /** Called when only the focus moved, because the display depends on the focus. */
  onBlur(): void;
  /** `null` while nothing is entered. */
  onEnclose(enclosed: Enclosed | null): void;
  children: ReactNode;
}

/** The estimate that goes with the message, as text. Unknown values are empty. */
export interface Enclosed {
  total: string;
  /** "Flights, 55%". */
  largest: string;
  /** Names unreadable inputs, which prevent sending. */
  problem: string;
}

/** Loads the part when the visitor opens it; the build renders it at once. */
let ask: () => void = () => {};
const asked = new Promise<void>((resolve) => {
  if (typeof document === "undefined") resolve();
  else ask = resolve;
});

/**
 * The fields and their result. Until the visitor opens the part, it is plain HTML: React neither loads its script nor
 * hydrates it. The plain fields also remain if the script fails to load.
 */
const Estimate = lazy(async () => {
  await asked;
  try {
    return { default: (await tryTwice(() => import("./footprint-estimate.tsx"))).Estimate };
  } catch (error) {
    console.error("The footprint estimate did not load.", error);
    // Only the script fills these elements. CSS hides them where scripts are off.
    for (const unused of document.querySelectorAll(".footprint-bar, .footprint-country")) unused.remove();
    return new Promise<never>(() => {});
  }
});

/**
 * The optional estimate: plain inputs of the contact form in a separate part. Without script, the server computes it.
 * `children` stand between the inputs and the report of a sent estimate.
 */
export function FootprintPart({
  ref,
  form,
  formId,
  electricityUrl,
  price,
  errors,
  onEdit,
  onBlur,
  onEnclose,
  children,
}: FootprintPartProps) {
  const details = useRef<HTMLDetailsElement>(null);
  /** `null` until its script has loaded. */
  const [Report, setReportComponent] = useState<typeof ReportComponent | null>(null);
  const reading = useRef<Reading>(null);
  /** As it was when the message was sent. */
  const submitted = useRef<Reading>(null);
  const [report, setReport] = useState<ComponentProps<typeof ReportComponent> | null>(null);

  const enclose = () => {
    const { total = "", largest = "", problems = [] } = reading.current ?? {};
    const problem = problems.map(([, sentence]) => sentence).join(" ");
    onEnclose(form.current && hasAmounts(form.current) ? { total, largest, problem } : null);
  };
  /** Focuses the first unreadable field. Returns false if there is none. */
  const focusProblem = () => {
    const [name] = Object.keys(reading.current?.errors ?? {});
    if (name !== undefined) focusField(name);
    return name !== undefined;
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page has become interactive
  useEffect(() => {
    const part = details.current;
    if (!part) return;
    const openIfAsked = () => {
      if (location.hash !== `#${FRAGMENT}` || part.open) return;
      part.open = true;
      part.scrollIntoView();
    };
    // A native listener, because React receives no events from markup that it has not hydrated.
    const takeInput = ({ target }: Event) => {
      const { name } = target as HTMLInputElement;
      // This is the second country control. Rendering before the form has the new country would show the old one.
      if (name === "") return;
      onEdit(name);
      enclose();
    };
    // Enter after a number must not send the message.
    const stayOnEnter = (event: KeyboardEvent) => {
      if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
    };
    // The browser restored earlier inputs.
    if (form.current && hasAmounts(form.current)) part.open = true;
    openIfAsked();
    enclose();
    if (part.open) ask();
    part.addEventListener("input", takeInput);
    part.addEventListener("focusout", onBlur);
    part.addEventListener("keydown", stayOnEnter);
    addEventListener("hashchange", openIfAsked);
    return () => {
      part.removeEventListener("input", takeInput);
      part.removeEventListener("focusout", onBlur);
      part.removeEventListener("keydown", stayOnEnter);
      removeEventListener("hashchange", openIfAsked);
    };
  }, []);

  useImperativeHandle(ref, () => ({
    read: () => {
      submitted.current = reading.current;
      return { fields: form.current ? textsOf(form.current) : {}, errors: reading.current?.errors ?? {} };
    },
    open: () => {
      if (details.current) details.current.open = true;
      if (focusProblem()) return;
      details.current?.scrollIntoView();
      details.current?.querySelector("summary")?.focus();
    },
    finish: (reference, keepsEdits) => {
      if (details.current && !keepsEdits) details.current.open = false;
      enclose();
      if (!submitted.current?.estimate) {
        setReport(null);
        // The estimate of an earlier message, which the server wrote into the page. React does not manage it.
        document.getElementById(SENT_ESTIMATE_ID)?.setAttribute("hidden", "");
        return false;
      }
      const { estimate, country, countryName, electricity } = submitted.current;
      setReport({
        sent: { inputs: estimate.inputs, country, countryName, reference, date: new Date() },
        electricity,
        price,
      });
      return true;
    },
    remove,
  }));

  function remove() {
    for (const control of controlsOf(form.current)) {
      if (control instanceof HTMLSelectElement) control.selectedIndex = 0;
      else {
        control.value = control.defaultValue;
        control.checked = control.defaultChecked;
      }
      onEdit(control.name);
    }
    if (details.current) details.current.open = false;
    enclose();
  }

  const estimate = (
    <Suspense fallback={null}>
      <Estimate
        form={form}
        formId={formId}
        formTitleId={FORM_TITLE_ID}
        explanationPath={FOOTPRINT_PATH}
        electricityUrl={electricityUrl}
        price={price}
        errors={errors}
        onReady={(component) => setReportComponent(() => component)}
        onRead={(latest) => {
          reading.current = latest;
          enclose();
        }}
        onContinue={() => {
          if (focusProblem()) return;
          if (details.current) details.current.open = false;
          focusForm();
        }}
        onRemove={() => {
          remove();
          details.current?.querySelector("summary")?.focus();
        }}
      />
    </Suspense>
  );
  // If its props changed before hydration, React would render it again and discard the visitor's input.
  const [untouched] = useState(estimate);
  return (
    <>
      <details ref={details} className="footprint" onToggle={() => details.current?.open && ask()}>
        <summary>
          <h2>Estimate your footprint</h2>
          <span className="footprint-optional">Optional: send an estimate along with your message.</span>
        </summary>
        {Report ? estimate : untouched}
      </details>
      {children}
      {Report && report ? (
        <Report {...report} />
      ) : (
        <section
          hidden
          id={SENT_ESTIMATE_ID}
          className="report"
          tabIndex={-1}
          aria-labelledby="report-title report-total"
          suppressHydrationWarning
          // biome-ignore lint/security/noDangerouslySetInnerHtml: the server writes the estimate here after a plain post
          dangerouslySetInnerHTML={{ __html: "" }}
        />
      )}
    </>
  );
}

interface FormHeadProps {
  enclosed: Enclosed | null;
  onEdit(): void;
  onRemove(): void;
}

/** The title of the form, and what goes with the message. */
export function FormHead({ enclosed, onEdit, onRemove }: FormHeadProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups words that screen readers read together, not fields
    <div className="form-head" id={FORM_HEAD_ID} role="group" aria-labelledby={`${FORM_TITLE_ID} ${ENCLOSED_ID}`}>
      <h2 id={FORM_TITLE_ID}>Send us a Message</h2>
      {!enclosed && <p className="form-note">To add an estimate, enter an amount.</p>}
      {enclosed && (
        <div className="enclosed">
          <p id={ENCLOSED_ID}>
            {enclosed.problem === "" ? (
              <>
                Your estimate is included
                {enclosed.total !== "" && (
                  <>
                    : <b data-fact="total">{unbroken(enclosed.total)}</b>
                  </>
                )}
                .
                {enclosed.largest !== "" && (
                  <>
                    {" "}
                    The largest part: <span data-fact="largest">{enclosed.largest}</span>.
                  </>
                )}
              </>
            ) : (
              <>
                Your estimate needs a correction before you send it. <span data-fact="problem">{enclosed.problem}</span>
              </>
            )}
          </p>
          <div className="enclosed-buttons">
            <button type="button" className="text-button" aria-label="Edit the estimate" onClick={onEdit}>
              Edit
            </button>
            <button
              type="button"
              className="text-button"
              aria-label="Remove the estimate"
              onClick={() => {
                onRemove();
                focusForm();
              }}
            >
              Remove
            </button>
          </div>
        </div>
      )}
    </div>
  );
}

/** Focuses the form's heading: screen readers read the whole group, and phones do not open their keyboard. */
export function focusForm(): void {
  const head = document.getElementById(FORM_HEAD_ID);
  head?.setAttribute("tabindex", "-1");
  head?.focus();
}

type Control = HTMLInputElement | HTMLSelectElement;

function controlsOf(form: HTMLFormElement | null): Control[] {
  return [...(form?.elements ?? [])].filter(
    (control): control is Control =>
      (control instanceof HTMLInputElement || control instanceof HTMLSelectElement) &&
      control.name.startsWith(FIELD_PREFIX),
  );
}

/** Default distances, default choices and the number of people are not amounts. */
function hasAmounts(form: HTMLFormElement): boolean {
  return controlsOf(form).some(
    (control) =>
      control instanceof HTMLInputElement &&
      control.defaultValue === "" &&
      control.value.trim() !== "" &&
      control.name !== `${FIELD_PREFIX}people`,
  );
}

function textsOf(form: HTMLFormElement): object {
  if (!hasAmounts(form)) return {};
  const texts = [...new FormData(form)].filter(([name]) => name.startsWith(FIELD_PREFIX));
  return { footprint: Object.fromEntries(texts.map(([name, text]) => [name.slice(FIELD_PREFIX.length), text])) };
}
