import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface StartedProcess {
  port: number;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a Node program and waits until it prints the port it listens on. */
export async function startProcess(args: readonly string[], env: Record<string, string> = {}): Promise<StartedProcess> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, PORT: "0", LOG_LEVEL: "error", RATE_LIMIT: "off", HOURLY_LIMIT: "off", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      const found = /localhost:(\d+)/.exec(String(chunk))?.[1];
      if (found) resolve(Number(found));
    });
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}.`)));
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
