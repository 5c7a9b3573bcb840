import { type FocusEvent, type FormEvent as SubmitEvent, useEffect, useReducer, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { type ContactField, parseContactMessage, TRAP_FIELD } from "../../contract/contact-message.ts";
import { FIELD_PREFIX } from "../../contract/footprint/fields.ts";
import type { Price } from "../../contract/footprint/words.ts";
import { type Country, rememberCountry, restoreCountry, useCountries } from "./countries.ts";
import { EmailSuggestion } from "./email-suggestion.tsx";
import { focusField, Select, TextArea, TextField } from "./field.tsx";
import {
  type Enclosed,
  FORM_TITLE_ID,
  type FootprintHandle,
  FootprintPart,
  FormHead,
  focusForm,
} from "./footprint-part.tsx";
import { ErrorSummary, FormAlert, SEND_ANOTHER } from "./form-alert.tsx";
import { fieldErrors, hasFailed, isDone, nextState, START } from "./form-state.ts";
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
  /** For visitors without script, whose browser cannot fetch the list. Only the build passes it. */
  countries?: readonly Country[];
}

const FORM_ID = "message-form";
/** Precedes the page title while the page shows errors. */
const ERROR_PREFIX = "Error: ";
/** Longer than a press: a message that appears on blur must not move the button away from the pointer. */
const ASK_AFTER_MS = 300;

/**
 * Works as a plain form until its script has loaded. The fields are uncontrolled, so that the script keeps what the
 * visitor typed before.
 */
