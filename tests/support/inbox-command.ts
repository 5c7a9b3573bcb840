import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Desk } from "../../server/desk/desk.ts";
import type { Shell } from "../../server/desk/terminal/commands.ts";
import { runCommand } from "../../server/desk/terminal/run-command.ts";
import { CHANNELS } from "../../server/store/store.ts";
import { spawnCli } from "./run-cli.ts";

const START_MS = 30_000;

/** The desk of an inbox in this process, on SQLite. */
export function deskOf(own: Pick<Desk, "store" | "dataDir" | "account">): Desk {
  const replies = [
    { name: "thanks", text: "Dear {name}, about {reference}" },
    { name: "offer", text: "{total}" },
  ];
  const settings = {
    program: "messages",
    channels: CHANNELS,
    mailTo: "team@example.com",
    replyTexts: () => ({ replies, facts: {}, signature: "The team" }),
  };
  return { ...own, ...settings };
}

export interface RunningInbox {
  port: number;
  token: string;
  /** The whole address, as printed. */
  url: string;
  /** The output so far. */
  output(): string;
  /** Presses Ctrl-C and resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** Runs the command in this process, and resolves once it has printed its address. */
export async function openInboxCommand(
  env: Readonly<Record<string, string>>,
  operator: Partial<Pick<Shell, "account" | "ask">> = {},
): Promise<RunningInbox> {
  const printed = collectOutput();
  const stop = Promise.withResolvers<void>();
  const ended = runCommand(["inbox"], {
    env,
    out: printed.add,
    err: printed.add,
    isTerminal: false,
    ask: null,
    ...operator,
    readInput: async () => "",
    untilStopped: () => stop.promise,
  });
  ended.then(printed.fail, printed.fail);
  return {
    ...(await printed.address),
    output: printed.all,
    stop() {
      stop.resolve();
      return ended;
    },
  };
}

/** Starts the real command, like `npm run inbox` after its build, and resolves once it has printed its address. */
export async function startInboxCommand(env: Readonly<Record<string, string>>): Promise<RunningInbox> {
  const child = spawnCli(env, "inbox");
  const printed = collectOutput();
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", printed.add);
  child.once("close", printed.fail);
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  return {
    ...(await printed.address.finally(() => clearTimeout(timer))),
    output: printed.all,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGINT");
        await once(child, "exit");
      }
      return child.exitCode;
    },
  };
}

function collectOutput() {
  let output = "";
  const address = Promise.withResolvers<Pick<RunningInbox, "url" | "port" | "token">>();
  return {
    address: address.promise,
    all: () => output,
    add(text: string) {
      output += text;
      const [, url, port, token] = /^Inbox: (http:\/\/\w+\.localhost:(\d+)\/#([\w-]+))\n/m.exec(output) ?? [];
      if (url && token) address.resolve({ url, port: Number(port), token });
    },
    fail: (end: unknown) => address.reject(new Error(`The inbox ended with ${end}:\n${output}`)),
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
