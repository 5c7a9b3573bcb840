import type { ComponentProps, InputHTMLAttributes, KeyboardEvent } from "react";
import { CONTACT_FIELDS } from "../../contract/contact-message.ts";
import { suggestEmail } from "../../contract/email-suggestion.ts";
import { formatAmount } from "../../contract/footprint/fields.ts";
import { plural } from "../../contract/plural.ts";
import type { FormView } from "./form-state.ts";

/** The parts of the page outside of the form contain fields of it. */
export const FORM_ID = "message-form";
export const FORM_TITLE_ID = "form-title";
/** The group with the form's heading. With the focus on it, screen readers read all of it, and phones show no keyboard. */
export const FORM_HEAD_ID = "form-head";
/** The control that opens and closes the estimate. */
export const FOOTPRINT_TITLE_ID = "footprint-title";
/** The main action of the estimate's result. */
export const NEXT_ID = "footprint-next";

/** What the form knows of a field. */
export interface FieldState {
  /** Also its id. Without a name, the form does not send it, and `id` is needed. */
  name: string;
  value: string;
  /** The value is not final. */
  isTyping?: boolean;
  error?: string | undefined;
  /** Shown while there is no error. */
  hint?: string | undefined;
  /** Asks whether the value is right. The field's group shows it, with the id `${id}-question`. */
  question?: string | undefined;
  /** The numbers that an amount such as "1.500" can mean. */
  meanings?: readonly string[] | undefined;
  onEdit(value: string): void;
  /** A button fills the field. */
  onFill?(value: string): void;
  onLeave?(): void;
}

type NativeProps = "autoComplete" | "children" | "dir" | "form" | "id" | "required";
type InputProps = "enterKeyHint" | "inputMode" | "maxLength" | "spellCheck" | "type";

interface FieldProps extends FieldState, Pick<InputHTMLAttributes<HTMLInputElement>, NativeProps | InputProps> {
  label: string;
  /** The note beside the field, which describes it while it has no error and no hint. */
  noteId?: string | undefined;
  /** Makes it a select. */
  options?: readonly { code: string; name: string }[] | undefined;
  /** Makes it a text area. */
  rows?: number;
}

/**
 * The label is above the field, the error or hint below it; ids tie both to the field. `children` are between them. No
 * `maxlength` for the message's fields, because browsers would silently cut pasted text.
 */
export function Field(props: FieldProps) {
  const { name, id = name, label, error, hint, question, meanings = [], noteId, options, rows, ...rest } = props;
  const { isTyping: _, onEdit, onFill, onLeave, children, ...native } = rest;
  const kind = error !== undefined ? "error" : hint !== undefined ? "hint" : undefined;
  const textId = kind && `${id}-${kind}`;
  const control = {
    ...native,
    id,
    name: name || undefined,
    onChange: ({ target }: { target: { value: string } }) => onEdit(target.value),
    onBlur: onLeave,
    // Always set on a required field: Firefox reports an empty one as invalid.
    "aria-invalid": native.required || error !== undefined ? error !== undefined : undefined,
    "aria-describedby": [textId ?? noteId, question && `${id}-question`].filter(Boolean).join(" ") || undefined,
  };
  return (
    <div className={`field field-${id}`}>
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
        <textarea {...control} rows={rows} onKeyUp={showWhole} />
      ) : (
        <input {...control} />
      )}
      {children}
      {error !== undefined && meanings.length > 0 && (
        <p className="meanings">
          {meanings.map((text) => (
            <button key={text} type="button" className="suggestion" data-fact="amount" onClick={() => onFill?.(text)}>
              {`Use ${text}`}
            </button>
          ))}
        </p>
      )}
      {kind && (
        <p className={`field-${kind}`} id={textId}>
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

/**
 * Suggests a correction, but not while the visitor is typing. The live region contains only the question: Orca does not
 * announce controls in it, and reads the rest twice.
 */
export function EmailField(field: FieldProps) {
  const suggestion = field.isTyping ? null : suggestEmail(field.value);
  return (
    <Field {...field} spellCheck={false}>
      <p className="field-hint" aria-live="polite">
        {/* Replaced as a whole: a translator may have changed the texts, and Orca announces parts separately. */}
        {suggestion !== null && (
          <span key={suggestion}>
            Did you mean {suggestion}? <span className="visually-hidden">A button to use this address follows.</span>
          </span>
        )}
      </p>
      {suggestion !== null && (
        <button type="button" className="suggestion" onClick={() => field.onFill?.(suggestion)}>
          Use this address
        </button>
      )}
    </Field>
  );
}

/** The form shows the number of characters left when it reaches this number. */
const NEAR_LIMIT = 500;

/** Shows how many characters are left near the limit, and never cuts a text. */
export function MessageField(field: FieldProps) {
  const characters = (count: number) => plural(count, "character", formatAmount);
  const left = CONTACT_FIELDS.message.maxLength - field.value.trim().length;
  const tooLong =
    left < 0 ? `This is ${characters(-left)} too long. Please shorten it: we do not cut text.` : undefined;
  const hint = left >= 0 && left <= NEAR_LIMIT ? `${characters(left)} left` : undefined;
  return (
    <Field {...field} rows={4} error={tooLong ?? field.error} hint={hint}>
      {/* Announces only every hundredth character, not every key. */}
      <p className="visually-hidden" aria-live="polite">
        {tooLong ? "The text is too long." : hint && `No more than ${characters(Math.ceil(left / 100) * 100)} left`}
      </p>
    </Field>
  );
}

export function TextButton(props: ComponentProps<"button">) {
  return <button type="button" className="text-button" {...props} />;
}

/** Links to the fields to correct. */
export function ProblemList({ problems }: Pick<FormView, "problems">) {
  return (
    <ul>
      {problems.map(([name, sentence]) => (
        <li key={name}>
          <a
            href={`#${name}`}
            onClick={(event) => {
              event.preventDefault();
              focusOn(name);
            }}
          >
            {sentence}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Opens the closed parts that contain the element, as a browser does for a fragment, and focuses it. */
export function focusOn(id: string): void {
  const element = document.getElementById(id);
  for (let fold = element?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
  element?.focus();
}
