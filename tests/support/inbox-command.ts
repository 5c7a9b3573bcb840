import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Desk } from "../../desk/desk.ts";
import type { Shell } from "../../desk/terminal/commands.ts";
import { runCommand } from "../../desk/terminal/run-command.ts";
import { CHANNELS } from "../../server/store/model.ts";

/** The desk of an inbox in this process, on SQLite. */
export function deskOf(own: Pick<Desk, "store" | "dataDir" | "account">): Desk {
  const replies = [
    { name: "thanks", text: "Dear {name}, about {reference}" },
    { name: "offer", text: "{total}" },
  ];
  const settings = {
    program: "messages",
    channels: CHANNELS,
    leftFiles: () => [],
    mailTo: "team@example.com",
    replyTexts: () => ({ replies, facts: {}, signature: "The team" }),
  };
  return { ...own, ...settings };
}

/** Runs the command in this process, and resolves once it has printed its address. */
export async function openInboxCommand(
  env: Readonly<Record<string, string>>,
  operator: Partial<Pick<Shell, "account" | "ask">> = {},
) {
  let output = "";
  const address = Promise.withResolvers<{ url: string; port: number; token: string }>();
  const print = (text: string) => {
    output += text;
    const [, url, port, token] = /^Inbox: (http:\/\/\w+\.localhost:(\d+)\/#([\w-]+))\n/m.exec(output) ?? [];
    if (url && token) address.resolve({ url, port: Number(port), token });
  };
  const stop = Promise.withResolvers<void>();
  const ended = runCommand(["inbox"], {
    env,
    out: print,
    err: print,
    isTerminal: false,
    ask: null,
    ...operator,
    readInput: async () => "",
    untilStopped: () => stop.promise,
  });
  const fail = (end: unknown) => address.reject(new Error(`The inbox ended with ${end}:\n${output}`));
  ended.then(fail, fail);
  return {
    ...(await address.promise),
    output: () => output,
    /** Presses Ctrl-C and resolves to the exit code. */
    stop() {
      stop.resolve();
      return ended;
    },
  };
}

/** A request with exactly these headers. With fetch, a test could not choose `Host` or `Origin`. */
export async function ask(
  port: number,
  path: string,
  { method = "GET", headers = {}, body, host = "127.0.0.1" }: AskOptions = {},
) {
  const asked = request({ port, path, method, host, headers, agent: false }).end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

export interface AskOptions {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** The address to connect to. */
  host?: string;
}
