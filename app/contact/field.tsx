import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useRef,
} from "react";
import { type ContactField, MAX_LENGTH } from "../../contract/contact-message.ts";

interface FieldFrame {
  name: ContactField;
  label: string;
  error: string | undefined;
}

type Native<Attributes> = Omit<Attributes, "name" | "id">;

// No `maxlength` here, because browsers would silently cut pasted text.

export function TextField({
  name,
  label,
  error,
  children,
  ...native
}: FieldFrame & Native<InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <Frame name={name} label={label} error={error}>
      <input {...requiredProps(name, error)} {...native} />
      {children}
    </Frame>
  );
}

/** The form shows the number of characters left when it reaches this number. */
const NEAR_LIMIT = 500;

/** Shows how many characters are left near the limit, and never cuts a text. Counts at every rendering. */
export function TextArea({
  name,
  label,
  error,
  ...native
}: FieldFrame & Native<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const area = useRef<HTMLTextAreaElement>(null);
  const left = MAX_LENGTH[name] - (area.current?.value.trim().length ?? 0);
  const tooLong =
    left < 0 ? `This is ${characters(-left)} too long. Please shorten it: we do not cut text.` : undefined;
  const hint = left >= 0 && left <= NEAR_LIMIT ? `${characters(left)} left` : undefined;
  return (
    <Frame name={name} label={label} error={tooLong ?? error} hint={hint}>
      <textarea ref={area} {...requiredProps(name, tooLong ?? error, hint)} {...native} />
      {/* Announces only every hundredth character, not every key. */}
      <p className="visually-hidden" aria-live="polite">
        {tooLong ? "The text is too long." : hint && `No more than ${characters(Math.ceil(left / 100) * 100)} left`}
      </p>
    </Frame>
  );
}

function characters(count: number): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? "character" : "characters"}`;
}

export function Select({
  name,
  label,
  error,
  children,
  ...native
}: FieldFrame & Native<SelectHTMLAttributes<HTMLSelectElement>>) {
  return (
    <Frame name={name} label={label} error={error}>
      <select {...controlProps(name, error)} {...native}>
        {children}
      </select>
    </Frame>
  );
}

interface FrameProps {
  name: string;
  label: string;
  error: string | undefined;
  hint?: string | undefined;
  children: ReactNode;
}

/** The label is above the field, the error or hint below it; ids tie both to the field. */
export function Frame({ name, label, error, hint, children }: FrameProps) {
  return (
    <div className={`field field-${name}`}>
      <label htmlFor={name}>{label}</label>
      {children}
      {error !== undefined && (
        <p className="field-error" id={errorId(name)}>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p className="field-hint" id={hintId(name)}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A field has one description: its error, otherwise its hint, otherwise the note beside it. */
export function controlProps(name: string, error: string | undefined, hint?: string, noteId?: string) {
  const describedBy = error !== undefined ? errorId(name) : hint !== undefined ? hintId(name) : noteId;
  return {
    id: name,
    name,
    ...(error !== undefined && { "aria-invalid": true }),
    ...(describedBy !== undefined && { "aria-describedby": describedBy }),
  };
}

/** Always sets `aria-invalid`: Firefox reports an empty required field as invalid. */
function requiredProps(name: ContactField, error: string | undefined, hint?: string) {
  return { ...controlProps(name, error, hint), required: true, dir: "auto", "aria-invalid": error !== undefined };
}

function errorId(name: string): string {
  return `${name}-error`;
}

function hintId(name: string): string {
  return `${name}-hint`;
}

/** Also opens the closed part that the field is in. */
export function focusField(name: string): void {
  const field = document.getElementById(name);
  for (let fold = field?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
  field?.focus();
}
