import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes, TextareaHTMLAttributes } from "react";
import { type ContactField, MAX_LENGTH } from "../../contract/contact-message.ts";

interface FieldFrame {
  name: ContactField;
  label: string;
  error: string | undefined;
}

type Native<Attributes> = Omit<Attributes, "name" | "id">;

export function TextField({
  name,
  label,
  error,
  ...native
}: FieldFrame & Native<InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <Frame name={name} label={label} error={error}>
      <input {...requiredProps(name, error)} maxLength={MAX_LENGTH[name]} {...native} />
    </Frame>
  );
}

export function TextArea({
  name,
  label,
  error,
  ...native
}: FieldFrame & Native<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  return (
    <Frame name={name} label={label} error={error}>
      <textarea {...requiredProps(name, error)} maxLength={MAX_LENGTH[name]} {...native} />
    </Frame>
  );
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

/** Label above, error or hint below; both are tied to their field by id. */
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

export function controlProps(name: string, error: string | undefined, hint?: string) {
  return {
    id: name,
    name,
    ...(hint !== undefined && { "aria-describedby": hintId(name) }),
    ...(error !== undefined && { "aria-invalid": true, "aria-describedby": errorId(name) }),
  };
}

/** Not invalid until we say so: Firefox reports a required field as invalid while it is still empty. */
function requiredProps(name: ContactField, error: string | undefined) {
  return { ...controlProps(name, error), required: true, "aria-invalid": error !== undefined };
}

function errorId(name: string): string {
  return `${name}-error`;
}

function hintId(name: string): string {
  return `${name}-hint`;
}
