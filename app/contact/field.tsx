import type { ComponentProps, InputHTMLAttributes, KeyboardEvent } from "react";
import { CONTACT_FIELDS, type ContactField } from "../../contract/contact-message.ts";
import { suggestEmail } from "../../contract/email-address.ts";
import { type Country, countryOptions } from "./countries.ts";
import type { Name } from "./form-state.ts";

/** The parts of the page outside of the form contain fields of it. */
export const FORM_ID = "message-form";
/** The group with the form's heading. With the focus on it, screen readers read all of it, and phones show no keyboard. */
export const FORM_HEAD_ID = "form-head";
export const FOOTPRINT_TITLE_ID = "footprint-title";
export const NEXT_ID = "footprint-next";

export interface FieldState {
  /** Also its id. */
  name: Name;
  value: string;
  isTyping?: boolean;
  readOnly?: boolean;
  error?: string | undefined;
  /** Shown while there is no error. */
  hint?: string | undefined;
  onEdit(value: string): void;
  onLeave?(): void;
}

type NativeProps = "autoComplete" | "children" | "dir" | "form" | "id" | "required";
type InputProps = "enterKeyHint" | "inputMode" | "maxLength" | "spellCheck" | "type";

interface FieldProps
  extends Omit<FieldState, "name">,
    Pick<InputHTMLAttributes<HTMLInputElement>, NativeProps | InputProps> {
  /** Without a name it is not sent. */
  name: Name | undefined;
  label: string;
  /** The note beside the field, which describes it while it has no error and no hint. */
  noteId?: string | undefined;
  options?: readonly { code: string; name: string }[] | undefined;
  rows?: number;
}

/** No `maxlength` for the message's fields, because browsers would silently cut pasted text. */
export function Field(props: FieldProps) {
  const { name, id = name, label, error, hint, noteId, options, rows, readOnly, ...rest } = props;
  const { isTyping: _, onEdit, onLeave, children, ...native } = rest;
  const kind = error !== undefined ? "error" : hint !== undefined ? "hint" : undefined;
  const textId = kind && `${id}-${kind}`;
  const control = {
    ...native,
    id,
    name,
    onChange: ({ target }: { target: { value: string } }) => onEdit(target.value),
    onBlur: onLeave,
    // Always set on a required field: Firefox reports an empty one as invalid.
    "aria-invalid": native.required || error !== undefined ? error !== undefined : undefined,
    "aria-describedby": textId ?? noteId,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {options ? (
        <select {...control}>
          {options.map((option) => (
            <option key={option.code} value={option.code}>
              {option.name}
            </option>
          ))}
        </select>
      ) : rows ? (
        <textarea {...control} readOnly={readOnly} rows={rows} onKeyUp={showWhole} />
      ) : (
        <input {...control} readOnly={readOnly} />
      )}
      {children}
      {kind && (
        <p className={kind === "error" ? "field-error" : "note"} id={textId}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

/** After Tab, browsers scroll only to the caret of a text area, which can leave its lower edge outside the window. */
function showWhole({ key, currentTarget }: KeyboardEvent<HTMLTextAreaElement>): void {
  if (key === "Tab") currentTarget.scrollIntoView({ block: "nearest" });
}

/** The live region contains only the question: Orca does not announce controls in it, and reads the rest twice. */
function EmailField(field: FieldProps & { name: Name }) {
  const suggestion = field.isTyping ? null : suggestEmail(field.value);
  return (
    <Field {...field}>
      <div className="note field-suggestion">
        <p aria-live="polite">
          {/* Replaced as a whole: a translator may have changed the texts, and Orca announces parts separately. */}
          {suggestion !== null && (
            <span key={suggestion}>
              Did you mean {suggestion.slice(suggestion.indexOf("@") + 1)}?{" "}
              <span className="visually-hidden">A button to use this address follows.</span>
            </span>
          )}
        </p>
        {suggestion !== null && (
          <TextButton
            onClick={() => {
              field.onEdit(suggestion);
              focusOn(field.name);
            }}
          >
            <span>Use it</span>
            <span className="visually-hidden">{` ${suggestion}`}</span>
          </TextButton>
        )}
      </div>
    </Field>
  );
}

interface ContactInputProps extends FieldState {
  name: ContactField;
  countries: readonly Country[];
  allCountries: readonly Country[];
}

export function ContactInput({ countries, allCountries, ...state }: ContactInputProps) {
  const { label, formLabel = label, isRequired, input, autoComplete } = CONTACT_FIELDS[state.name];
  const field = { ...state, label: formLabel, required: isRequired, autoComplete };
  if (input === "textarea") return <Field {...field} dir="auto" rows={4} />;
  if (input === "country") {
    return (
      <>
        <Field {...field} options={countryOptions(countries, field.value)} />
        {/* The server uses the last of two fields with the same name: this one, not the list that scripts fill. */}
        <noscript data-fact="countries">
          <Field {...field} id="plain-country" options={countryOptions(allCountries, "")} />
        </noscript>
      </>
    );
  }
  const type = input === "text" ? undefined : input;
  const Control = input === "email" ? EmailField : Field;
  return <Control {...field} dir="auto" type={type} inputMode={type} spellCheck={false} />;
}

export function TextButton(props: ComponentProps<"button">) {
  return <button type="button" className="text-button" {...props} />;
}

/** Opens the closed parts that contain the element, as a browser does for a fragment, and focuses it. */
export function focusOn(id: string): void {
  const element = document.getElementById(id);
  for (let fold = element?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
  element?.focus();
}
