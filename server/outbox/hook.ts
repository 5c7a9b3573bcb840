import { createHmac } from "node:crypto";
import { contactFieldsOf } from "../../contract/contact-message.ts";
import type { Config } from "../config.ts";
import { errorCode } from "../log.ts";
import { HOUR_MS } from "../time.ts";
import type { Failure, Sender } from "./outbox.ts";

export type HookSettings = NonNullable<Config["hook"]>;

export function hookSender(settings: HookSettings): Sender {
  return {
    channel: "hook",
    concurrency: 3,
    async send({ message }, now) {
      const { id, reference, acceptedAt, footprint } = message;
      const event: HookEvent = {
        id: `${reference}.${id}`,
        type: "message.accepted",
        timestamp: acceptedAt,
        data: { reference, acceptedAt, ...contactFieldsOf(message), footprint },
      };
      return failureOf(await postEvent(settings, event, now));
    },
  };
}

/** In the format of Standard Webhooks. The id is the same for every attempt, so that a receiver can drop repeats. */
interface HookEvent {
  id: string;
  type: "message.accepted" | "ping";
  timestamp: Date;
  data: unknown;
}

const ATTEMPT_MS = 15_000;
const MAX_ANSWER_LENGTH = 64 * 1024;
/** The longest wait that a receiver can ask for: the store treats later times as the result of a wrong clock. */
const LONGEST_RETRY_AFTER_MS = HOUR_MS;

type HookAnswer = { status: number; retryAfterMs: number | null; text: string } | Failure;

/** Never rejects. */
export async function postEvent({ url, secrets }: HookSettings, event: HookEvent, now: Date): Promise<HookAnswer> {
  const { id, ...payload } = event;
  const body = JSON.stringify(payload);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": secrets.map((secret) => signatureOf(secret, id, now, body)).join(" "),
      },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(ATTEMPT_MS),
    });
    const retryAfterMs = parseRetryAfterMs(response.headers.get("retry-after"), now);
    return { status: response.status, retryAfterMs, text: await readStart(response) };
  } catch (error) {
    const { name, cause } = error as Error;
    if (name === "TimeoutError") return { kind: "temporary", message: `no answer within ${ATTEMPT_MS / 1000} s` };
    return { kind: "temporary", message: `no connection (${errorCode(cause) ?? name})` };
  }
}

/** By the scheme of Standard Webhooks: the secret's bytes follow `whsec_` in Base64. */
function signatureOf(secret: string, id: string, now: Date, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${id}.${Math.floor(now.getTime() / 1000)}.${body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

export function failureOf(answer: HookAnswer): Failure | null {
  if (!("status" in answer)) return answer;
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return null;
  if (status === 410) return { kind: "permanent", message: "status 410: the receiver refuses further attempts" };
  const isRedirect = status >= 300 && status < 400;
  const isObeyed = (status === 429 || status === 503) && retryAfterMs !== null;
  const message = `status ${status}${isRedirect ? ": redirects are not followed" : ""}`;
  return { kind: "temporary", message, ...(isObeyed && { retryAfterMs }) };
}

/** May be incomplete, because only the status decides. */
async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length >= MAX_ANSWER_LENGTH) break;
    }
  } catch {}
  return text;
}

function parseRetryAfterMs(value: string | null, now: Date): number | null {
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LONGEST_RETRY_AFTER_MS);
}
