import { parseArgs } from "node:util";
import { parseDurationMs } from "../../contract/duration.ts";
import type { ElectricityTable } from "../../contract/footprint.ts";
import { visibleLines } from "../../contract/visible-text.ts";
import type { Config } from "../config.ts";
import { OperatorError } from "../log.ts";
import { parseTime } from "../operator/messages.ts";
import type { Store } from "../store/store.ts";
import { table } from "./output.ts";

/** All that a command may touch. */
export interface CommandContext {
  /** How an operator calls the program, e.g. `npm run messages --`. */
  program: string;
  /** The server's settings. Throws a ConfigError. */
  readConfig(): Config;
  /** Opens the server's messages, which are closed after the command. */
  openStore(): Promise<Store>;
  /** From the build of the site. Throws BuildMissing. */
  readElectricity(): ElectricityTable;
  now: Date;
  /** The name of the operator's account on this machine, if it is known. */
  account: string | null;
  /**
   * Writes text as it is: whatever came from a visitor must have been made visible before. For much text, wait until the
   * reader has taken it.
   */
  out(text: string): void | Promise<void>;
  isTerminal: boolean;
  /** Asks the operator to confirm; `null` when there is no terminal to ask at. */
  confirm: ((question: string) => Promise<boolean>) | null;
  /** Resolves when the operator ends the command, e.g. with Ctrl-C. */
  untilStopped(): Promise<void>;
  /** For a command that goes on after an error nobody expected. */
  reportDefect(error: unknown): void;
  /** For a command that ran, and found something wrong. */
  setExitCode(code: number): void;
}

/** The command line is wrong: exit code 2. With any other OperatorError it is 1. */
export class UsageError extends OperatorError {
  override readonly name = "UsageError";
}

export interface Command {
  /** As it is typed, e.g. `privacy erase`. */
  name: string;
  summary: string;
  help(program: string): string;
  /** Checks the arguments without touching anything; the returned function does the work. Throws a UsageError. */
  parse(args: readonly string[], now: Date, program: string): Run;
}

export type Run = (context: CommandContext) => Promise<void>;

export interface Option<Value> {
  /** Stands for the value in the help, e.g. `WHEN`; a flag has none. */
  placeholder: string | null;
  help: string;
  /** Throws a UsageError that says what is wrong with the text. */
  parse(text: string, now: Date): Value;
}

type Options = Readonly<Record<string, Option<unknown>>>;

/** Options that were not given are absent. */
type Values<Given extends Options> = {
  [Name in keyof Given]?: Given[Name] extends Option<infer Value> ? Value : never;
};

interface Input<Given extends Options> {
  /** Empty when it was left out. */
  argument: string;
  /** What follows it, where the definition names more than one. */
  more: readonly string[];
  options: Values<Given>;
}

interface Definition<Given extends Options> {
  name: string;
  summary: string;
  /** What follows the name, e.g. `EMAIL` or `REFERENCE TEXT`; in brackets if it may be left out; unset if there is none. */
  argument?: string;
  options?: Given;
  /** Shown below the options. */
  notes?: string;
  /** For options that depend on each other: throws a UsageError before anything is opened. */
  check?(input: Input<Given>): void;
  run(input: Input<Given>, context: CommandContext): Promise<void>;
}

/** More do not fit into a line that somebody reads. */
const MAX_OPTIONS_IN_USAGE = 10;

