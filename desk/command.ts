import { once } from "node:events";
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { runCommand } from "./terminal/run-command.ts";

// A reader such as `head` may leave before the end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  // With sudo, this is the person's own account.
  account: process.env.SUDO_USER ?? accountName(),
  async out(text) {
    if (!process.stdout.write(text)) await once(process.stdout, "drain");
  },
  err: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY === true,
  ask: process.stdin.isTTY ? ask : null,
  readInput: () => text(process.stdin),
  untilStopped: () =>
    new Promise((resolve) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve());
    }),
});

/** Undefined if the user is only a number, as with `docker run --user 12345`. */
function accountName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
