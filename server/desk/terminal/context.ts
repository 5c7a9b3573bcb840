import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { OperatorError } from "../../operator-error.ts";
import type { openArchive } from "../../store/open-store.ts";
import type { Desk } from "../desk.ts";
import type { createCaller } from "../operations.ts";

/** Where a command runs: in the process of server/desk/command.ts, or in a test. */
export interface Shell {
  env: Readonly<Record<string, string | undefined>>;
  /** The operator's account name on this machine, if known. */
  account?: string | undefined;
  /**
   * Writes text unchanged, so the caller must escape hidden characters in visitors' text first. For a large output,
   * wait until the reader has received it.
   */
  out(text: string): void | Promise<void>;
  err(text: string): void;
  isTerminal: boolean;
  /** Asks the operator for one line; `null` if there is no terminal. */
  ask: ((question: string) => Promise<string>) | null;
  readInput(): Promise<string>;
  /** Resolves when the operator ends the command, e.g. with Ctrl-C. */
  untilStopped(): Promise<void>;
}

/** Everything that a command may use. */
export interface Context extends Omit<Shell, "env" | "account"> {
  /** How an operator calls the program, e.g. `npm run messages --`. */
  program: string;
  /** The server's settings. Throws a ConfigError. */
  readConfig(): Config;
  /** Opens the server's messages and closes them after the command. Notes and replies are signed with `name`. */
  openDesk(options?: { name?: string | undefined }): Promise<Desk>;
  /** Opens a database that may be empty or of an earlier version, to restore a backup, and closes it after the command. */
  openArchive(): ReturnType<typeof openArchive>;
  /** The operator's operations. A ZodError means that the command was used incorrectly. */
  call(options?: { name?: string | undefined }): Promise<ReturnType<typeof createCaller>>;
  /** Prints the result as JSON if the operator asked for that, otherwise the text. */
  print(options: { json?: true | undefined }, result: object, text: string): void | Promise<void>;
  /** For a command that ran and found a problem. */
  setExitCode(code: number): void;
}

type Option = readonly [flags: string, help: string, parse?: (text: string) => unknown];
export const JSON_OPTION: Option = ["--json", "print the result as JSON"];
export const YES_OPTION: Option = ["--yes", "do not ask for confirmation"];
export const NAME_OPTION: Option = [
  "--name <NAME>",
  "sign notes and replies with this name (default: your account name)",
];

/** The caller adds the action. `usage` is the command's name and arguments, such as `show <REFERENCE>`. */
export function addCommand(parent: Command, usage: string, summary: string, options: readonly Option[], notes = "") {
  const command = parent.command(usage).description(summary);
  if (notes) command.addHelpText("after", `\n${notes}`);
  for (const [flags, help, parse = String] of options) {
    if (flags.includes("<")) command.option(flags, help, parse);
    else command.option(flags, help);
  }
  return command;
}

/** Asks before data is lost, unless `--yes` was given. Throws an OperatorError without a terminal. */
export async function isConfirmed(question: string, yes: boolean | undefined, { ask }: Context): Promise<boolean> {
  if (yes) return true;
  if (!ask) {
    const problem = "This command asks for confirmation";
    throw new OperatorError({ problem, remedy: "run it in a terminal, or add --yes" });
  }
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}
