import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DEBIAN_PYTHON } from "../../../scripts/programs.mjs";
import type { Driver, Engine, Modes } from "./engine.ts";

const VIEW = join(import.meta.dirname, "webkit-view.py");

/** WebKitGTK in a window of our own, on a display that nobody sees. */
export const WEBKIT: Engine = { name: "webkit", launch };

async function launch(modes: Modes): Promise<Driver> {
  const display = await startDisplay();
  const child = spawn(DEBIAN_PYTHON, [VIEW, JSON.stringify(modes)], {
    env: {
      ...process.env,
      DISPLAY: display.name,
      GDK_BACKEND: "x11",
      LIBGL_ALWAYS_SOFTWARE: "1",
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });

  const trouble: string[] = [];
  const waiting = new Map<number, PromiseWithResolvers<string>>();
  const ready = Promise.withResolvers<string>();
  waiting.set(0, ready);
  let lastId = 0;
  createInterface(child.stdout).on("line", (line) => {
    if (!line.startsWith('{"id":')) {
      if (/^CONSOLE \S+ (ERROR|WARN)/.test(line)) trouble.push(line);
      return;
    }
    const { id, value = "", error } = JSON.parse(line) as { id: number; value?: string; error?: string };
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answer?.resolve(value);
    else answer?.reject(new Error(error));
  });
  child.once("exit", () => {
    for (const answer of waiting.values()) answer.reject(new Error(`The WebKit view has ended:\n${errors}`));
  });
  function send(command: string, ...parameters: unknown[]): Promise<string> {
    lastId += 1;
    const answer = Promise.withResolvers<string>();
    waiting.set(lastId, answer);
    child.stdin.write(`${JSON.stringify({ id: lastId, command, parameters })}\n`);
    return answer.promise;
  }
  const picture = async (command: string) => Buffer.from(await send(command), "base64");

  const version = await ready.promise.catch(async (error: unknown) => {
    child.kill();
    await display.stop();
    throw error;
  });
  return {
    version,
    open: async (url) => void (await send("open", url)),
    reload: async () => void (await send("reload")),
    back: async () => void (await send("back")),
    evaluate: (code) => send("evaluate", code),
    resize: async (width, height) => void (await send("resize", width, height)),
    press: async (x, y) => void (await send("press", x, y)),
    keys: async (names) => void (await send("keys", names)),
    screenshot: () => picture("screenshot"),
    print: () => picture("print"),
    trouble,
    async close() {
      child.stdin.end();
      await ended(child);
      await display.stop();
    },
  };
}

/** It ends by itself when its last window is closed, as the view does when these tests end in any way. */
async function startDisplay(): Promise<{ name: string; stop(): Promise<void> }> {
  const server = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "2000x1400x24", "-nolisten", "tcp", "-terminate"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [number] = await once(server.stdio[3] as NodeJS.ReadableStream, "data");
  return {
    name: `:${String(number).trim()}`,
    async stop() {
      server.kill();
      await ended(server);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
