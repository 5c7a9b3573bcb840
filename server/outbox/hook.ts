import { createHmac } from "node:crypto";
import { contactFieldsOf } from "../../contract/contact-message.ts";
import type { Config } from "../config.ts";
import { errorCode } from "../errors.ts";
import type { Failure, Sender } from "./outbox.ts";

export type HookSettings = NonNullable<Config["hook"]>;

export function hookSender(settings: HookSettings): Sender {
  return {
    channel: "hook",
    concurrency: 3,
    async send({ message, claimedAt }) {
      const { id, reference, acceptedAt, footprint } = message;
      const event: HookEvent = {
        id: `${reference}.${id}`,
        type: "message.accepted",
        timestamp: acceptedAt,
        data: { reference, acceptedAt, ...contactFieldsOf(message), footprint },
      };
      return postEvent(settings, event, claimedAt);
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

/** Never rejects. */
export async function postEvent({ url, secrets }: HookSettings, event: HookEvent, now: Date): Promise<Failure | null> {
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
    // Only the status counts. It may be followed by an answer without an end.
    void response.body?.cancel().catch(() => {});
    return failureOf(response.status);
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

function failureOf(status: number): Failure | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return { kind: "permanent", message: "status 410: the receiver refuses further attempts" };
  const isRedirect = status >= 300 && status < 400;
  return { kind: "temporary", message: `status ${status}${isRedirect ? ": redirects are not followed" : ""}` };
}
