import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { ConfigError, parseConfig, programName } from "../config.ts";
import { readManifest } from "../manifest.ts";
import { FilesLeft } from "../operator/actions.ts";
import { EstimateFailed } from "../operator/person.ts";
import { openStore } from "../store/open-store.ts";
import { sqliteFile } from "../store/sqlite.ts";
import { type Store, StoreRefused, StoreUnavailable } from "../store/store.ts";
import { type CommandContext, CommandFailed, UsageError } from "./command.ts";
import { readCommandLine } from "./command-line.ts";

const DIST_DIR = fileURLToPath(new URL("../../dist/", import.meta.url));
const EXPECTED = [ConfigError, StoreRefused, StoreUnavailable, UsageError, CommandFailed, FilesLeft, EstimateFailed];

/** Of a PostgreSQL database: few, so that commands, or an inbox in which somebody searches, leave enough to the servers. */
const MAX_CONNECTIONS = 3;

/** Where a command runs: the process of server/cli.ts, or a test's own. */
export interface Terminal extends Pick<CommandContext, "out" | "isTerminal" | "confirm" | "untilStopped"> {
  env: Readonly<Record<string, string | undefined>>;
  account?: string;
  /** Writes to standard error. */
  err(text: string): void;
}

/** Runs one command line and resolves to its exit code. Rejects only with a defect of ours. */
export async function runCommand(
  args: readonly string[],
  { env, err, account, ...terminal }: Terminal,
): Promise<number> {
  const now = new Date();
  const program = programName(env);
  let exitCode = 0;
  let store: Store | undefined;
  try {
    const invocation = readCommandLine(args, now, program);
    if (invocation.kind === "help") {
      terminal.out(invocation.text);
      return 0;
    }
    await invocation.run({
      ...terminal,
      program,
      now,
      account: account ?? null,
      readConfig: () => parseConfig(env),
      async openStore() {
        store ??= await openExistingStore(env);
        return store;
      },
      readElectricity: () => readManifest(DIST_DIR).electricity,
      reportDefect: (error) => err(`${inspect(error)}\n`),
      setExitCode(code) {
        exitCode = code;
      },
    });
    return exitCode;
  } catch (error) {
    if (!(error instanceof Error) || !EXPECTED.some((kind) => error instanceof kind)) throw error;
    err(`${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    await store?.close();
  }
}

async function openExistingStore(env: Terminal["env"]): Promise<Store> {
  const { dataDir, databaseUrl } = parseConfig(env);
  // A mistyped folder must not look like one without messages.
  if (databaseUrl === null && !existsSync(sqliteFile(dataDir))) {
    throw new CommandFailed(`There are no messages in ${dataDir}; set DATA_DIR to the server's data folder`);
  }
  return openStore({ dataDir, databaseUrl }, { maxConnections: MAX_CONNECTIONS });
}