/** Help, usage and parsing all follow from the definition. */
export function defineCommand<Given extends Options = Record<never, never>>(definition: Definition<Given>): Command {
  const { name, summary, argument = "", options = {} as Given, notes, check, run } = definition;
  const forms = Object.entries(options).map(([option, { placeholder, help }]) => ({
    form: placeholder === null ? `--${option}` : `--${option} ${placeholder}`,
    help,
  }));
  const shownForms = forms.length > MAX_OPTIONS_IN_USAGE ? ["[options]"] : forms.map(({ form }) => `[${form}]`);
  const usage = (program: string) => [program, name, argument, ...shownForms].filter(Boolean).join(" ");
  const optionTable = table(forms.map(({ form, help }) => [`  ${form}`, help]));

  return {
    name,
    summary,
    help(program) {
      const title = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.\n`;
      return [title, `Usage: ${usage(program)}\n`, optionTable, notes && `${notes}\n`].filter(Boolean).join("\n");
    },
    parse(args, now, program) {
      try {
        const { values, positionals } = parseStrictly(args, options);
        const [given = "", ...more] = positionals;
        if (given === "" && /^[^[]/.test(argument)) {
          throw new UsageError(`Missing argument. Usage: ${usage(program)}`);
        }
        const unexpected = positionals[argument.split(" ").filter(Boolean).length];
        if (unexpected !== undefined) throw new UsageError(`Unexpected argument "${unexpected}"`);
        const input = { argument: given, more, options: parseValues(values, options, now) };
        check?.(input);
        return (context) => run(input, context);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        throw new UsageError(`${visibleLines(error.message)}\nFor help, run: ${program} ${name} --help`);
      }
    },
  };
}

/** Asks before something is lost, unless `--yes` was given. Throws an OperatorError when nobody can be asked. */
export async function isConfirmed(
  question: string,
  yes: true | undefined,
  { confirm }: Pick<CommandContext, "confirm">,
): Promise<boolean> {
  if (yes) return true;
  if (!confirm) throw new OperatorError("This needs a confirmation; run it in a terminal, or add --yes");
  return confirm(`${question} [y/N] `);
}

function parseStrictly(args: readonly string[], options: Options) {
  const types = Object.entries(options).map(([name, { placeholder }]) => [
    name,
    { type: placeholder === null ? "boolean" : "string" } as const,
  ]);
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(types), allowPositionals: true });
  } catch (error) {
    // Node's first sentence names the option; what follows is advice for programmers.
    if (error instanceof Error) throw new UsageError(error.message.split(/\.\s|\n/, 1).join(""));
    throw error;
  }
}

/** Throws one UsageError with a line for each option that is wrong. */
function parseValues<Given extends Options>(values: object, options: Given, now: Date): Values<Given> {
  const problems: string[] = [];
  const parsed: Partial<Record<string, unknown>> = {};
  for (const [name, text] of Object.entries(values)) {
    try {
      parsed[name] = options[name]?.parse(String(text), now);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(`--${name}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return parsed as Values<Given>;
}

export function flag(help: string): Option<true> {
  return { placeholder: null, help, parse: () => true };
}

export function text(placeholder: string, help: string): Option<string> {
  return { placeholder, help, parse: (given) => given };
}

export function oneOf<const Choice extends string>(
  placeholder: string,
  choices: readonly Choice[],
  help: string,
): Option<Choice> {
  return {
    placeholder,
    help,
    parse(given) {
      const choice = choices.find((known) => known === given);
      if (choice === undefined) throw new UsageError(`"${given}" is not one of ${choices.join(", ")}`);
      return choice;
    },
  };
}

export function wholeNumber(help: string, highest = Number.MAX_SAFE_INTEGER): Option<number> {
  return {
    placeholder: "N",
    help,
    parse(given) {
      const number = Number(given);
      if (Number.isInteger(number) && number >= 1 && number <= highest) return number;
      const range = highest === Number.MAX_SAFE_INTEGER ? "above 0" : `from 1 to ${highest}`;
      throw new UsageError(`"${given}" is not a whole number ${range}`);
    },
  };
}

/** A date such as 2025-01-31 (UTC), a full time, or an age such as 7d, 12h or 30m. */
export function when(help: string): Option<Date> {
  return {
    placeholder: "WHEN",
    help: `${help}: a date (2025-01-31) or an age (7d, 12h)`,
    parse(given, now) {
      const ageMs = parseDurationMs(given);
      const date = ageMs === undefined ? parseTime(given) : new Date(now.getTime() - ageMs);
      if (date === null) throw new UsageError(`"${given}" is neither a date nor an age; e.g. 2025-01-31 or 7d`);
      return date;
    },
  };
}
