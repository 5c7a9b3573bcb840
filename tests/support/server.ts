import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const START_MS = 60_000;

export interface RunningServer {
  url: string;
  dataDir: string;
  process: ChildProcess;
  /** Everything it printed so far. */
  output(): string;
  /** Asks it to stop and resolves to its exit code; its data folder goes too, unless it was given. */
  stop(): Promise<number | null>;
}

/** Starts the real server on a free port with a data folder of its own, and resolves once it is ready. */
export async function startServer(env: Record<string, string> = {}): Promise<RunningServer> {
  const dataDir = env.DATA_DIR ?? (await mkdtemp(join(tmpdir(), "site-")));
  const child = spawn(process.execPath, ["server/main.ts"], {
    env: { PATH: process.env.PATH, PORT: "0", RATE_LIMIT: "off", HOURLY_LIMIT: "off", DATA_DIR: dataDir, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const ready = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`The server did not start:\n${output}`));
    }, START_MS);
    const read = (chunk: Buffer) => {
      output += chunk;
      const url = / is on http:\/\/localhost:(\d+)/.exec(output)?.[1];
      if (!url) return;
      clearTimeout(timer);
      resolve(`http://127.0.0.1:${url}`);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}:\n${output}`)));
  });

  return {
    url: await ready,
    dataDir,
    process: child,
    output: () => output,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
      if (!env.DATA_DIR) await rm(dataDir, { recursive: true, force: true });
      return child.exitCode;
    },
  };
}
