import type { AnswerErrors, SendEmailAnswer } from "../../contract/send-email-answer.ts";

const TIMEOUT_MS = 30_000;

/** Resolves to the server's answer; rejects if there is no answer or it is not JSON. */
export async function sendMessage(apiBase: string, body: string, idempotencyKey: string): Promise<SendEmailAnswer> {
  const response = await fetch(`${apiBase}/send-email`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body,
    credentials: "omit",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return readAnswer(await response.json());
}

/** 128 random bits. Not `crypto.randomUUID`: browsers have it only over HTTPS and on localhost. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Another server may answer, so this uses only values of the expected shape. */
export function readAnswer(body: unknown): SendEmailAnswer {
  const { success, reference, error, fields, footprint } = Object(body) as Record<string, unknown>;
  if (success === true) {
    const { totalKg } = Object(footprint) as Record<string, unknown>;
    return { success, reference: asText(reference), ...(typeof totalKg === "number" && { footprint: { totalKg } }) };
  }
  const answer: SendEmailAnswer = { success: false, error: asText(error) };
  if (typeof fields === "object" && fields !== null) {
    answer.fields = Object.fromEntries(
      Object.entries(fields).filter(([, text]) => typeof text === "string"),
    ) as AnswerErrors;
  }
  return answer;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