export function ContactForm(props: ContactFormProps) {
  const { apiBase, countriesUrl, electricityUrl, price, answerWithin } = props;
  const [state, dispatch] = useReducer(nextState, START);
  const panel = useRef<HTMLElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const summary = useRef<HTMLDivElement>(null);
  const footprint = useRef<FootprintHandle>(null);
  const [enclosed, setEnclosed] = useState<Enclosed | null>(null);
  // The estimate is read from uncontrolled fields; a new number here makes it read them again.
  const [, countEdit] = useReducer((count: number) => count + 1, 0);
  // True from the press until its outcome is shown. A ref, because a second press may come before React renders again.
  const isSubmitting = useRef(false);
  const lastSent = useRef({ body: "", key: "" });
  const countries = useCountries(countriesUrl);
  const [leftEmail, setLeftEmail] = useState("");
  const errors = fieldErrors(state);

  // The script reports all errors at once. Without script, the browser reports one field after the other.
  useEffect(() => form.current?.setAttribute("novalidate", ""), []);

  // Moves the focus or the view to a new outcome. An old one is left alone, so that nothing moves during corrections.
  useEffect(() => {
    if (!isSubmitting.current || state.phase === "sending") return;
    isSubmitting.current = false;
    if (summary.current) summary.current.focus();
    else form.current?.querySelector(".alerts > .alert")?.scrollIntoView({ block: "nearest" });
    // The button that had the focus is gone. The confirmation does not take the focus: screen readers announce it
    // anyway.
    if (isDone(state)) panel.current?.focus({ preventScroll: true });
  }, [state]);

  const isInError = hasFailed(state);
  useEffect(() => {
    const title = document.title.replace(ERROR_PREFIX, "");
    // After a post without script, the server has already written the title.
    if (state !== START) document.title = isInError ? ERROR_PREFIX + title : title;
  }, [state, isInError]);

  useEffect(() => {
    if (!form.current || countries.length === 0) return;
    restoreCountry(form.current);
    countEdit();
    // A link within the page creates a history entry that lacks the country.
    const keep = () => rememberCountry(form.current?.country.value);
    addEventListener("hashchange", keep);
    return () => removeEventListener("hashchange", keep);
  }, [countries]);

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isSubmitting.current) return;
    const form = event.currentTarget;
    const typed = [...new FormData(form)].filter(([name]) => !name.startsWith(FIELD_PREFIX));
    isSubmitting.current = true;
    const fields = Object.fromEntries(typed);
    const parsed = parseContactMessage(fields);
    const estimate = footprint.current?.read();
    const problems = { ...estimate?.errors, ...(!parsed.ok && parsed.fields) };
    if (Object.keys(problems).length > 0) return dispatch({ type: "invalid", fields: problems });

    dispatch({ type: "sending" });
    const sent = new Map(fieldsOf(form).map((field) => [field, contentOf(field)]));
    try {
      const body = JSON.stringify({ ...fields, ...estimate?.fields });
      const answer = await sendMessage(apiBase, body, keyFor(body));
      const outcome = { keepsEdits: false, hasReport: false };
      if (answer.success) {
        outcome.keepsEdits = clear(form, sent);
        rememberCountry(form.country.value);
        outcome.hasReport = footprint.current?.finish(answer.reference, outcome.keepsEdits) ?? false;
        setLeftEmail("");
      }
      dispatch({ type: "answered", answer, ...outcome });
    } catch (error) {
      console.error("Sending the message failed.", error);
      dispatch({ type: "broke" });
    }
  }

  /** The same message keeps its key, so that sending it again after a lost answer does not store it twice. */
  function keyFor(body: string): string {
    if (lastSent.current.body !== body) lastSent.current = { body, key: createIdempotencyKey() };
    return lastSent.current.key;
  }

  function edit(field: string) {
    if (field === "email") setLeftEmail("");
    dispatch({ type: "edited", field });
    countEdit();
  }

  function sendAnother() {
    flushSync(() => dispatch({ type: "again" }));
    // Not the first field: Orca moves there silently when the button is removed, and would not announce the focus.
    focusForm();
  }

  function askAboutEmail({ target }: FocusEvent<HTMLInputElement>) {
    setTimeout(() => document.activeElement !== target && setLeftEmail(target.value), ASK_AFTER_MS);
  }

  function acceptEmail(address: string) {
    const field = form.current?.email as HTMLInputElement;
    field.value = address;
    field.focus();
    edit("email");
  }

  const field = (name: ContactField, label: string) => ({ name, label, error: errors[name] });
  const part = {
    form,
    formId: FORM_ID,
    electricityUrl,
    price,
    errors,
    onEdit: edit,
    onBlur: () => setTimeout(countEdit, ASK_AFTER_MS),
    onEnclose: (next: Enclosed | null) =>
      // Keeps the old object if the text is the same. This runs after every rendering; a new object would cause
      // another.
      setEnclosed((last) => (JSON.stringify(last) === JSON.stringify(next) ? last : next)),
  };
  return (
    <FootprintPart ref={footprint} {...part}>
      <section ref={panel} className="contact-panel" tabIndex={-1} aria-labelledby={FORM_TITLE_ID}>
        <FormHead
          enclosed={enclosed}
          onEdit={() => footprint.current?.open()}
          onRemove={() => footprint.current?.remove()}
        />
        <div className="form-column">
          <ErrorSummary ref={summary} state={state} onPick={focusField} />
          <form
            ref={form}
            id={FORM_ID}
            className={isDone(state) ? "form form-done" : "form"}
            action={`${apiBase}/send-email`}
            method="post"
            aria-busy={state.phase === "sending"}
            aria-invalid="false"
            onSubmit={submit}
            onInput={({ target }) => edit((target as HTMLInputElement).name)}
          >
            <p className="form-note">Fields marked with an asterisk are required.</p>
            <TextField {...field("name", "Name")} autoComplete="name" />
            <TextField
              {...field("email", "Email")}
              type="email"
              autoComplete="email"
              inputMode="email"
              spellCheck={false}
              onBlur={askAboutEmail}
            >
              <EmailSuggestion typed={leftEmail} onAccept={acceptEmail} />
            </TextField>
            <TextField {...field("phone", "Phone Number")} type="tel" autoComplete="tel" inputMode="tel" />
            <Select
              {...field("country", "Country")}
              autoComplete="country"
              onChange={(event) => rememberCountry(event.target.value)}
            >
              <option value="">Select a country</option>
              {countries.map(({ code, name }) => (
                <option key={code} value={code}>
                  {name}
                </option>
              ))}
            </Select>
            <noscript
              suppressHydrationWarning
              // biome-ignore lint/security/noDangerouslySetInnerHtml: country names; browsers with script do not parse them
              dangerouslySetInnerHTML={{ __html: plainCountries(props.countries ?? []) }}
            />
            <TextArea {...field("message", "Message")} rows={4} />
            <div className="trap" aria-hidden="true">
              <label htmlFor={TRAP_FIELD}>Leave this field empty</label>
              <input id={TRAP_FIELD} name={TRAP_FIELD} autoComplete="off" tabIndex={-1} />
            </div>
            <FormAlert state={state} apiBase={apiBase} answerWithin={answerWithin} />
            {isDone(state) && (
              <button type="button" className="button button-outline send-another" onClick={sendAnother}>
                {SEND_ANOTHER}
              </button>
            )}
            <button
              type="submit"
              className="button button-primary form-submit"
              aria-disabled={state.phase === "sending"}
            >
              {state.phase === "sending" ? "Sending…" : "Submit"}
            </button>
          </form>
        </div>
      </section>
    </FootprintPart>
  );
}

/** The server uses the last of two fields with the same name: this one, not the list that scripts fill. */
function plainCountries(countries: readonly Country[]): string {
  const options = countries.map(({ code, name }) => `<option value=${code}>${name}`).join("");
  return `<div class="field field-country"><label for="plain-country">Country</label><select id="plain-country" name="country" autocomplete="country" data-fact="countries"><option value="">Select a country${options}</select></div>`;
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

function fieldsOf({ elements }: HTMLFormElement): Field[] {
  return [...elements].filter((element) => element.matches("input, textarea, select")) as Field[];
}

function contentOf(field: Field): string {
  return "checked" in field ? `${field.checked} ${field.value}` : field.value;
}

/** Clears each field that still has the sent value. Returns whether the visitor has changed any field since. */
function clear(form: HTMLFormElement, sent: ReadonlyMap<Field, string>): boolean {
  // Compare all fields before clearing any: resetting one radio button changes the others in its group.
  const fields = fieldsOf(form);
  const unchanged = fields.filter((field) => sent.get(field) === contentOf(field));
  for (const field of unchanged) {
    if (field instanceof HTMLSelectElement) field.selectedIndex = 0;
    else {
      field.value = field.defaultValue;
      if (field instanceof HTMLInputElement) field.checked = field.defaultChecked;
    }
  }
  return unchanged.length < fields.length;
}
