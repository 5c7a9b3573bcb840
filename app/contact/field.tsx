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
      <input {...controlProps(name, error)} maxLength={MAX_LENGTH[name]} required {...native} />
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
      <textarea {...controlProps(name, error)} maxLength={MAX_LENGTH[name]} required {...native} />
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

/** Label above, error below; the error is tied to its field by id. */
function Frame({ name, label, error, children }: FieldFrame & { children: ReactNode }) {
  return (
    <div className={`field field-${name}`}>
      <label htmlFor={name}>{label}</label>
      {children}
      {error !== undefined && (
        <p className="field-error" id={errorId(name)}>
          {error}
        </p>
      )}
    </div>
  );
}

function controlProps(name: ContactField, error: string | undefined) {
  const isInvalid = error !== undefined;
  return { id: name, name, ...(isInvalid && { "aria-invalid": true, "aria-describedby": errorId(name) }) };
}

function errorId(name: ContactField): string {
  return `${name}-error`;
}
