import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { type CommandContext, CommandFailed, UsageError } from "./cli/command.ts";
import { readCommandLine } from "./cli/commands.ts";
import { ConfigError, parseConfig } from "./config.ts";
import { openStore } from "./store/open-store.ts";
import { sqliteFile } from "./store/sqlite.ts";
import { StoreRefused, StoreUnavailable } from "./store/store.ts";

// A reader such as `head` may leave before the end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const invocation = readCommandLine(args);
    if (invocation.kind === "help") process.stdout.write(invocation.text);
    else await runOnStore(invocation.run);
    return 0;
  } catch (error) {
    if (!isExpected(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function runOnStore(run: (context: CommandContext) => Promise<void>): Promise<void> {
  const { dataDir, databaseUrl } = parseConfig(process.env);
  // A mistyped folder must not look like one without messages.
  if (databaseUrl === null && !existsSync(sqliteFile(dataDir))) {
    throw new CommandFailed(`There are no messages in ${dataDir}; set DATA_DIR to the server's data folder`);
  }
  const store = await openStore({ dataDir, databaseUrl });
  try {
    await run({
      store,
      dataDir,
      now: new Date(),
      out: (text) => process.stdout.write(text),
      isTerminal: process.stdout.isTTY === true,
      confirm: process.stdin.isTTY ? confirm : null,
    });
  } finally {
    await store.close();
  }
}

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}

function isExpected(error: unknown): error is Error {
  return [ConfigError, StoreRefused, StoreUnavailable, UsageError, CommandFailed].some((kind) => error instanceof kind);
}
