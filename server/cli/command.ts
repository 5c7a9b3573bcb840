import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { Store } from "../store/store.ts";

/** All that a command may touch. */
export interface CommandContext {
  store: Store;
  dataDir: string;
  now: Date;
  /** Writes text as it is: whatever came from a visitor must have been made visible before. */
  out(text: string): void;
  isTerminal: boolean;
  /** Asks the operator for a yes; `null` when nobody sits at the terminal. */
  confirm: ((question: string) => Promise<boolean>) | null;
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What was asked for is not there, or cannot be done: exit code 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

export interface Command {
  /** As it is typed, e.g. `privacy erase`. */
  name: string;
  /** What follows the name, e.g. `EMAIL [--yes]`. */
  usage: string;
  summary: string;
  /** Explains the options, below the usage. */
  details: string;
  /** Checks the arguments; what it returns does the work. Throws a UsageError. */
  prepare(args: readonly string[]): (context: CommandContext) => Promise<void>;
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>["values"];

interface Definition<Options extends ParseArgsOptionsConfig> extends Omit<Command, "prepare"> {
  options: Options;
  operands: { least: number; most: number };
  /** Checks the values; what it returns does the work. */
  read(values: Values<Options>, operands: readonly string[]): (context: CommandContext) => Promise<void>;
}

export function defineCommand<const Options extends ParseArgsOptionsConfig>(definition: Definition<Options>): Command {
  const { options, operands, read, ...rest } = definition;
  return {
    ...rest,
    prepare(args) {
      const { values, positionals } = parse(args, options);
      if (positionals.length < operands.least) throw new UsageError(`Something is missing: ${rest.name} ${rest.usage}`);
      const surplus = positionals[operands.most];
      if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many`);
      return read(values, positionals);
    },
  };
}

function parse<Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node's first sentence names the option; what follows is advice for programmers.
    if (error instanceof Error) throw new UsageError(error.message.split(/\.\s|\n/, 1).join(""));
    throw error;
  }
}
