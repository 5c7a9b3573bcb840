import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { PROGRAM_PATH } from "./programs.ts";

const START_MS = 60_000;

export interface RunningProgram {
  port: number;
  /** On the loopback interface, without a trailing slash. */
  url: string;
  process: ChildProcess;
  /** Everything that it has printed so far. */
  output(): string;
  /** Sends SIGTERM and resolves to its exit code; null if a signal ended it. */
  stop(): Promise<number | null>;
}

export interface RunningServer extends RunningProgram {
  /** Removed by `stop`, unless it was given as DATA_DIR. */
  dataDir: string;
}

/**
 * Starts the server like `npm run serve`, with its compile cache, and resolves once it is ready. By default it uses a
 * free port, a new data folder and no limits; `env` overrides these. `prefix` is a command that runs it, such as
 * `taskset`.
 */
export async function startServer(
  env: Readonly<Record<string, string>> = {},
  prefix: readonly string[] = [],
): Promise<RunningServer> {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { serve: string } };
  const dataDir = env.DATA_DIR ?? (await mkdtemp(join(tmpdir(), "site-")));
  const removeData = async () => {
    if (env.DATA_DIR === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const program = await startProgram([...prefix, "sh", "-c", scripts.serve], {
      env: { PORT: "0", RATE_LIMIT: "off", HOURLY_LIMIT: "off", DATA_DIR: dataDir, ...env },
    });
    return { ...program, dataDir, stop: () => program.stop().finally(removeData) };
  } catch (error) {
    await removeData();
    throw error;
  }
}

/** Runs a server that must exit by itself. */
export async function failToStart(
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; error: string }> {
  const child = spawn(process.execPath, ["server/main.ts"], {
    env: { PATH: process.env.PATH, PORT: "0", ...env },
    timeout: START_MS,
    killSignal: "SIGKILL",
  });
  const [[code], error, output] = await Promise.all([once(child, "exit"), text(child.stderr), text(child.stdout)]);
  if (output.includes('"event":"ready"')) throw new Error(`It reported that it is ready, and then failed:\n${output}`);
  return { code, error };
}

/**
 * Starts a program and resolves once it accepts connections: on `port` if given, otherwise on the port that it prints
 * as "on localhost:3000" or "on http://localhost:3000". The command `node` means the Node that runs this. Rejects with
 * the program's output if it ends or takes longer than a minute.
 */
export async function startProgram(
  command: readonly string[],
  { env = {}, cwd, port }: { env?: Readonly<Record<string, string>>; cwd?: string; port?: number } = {},
): Promise<RunningProgram> {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    env: { PATH: [dirname(process.execPath), PROGRAM_PATH].join(delimiter), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd !== undefined && { cwd }),
  });
  let output = "";
  let isReady = false;
  const printedPort = Promise.withResolvers<number>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (printed: string) => {
      output += printed;
      const found = isReady ? undefined : / on (?:http:\/\/)?localhost:(\d+)\s/.exec(output)?.[1];
      if (found !== undefined) printedPort.resolve(Number(found));
    });
  }

  const failure = Promise.withResolvers<never>();
  const fail = (reason: string) => failure.reject(new Error(`${command.join(" ")} ${reason}:\n${output}`));
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    fail(`did not start within ${START_MS / 1000} s`);
  }, START_MS);
  child.once("error", ({ message }) => fail(`could not be run (${message})`));
  child.once("close", (code, signal) => fail(`ended with ${code ?? signal}`));
  const waiting = new AbortController();
  try {
    const ready = port === undefined ? printedPort.promise : waitUntilListening(port, waiting.signal);
    const readyPort = await Promise.race([ready, failure.promise]);
    isReady = true;
    return {
      port: readyPort,
      url: `http://127.0.0.1:${readyPort}`,
      process: child,
      output: () => output,
      async stop() {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill("SIGTERM");
          await once(child, "exit");
        }
        return child.exitCode;
      },
    };
  } finally {
    clearTimeout(timer);
    waiting.abort();
    failure.promise.catch(() => {});
  }
}

async function waitUntilListening(port: number, signal: AbortSignal): Promise<number> {
  while (!signal.aborted) {
    const socket = connect(port, "127.0.0.1");
    const isListening = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isListening) break;
    await sleep(20);
  }
  return port;
}

/**
 * A port that is free on both loopback addresses, for a program that cannot choose one itself. It is below the
 * ephemeral ports, so that no outgoing connection takes it first.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    if ((await isFree(port, "127.0.0.1")) && (await isFree(port, "::1"))) return port;
  }
}

async function isFree(port: number, host: string): Promise<boolean> {
  const probe = createServer().listen(port, host);
  try {
    await once(probe, "listening");
  } catch (error) {
    // Otherwise the machine does not have this address.
    return host !== "127.0.0.1" && (error as NodeJS.ErrnoException).code !== "EADDRINUSE";
  }
  probe.close();
  await once(probe, "close");
  return true;
}
