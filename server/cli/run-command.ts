import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { visible } from "../../contract/visible-text.ts";
import { parseConfig, programName } from "../config.ts";
import { OperatorError } from "../log.ts";
import { readManifest } from "../manifest.ts";
import { openStore } from "../store/open-store.ts";
import { sqliteFile } from "../store/sqlite.ts";
import { type Store, StoreRefused, StoreUnavailable } from "../store/store.ts";
import { type Command, type CommandContext, type Run, UsageError } from "./command.ts";
import { inbox } from "./inbox.ts";
import { messageCommands } from "./messages.ts";
import { table } from "./output.ts";
import { preflight } from "./preflight.ts";
import { privacyCommands } from "./privacy.ts";

const COMMANDS: readonly Command[] = [...messageCommands, ...privacyCommands, inbox, preflight];
const DIST_DIR = fileURLToPath(new URL("../../dist/", import.meta.url));
const EXPECTED = [OperatorError, StoreRefused, StoreUnavailable];

/** Of a PostgreSQL database: few, so that commands, or an inbox in which somebody searches, leave enough to the servers. */
const MAX_CONNECTIONS = 3;

/** Where a command runs: the process of server/cli.ts, or a test's own. */
interface Terminal extends Pick<CommandContext, "out" | "isTerminal" | "confirm" | "untilStopped"> {
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
    const run = readCommandLine(args, now, program);
    await run({
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

/** Understands a command line without touching anything. Throws a UsageError. */
export function readCommandLine(args: readonly string[], now: Date, program: string): Run {
  const asksForHelp = args.some((arg) => arg === "--help" || arg === "-h") || args[0] === "help";
  const words = args.filter((arg) => arg !== "--help" && arg !== "-h" && arg !== "help");
  const command = COMMANDS.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (asksForHelp) return async ({ out }) => out(command?.help(program) ?? generalHelp(program));
  if (!command) {
    const problem = args.length === 0 ? "No command given" : `Unknown command "${visible(args.slice(0, 2).join(" "))}"`;
    throw new UsageError(`${problem}. For a list of commands, run: ${program} --help`);
  }
  return command.parse(args.slice(command.name.split(" ").length), now, program);
}

function generalHelp(program: string): string {
  return `Shows and manages the messages that visitors have sent. Uses the same settings as the server, and may be run
while the server runs.

Usage: ${program} COMMAND [options]

${table(COMMANDS.map(({ name, summary }) => [`  ${name}`, summary]))}
For the options of a command, run: ${program} COMMAND --help
Upper and lower case make no difference in references and e-mail addresses.
`;
}

async function openExistingStore(env: Terminal["env"]): Promise<Store> {
  const config = parseConfig(env);
  const { dataDir, databaseUrl } = config;
  // A mistyped folder must not look like one without messages.
  if (databaseUrl === null && !existsSync(sqliteFile(dataDir))) {
    throw new OperatorError(`There are no messages in ${dataDir}; set DATA_DIR to the server's data folder`);
  }
  return openStore(config, { maxConnections: MAX_CONNECTIONS });
}
