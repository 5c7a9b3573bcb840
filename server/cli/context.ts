import type { Command } from "commander";
import type { Config } from "../config.ts";
import { OperatorError } from "../log.ts";
import type { createCaller, Desk } from "../operator/router.ts";

/** Where a command runs: the process of server/cli.ts, or a test's own. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** The name of the operator's account on this machine, if it is known. */
  account?: string;
  /**
   * Writes text as it is: whatever came from a visitor must have been made visible before. For much text, wait until the
   * reader has taken it.
   */
  out(text: string): void | Promise<void>;
  err(text: string): void;
  isTerminal: boolean;
  /** Asks the operator to confirm; `null` when there is no terminal to ask at. */
  confirm: ((question: string) => Promise<boolean>) | null;
  readInput(): Promise<string>;
  /** Resolves when the operator ends the command, e.g. with Ctrl-C. */
  untilStopped(): Promise<void>;
}

/** All that a command may touch. */
export interface Context extends Omit<Terminal, "env" | "account"> {
  /** How an operator calls the program, e.g. `npm run messages --`. */
  program: string;
  /** The server's settings. Throws a ConfigError. */
  readConfig(): Config;
  /** Opens the server's messages, which are closed after the command. Notes and replies are signed with the name. */
  openDesk(options?: { name?: string | undefined; isNew?: boolean }): Promise<Desk>;
  /** The operations on these messages. A ZodError of one is a wrong use of the command. */
  call(options?: { name?: string | undefined; isNew?: boolean }): Promise<ReturnType<typeof createCaller>>;
  /** The result as JSON where that was asked for, else the text. */
  print(options: { json?: true | undefined }, result: object, text: string): void | Promise<void>;
  /** For a command that goes on after an unexpected error. */
  reportDefect(error: unknown): void;
  /** For a command that ran, and found something wrong. */
  setExitCode(code: number): void;
}

type Option = readonly [flags: string, help: string, parse?: (text: string) => unknown];
export const JSON_OPTION: Option = ["--json", "print the result as JSON"];
export const YES_OPTION: Option = ["--yes", "do not ask for confirmation"];
export const NAME_OPTION: Option = ["--name <NAME>", "sign it with this name (default: the name of your account)"];

/** To be given an action. The usage is its name and arguments, e.g. `show <REFERENCE>`. */
export function addCommand(parent: Command, usage: string, summary: string, options: readonly Option[], notes = "") {
  const command = parent.command(usage).description(summary);
  if (notes) command.addHelpText("after", `\n${notes}`);
  for (const [flags, help, parse = String] of options) {
    if (flags.includes("<")) command.option(flags, help, parse);
    else command.option(flags, help);
  }
  return command;
}

/** Asks before something is lost, unless `--yes` was given. Throws an OperatorError without a terminal. */
export async function isConfirmed(question: string, yes: boolean | undefined, { confirm }: Context): Promise<boolean> {
  if (yes) return true;
  if (!confirm) throw new OperatorError("This needs a confirmation; run it in a terminal, or add --yes");
  return confirm(`${question} [y/N] `);
}
