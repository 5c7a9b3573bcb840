import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

/** The answer to one message; `null` if there was none. */
export interface Answer {
  status: number;
  retryAfter: string | null;
  reference: string | null;
}

interface Letter {
  key: string;
  email: string;
  message: string;
}

const EMAIL = "load@example.com";

/**
 * Visitors who remember their messages, and repeat those that were not acknowledged with the same key.
 * @param emailOf the address of each visitor; by default all have the same
 */
export function createVisitors(emailOf: (count: number) => string = () => EMAIL) {
  const acknowledged: string[] = [];
  let unsettled: Letter[] = [];
  let count = 0;

  async function send(url: string, letter: Letter): Promise<Answer | null> {
    const answer = await post(url, letter).catch(() => null);
    if (answer?.reference) acknowledged.push(answer.reference);
    else unsettled.push(letter);
    return answer;
  }
  const sendNew = (url: string) => {
    count += 1;
    return send(url, { key: randomUUID(), email: emailOf(count), message: `message ${count}` });
  };

  return {
    /** The reference of every acknowledged message. */
    acknowledged,
    /** Posts `times` new messages at once. */
    post: (url: string, times = 1) => Promise.all(Array.from({ length: times }, () => sendNew(url))),
    /** Each of `clients` posts one new message after another until stopped. */
    async postUntil(stop: AbortSignal, url: string, clients: number): Promise<void> {
      const client = async () => {
        while (!stop.aborted) {
          // A dead server refuses at once, so this waits a little between requests.
          if (!(await sendNew(url))?.reference) await wait(20);
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
    },
    /** Repeats messages that were not acknowledged; resolves to the number that still are not. */
    async postAgain(url: string): Promise<number> {
      const letters = unsettled;
      unsettled = [];
      for (const letter of letters) await send(url, letter);
      return unsettled.length;
    },
  };
}

/** Resolves to the reference, or to null without a success; rejects without an answer. */
export async function postMessage(url: string, message: string): Promise<string | null> {
  return (await post(url, { key: randomUUID(), email: EMAIL, message })).reference;
}

async function post(url: string, { key, email, message }: Letter): Promise<Answer> {
  const response = await fetch(`${url}/send-email`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ name: "Load", email, phone: "1", country: "", message }),
    signal: AbortSignal.timeout(30_000),
  });
  const body = (await response.json()) as { success: boolean; reference?: string };
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    reference: body.success ? (body.reference ?? null) : null,
  };
}
