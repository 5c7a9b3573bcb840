import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, dirname } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface StartedProcess {
  port: number;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts the product's server, the way `npm run serve` does, on a free port and without limits. */
export function startServer(env: Record<string, string> = {}, prefix: readonly string[] = []): Promise<StartedProcess> {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { serve: string } };
  const settings = { PORT: "0", LOG_LEVEL: "error", RATE_LIMIT: "off", HOURLY_LIMIT: "off" };
  return startProcess([...prefix, "sh", "-c", scripts.serve], { ...settings, ...env });
}

/**
 * Starts a program and waits until it prints the port it listens on, or until it listens on `givenPort`. `node` is the
 * Node that runs this.
 */
export async function startProcess(
  [command = "", ...args]: readonly string[],
  env: Record<string, string> = {},
  givenPort?: number,
): Promise<StartedProcess> {
  const child = spawn(command, args, {
    env: { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), ...env },
    stdio: ["ignore", "pipe", givenPort === undefined ? "inherit" : "ignore"],
  });
  const ended = new Promise<never>((_resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${[command, ...args].join(" ")} ended with ${code}.`)));
  });
  const port = await Promise.race([ended, givenPort === undefined ? printedPort(child) : listening(givenPort)]);
  ended.catch(() => {});
  return {
    port,
    process: child,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

function printedPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.stdout?.on("data", (chunk) => {
      const found = /localhost:(\d+)/.exec(String(chunk))?.[1];
      if (found) resolve(Number(found));
    });
  });
}

async function listening(port: number): Promise<number> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isUp = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) return port;
    await setTimeout(20);
  }
}
