import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

const ATTACH_MS = 20_000;

/** Lets go of the program, which runs on as before. */
export type Detach = () => Promise<void>;

/**
 * Watches the system calls of a running program and all its threads, or makes them fail. Resolves once strace holds the
 * program; to a plain reason where that cannot be done on this machine.
 */
export async function attachStrace(pid: number | undefined, options: string[]): Promise<Detach | string> {
  const strace = spawn("strace", ["-f", "-p", String(pid), ...options], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => {
    strace.once("exit", () => resolve());
    strace.once("error", () => resolve());
  });
  const detach = async () => {
    strace.kill("SIGINT");
    await ended;
  };
  onTestFinished(detach);

  let said = "";
  const attached = new Promise<boolean>((resolve) => {
    strace.stderr.on("data", (text) => {
      said += text;
      if (/Process \d+ attached/.test(said)) resolve(true);
    });
    strace.once("error", () => resolve(false));
    strace.once("exit", () => resolve(false));
    setTimeout(resolve, ATTACH_MS, false).unref();
  });
  if (await attached) return detach;
  return strace.pid === undefined ? "strace is not installed" : `strace may not watch other programs: ${said.trim()}`;
}
