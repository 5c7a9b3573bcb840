import { createTRPCClient, httpLink } from "@trpc/client";
import superjson from "superjson";
import type { Router } from "../../server/desk/operations.ts";

interface Address {
  port: number;
  token: string;
}

/** Calls the operations of an inbox like its page. */
export function operationsOf({ port, token }: Address) {
  const url = `http://localhost:${port}/api/operations`;
  const headers = { authorization: `Bearer ${token}` };
  return createTRPCClient<Router>({ links: [httpLink({ url, transformer: superjson, headers })] });
}

/** Yields the values of the subscription to changes; ends with the inbox. */
export async function* changesOf({ port, token }: Address) {
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await fetch(`http://localhost:${port}/api/operations/changes`, { headers });
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const data = /^data: (\{"json":.+)$/.exec(line)?.[1];
      if (data) yield superjson.parse<{ problem: string | null; counts?: Readonly<Record<string, number>> }>(data);
    }
  }
}
