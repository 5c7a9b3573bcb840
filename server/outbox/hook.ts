import { Webhook } from "standardwebhooks";
import type { StoredMessage } from "../store/store.ts";
import type { Failure } from "./worker.ts";

export interface HookSettings {
  url: string;
  /** Each signs; two while one replaces the other. */
  secrets: readonly string[];
}

/** An event as Standard Webhooks describes it. The id is the same for every attempt, so that a receiver can drop repeats. */
export interface HookEvent {
  id: string;
  type: "message.accepted" | "ping";
  timestamp: Date;
  data: unknown;
}

export function messageAccepted(message: StoredMessage): HookEvent {
  const { id, reference, acceptedAt, name, email, phone, country, message: text, footprint } = message;
  return {
    id: `${reference}.${id}`,
    type: "message.accepted",
    timestamp: acceptedAt,
    data: { reference, acceptedAt, name, email, phone, country, message: text, footprint },
  };
}

const ATTEMPT_MS = 15_000;
/** No connection was made, so the receiver certainly does not have it. */
const NO_CONNECTION = ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"];
const MAX_ANSWER_BYTES = 64 * 1024;
/** A receiver cannot put an attempt off for longer: the store takes later times for the work of a wrong clock. */
const LONGEST_RETRY_AFTER_MS = 4 * 3_600_000;

/** `text`: the beginning of the answer, which may hold anything. */
export type HookAnswer =
  | { status: number; retryAfterMs: number | null; text: string }
  | { problem: string; isUnreachable: boolean };

/** Posts the event once, signed. Follows no redirect, and ends after 15 seconds in all. Never rejects. */
export async function postEvent(
  { url, secrets }: HookSettings,
  event: HookEvent,
  now: Date,
  attemptMs = ATTEMPT_MS,
): Promise<HookAnswer> {
  const { id, ...payload } = event;
  const body = JSON.stringify(payload);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(" "),
      },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(attemptMs),
    });
    const retryAfterMs = parseRetryAfterMs(response.headers.get("retry-after"), now);
    return { status: response.status, retryAfterMs, text: await readStart(response) };
  } catch (error) {
    if (!(error instanceof Error)) return { problem: "no answer", isUnreachable: false };
    if (error.name === "TimeoutError") {
      return { problem: `no answer within ${attemptMs / 1000} s`, isUnreachable: false };
    }
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    return { problem: `no connection (${code ?? error.name})`, isUnreachable: NO_CONNECTION.includes(code ?? "") };
  }
}

/** What an answer means for the delivery; `null`: it was taken. */
export function failureOf(answer: HookAnswer): Failure | null {
  if ("problem" in answer) {
    return { kind: "temporary", message: answer.problem, isUnreachable: answer.isUnreachable };
  }
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return null;
  if (status === 410) return { kind: "permanent", message: "status 410: the receiver wants no more of it" };
  if (status >= 300 && status < 400) {
    return { kind: "temporary", message: `status ${status}: redirects are not followed` };
  }
  const isObeyed = (status === 429 || status === 503) && retryAfterMs !== null;
  return { kind: "temporary", message: `status ${status}`, ...(isObeyed && { retryAfterMs }) };
}

/** Whether there is a receiver at all: it is asked for nothing, and whatever it says will do. Never rejects. */
export async function isAnswering({ url }: HookSettings): Promise<boolean> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(ATTEMPT_MS) });
    return true;
  } catch {
    return false;
  }
}

/** The status alone decides, so that an answer that is cut off here, or that breaks off, changes nothing. */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Leaving the loop ends the connection.
      if (bytes >= MAX_ANSWER_BYTES) break;
    }
  } catch {}
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString();
}

/** Seconds, or a date. */
function parseRetryAfterMs(value: string | null, now: Date): number | null {
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LONGEST_RETRY_AFTER_MS);
}
