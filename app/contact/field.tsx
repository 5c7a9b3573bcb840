import type { InputHTMLAttributes, ReactNode } from "react";
import { MAX_LENGTH } from "../../contract/contact-message.ts";

type Native = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  "autoComplete" | "dir" | "enterKeyHint" | "form" | "inputMode" | "maxLength" | "required" | "spellCheck" | "type"
>;

interface FieldProps extends Native {
  /** Also its id. Without a name, the form does not send it, and `id` is needed. */
  name: string;
  id?: string;
  label: string;
  value: string;
  error?: string | undefined;
  hint?: string | undefined;
  /** The note beside the field, which describes it while it has no error and no hint. */
  noteId?: string | undefined;
  /** Makes it a select. */
  options?: readonly { code: string; name: string }[];
  /** Makes it a text area. */
  rows?: number;
  onEdit(value: string): void;
  onLeave?(): void;
  /** Shown between the field and its error. */
  children?: ReactNode;
}

/**
 * The label is above the field, the error or hint below it; ids tie both to the field. No `maxlength` for the message's
 * fields, because browsers would silently cut pasted text.
 */
export function Field(props: FieldProps) {
  const {
    name,
    id = name,
    label,
    value,
    error,
    hint,
    noteId,
    options,
    rows,
    onEdit,
    onLeave,
    children,
    ...native
  } = props;
  const describedBy = error !== undefined ? `${id}-error` : hint !== undefined ? `${id}-hint` : noteId;
  const { required, type, spellCheck, inputMode, maxLength, ...common } = native;
  const control = {
    id,
    ...(name !== "" && { name }),
    value,
    onChange: ({ target }: { target: { value: string } }) => onEdit(target.value),
    onBlur: onLeave,
    // Always set on a required field: Firefox reports an empty one as invalid.
    ...((required || error !== undefined) && { "aria-invalid": error !== undefined }),
    ...(describedBy !== undefined && { "aria-describedby": describedBy }),
    ...common,
    ...(required && { required, dir: "auto" }),
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
        <textarea {...control} rows={rows} />
      ) : (
        <input {...control} {...{ type, spellCheck, inputMode, maxLength }} />
      )}
      {children}
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** The form shows the number of characters left when it reaches this number. */
const NEAR_LIMIT = 500;

/** Shows how many characters are left near the limit, and never cuts a text. */
export function MessageField(field: FieldProps) {
  const left = MAX_LENGTH.message - field.value.trim().length;
  const tooLong =
    left < 0 ? `This is ${characters(-left)} too long. Please shorten it: we do not cut text.` : undefined;
  const hint = left >= 0 && left <= NEAR_LIMIT ? `${characters(left)} left` : undefined;
  return (
    <Field {...field} required rows={4} error={tooLong ?? field.error} hint={hint}>
      {/* Announces only every hundredth character, not every key. */}
      <p className="visually-hidden" aria-live="polite">
        {tooLong ? "The text is too long." : hint && `No more than ${characters(Math.ceil(left / 100) * 100)} left`}
      </p>
    </Field>
  );
}

function characters(count: number): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? "character" : "characters"}`;
}

/** Focuses the field, and opens the closed parts that it is in. */
export function focusField(name: string): void {
  const field = document.getElementById(name);
  for (let fold = field?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
  field?.focus();
}
