import { type FormEvent as SubmitEvent, useEffect, useReducer, useRef } from "react";
import { type ContactField, parseContactMessage, TRAP_FIELD } from "../../contract/contact-message.ts";
import { useCountries } from "./countries.ts";
import { Select, TextArea, TextField } from "./field.tsx";
import { FormAlert } from "./form-alert.tsx";
import { fieldErrors, nextState, START } from "./form-state.ts";
import { createIdempotencyKey, sendMessage } from "./send-message.ts";

/** The element whose content the browser hydrates; its data attributes are the props of the form. */
export const FORM_ROOT_ID = "contact-form";

interface ContactFormProps {
  apiBase: string;
  countriesUrl: string;
}

/**
 * Works as a plain form until its script has loaded. The fields are uncontrolled, so that the script keeps what was
 * typed before.
 */
export function ContactForm({ apiBase, countriesUrl }: ContactFormProps) {
  const [state, dispatch] = useReducer(nextState, START);
  const form = useRef<HTMLFormElement>(null);
  const isSending = useRef(false);
  const isOutcomeNew = useRef(false);
  const lastSent = useRef({ body: "", key: "" });
  const countries = useCountries(countriesUrl);
  const errors = fieldErrors(state);

  // Shows a new outcome once it is rendered. Only a new one, so that nothing moves while the visitor corrects a field.
  useEffect(() => {
    if (!isOutcomeNew.current || state.phase === "sending") return;
    isOutcomeNew.current = false;
    if (state.phase === "sent") form.current?.reset();
    const firstInvalid = form.current?.querySelector<HTMLElement>("[aria-invalid]");
    if (firstInvalid) firstInvalid.focus();
    else form.current?.querySelector(".alerts > .alert")?.scrollIntoView({ block: "nearest" });
  }, [state]);

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    // A ref, because a second press may come before React has rendered the first.
    if (isSending.current) return;
    isOutcomeNew.current = true;
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    const parsed = parseContactMessage(fields);
    if (!parsed.ok) return dispatch({ type: "invalid", fields: parsed.fields });

    isSending.current = true;
    dispatch({ type: "sending" });
    try {
      const key = keyFor(JSON.stringify(fields));
      dispatch({ type: "answered", answer: await sendMessage(apiBase, fields, key) });
    } catch (error) {
      console.error("Sending the message failed.", error);
      dispatch({ type: "broke" });
    } finally {
      isSending.current = false;
    }
  }

  /** The same message keeps its key, so that sending it again after a lost answer does not store it twice. */
  function keyFor(body: string): string {
    if (lastSent.current.body !== body) lastSent.current = { body, key: createIdempotencyKey() };
    return lastSent.current.key;
  }

  const field = (name: ContactField, label: string) => ({ name, label, error: errors[name] });
  return (
    <form
      ref={form}
      className="form"
      action={`${apiBase}/send-email`}
      method="post"
      aria-busy={state.phase === "sending"}
      onSubmit={submit}
      onInput={(event) => dispatch({ type: "edited", field: (event.target as HTMLInputElement).name as ContactField })}
    >
      <p className="form-note">Fields marked with an asterisk are required.</p>
      <TextField {...field("name", "Name")} autoComplete="name" />
      <TextField {...field("email", "Email")} type="email" autoComplete="email" inputMode="email" spellCheck={false} />
      <TextField {...field("phone", "Phone Number")} type="tel" autoComplete="tel" inputMode="tel" />
      <Select {...field("country", "Country")} autoComplete="country">
        <option value="">Select a country</option>
        {countries.map(({ code, name }) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </Select>
      <TextArea {...field("message", "Message")} rows={6} />
      <div className="trap" aria-hidden="true">
        <label htmlFor={TRAP_FIELD}>Leave this field empty</label>
        <input id={TRAP_FIELD} name={TRAP_FIELD} autoComplete="off" tabIndex={-1} />
      </div>
      <button type="submit" className="button button-primary form-submit" aria-disabled={state.phase === "sending"}>
        {state.phase === "sending" ? "Sending…" : "Submit"}
      </button>
      <FormAlert state={state} />
    </form>
  );
}
