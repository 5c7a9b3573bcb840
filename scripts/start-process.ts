import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";

export interface StartedProcess {
  port: number;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts the product's server, the way `npm run serve` does, on a free port and without limits. */
export function startServer(env: Record<string, string> = {}): Promise<StartedProcess> {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { serve: string } };
  const settings = { PORT: "0", LOG_LEVEL: "error", RATE_LIMIT: "off", HOURLY_LIMIT: "off" };
  return startProcess(["sh", "-c", scripts.serve], { ...settings, ...env });
}

/** Starts a program and waits until it prints the port it listens on. `node` is the Node that runs this. */
export async function startProcess(
  [command = "", ...args]: readonly string[],
  env: Record<string, string> = {},
): Promise<StartedProcess> {
  const child = spawn(command, args, {
    env: { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      const found = /localhost:(\d+)/.exec(String(chunk))?.[1];
      if (found) resolve(Number(found));
    });
    child.once("exit", (code) => reject(new Error(`${[command, ...args].join(" ")} ended with ${code}.`)));
  });
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
