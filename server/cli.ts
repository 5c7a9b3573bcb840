import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { CommandFailed, UsageError } from "./cli/command.ts";
import { readCommandLine } from "./cli/command-line.ts";
import { ConfigError, parseConfig } from "./config.ts";
import { readManifest } from "./http/site-files.ts";
import { EstimateFailed, FilesLeft } from "./operator.ts";
import { onStopSignal } from "./stop-signal.ts";
import { openStore } from "./store/open-store.ts";
import { sqliteFile } from "./store/sqlite.ts";
import { type Store, StoreRefused, StoreUnavailable } from "./store/store.ts";

const DIST_DIR = fileURLToPath(new URL("../dist/", import.meta.url));

// A reader such as `head` may leave before the end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  await main(process.argv.slice(2), new Date());
} catch (error) {
  const expected = [ConfigError, StoreRefused, StoreUnavailable, UsageError, CommandFailed, FilesLeft, EstimateFailed];
  if (!(error instanceof Error) || !expected.some((kind) => error instanceof kind)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function main(args: readonly string[], now: Date): Promise<void> {
  const invocation = readCommandLine(args, now);
  if (invocation.kind === "help") {
    process.stdout.write(invocation.text);
    return;
  }
  let store: Store | undefined;
  try {
    await invocation.run({
      readConfig: () => parseConfig(process.env),
      async openStore() {
        store ??= await openExistingStore();
        return store;
      },
      readElectricity: () => readManifest(DIST_DIR).electricity,
      now,
      out: (text) => process.stdout.write(text),
      isTerminal: process.stdout.isTTY === true,
      confirm: process.stdin.isTTY ? confirm : null,
      untilStopped,
      reportDefect: (error) => console.error(error),
      setExitCode(code) {
        process.exitCode = code;
      },
    });
  } finally {
    await store?.close();
  }
}

async function openExistingStore(): Promise<Store> {
  const { dataDir, databaseUrl } = parseConfig(process.env);
  // A mistyped folder must not look like one without messages.
  if (databaseUrl === null && !existsSync(sqliteFile(dataDir))) {
    throw new CommandFailed(`There are no messages in ${dataDir}; set DATA_DIR to the server's data folder`);
  }
  return openStore({ dataDir, databaseUrl });
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => onStopSignal(process, resolve));
}

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
