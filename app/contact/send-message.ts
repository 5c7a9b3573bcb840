import type { FieldErrors } from "../../contract/contact-message.ts";
import type { SendEmailAnswer } from "../../contract/send-email-answer.ts";

const TIMEOUT_MS = 30_000;

/** Resolves to the server's answer; rejects when there is none, or none that is JSON. */
export async function sendMessage(
  apiBase: string,
  fields: Readonly<Record<string, string>>,
  idempotencyKey: string,
): Promise<SendEmailAnswer> {
  const response = await fetch(`${apiBase}/send-email`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify(fields),
    credentials: "omit",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return readAnswer(await response.json());
}

/** Another server may answer, so only what has the expected shape is used. */
export function readAnswer(body: unknown): SendEmailAnswer {
  const { success, reference, error, fields } = Object(body) as Record<string, unknown>;
  if (success === true) return { success, reference: asText(reference) };
  const answer: SendEmailAnswer = { success: false, error: asText(error) };
  if (typeof fields === "object" && fields !== null) {
    answer.fields = Object.fromEntries(
      Object.entries(fields).filter(([, text]) => typeof text === "string"),
    ) as FieldErrors;
  }
  return answer;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
