import { visible } from "../../contract/visible-text.ts";
import { type Command, UsageError } from "./command.ts";
import { inbox } from "./inbox.ts";
import { messageCommands } from "./messages.ts";
import { table } from "./output.ts";
import { preflight } from "./preflight.ts";
import { privacyCommands } from "./privacy.ts";

const COMMANDS: readonly Command[] = [...messageCommands, ...privacyCommands, inbox, preflight];

export type Invocation = { kind: "help"; text: string } | { kind: "run"; run: ReturnType<Command["parse"]> };

/** Understands a command line without touching anything. Throws a UsageError. */
export function readCommandLine(args: readonly string[], now: Date, program: string): Invocation {
  const asksForHelp = args.some((arg) => arg === "--help" || arg === "-h") || args[0] === "help";
  const words = args.filter((arg) => arg !== "--help" && arg !== "-h" && arg !== "help");
  const command = COMMANDS.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (asksForHelp) return { kind: "help", text: command?.help(program) ?? generalHelp(program) };
  if (!command) {
    const problem = args.length === 0 ? "No command given" : `Unknown command "${visible(args.slice(0, 2).join(" "))}"`;
    throw new UsageError(`${problem}. For a list of commands, run: ${program} --help`);
  }
  return { kind: "run", run: command.parse(args.slice(command.name.split(" ").length), now, program) };
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
