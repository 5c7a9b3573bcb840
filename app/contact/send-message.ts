import { readAnswer, type SendEmailAnswer } from "../../contract/send-email-answer.ts";

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
