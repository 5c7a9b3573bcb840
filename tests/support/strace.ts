import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { missing, requirePrograms, type Skip } from "./require-program.ts";

const ATTACH_MS = 20_000;

/**
 * Watches the system calls of a running program and all its threads, or makes them fail. Resolves once strace is
 * attached, to a function that detaches it. Ends the test if this machine does not allow that.
 */
export async function attachStrace(skip: Skip, pid: number | undefined, options: string[]) {
  requirePrograms(skip, "strace");
  const strace = spawn("strace", ["-f", "-p", String(pid), ...options], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(strace, "exit").catch(() => {});
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
  return missing(skip, `strace may not watch other programs here: ${said.trim()}`);
}
