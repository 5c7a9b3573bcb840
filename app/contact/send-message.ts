import { type Dispatch, type SubmitEvent, useRef } from "react";
import { flushSync } from "react-dom";
import { parseContactMessage } from "../../contract/contact-message.ts";
import { readAnswer } from "../../contract/send-email-answer.ts";
import { type FormEvent, type FormState, isName, onlyNames } from "./form-state.ts";
import { type Read, requestBody } from "./form-view.ts";
import { readFields } from "./kept-values.ts";

const TIMEOUT_MS = 30_000;

export function useSending(apiBase: string, state: FormState, dispatch: Dispatch<FormEvent>, read: Read | undefined) {
  const lastSent = useRef({ body: "", key: "" });

  return async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (state.phase.kind === "sending") return;
    // Includes what a program wrote without an event.
    const fields = readFields(event.currentTarget);
    const values = { ...state.values, ...onlyNames(fields) };
    const reading = read?.(values);
    const message = parseContactMessage(values);
    const errors = { ...(!message.ok && message.fields), ...reading?.errors };
    // Rendered at once, so that a second press finds the new phase, even in the same task.
    flushSync(() => dispatch({ type: "submitted", values, errors }));
    if (Object.keys(errors).length > 0) return;
    try {
      const others = Object.fromEntries(Object.entries(fields).filter(([name]) => !isName(name)));
      const body = requestBody(values, others);
      // The same message keeps its key, so that sending it again after a lost answer does not store it twice.
      if (lastSent.current.body !== body) lastSent.current = { body, key: createIdempotencyKey() };
      const response = await fetch(`${apiBase}/send-email`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": lastSent.current.key },
        body,
        credentials: "omit",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const answer = readAnswer(await response.json());
      // The next message is a new one, even if it has the same words.
      if (answer.success) lastSent.current = { body: "", key: "" };
      const sentAt = new Date().toISOString();
      dispatch({ type: "answered", answer, sentAt, estimate: reading?.estimate ?? null });
    } catch (error) {
      console.error("Sending the message failed.", error);
      dispatch({ type: "broke" });
    }
  };
}

/** 128 random bits. Not `crypto.randomUUID`: browsers have it only over HTTPS and on localhost. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
