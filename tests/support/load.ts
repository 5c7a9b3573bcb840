import { setTimeout as wait } from "node:timers/promises";

/** Posts distinct messages one after the other until told to stop; gives the references that were acknowledged. */
export async function postUntil(stop: AbortSignal, url: string, label: string): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let count = 1; !stop.aborted; count += 1) {
    const reference = await postMessage(url, `${label} ${count}`).catch(() => null);
    if (reference) acknowledged.push(reference);
    // A dead server refuses at once; there is no use in asking it a thousand times.
    else await wait(20);
  }
  return acknowledged;
}

/** Gives the reference, or null when the answer was no success; rejects when there was no answer. */
export async function postMessage(url: string, message: string): Promise<string | null> {
  const response = await fetch(`${url}/send-email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Load", email: "load@example.com", phone: "1", country: "", message }),
    signal: AbortSignal.timeout(20_000),
  });
  const answer = (await response.json()) as { success: boolean; reference?: string };
  return answer.success ? (answer.reference ?? null) : null;
}
